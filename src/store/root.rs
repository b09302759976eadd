//! The coordination directory, opened.
//!
//! Responsibility: to open or create the tree, to refuse one that others could tamper with, and to
//! find the folders in it.
//!
//! A [`Root`] serves one operation and is opened anew for the next: `git clean -fdx` happens, and
//! the next write then simply creates the directory again.
//!
//! The root may be a symbolic link, what is in it may not: a person decides where the directory
//! lies, its content is this program's.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use nix::unistd::Uid;

use super::dir::{Dir, Stat};
use super::document::{self, Document};
use super::durability::Durability;
use super::error::StoreError;
use super::place::{Folder, Place};

/// What the directory lies in by default.
const OWN: &str = ".ai";
const LOCKS: &str = ".locks";
const AGENTS: &str = "agents";
/// Where a person has corrupt files moved to.
pub(super) const QUARANTINE: &str = "quarantine";
const IGNORE: &str = ".gitignore";

/// The coordination directory, opened for one operation.
#[derive(Debug)]
pub(crate) struct Root {
    dir: Dir,
    durability: Durability,
}

impl Root {
    /// Opens the directory. `None`: it doesn't exist yet.
    pub(crate) fn open(path: &Path, durability: Durability) -> Result<Option<Self>, StoreError> {
        let Some(dir) = Dir::open(path)? else {
            return Ok(None);
        };
        check_trusted(path, dir.own_stat()?)?;
        Ok(Some(Self { dir, durability }))
    }

    /// Opens the directory, created (0700) if it isn't there. Folders in it are created when they
    /// are first needed.
    pub(crate) fn open_or_create(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        let root = match Self::open(path, durability)? {
            Some(root) => root,
            None => Self::create(path, durability)?,
        };
        root.hide_from_git()?;
        Ok(root)
    }

    /// Opens a folder. `None`: it doesn't exist yet.
    pub(crate) fn folder(&self, folder: Folder) -> Result<Option<Dir>, StoreError> {
        self.descend(folder.components())
    }

    /// Opens a folder, created (0700) if it isn't there.
    pub(crate) fn folder_or_create(&self, folder: Folder) -> Result<Dir, StoreError> {
        let mut dir = self.dir.try_clone()?;
        for name in folder.components() {
            dir = dir.open_or_create_child(name, self.durability)?;
        }
        Ok(dir)
    }

    /// Reads a document, without its lock. `None`: it doesn't exist.
    pub(crate) fn read<D: Document>(&self, place: &Place) -> Result<Option<D>, StoreError> {
        match self.folder(place.folder())? {
            Some(folder) => document::read(&folder, &place.file_name()),
            None => Ok(None),
        }
    }

    /// Whether anything is at the place, readable or not.
    pub(crate) fn contains(&self, place: &Place) -> Result<bool, StoreError> {
        match self.folder(place.folder())? {
            Some(folder) => Ok(folder.stat(place.file_name())?.is_some()),
            None => Ok(false),
        }
    }

    /// The full path of a document, for messages.
    pub(crate) fn path_of(&self, place: &Place) -> PathBuf {
        self.dir.path_of(place.relative_path())
    }

    /// The coordination directory itself.
    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Flushes the directories that name those on the way to a folder: the one above the root, the one above that if it
    /// is this program's own `.ai`, and all from the root on but the folder itself.
    pub(super) fn flush_way_to(&self, folder: Folder) -> Result<(), StoreError> {
        // One that may not be listed cannot be flushed either; it was there before this program.
        if let Ok(Some(parent)) = self.dir.parent() {
            parent.sync()?;
            let is_own = parent.path().file_name() == Some(OsStr::new(OWN));
            if is_own && let Ok(Some(above)) = parent.parent() {
                above.sync()?;
            }
        }
        let mut dir = self.dir.try_clone()?;
        for name in folder.components() {
            dir.sync()?;
            match dir.open_child(name)? {
                Some(child) => dir = child,
                None => break,
            }
        }
        Ok(())
    }

