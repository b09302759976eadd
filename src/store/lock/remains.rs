//! Telling what a name in `.locks/` is, for people. Nothing here decides who gets a lock.

use std::ffi::{OsStr, OsString};

use super::holders;
use super::sweep::{is_held, is_old};
use super::token::{self, CANDIDATE_PREFIX, LOCK_SUFFIX};
use crate::store::dir::Dir;
use crate::store::error::StoreError;

/// What a name in `.locks/` is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Remains {
    /// Nothing to speak of: it is gone, empty, or somebody is just making it.
    Nothing,
    /// A lock that somebody holds, by this token.
    Held(OsString),
    /// A lock whose holder has ended without giving it back.
    Dead(OsString),
    /// What is left of somebody who wanted a lock.
    Candidate,
    /// No part of a lock: this entry of the directory, or the name itself.
    Foreign(Option<OsString>),
}

/// Tells what a name is.
pub(crate) fn remains(locks: &Dir, name: &OsStr) -> Result<Remains, StoreError> {
    let Some(stat) = locks.stat(name)? else {
        return Ok(Remains::Nothing);
    };
    let bytes = name.as_encoded_bytes();
    let is_candidate = bytes.starts_with(CANDIDATE_PREFIX.as_bytes());
    let is_lock = bytes.ends_with(LOCK_SUFFIX.as_bytes());
    if !stat.is_directory() || !(is_candidate || is_lock) {
        return Ok(Remains::Foreign(None));
    }
    let Some(directory) = locks.open_child(name)? else {
        return Ok(Remains::Nothing);
    };
    let entries = directory.names()?;
    if is_candidate {
        let is_left = is_old(stat) && !entries.iter().any(|it| is_held(&directory, it));
        return Ok(if is_left {
            Remains::Candidate
        } else {
            Remains::Nothing
        });
    }
    let is_foreign = |it: &OsString| it.to_str().and_then(token::pid_in).is_none();
    if let Some(foreign) = entries.iter().find(|it| is_foreign(it)) {
        return Ok(Remains::Foreign(Some(foreign.clone())));
    }
    Ok(match entries.into_iter().next() {
        None => Remains::Nothing,
        Some(token) if holders::is_dead(&directory, &token) => Remains::Dead(token),
        Some(token) => Remains::Held(token),
    })
}
