//! The calls that change something, by name.
//!
//! Responsibility: the one way through which every such call goes. It gives the error its words, and
//! is where tests of a debug build make a single step fail, or the process end at it.

use std::io;
use std::path::PathBuf;

use crate::store::error::StoreError;

/// The calls that change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    CreateDirectory,
    CreateFile,
    Write,
    SyncFile,
    Rename,
    Link,
    Unlink,
    RemoveDirectory,
    SyncDirectory,
}

impl Step {
    pub(super) fn action(self) -> &'static str {
        match self {
            Self::CreateDirectory => "create the directory",
            Self::CreateFile => "create",
            Self::Write => "write",
            Self::SyncFile => "flush",
            Self::Rename => "rename a file to",
            Self::Link => "link a file to",
            Self::Unlink => "remove",
            Self::RemoveDirectory => "remove the directory",
            Self::SyncDirectory => "flush the directory",
        }
    }
}

/// The one way to a call that changes something.
pub(super) fn take<T, E: Into<io::Error>>(
    step: Step,
    path: impl Fn() -> PathBuf,
    call: impl FnOnce() -> Result<T, E>,
) -> Result<T, StoreError> {
    let call = || call().map_err(Into::into);
    #[cfg(debug_assertions)]
    let taken: io::Result<T> = super::fault::around(step, &path, call);
    #[cfg(not(debug_assertions))]
    let taken: io::Result<T> = call();
    taken.map_err(|error| StoreError::storage(step.action(), path(), error))
}
