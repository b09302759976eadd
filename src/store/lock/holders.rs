//! Looking at a held lock: who holds it, and whether it may be taken away.
//!
//! Responsibility: the verdicts. They need not be right: a holder that is judged wrongly finds its
//! token gone and starts over (see the protocol in the parent module). They have to come, though:
//! a lock must not stay shut for ever.
//!
//! A holder is dead if its token can be `flock`ed, where one kernel sees all locks: however a process
//! ends, the kernel lets go. No process ids, start times or boot ids are looked at; they mean nothing
//! across containers. Any other holder is given up after this process has seen the same token for
//! long enough, by a clock that nobody can set.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::token;
use crate::store::dir::Dir;
use crate::store::engine::Engine;
use crate::store::error::StoreError;

/// What a look at a lock found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Nobody holds it (any more): try again at once.
    Free,
    /// Somebody does; this says who, for people.
    Held(String),
}

/// Since when this process has been seeing the entries of each lock it waited for.
///
/// Kept between waits, so that short ones add up. Seeing a token twice means that it was held all
/// the time between, because no token's name is used again.
#[derive(Debug, Default)]
pub(crate) struct Sightings {
    by_lock: Mutex<HashMap<String, Vec<Sighting>>>,
}

#[derive(Clone, Debug)]
struct Sighting {
    entry: OsString,
    since: Instant,
}

impl Sightings {
    /// Forgets what was seen in a lock.
    pub(super) fn forget(&self, lock_name: &str) {
        let by_lock = self.by_lock.lock();
        by_lock
            .unwrap_or_else(PoisonError::into_inner)
            .remove(lock_name);
    }

    /// [`see`](Self::see), for tests: since how long, in the order given.
    #[cfg(test)]
    pub(super) fn ages(&self, lock_name: &str, entries: &[&str]) -> Vec<Duration> {
        let entries = entries.iter().map(OsString::from).collect();
        let seen = self.see(lock_name, entries);
        seen.iter()
            .map(|sighting| sighting.since.elapsed())
            .collect()
    }

    /// Notes what is in a lock now, and says since when each entry has been there.
    fn see(&self, lock_name: &str, entries: Vec<OsString>) -> Vec<Sighting> {
        let by_lock = self.by_lock.lock();
        let mut by_lock = by_lock.unwrap_or_else(PoisonError::into_inner);
        let seen = by_lock.entry(lock_name.to_owned()).or_default();
        let now = Instant::now();
        let since = |entry: &OsStr| {
            let before = seen.iter().find(|sighting| sighting.entry == entry);
            before.map_or(now, |sighting| sighting.since)
        };
        let current: Vec<_> = entries
            .into_iter()
            .map(|entry| Sighting {
                since: since(&entry),
                entry,
            })
            .collect();
        seen.clone_from(&current);
        current
    }
}

/// Looks at a lock that could not be had, and takes it away from those who may be given up.
pub(super) fn look(locks: &Dir, lock_name: &str, engine: &Engine) -> Result<Look, StoreError> {
    let Some(lock) = locks.open_child(lock_name)? else {
        return Ok(Look::Free);
    };
    let entries = lock.names()?;
    if entries.is_empty() {
        // A rename onto it would do; this is for file systems where that is refused.
        let _ = locks.remove_child(lock_name);
        return Ok(Look::Free);
    }
    let mut holder = None;
    for sighting in engine.sightings().see(lock_name, entries) {
        if !give_up(&lock, &sighting, engine.give_up_after())? {
            holder.get_or_insert_with(|| describe(&lock, &sighting));
        }
    }
    Ok(holder.map_or(Look::Free, Look::Held))
}

/// Removes the entry if its holder is dead or has been seen for too long. `false`: it stays.
fn give_up(lock: &Dir, sighting: &Sighting, limit: Duration) -> Result<bool, StoreError> {
    let entry = &sighting.entry;
    let age = sighting.since.elapsed();
    if age < limit && !is_dead(lock, entry) {
        return Ok(false);
    }
    // Only a person puts a directory there, and only a person should remove it.
    if lock.stat(entry)?.is_some_and(|stat| stat.is_directory()) {
        return Ok(false);
    }
    match lock.unlink(entry) {
        Ok(()) => {
            let path = lock.path_of(entry);
            tracing::warn!(token = %path.display(), ?age, "took a lock away from its holder");
            Ok(true)
        }
        Err(error) if error.kind() == Some(ErrorKind::NotFound) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Only tokens are probed: a stray file is held by nobody, and may yet be of use to somebody.
pub(super) fn is_dead(lock: &Dir, entry: &OsStr) -> bool {
    let Some(name) = entry.to_str() else {
        return false;
    };
    token::pid_in(name).is_some() && lock.is_local() && token::is_abandoned(lock, name)
}

fn describe(lock: &Dir, sighting: &Sighting) -> String {
    let age = sighting.since.elapsed().as_secs_f64();
    let name = sighting.entry.to_str();
    if let Some(pid) = name.and_then(token::pid_in) {
        return format!("process {pid}, seen holding it for {age:.1} s");
    }
    let path = lock.path_of(&sighting.entry);
    format!(
        "{}, seen for {age:.1} s (no part of a lock: remove it)",
        path.display()
    )
}
