//! What tells one state of a file or directory from the next, at the price of one `stat`.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

/// Two states of a file that differ have different stamps, but for edits in place within one tick of the file
/// system's clock (some milliseconds).
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Stamp {
    device: u64,
    inode: u64,
    links: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of what is at `path`, not of what a link there leads to.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let metadata = fs::symlink_metadata(path).ok()?;
        Some(Self::of(&metadata))
    }

    pub(super) fn of(metadata: &fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            links: metadata.nlink(),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}
