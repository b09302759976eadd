//! The token: the file that is first a claim to the lock, then the document.
//!
//! Responsibility: its way from a private candidate through the lock's name to the document, and
//! that nothing of it is left behind wherever that way ends.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;

use uuid::Uuid;

use crate::store::dir::Dir;
use crate::store::durability::Durability;
use crate::store::error::StoreError;

/// What candidate directories start with; no lock does.
pub(crate) const CANDIDATE_PREFIX: &str = ".new-";
/// What locks end with; see [`Place::lock_name`](crate::store::place::Place::lock_name).
pub(super) const LOCK_SUFFIX: &str = ".lock";

/// A token file and the directory it is in: a candidate, later the lock.
#[derive(Debug)]
pub(super) struct Token {
    locks: Dir,
    directory: String,
    name: String,
    /// Open, and so `flock`ed, as long as this process may use the token.
    file: File,
    moved: bool,
}

/// How the attempt to become the lock ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrival {
    /// The lock is ours.
    First,
    /// Another token is there.
    Held,
    /// The candidate is gone: somebody took it for a left-over, or cleaned up.
    Swept,
}

impl Token {
    /// Makes a candidate with a token in it. `None`: it was swept while it was made.
    pub(super) fn prepare(locks: Dir) -> Result<Option<Self>, StoreError> {
        let id = Uuid::new_v4().simple();
        let directory = format!("{CANDIDATE_PREFIX}{id}");
        let name = format!("{}-{id}", std::process::id());
        locks.create_child(&directory)?;
        let file = match locks.create_file(path(&directory, &name)) {
            Ok(file) => file,
            Err(error) => {
                // The error says more than one about the clearing up could.
                let _ = locks.remove_child(&directory);
                return swept_or(error);
            }
        };
        let token = Self {
            locks,
            directory,
            name,
            file,
            moved: false,
        };
        Ok(token.hold()?.then_some(token))
    }

    /// Renames the candidate onto the lock's name.
    pub(super) fn publish(&mut self, lock_name: &str) -> Result<Arrival, StoreError> {
        let renamed = self.locks.rename(&self.directory, &self.locks, lock_name);
        let Err(error) = renamed else {
            lock_name.clone_into(&mut self.directory);
            return Ok(Arrival::First);
        };
        match error.kind() {
            // XFS says the latter.
            Some(ErrorKind::DirectoryNotEmpty | ErrorKind::AlreadyExists) => Ok(Arrival::Held),
            Some(ErrorKind::NotFound) => Ok(Arrival::Swept),
            _ => Err(error),
        }
    }

    /// Writes the document's next version into the token.
    pub(super) fn fill(&mut self, bytes: &[u8], durability: Durability) -> Result<(), StoreError> {
        let path = self.path();
        self.locks.write(&path, &self.file, bytes)?;
        self.locks.sync_file(&path, &self.file, durability)
    }

    /// Renames the token onto the document. Not found: it has been taken away.
    ///
    /// By the lock's path and not through a handle to its directory: should the directory have been
    /// moved away by hand, this must fail.
    pub(super) fn move_to(&mut self, folder: &Dir, file_name: &str) -> Result<(), StoreError> {
        self.locks.rename(self.path(), folder, file_name)?;
        self.moved = true;
        self.clear_directory();
        Ok(())
    }

    pub(super) fn locks(&self) -> &Dir {
        &self.locks
    }

    fn path(&self) -> String {
        path(&self.directory, &self.name)
    }

    /// Takes the `flock` that shows the living holder. `false`: a sweeper was probing the token.
    fn hold(&self) -> Result<bool, StoreError> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            // Where the probe isn't trusted (see `Dir::is_local`), it needs no lock to find.
            Err(TryLockError::Error(_)) if !self.locks.is_local() => Ok(true),
            Err(TryLockError::Error(error)) => {
                let path = self.locks.path_of(self.path());
                Err(StoreError::storage("lock", path, error))
            }
        }
    }

    /// Another holder's directory isn't empty and stays. Whatever else goes wrong here: an empty
    /// directory is in nobody's way.
    fn clear_directory(&self) {
        let _ = self.locks.remove_child(&self.directory);
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        if !self.moved {
            // If it was taken away it is gone already; if it can't be removed, it is released by
            // the closing of the file: the next one who waits will find nobody holding it.
            let _ = self.locks.unlink(self.path());
            self.clear_directory();
        }
    }
}

/// Whether a name in a lock directory is a token's.
pub(super) fn pid_in(name: &str) -> Option<u32> {
    let (pid, id) = name.split_once('-')?;
    Uuid::try_parse(id).ok()?;
    pid.parse().ok()
}

/// Whether nobody holds a token any more. Only where the file system shows everybody's locks.
///
/// Shared, so that several may probe at once.
pub(super) fn is_abandoned(directory: &Dir, name: &str) -> bool {
    match directory.open_file(name) {
        Ok(Some((file, _))) => file.try_lock_shared().is_ok(),
        _ => false,
    }
}

fn path(directory: &str, name: &str) -> String {
    format!("{directory}/{name}")
}

fn swept_or(error: StoreError) -> Result<Option<Token>, StoreError> {
    if error.is_not_found() {
        Ok(None)
    } else {
        Err(error)
    }
}
