//! The calls that change something, by name.
//!
//! Responsibility: the one way through which every such call goes. It gives the error its words, and
//! is where a test could make a single step fail.

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
            Self::Unlink => "remove",
            Self::RemoveDirectory => "remove the directory",
            Self::SyncDirectory => "flush the directory",
        }
    }
}

/// The one way to a call that changes something.
pub(super) fn take<T, E: Into<io::Error>>(
    step: Step,
    path: impl FnOnce() -> PathBuf,
    call: impl FnOnce() -> Result<T, E>,
) -> Result<T, StoreError> {
    call().map_err(|error| StoreError::storage(step.action(), path(), error))
}
