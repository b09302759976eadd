//! What the file system says about a name.
//!
//! Responsibility: the few questions the store asks of a `stat`, and the [`Signature`] by which a
//! cache recognises an unchanged file.

use std::time::{Duration, SystemTime};

use nix::libc;
use nix::sys::stat::{FileStat, Mode, SFlag};
use nix::unistd::Uid;

/// The answer to `stat`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stat(FileStat);

impl From<FileStat> for Stat {
    fn from(stat: FileStat) -> Self {
        Self(stat)
    }
}

impl Stat {
    pub(crate) fn is_file(&self) -> bool {
        self.file_type() == SFlag::S_IFREG
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.file_type() == SFlag::S_IFDIR
    }

    /// What it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        let kinds = [
            (SFlag::S_IFREG, "a regular file"),
            (SFlag::S_IFDIR, "a directory"),
            (SFlag::S_IFLNK, "a symbolic link"),
            (SFlag::S_IFIFO, "a FIFO"),
            (SFlag::S_IFSOCK, "a socket"),
            (SFlag::S_IFCHR, "a device"),
            (SFlag::S_IFBLK, "a device"),
        ];
        let found = kinds.iter().find(|(flag, _)| *flag == self.file_type());
        found.map_or("something unknown", |(_, kind)| kind)
    }

    pub(crate) fn size(&self) -> u64 {
        u64::try_from(self.0.st_size).unwrap_or(0)
    }

    pub(crate) fn owner(&self) -> Uid {
        Uid::from_raw(self.0.st_uid)
    }

    pub(crate) fn is_world_writable(&self) -> bool {
        Mode::from_bits_truncate(self.0.st_mode).contains(Mode::S_IWOTH)
    }

    /// The permission bits.
    pub(crate) fn mode(&self) -> u32 {
        Mode::from_bits_truncate(self.0.st_mode).bits()
    }

    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.0.st_dev, self.0.st_ino) == (other.0.st_dev, other.0.st_ino)
    }

    /// Whether it is the same file with the same content, as far as the file system tells: renaming it is no change.
    pub(crate) fn is_same_content(&self, other: &Self) -> bool {
        let content = |it: &Self| (it.0.st_size, it.0.st_mtime, it.0.st_mtime_nsec);
        self.is_same_file(other) && content(self) == content(other)
    }

    /// When the content was last changed, to the second.
    pub(crate) fn modified(&self) -> SystemTime {
        time(self.0.st_mtime, 0)
    }

    pub(crate) fn signature(&self) -> Signature {
        Signature {
            inode: self.0.st_ino,
            size: self.0.st_size,
            modified: (self.0.st_mtime, self.0.st_mtime_nsec),
            changed: (self.0.st_ctime, self.0.st_ctime_nsec),
        }
    }

    fn file_type(&self) -> SFlag {
        SFlag::from_bits_truncate(self.0.st_mode) & SFlag::S_IFMT
    }
}

/// What differs whenever a file is not the one that was read: inode, size, both times.
///
/// Times are coarse and inodes are used again, so one that was taken within moments of the change
/// proves nothing: see [`Signature::changed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Signature {
    inode: libc::ino_t,
    size: libc::off_t,
    modified: (libc::time_t, libc::c_long),
    changed: (libc::time_t, libc::c_long),
}

impl Signature {
    /// When the file was last changed in any way, by the file system's clock.
    #[cfg(test)]
    pub(crate) fn changed(&self) -> SystemTime {
        time(self.changed.0, self.changed.1)
    }
}

/// Times before 1970 are reported as 1970.
fn time(seconds: libc::time_t, nanoseconds: libc::c_long) -> SystemTime {
    let seconds = u64::try_from(seconds).unwrap_or(0);
    let nanoseconds = u32::try_from(nanoseconds).unwrap_or(0);
    SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds)
}
