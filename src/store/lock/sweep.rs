//! Tidying `.locks/`: what crashes left there.
//!
//! Responsibility: to remove old candidates that nobody holds, and locks that are empty or whose holders are dead.
//!
//! A candidate that is swept by mistake costs its owner a new one, never more: without its directory
//! the owner can't get the lock, and without its token the lock it gets is nobody's and its commit is
//! lost. Errors are passed over; the next sweep will meet them again.

use std::ffi::OsStr;
use std::time::{Duration, SystemTime};

use super::holders;
use super::token::{self, CANDIDATE_PREFIX, LOCK_SUFFIX};
use crate::store::dir::{Dir, Stat};
use crate::store::error::StoreError;

/// Four times the patience of a waiting process.
const OLD: Duration = Duration::from_mins(1);

/// Removes left-overs.
pub(crate) fn sweep(locks: &Dir) {
    for name in locks.names().unwrap_or_default() {
        let swept = match name.as_encoded_bytes() {
            bytes if bytes.starts_with(CANDIDATE_PREFIX.as_bytes()) => {
                sweep_candidate(locks, &name)
            }
            bytes if bytes.ends_with(LOCK_SUFFIX.as_bytes()) => sweep_lock(locks, &name),
            _ => Ok(()),
        };
        if let Err(error) = swept {
            tracing::trace!(%error, "left in place");
        }
    }
}

/// A dead holder may have been the last one to want the lock: of a document that never came into being, say.
fn sweep_lock(locks: &Dir, name: &OsStr) -> Result<(), StoreError> {
    if let Some(lock) = locks.open_child(name)? {
        for entry in lock.names()? {
            if holders::is_dead(&lock, &entry) {
                lock.unlink(&entry)?;
            }
        }
    }
    // A held lock isn't empty, so this removes what is in nobody's hands.
    locks.remove_child(name)
}

fn sweep_candidate(locks: &Dir, name: &OsStr) -> Result<(), StoreError> {
    if !locks.stat(name)?.is_some_and(is_old) {
        return Ok(());
    }
    let Some(candidate) = locks.open_child(name)? else {
        return Ok(());
    };
    for entry in candidate.names()? {
        if is_held(&candidate, &entry) {
            return Ok(());
        }
        candidate.unlink(&entry)?;
    }
    locks.remove_child(name)
}

/// Whether somebody still makes a lock of the candidate that this is in.
pub(super) fn is_held(candidate: &Dir, entry: &OsStr) -> bool {
    let is_abandoned = |entry: &str| token::is_abandoned(candidate, entry);
    candidate.is_local() && entry.to_str().is_some_and(|it| !is_abandoned(it))
}

pub(super) fn is_old(stat: Stat) -> bool {
    let age = SystemTime::now().duration_since(stat.modified());
    age.is_ok_and(|age| age > OLD)
}
