//! Making a directory by its path, with those above it that are missing.

use std::fs::File;
use std::io;
use std::path::Path;

use nix::sys::stat::Mode;
use nix::unistd;

use super::step::{Step, take};
use crate::store::durability::{self, Durability};
use crate::store::error::StoreError;

/// Creates a directory of this mode. It may exist by now.
pub(super) fn create_path(
    path: &Path,
    mode: Mode,
    durability: Durability,
) -> Result<(), StoreError> {
    let mkdir = || {
        take(
            Step::CreateDirectory,
            || path.to_path_buf(),
            || unistd::mkdir(path, mode),
        )
    };
    let parent = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    };
    let mut created = mkdir();
    if created.as_ref().is_err_and(StoreError::is_not_found) && parent != path {
        create_path(parent, Mode::from_bits_truncate(0o777), durability)?;
        created = mkdir();
    }
    match created {
        Ok(()) if durability.is_full() => sync_path(parent),
        Err(error) if error.kind() != Some(io::ErrorKind::AlreadyExists) => Err(error),
        _ => Ok(()),
    }
}

fn sync_path(path: &Path) -> Result<(), StoreError> {
    take(
        Step::SyncDirectory,
        || path.to_path_buf(),
        || durability::sync_directory(&File::open(path)?),
    )
}
