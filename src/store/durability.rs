//! How much of a change has to be on the disk before it is answered.
//!
//! Responsibility: the setting, and the flushing itself.
//!
//! Flushing goes through [`File::sync_data`] and [`File::sync_all`] because these empty the drive's
//! own cache on macOS (`F_FULLFSYNC`), which `fsync(2)` there doesn't. File systems that don't know
//! that request get a plain `fsync`.

use std::fs::File;
use std::io;
use std::str::FromStr;

use nix::libc;
use thiserror::Error;

/// How much of a change is on the disk when it is answered (`COORDINATION_DURABILITY`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Durability {
    /// Content and directory entries: an answered change survives a power cut.
    #[default]
    Full,
    /// Content only: after a power cut the document is the new or the old one, never a torn one.
    Data,
    /// Nothing: survives the end of any process, but not a power cut. For tests.
    None,
}

/// The text names none of the three levels.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("expected `full`, `data` or `none`, got {0:?}")]
pub(crate) struct UnknownDurability(String);

impl FromStr for Durability {
    type Err = UnknownDurability;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "full" => Ok(Self::Full),
            "data" => Ok(Self::Data),
            "none" => Ok(Self::None),
            other => Err(UnknownDurability(other.to_owned())),
        }
    }
}

impl Durability {
    pub(super) fn is_full(self) -> bool {
        self == Self::Full
    }

    /// Whether content is flushed before it is put in its place.
    pub(super) fn is_content(self) -> bool {
        self != Self::None
    }
}

/// Flushes a file's content.
pub(super) fn sync_content(file: &File) -> io::Result<()> {
    or_plain_fsync(file.sync_data(), file)
}

/// Flushes a directory's entries.
///
/// A file system that can't flush directories at all says so by `EINVAL` or `ENOTSUP`. It has no
/// stronger promise to give, so that isn't an error (databases treat it alike).
pub(super) fn sync_directory(directory: &File) -> io::Result<()> {
    match or_plain_fsync(directory.sync_all(), directory) {
        Err(error) if is_unsupported(&error) => Ok(()),
        result => result,
    }
}

fn or_plain_fsync(first: io::Result<()>, file: &File) -> io::Result<()> {
    match first {
        Err(error) if is_unsupported(&error) => plain_fsync(file),
        result => result,
    }
}

fn plain_fsync(file: &File) -> io::Result<()> {
    loop {
        match nix::unistd::fsync(file) {
            Err(nix::errno::Errno::EINTR) => {}
            result => return result.map_err(Into::into),
        }
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    matches!(
        error.raw_os_error(),
        Some(libc::ENOTSUP | libc::EINVAL | libc::ENOTTY)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_levels_are_read_by_name() {
        assert_eq!("full".parse(), Ok(Durability::Full));
        assert_eq!("data".parse(), Ok(Durability::Data));
        assert_eq!("none".parse(), Ok(Durability::None));
        assert_eq!(Durability::default(), Durability::Full);
    }

    #[test]
    fn an_unknown_level_is_refused_with_the_choices() {
        let error = "Full".parse::<Durability>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected `full`, `data` or `none`, got \"Full\""
        );
    }

    #[test]
    fn an_unsupported_flush_falls_back_to_fsync_and_other_errors_do_not() {
        let file = tempfile::tempfile().unwrap();
        for errno in [libc::ENOTSUP, libc::EINVAL, libc::ENOTTY] {
            let unsupported = Err(io::Error::from_raw_os_error(errno));
            assert!(or_plain_fsync(unsupported, &file).is_ok(), "{errno}");
        }
        let broken = Err(io::Error::from_raw_os_error(libc::EIO));
        assert!(
            or_plain_fsync(broken, &file).is_err(),
            "EIO is never hidden"
        );
    }

    #[test]
    fn files_and_directories_can_be_flushed() {
        let temp = tempfile::tempdir().unwrap();
        let file = File::create(temp.path().join("f")).unwrap();
        sync_content(&file).unwrap();
        sync_directory(&File::open(temp.path()).unwrap()).unwrap();
    }
}
