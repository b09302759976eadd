//! A handle to an opened directory: every file-system step of the store is a call on one.
//!
//! Responsibility: the system calls, relative to an opened directory (`*at`), with errors that name
//! the full path. Every call that changes something goes through [`step::take`], which names it.
//!
//! # Limits
//!
//! - The kept path serves messages only. A directory that is renamed while it is open goes on being
//!   used under its new name, and its messages name the old one.
//! - `EINTR` is retried where repeating is harmless. `rename`, `unlink`, `mkdir` are not repeated:
//!   had the first one worked after all, the second would report a loss that didn't happen.

#[cfg(debug_assertions)]
mod fault;
mod locality;
mod make;
mod stat;
mod step;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{self, AtFlags, OFlag};
use nix::sys::stat::{self as sys, Mode};
use nix::unistd::{self, UnlinkatFlags};

use super::durability::{self, Durability};
use super::error::StoreError;

pub(crate) use self::locality::FileSystem;
pub(crate) use self::stat::{Signature, Stat};
use self::step::{Step, take};

const DIRECTORY: OFlag = OFlag::O_DIRECTORY.union(OFlag::O_CLOEXEC);
/// Never through a link, never waiting for the other end of a FIFO, never a controlling terminal.
const FILE: OFlag = OFlag::O_NOFOLLOW
    .union(OFlag::O_NONBLOCK)
    .union(OFlag::O_NOCTTY)
    .union(OFlag::O_CLOEXEC);

/// An opened directory, and its path for messages.
#[derive(Debug)]
pub(crate) struct Dir {
    handle: File,
    path: PathBuf,
}

