//! The store's settings and memory: one value for each process and coordination directory.
//!
//! Responsibility: to open the tree for an operation, and to run the whole of one update. What it
//! remembers between operations (whose locks it has been watching, when it last swept) only makes
//! waiting shorter and the directory tidier; forgetting it is never wrong.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::dir::{Dir, Stat};
use super::document::{self, Document};
use super::durability::Durability;
use super::error::StoreError;
use super::lock::{Commit, Lock, Sightings};
use super::place::{Folder, Place};
use super::root::Root;

/// How often an update whose lock was taken away starts over.
const ATTEMPTS: u32 = 3;
/// The least time between two sweeps by one process.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);

/// How long to wait for locks, and how much to flush.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    durability: Durability,
    give_up_after: Duration,
    patience: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            give_up_after: Duration::from_secs(10),
            patience: Duration::from_secs(15),
        }
    }
}

impl Settings {
    #[must_use]
    pub(crate) fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// How long one holder may be seen to hold a lock before it is taken away. Longer than any
    /// honest update by far: they take milliseconds. Too short a time costs retries and no update.
    #[must_use]
    pub(crate) fn give_up_after(self, give_up_after: Duration) -> Self {
        Self {
            give_up_after,
            ..self
        }
    }

    /// How long one caller waits for a lock before it is told [`StoreError::Busy`].
    #[cfg(test)]
    #[must_use]
    pub(crate) fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }
}

/// The store of one coordination directory. Clones share their memory.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    settings: Settings,
    sightings: Sightings,
    last_sweep: Mutex<Option<Instant>>,
    /// Folders of which this process has flushed the way that leads to them.
    anchored: Mutex<Vec<Stat>>,
}

impl Engine {
    /// Touches nothing yet: the directory may not exist, and is created by the first write.
    pub(crate) fn new(path: impl Into<PathBuf>, settings: Settings) -> Self {
        let shared = Shared {
            path: path.into(),
            settings,
            sightings: Sightings::default(),
            last_sweep: Mutex::new(None),
            anchored: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.shared.path
    }

    /// Opens the tree for reading. `None`: it doesn't exist yet.
    pub(crate) fn open(&self) -> Result<Option<Root>, StoreError> {
        Root::open(self.path(), self.shared.settings.durability)
    }

    /// Opens the tree for writing.
    pub(crate) fn open_or_create(&self) -> Result<Root, StoreError> {
        Root::open_or_create(self.path(), self.shared.settings.durability)
    }

    /// Reads a document, without its lock. `None`: it doesn't exist.
    #[cfg(test)]
    pub(crate) fn read<D: Document>(&self, place: &Place) -> Result<Option<D>, StoreError> {
        match self.open()? {
            Some(root) => root.read(place),
            None => Ok(None),
        }
    }

    /// Updates one document: lock, read, decide, commit.
    ///
    /// `decide` gets the document (`None`: it doesn't exist) and returns its next version (`None`:
    /// nothing to change) and the answer. It runs again when this process was stopped for so long
    /// that its lock was taken away; nothing of the earlier run has happened then.
    pub(crate) fn update<D, R, E>(
        &self,
        place: &Place,
        decide: impl FnMut(&Root, Option<D>) -> Result<(Option<D>, R), E>,
    ) -> Result<R, E>
    where
        D: Document + Serialize,
        E: From<StoreError>,
    {
        let (_, answer) = self.change(place, decide)?;
        Ok(answer)
    }

    /// [`update`](Self::update) that gives what it committed, if anything: to read it again could fail, and a change that
    /// stands must not look refused.
    pub(crate) fn change<D, R, E>(
        &self,
        place: &Place,
        mut decide: impl FnMut(&Root, Option<D>) -> Result<(Option<D>, R), E>,
    ) -> Result<(Option<D>, R), E>
    where
        D: Document + Serialize,
        E: From<StoreError>,
    {
        let started = Instant::now();
        for _ in 0..ATTEMPTS {
            let lock = Lock::acquire(self, place)?;
            let (next, answer) = decide(lock.root(), lock.read()?)?;
            let Some(next) = next else {
                return Ok((None, answer));
            };
            let bytes = document::encode(&lock.path(), &next)?;
            if lock.commit(&bytes)? == Commit::Done {
                return Ok((Some(next), answer));
            }
        }
        Err(self.lost(place, started.elapsed()).into())
    }

    /// What a caller answers whose commits were [`Commit::Lost`] again and again.
    pub(crate) fn lost(&self, place: &Place, waited: Duration) -> StoreError {
        StoreError::Busy {
            path: self.path().join(place.relative_path()),
            holder: format!("others, who took the lock away from this process {ATTEMPTS} times"),
            waited,
        }
    }

    /// Makes sure, once for each process and folder, that a power cut leaves the way to the folder.
    ///
    /// Whoever made a directory has flushed the one above it, unless that failed, or a crash came in between, or is
    /// about to: that a directory is there says nothing of its being on the disk.
    pub(super) fn anchor(
        &self,
        root: &Root,
        folder: &Dir,
        is_in: Folder,
    ) -> Result<(), StoreError> {
        if !root.durability().is_full() {
            return Ok(());
        }
        let stat = folder.own_stat()?;
        let anchored = || {
            let anchored = self.shared.anchored.lock();
            anchored.unwrap_or_else(PoisonError::into_inner)
        };
        if !anchored().iter().any(|it| it.is_same_file(&stat)) {
            root.flush_way_to(is_in)?;
            anchored().push(stat);
        }
        Ok(())
    }

    pub(super) fn sightings(&self) -> &Sightings {
        &self.shared.sightings
    }

    pub(super) fn give_up_after(&self) -> Duration {
        self.shared.settings.give_up_after
    }

    pub(super) fn patience(&self) -> Duration {
        self.shared.settings.patience
    }

    /// Whether it is this caller's turn to sweep: the first of a process, then one a minute.
    pub(super) fn is_sweep_due(&self) -> bool {
        let last = self.shared.last_sweep.lock();
        let mut last = last.unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|at| at.elapsed() >= SWEEP_INTERVAL);
        if due {
            *last = Some(Instant::now());
        }
        due
    }
}