    pub(super) fn durability(&self) -> Durability {
        self.durability
    }

    pub(super) fn locks(&self) -> Result<Dir, StoreError> {
        self.dir.open_or_create_child(LOCKS, self.durability)
    }

    /// The directory of the locks. `None`: nobody has locked anything yet.
    pub(super) fn existing_locks(&self) -> Result<Option<Dir>, StoreError> {
        self.dir.open_child(LOCKS)
    }

    /// Removes the directory of the locks, if nothing is in it.
    pub(super) fn remove_locks(&self) {
        // Somebody else may just have put something there, or removed it.
        let _ = self.dir.remove_child(LOCKS);
    }

    /// The names of the files that were moved aside.
    pub(super) fn quarantined(&self) -> Result<Vec<OsString>, StoreError> {
        match self.dir.open_child(QUARANTINE)? {
            Some(quarantine) => quarantine.names(),
            None => Ok(Vec::new()),
        }
    }

    /// Where corrupt files are moved to.
    pub(super) fn quarantine_or_create(&self) -> Result<Dir, StoreError> {
        self.dir.open_or_create_child(QUARANTINE, self.durability)
    }

    pub(super) fn agents(&self) -> Result<Option<Dir>, StoreError> {
        self.dir.open_child(AGENTS)
    }

    pub(super) fn agents_or_create(&self) -> Result<Dir, StoreError> {
        self.dir.open_or_create_child(AGENTS, self.durability)
    }

    fn descend(&self, components: &[&str]) -> Result<Option<Dir>, StoreError> {
        let mut dir = self.dir.try_clone()?;
        for name in components {
            match dir.open_child(name)? {
                Some(child) => dir = child,
                None => return Ok(None),
            }
        }
        Ok(Some(dir))
    }

    fn create(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        match Dir::create(path, durability) {
            Err(error) if error.is_not_found() => return Err(not_there(path)),
            created => created?,
        }
        Self::open(path, durability)?.ok_or_else(|| not_there(path))
    }

    /// The directory lies in a working tree, where nobody wants it in a commit. An edited file is
    /// left alone; an empty one is what a full disk or a crash has left of this.
    fn hide_from_git(&self) -> Result<(), StoreError> {
        if self
            .dir
            .stat(IGNORE)?
            .is_some_and(|it| !it.is_file() || it.size() > 0)
        {
            return Ok(());
        }
        // Of several that do this at once, all write the same.
        let (file, _) = self.dir.open_or_create_file(IGNORE)?;
        self.dir.write(IGNORE, &file, b"*\n")
    }
}

/// Why a directory that was just created isn't there: it has been removed at once, which is worth
/// another attempt (and so is reported as not found), or there is a link in the way, which isn't.
fn not_there(path: &Path) -> StoreError {
    let is_dangling = |link: &&Path| link.is_symlink() && !link.exists();
    let source = match path.ancestors().find(is_dangling) {
        Some(link) => {
            let reason = format!("{} is a symbolic link to nothing", link.display());
            io::Error::other(reason)
        }
        None => io::ErrorKind::NotFound.into(),
    };
    StoreError::storage("create the directory", path, source)
}

/// Whoever can write to the directory can make the assistants do things, so nobody else may.
fn check_trusted(path: &Path, stat: Stat) -> Result<(), StoreError> {
    let me = Uid::effective();
    let reason = if stat.owner() != me {
        format!(
            "it belongs to user {}, expected {me}; run as its owner or name another directory",
            stat.owner()
        )
    } else if stat.is_world_writable() {
        "everybody can write to it; run `chmod o-w` on it".to_owned()
    } else {
        return Ok(());
    };
    let source = io::Error::new(io::ErrorKind::PermissionDenied, reason);
    Err(StoreError::storage("trust the directory", path, source))
}

#[cfg(test)]
mod tests;
