//! The lock of a document: a directory whose one file is the document's next version.
//!
//! Responsibility: to let one update at a time through, whoever dies, stops, or is wrongly taken for
//! dead, without ever losing an update.
//!
//! # The protocol
//!
//! 1. Make a private candidate directory in `.locks/` with a *token* file in it, held by `flock`.
//!    The token's name, `<pid>-<uuid>`, is the holder's identity; the pid is for people.
//! 2. Rename the candidate onto the lock's name. That works onto nothing and onto an empty
//!    directory, and fails onto a held one: a lock appears together with its token, and what crashes
//!    leave empty heals itself. *Held* means: not empty.
//! 3. Only now read the document and decide; then write the next version into the token.
//! 4. Rename the token onto the document. This publishes and releases in one step.
//!
//! Whoever waits may take the lock away, from a dead holder at once ([`holders`]), from any other
//! after a time, by unlinking *that token*, in the directory that was looked at: this hits the holder
//! that was judged, or nobody. A holder whose token is gone fails at step 4, having changed nothing;
//! since no two tokens share a name, it cannot publish its successor's. So every commit lies between
//! its own acquire and the next one, even if every verdict was wrong. `tests/it/model.rs` explores all
//! that can happen, also without the fence and with shared names.
//!
//! # Limitations
//!
//! - Guards against other users of this protocol only: a person's editor that saves between our
//!   reading and our rename is overwritten.
//! - Not fair, and not re-entrant: who locks twice waits for itself.
//! - A store reached through two kernels at once (a network or shared file system) is only as safe
//!   as that file system's `rename` is atomic for both.
//! - *Not found* has to mean: not done. A network file system that repeats a rename whose answer it
//!   lost may say so of one that was done; the update is then made twice.
//! - When `.locks/` or the whole directory is moved elsewhere, operations under way end in the moved
//!   one.

mod holders;
mod remains;
mod sweep;
#[cfg(test)]
mod tests;
mod token;
mod wait;

use std::path::PathBuf;

use self::holders::Look;
use self::token::{Arrival, Token};
use self::wait::Wait;
use super::dir::Dir;
use super::document::{self, Document};
use super::engine::Engine;
use super::error::StoreError;
use super::place::Place;
use super::root::Root;

pub(crate) use self::holders::Sightings;
pub(crate) use self::remains::{Remains, remains};
pub(crate) use self::sweep::sweep;
pub(crate) use self::token::CANDIDATE_PREFIX;

/// A held lock. Dropping it releases it, with nothing changed.
#[derive(Debug)]
#[must_use = "a lock that is dropped is released at once"]
pub(crate) struct Lock {
    root: Root,
    folder: Dir,
    place: Place,
    token: Token,
}

/// How a commit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a lost commit has changed nothing: start over"]
pub(crate) enum Commit {
    /// The document has the new content.
    Done,
    /// The lock had been taken away. Nothing has changed; what was read may be out of date, so start
    /// over with a new lock.
    Lost,
}

impl Lock {
    /// Waits for the lock of a document, which need not exist yet.
    pub(crate) fn acquire(engine: &Engine, place: &Place) -> Result<Self, StoreError> {
        let mut wait = Wait::new(engine.patience());
        loop {
            let vanished = match Self::compete(engine, place, &mut wait) {
                Ok(Some(lock)) => return Ok(lock),
                Ok(None) => None,
                Err(error) if error.is_not_found() => Some(error),
                Err(error) => return Err(error),
            };
            // The candidate was swept, or the whole tree removed under our hands: build it again.
            if !wait.pause() {
                let busy = || wait.busy(engine.path().join(place.relative_path()));
                return Err(vanished.unwrap_or_else(busy));
            }
        }
    }

    /// The tree that this lock is part of.
    pub(crate) fn root(&self) -> &Root {
        &self.root
    }

    /// The full path of the document, for messages.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path_of(self.place.file_name())
    }

    /// Reads the document. `None`: it doesn't exist.
    pub(crate) fn read<D: Document>(&self) -> Result<Option<D>, StoreError> {
        document::read(&self.folder, &self.place.file_name())
    }

    /// Makes `bytes` the document, and releases the lock.
    ///
    /// On an error the document is what it was, except for [`StoreError::NotDurable`].
    pub(crate) fn commit(mut self, bytes: &[u8]) -> Result<Commit, StoreError> {
        document::check_size(&self.path(), bytes)?;
        let durability = self.root.durability();
        self.token.fill(bytes, durability)?;
        let moved = self.token.move_to(&self.folder, &self.place.file_name());
        match moved {
            Ok(()) => {}
            Err(error) if error.is_not_found() => return Ok(Commit::Lost),
            Err(error) => return Err(error),
        }
        if durability.is_full()
            && let Err(StoreError::Storage { source, .. }) = self.folder.sync()
        {
            let path = self.path();
            return Err(StoreError::NotDurable { path, source });
        }
        Ok(Commit::Done)
    }

    /// One candidate's attempts. `None`: the candidate was swept.
    fn compete(
        engine: &Engine,
        place: &Place,
        wait: &mut Wait,
    ) -> Result<Option<Self>, StoreError> {
        let root = engine.open_or_create()?;
        let folder = root.folder_or_create(place.folder())?;
        engine.anchor(&root, &folder, place.folder())?;
        let locks = root.locks()?;
        if engine.is_sweep_due() {
            sweep(&locks);
        }
        let lock_name = place.lock_name();
        let Some(mut token) = Token::prepare(locks)? else {
            return Ok(None);
        };
        loop {
            match token.publish(&lock_name)? {
                Arrival::Held => {}
                Arrival::Swept => return Ok(None),
                Arrival::First => {
                    engine.sightings().forget(&lock_name);
                    let place = place.clone();
                    return Ok(Some(Self {
                        root,
                        folder,
                        place,
                        token,
                    }));
                }
            }
            if wait.is_look_due() {
                match holders::look(token.locks(), &lock_name, engine)? {
                    Look::Free if !wait.is_over() => continue,
                    Look::Free => {}
                    Look::Held(holder) => wait.note(holder),
                }
            }
            if !wait.pause() {
                return Err(wait.busy(root.path_of(place)));
            }
        }
    }
}
