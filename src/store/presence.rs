//! Who is here: a name belongs to one living process at a time.
//!
//! Responsibility: `agents/NAME.json`, locked with `flock` by the process that goes by that name until
//! it ends. However it ends, the kernel lets go, and the name is free again.
//!
//! The lock belongs to the file's inode, so the file is never replaced: its content, the [`Card`] for
//! people, is written in place, and a reader may find half of one. Nobody decides by it.
//!
//! # Limits
//!
//! - Where `flock` can't be trusted ([`Dir::is_local`]) every name can be had, and nobody is ever said
//!   to be gone.
//! - Who deletes a card takes the name from its holder, which notices by [`Presence::is_current`].

#[cfg(test)]
mod tests;

use std::fs::{File, TryLockError};
use std::io::{Seek, SeekFrom};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::dir::{Dir, Stat};
use super::document;
use super::error::StoreError;
use super::root::Root;
use crate::domain::FormatVersion;

/// How long a name may look taken because somebody is probing it.
const PROBING: Duration = Duration::from_millis(50);
const PROBING_STEP: Duration = Duration::from_millis(1);

/// What a process says about itself, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Card {
    #[serde(default)]
    format_version: FormatVersion,
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    pid: u32,
    directory: String,
    since: String,
}

impl Card {
    /// This process's card.
    pub(crate) fn new(
        name: impl Into<String>,
        directory: impl Into<String>,
        since: impl Into<String>,
    ) -> Self {
        Self {
            format_version: FormatVersion,
            name: name.into(),
            client: None,
            version: None,
            pid: std::process::id(),
            directory: directory.into(),
            since: since.into(),
        }
    }

    /// Adds the client that started this process, and its version.
    #[must_use]
    pub(crate) fn with_client(self, client: Option<String>, version: Option<String>) -> Self {
        Self {
            client,
            version,
            ..self
        }
    }

    #[cfg(test)]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn client(&self) -> Option<&str> {
        self.client.as_deref()
    }

    pub(crate) fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    pub(crate) fn directory(&self) -> &str {
        &self.directory
    }

    pub(crate) fn since(&self) -> &str {
        &self.since
    }
}

/// A name that this process holds, until this value is dropped or the process ends.
#[derive(Debug)]
#[must_use = "a presence that is dropped gives the name back at once"]
pub(crate) struct Presence {
    file_name: String,
    /// Open, and so locked.
    file: File,
    stat: Stat,
}

/// How the attempt to take a name ended.
#[derive(Debug)]
#[must_use = "a presence that is dropped gives the name back at once"]
pub(crate) enum Taken {
    /// The name is this process's.
    Held(Presence),
    /// Another living process has it; its card, if it can be read.
    InUse(Option<Card>),
}

/// Whether a living process goes by a name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// One does; its card, if it can be read.
    Alive(Option<Card>),
    /// None does; the card of the last one that did, if it can be read.
    Gone(Option<Card>),
    /// It can't be told on this file system.
    Unknown,
}

impl Presence {
    /// Takes a name, if no living process has it.
    pub(crate) fn take(root: &Root, name: &str, card: &Card) -> Result<Taken, StoreError> {
        let started = Instant::now();
        loop {
            match Self::attempt(root, name) {
                Ok(Some(presence)) => {
                    presence.write(&root.agents_or_create()?, card)?;
                    return Ok(Taken::Held(presence));
                }
                Ok(None) => {}
                Err(error) if error.is_not_found() && started.elapsed() < PROBING => {}
                Err(error) => return Err(error),
            }
            // Either a probe is in the way, for microseconds, or a holder, for good; or the file was
            // deleted between opening and locking it, and there is a new one to try.
            if started.elapsed() >= PROBING {
                let agents = root.agents_or_create()?;
                return Ok(Taken::InUse(read(&agents, &file_name(name))));
            }
            thread::sleep(PROBING_STEP);
        }
    }

    /// Whether the name is still this process's. Not, if somebody has deleted the card (perhaps with
    /// the whole directory): then it has to be taken again.
    pub(crate) fn is_current(&self, root: &Root) -> Result<bool, StoreError> {
        match root.agents()? {
            Some(agents) => self.is_current_in(&agents),
            None => Ok(false),
        }
    }

    fn attempt(root: &Root, name: &str) -> Result<Option<Self>, StoreError> {
        let agents = root.agents_or_create()?;
        let file_name = file_name(name);
        let (file, stat) = agents.open_or_create_file(&file_name)?;
        let presence = Self {
            file_name,
            file,
            stat,
        };
        let is_ours = presence.try_lock(&agents)? && presence.is_current_in(&agents)?;
        Ok(is_ours.then_some(presence))
    }

    fn is_current_in(&self, agents: &Dir) -> Result<bool, StoreError> {
        let found = agents.stat(&self.file_name)?;
        Ok(found.is_some_and(|found| found.is_same_file(&self.stat)))
    }

    fn try_lock(&self, agents: &Dir) -> Result<bool, StoreError> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(_) if !agents.is_local() => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => {
                let path = agents.path_of(&self.file_name);
                Err(StoreError::storage("lock", path, error))
            }
        }
    }

    /// Not flushed: after a power cut nobody is here.
    fn write(&self, agents: &Dir, card: &Card) -> Result<(), StoreError> {
        let path = agents.path_of(&self.file_name);
        let bytes = document::encode(&path, card)?;
        agents.truncate(&self.file_name, &self.file)?;
        (&self.file)
            .seek(SeekFrom::Start(0))
            .map_err(|error| StoreError::storage("write", path, error))?;
        agents.write(&self.file_name, &self.file, &bytes)
    }
}

/// Whether a living process goes by a name, this one included.
pub(crate) fn holder(root: &Root, name: &str) -> Result<Holder, StoreError> {
    if !root.dir().is_local() {
        return Ok(Holder::Unknown);
    }
    let Some(agents) = root.agents()? else {
        return Ok(Holder::Gone(None));
    };
    let file_name = file_name(name);
    let Some((file, _)) = agents.open_file(&file_name)? else {
        return Ok(Holder::Gone(None));
    };
    // Shared, so that those who look don't see each other.
    match file.try_lock_shared() {
        Ok(()) => Ok(Holder::Gone(read(&agents, &file_name))),
        Err(TryLockError::WouldBlock) => Ok(Holder::Alive(read(&agents, &file_name))),
        Err(TryLockError::Error(_)) => Ok(Holder::Unknown),
    }
}

/// A card that can't be read is no error: it is for people, and perhaps being written.
fn read(agents: &Dir, file_name: &str) -> Option<Card> {
    document::read(agents, file_name).ok().flatten()
}

fn file_name(name: &str) -> String {
    format!("{name}.json")
}