impl Dir {
    /// Opens a directory by path, through links. `None`: nothing is there.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, StoreError> {
        let opened = uninterrupted(|| fcntl::open(path, DIRECTORY, Mode::empty()));
        match opened {
            Ok(handle) => Ok(Some(Self {
                handle: handle.into(),
                path: path.to_path_buf(),
            })),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(StoreError::storage("open the directory", path, errno)),
        }
    }

    /// Creates the directory and those above it that are missing. It may exist by now.
    ///
    /// The directory is private (0700). Those above it are not this program's own and get the mode
    /// that the umask leaves.
    pub(crate) fn create(path: &Path, durability: Durability) -> Result<(), StoreError> {
        make::create_path(path, Mode::S_IRWXU, durability)
    }

    /// A second handle to the same directory.
    pub(crate) fn try_clone(&self) -> Result<Self, StoreError> {
        let handle = self.handle.try_clone();
        Ok(Self {
            handle: handle
                .map_err(|error| StoreError::storage("open the directory", &self.path, error))?,
            path: self.path.clone(),
        })
    }

    /// Opens a directory in this one, not through a link. `None`: nothing is there.
    pub(crate) fn open_child(&self, name: impl AsRef<Path>) -> Result<Option<Self>, StoreError> {
        let name = name.as_ref();
        let flags = DIRECTORY | OFlag::O_NOFOLLOW;
        match uninterrupted(|| fcntl::openat(&self.handle, name, flags, Mode::empty())) {
            Ok(handle) => Ok(Some(Self {
                handle: handle.into(),
                path: self.path_of(name),
            })),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(self.no_directory(name, errno)),
        }
    }

    /// Opens the directory above this one.
    pub(crate) fn parent(&self) -> Result<Option<Self>, StoreError> {
        let above = self.open_child("..")?;
        let path = self.path.parent().unwrap_or(Path::new("/"));
        Ok(above.map(|it| Self {
            path: path.to_path_buf(),
            ..it
        }))
    }

    /// Opens a directory in this one, created if it isn't there.
    pub(crate) fn open_or_create_child(
        &self,
        name: impl AsRef<Path>,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        let name = name.as_ref();
        if let Some(child) = self.open_child(name)? {
            return Ok(child);
        }
        match self.create_child(name) {
            Ok(()) if durability.is_full() => self.sync()?,
            Err(error) if error.kind() != Some(io::ErrorKind::AlreadyExists) => return Err(error),
            _ => {}
        }
        let gone = || StoreError::storage("open the directory", self.path_of(name), Errno::ENOENT);
        self.open_child(name)?.ok_or_else(gone)
    }

    /// Creates a private directory (0700) in this one.
    pub(crate) fn create_child(&self, name: impl AsRef<Path>) -> Result<(), StoreError> {
        let name = name.as_ref();
        self.step(Step::CreateDirectory, name, || {
            sys::mkdirat(&self.handle, name, Mode::S_IRWXU)
        })
    }

    /// Creates a private file (0600) for writing. It must not exist.
    pub(crate) fn create_file(&self, name: impl AsRef<Path>) -> Result<File, StoreError> {
        let name = name.as_ref();
        let flags = FILE | OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_EXCL;
        self.step(Step::CreateFile, name, || self.open_at(name, flags))
    }

    /// Opens a regular file for reading. `None`: nothing is there. Anything but a regular file is
    /// [`StoreError::Corrupt`].
    pub(crate) fn open_file(
        &self,
        name: impl AsRef<Path>,
    ) -> Result<Option<(File, Stat)>, StoreError> {
        let name = name.as_ref();
        match self.open_at(name, FILE | OFlag::O_RDONLY) {
            Ok(file) => self.regular(name, file).map(Some),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(self.no_file("open", name, errno)),
        }
    }

    /// Opens a regular file for reading and writing, created (0600) if it isn't there.
    pub(crate) fn open_or_create_file(
        &self,
        name: impl AsRef<Path>,
    ) -> Result<(File, Stat), StoreError> {
        let name = name.as_ref();
        let flags = FILE | OFlag::O_RDWR | OFlag::O_CREAT;
        let opened = self.step(Step::CreateFile, name, || self.open_at(name, flags));
        match opened {
            Ok(file) => self.regular(name, file),
            Err(error) => Err(self.irregular(name).unwrap_or(error)),
        }
    }

    /// Writes the whole of `bytes` to a file of this directory.
    pub(crate) fn write(
        &self,
        name: impl AsRef<Path>,
        mut file: &File,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        self.step(Step::Write, name.as_ref(), || file.write_all(bytes))
    }

    /// Empties a file of this directory.
    pub(crate) fn truncate(&self, name: impl AsRef<Path>, file: &File) -> Result<(), StoreError> {
        self.step(Step::Write, name.as_ref(), || file.set_len(0))
    }

    /// Flushes the content of a file of this directory, where `durability` asks for it.
    pub(crate) fn sync_file(
        &self,
        name: impl AsRef<Path>,
        file: &File,
        durability: Durability,
    ) -> Result<(), StoreError> {
        if !durability.is_content() {
            return Ok(());
        }
        self.step(Step::SyncFile, name.as_ref(), || {
            durability::sync_content(file)
        })
    }

    /// Renames `from` in this directory to `to` in `target`, replacing a file or an empty directory.
    pub(crate) fn rename(
        &self,
        from: impl AsRef<Path>,
        target: &Self,
        to: impl AsRef<Path>,
    ) -> Result<(), StoreError> {
        let (from, to) = (from.as_ref(), to.as_ref());
        target.step(Step::Rename, to, || {
            fcntl::renameat(&self.handle, from, &target.handle, to)
        })
    }

    /// Gives the file `from` in this directory a second name, `to` in `target`, which must not exist.
    pub(crate) fn link(
        &self,
        from: impl AsRef<Path>,
        target: &Self,
        to: impl AsRef<Path>,
    ) -> Result<(), StoreError> {
        let (from, to) = (from.as_ref(), to.as_ref());
        target.step(Step::Link, to, || {
            unistd::linkat(&self.handle, from, &target.handle, to, AtFlags::empty())
        })
    }

    /// Removes a name that isn't a directory.
    pub(crate) fn unlink(&self, name: impl AsRef<Path>) -> Result<(), StoreError> {
        let name = name.as_ref();
        self.step(Step::Unlink, name, || {
            unistd::unlinkat(&self.handle, name, UnlinkatFlags::NoRemoveDir)
        })
    }

    /// Removes an empty directory.
    pub(crate) fn remove_child(&self, name: impl AsRef<Path>) -> Result<(), StoreError> {
        let name = name.as_ref();
        self.step(Step::RemoveDirectory, name, || {
            unistd::unlinkat(&self.handle, name, UnlinkatFlags::RemoveDir)
        })
    }

    /// Flushes this directory's entries.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        take(
            Step::SyncDirectory,
            || self.path.clone(),
            || durability::sync_directory(&self.handle),
        )
    }

    /// What `name` is, itself and not what it links to. `None`: nothing is there.
    pub(crate) fn stat(&self, name: impl AsRef<Path>) -> Result<Option<Stat>, StoreError> {
        let name = name.as_ref();
        let found = uninterrupted(|| {
            sys::fstatat(&self.handle, name, AtFlags::AT_SYMLINK_NOFOLLOW).map(Stat::from)
        });
        match found {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::ENOENT) => Ok(None),
            Err(errno) => Err(StoreError::storage("look at", self.path_of(name), errno)),
        }
    }

    /// What this directory is.
    pub(crate) fn own_stat(&self) -> Result<Stat, StoreError> {
        stat_of(&self.handle).map_err(|errno| StoreError::storage("look at", &self.path, errno))
    }

    /// The names in this directory, in no order.
    ///
    /// Beside renames a listing may miss a name that is there all the time: it proves presence,
    /// never absence. A directory that has been removed has no names.
    pub(crate) fn names(&self) -> Result<Vec<OsString>, StoreError> {
        match uninterrupted(|| self.list()) {
            Err(Errno::ENOENT) => Ok(Vec::new()),
            listed => {
                listed.map_err(|errno| StoreError::storage("list the directory", &self.path, errno))
            }
        }
    }

    /// Whether a single kernel owns this file system, so that a lock seen by `flock` is the truth.
    pub(crate) fn is_local(&self) -> bool {
        self.file_system().is_local
    }

    /// The kind of file system that this directory lies on.
    pub(crate) fn file_system(&self) -> FileSystem {
        locality::file_system(&self.handle)
    }

    /// The path of `name` in this directory, for messages.
    pub(crate) fn path_of(&self, name: impl AsRef<Path>) -> PathBuf {
        self.path.join(name)
    }

    /// The path of this directory, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opened by a new description each time: a duplicate would share its reading position.
    fn list(&self) -> nix::Result<Vec<OsString>> {
        let mut listing = nix::dir::Dir::openat(&self.handle, ".", DIRECTORY, Mode::empty())?;
        let mut names = Vec::new();
        for entry in listing.iter() {
            let name = entry?.file_name().to_bytes().to_vec();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        #[cfg(debug_assertions)]
        names.retain(|name| !fault::is_unlisted(name));
        Ok(names)
    }

    fn open_at(&self, name: &Path, flags: OFlag) -> nix::Result<File> {
        let private = Mode::S_IRUSR | Mode::S_IWUSR;
        uninterrupted(|| fcntl::openat(&self.handle, name, flags, private)).map(File::from)
    }

    fn regular(&self, name: &Path, file: File) -> Result<(File, Stat), StoreError> {
        let path = || self.path_of(name);
        let stat = stat_of(&file).map_err(|errno| StoreError::storage("look at", path(), errno))?;
        if stat.is_file() {
            Ok((file, stat))
        } else {
            Err(not_regular(path(), stat))
        }
    }

    fn no_file(&self, action: &'static str, name: &Path, errno: Errno) -> StoreError {
        self.irregular(name)
            .unwrap_or_else(|| StoreError::storage(action, self.path_of(name), errno))
    }

    /// Opening a link, a socket or (for writing) a directory fails, in words that differ from system
    /// to system: look what is there instead.
    fn irregular(&self, name: &Path) -> Option<StoreError> {
        let stat = self.stat(name).ok().flatten()?;
        (!stat.is_file()).then(|| not_regular(self.path_of(name), stat))
    }

    fn no_directory(&self, name: &Path, errno: Errno) -> StoreError {
        let source = match self.stat(name) {
            Ok(Some(stat)) if !stat.is_directory() => io::Error::new(
                io::ErrorKind::NotADirectory,
                format!("expected a directory, found {}", stat.kind()),
            ),
            _ => errno.into(),
        };
        StoreError::storage("open the directory", self.path_of(name), source)
    }

    /// [`take`] for a name in this directory.
    fn step<T, E: Into<io::Error>>(
        &self,
        step: Step,
        name: &Path,
        call: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, StoreError> {
        take(step, || self.path_of(name), call)
    }
}

fn stat_of(file: &File) -> nix::Result<Stat> {
    uninterrupted(|| sys::fstat(file).map(Stat::from))
}

fn not_regular(path: PathBuf, stat: Stat) -> StoreError {
    let reason = format!(
        "expected a regular file, found {}; move it away",
        stat.kind()
    );
    StoreError::corrupt(path, reason)
}

fn uninterrupted<T>(mut call: impl FnMut() -> nix::Result<T>) -> nix::Result<T> {
    loop {
        match call() {
            Err(Errno::EINTR) => {}
            result => return result,
        }
    }
}
