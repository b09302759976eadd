//! The archive: where finished tasks go with their thread and progress, and come back from.
//!
//! Responsibility: that an archiver and a restorer may be killed or stopped at any step, and stopped ones go on at any
//! later moment, without an entry getting lost. Nothing is ever moved or deleted, for such a step cannot be taken back
//! from somebody who was stopped before it:
//!
//! 1. The copies in `archive/` are made first, under the task's lock, each under a lock of its own.
//! 2. The task is *replaced*, under its lock and so fenced, by a small [`Tombstone`]. From here on it is archived.
//! 3. Each live log is replaced by an empty one, where, under that log's lock, the tombstone still stands and the copy
//!    holds all that the log does.
//!
//! Back: the tombstone is first marked as being restored, which ends step 3 for everybody; the live logs are joined with
//! their copies; the task, one version on, replaces the tombstone. The copies stay, for the next time.
//!
//! So a live log is whole, or empty: then the archive's is the one that counts, whoever emptied it ([`bring_back`]).
//!
//! # Limits
//!
//! What is interrupted is readable all the time, and ended by calling the same again.

mod entry;

use std::time::Instant;

use super::document;
use super::error::StoreError;
use super::listing::place;
use super::lock::{Commit, Lock};
use super::log::Log;
use super::place::Folder;
use super::root::Root;
use super::tasks::{Store, placed, read_log};
use crate::domain::{AnyTask, ProgressLog, Stamp, Status, TaskId, Thread};

pub(super) use entry::{Entry, Tombstone};

/// How often archiving or restoring starts over whose lock was taken away. One more than elsewhere: marking a
/// tombstone takes a lock of its own.
const ATTEMPTS: u32 = 4;

/// How an attempt to archive a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Archiving {
    /// It is in the archive now.
    Done,
    /// It was there already.
    Already,
    /// It stays: it is not over, or the caller wants it to.
    Stays,
    /// There is none.
    Missing,
}

/// How an attempt to restore a task ended.
#[derive(Debug)]
pub(crate) enum Restoring {
    /// It is back, at this version.
    Done(Box<AnyTask>),
    /// It is not in the archive.
    Live,
    /// There is none.
    Missing,
}

impl Store {
    /// Puts a task that is over into the archive, if `is_due` agrees; it gets the task as it is under its lock.
    pub(crate) fn archive(
        &self,
        id: TaskId,
        stamp: &Stamp,
        is_due: impl Fn(&AnyTask) -> bool,
    ) -> Result<Archiving, StoreError> {
        let (started, place) = (Instant::now(), place(Folder::Tasks, id));
        for _ in 0..ATTEMPTS {
            let lock = Lock::acquire(self.engine(), &place)?;
            let mut task = match Entry::locked(&lock, id)? {
                Some(Entry::Live(task)) => *task,
                Some(Entry::Archived(_)) => return Ok(Archiving::Already),
                None => return Ok(Archiving::Missing),
            };
            if !Status::ARCHIVABLE.contains(&task.status()) || !is_due(&task) {
                return Ok(Archiving::Stays);
            }
            self.copy_logs(&task).map_err(StoreError::of_a_step)?;
            // All that it carried is in the copies now.
            task.settle(|_| true);
            if self.copy_task(&task).map_err(StoreError::of_a_step)? == Commit::Lost {
                continue;
            }
            let tombstone = Tombstone::of(&task, stamp);
            let bytes = document::encode(&lock.path(), &tombstone)?;
            if lock.commit(&bytes)? == Commit::Done {
                // It is archived, whatever becomes of this.
                if let Err(error) = self.empty_logs(id) {
                    tracing::warn!(%error, "the live files of {id} are left for the next `archive`");
                }
                return Ok(Archiving::Done);
            }
        }
        Err(self.engine().lost(&place, started.elapsed()))
    }

    /// Brings a task back from the archive.
    pub(crate) fn restore(&self, id: TaskId, stamp: &Stamp) -> Result<Restoring, StoreError> {
        let (started, place) = (Instant::now(), place(Folder::Tasks, id));
        if !self.is_there()? {
            return Ok(Restoring::Missing);
        }
        for _ in 0..ATTEMPTS {
            let lock = Lock::acquire(self.engine(), &place)?;
            let tombstone = match Entry::locked(&lock, id)? {
                Some(Entry::Archived(tombstone)) => tombstone,
                Some(Entry::Live(_)) => return Ok(Restoring::Live),
                // What stands for it was removed by hand. The copy is all that it takes.
                None => match read_copy(lock.root(), id)? {
                    Some(task) => Tombstone::of(&task, stamp),
                    None => return Ok(Restoring::Missing),
                },
            };
            let task = tombstone.task(lock.root())?;
            if !tombstone.is_restoring() {
                // First of all: what cannot be brought back is not marked either.
                joined::<Thread>(lock.root(), id)?;
                joined::<ProgressLog>(lock.root(), id)?;
                let bytes = document::encode(&lock.path(), &tombstone.marked())?;
                let (Commit::Done | Commit::Lost) =
                    lock.commit(&bytes).map_err(StoreError::of_a_step)?;
                continue;
            }
            self.join_logs(id).map_err(StoreError::of_a_step)?;
            let task = task.restore(stamp.clone()).map_err(|task| {
                let reason = format!("a {} task is not over: undo the edit", task.status());
                StoreError::corrupt(lock.path(), reason)
            })?;
            let bytes = document::encode(&lock.path(), &task)?;
            if lock.commit(&bytes)? == Commit::Done {
                return Ok(Restoring::Done(Box::new(task)));
            }
        }
        Err(self.engine().lost(&place, started.elapsed()))
    }

    /// Ends what an archiver was kept from, or what somebody added who was stopped before the task was archived; says
    /// whether there was anything.
    pub(crate) fn finish_archiving(&self, id: TaskId) -> Result<bool, StoreError> {
        let Some(root) = self.engine().open()? else {
            return Ok(false);
        };
        match Entry::read(&root, id)? {
            Some(Entry::Archived(it)) if !it.is_restoring() && has_live_logs(&root, id)? => {
                let task = it.task(&root)?;
                self.copy_logs(&task)?;
                self.empty_logs(id)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Empties the live logs of an archived task, as far as the archive has what is in them.
    fn empty_logs(&self, id: TaskId) -> Result<(), StoreError> {
        self.empty_log::<Thread>(id)?;
        self.empty_log::<ProgressLog>(id)
    }

    fn copy_logs(&self, task: &AnyTask) -> Result<(), StoreError> {
        self.copy_log::<Thread>(task)?;
        self.copy_log::<ProgressLog>(task)
    }

    fn join_logs(&self, id: TaskId) -> Result<(), StoreError> {
        self.join_log::<Thread>(id)?;
        self.join_log::<ProgressLog>(id)
    }

    /// Makes sure that the archive has all entries of the log of a task that was just read.
    fn copy_log<L: Log>(&self, task: &AnyTask) -> Result<(), StoreError> {
        let id = task.id();
        let place = place(L::ARCHIVE, id);
        self.engine().update(&place, |root, kept: Option<L>| {
            let is_there = kept.is_some();
            let kept = placed(&root.path_of(&place), id, kept.unwrap_or_default())?;
            let live: L = read_log(root, L::FOLDER, id)?;
            // Only now, and so the log was read while the task was live, and whole. Else somebody else has archived it:
            // what is in the log then was added too late.
            let is_live = matches!(
                Entry::read(root, id)?,
                Some(Entry::Live(it)) if it.version() == task.version()
            );
            let mut log = if is_live && !live.entries().is_empty() {
                live
            } else {
                let mut log = kept.clone();
                log.join(&live);
                log
            };
            log.receive(task.outbox());
            Ok(((log != kept || !is_there).then_some(log), ()))
        })
    }

    /// Makes sure that the archive has a task that was just read under its lock.
    fn copy_task(&self, task: &AnyTask) -> Result<Commit, StoreError> {
        let lock = Lock::acquire(self.engine(), &place(Folder::ArchiveTasks, task.id()))?;
        if let Some(kept) = read_copy(lock.root(), task.id())?
            && !is_earlier(&kept, task)
        {
            return match Entry::read(lock.root(), task.id())? {
                // It is no later copy of the same task: to replace it would be to lose it, and not to, this one.
                Some(Entry::Live(it)) if it.version() == task.version() => {
                    Err(StoreError::corrupt(lock.path(), another_story(&kept)))
                }
                // It is this archiver that is late.
                _ => Ok(Commit::Lost),
            };
        }
        let bytes = document::encode(&lock.path(), task)?;
        lock.commit(&bytes)
    }

    fn empty_log<L: Log>(&self, id: TaskId) -> Result<(), StoreError> {
        self.engine()
            .update(&place(L::FOLDER, id), |root, live: Option<L>| {
                let Some(live) = live.filter(|it| !it.entries().is_empty()) else {
                    return Ok((None, ()));
                };
                let is_archived = matches!(
                    Entry::read(root, id)?,
                    Some(Entry::Archived(it)) if !it.is_restoring()
                );
                let mut kept: L = read_log(root, L::ARCHIVE, id)?;
                let is_kept = is_archived && !kept.join(&live);
                Ok((is_kept.then(L::default), ()))
            })
    }

    /// Makes sure that the live log has all that the archive has.
    fn join_log<L: Log>(&self, id: TaskId) -> Result<(), StoreError> {
        self.engine()
            .update(&place(L::FOLDER, id), |root, _: Option<L>| {
                Ok((Some(joined(root, id)?), ()))
            })
    }
}

/// What a task's log is: the live one; where the task is archived, what is in both places.
pub(super) fn read_log_of<L: Log>(root: &Root, task: &AnyTask) -> Result<L, StoreError> {
    let id = task.id();
    let mut log: L = read_log(root, L::FOLDER, id)?;
    let may_be_archived = Status::ARCHIVABLE.contains(&task.status())
        && !log.entries().is_empty()
        && root.contains(&place(L::ARCHIVE, id))?;
    if may_be_archived && matches!(Entry::read(root, id)?, Some(Entry::Archived(_))) {
        return joined(root, id);
    }
    bring_back(root, id, &mut log)?;
    Ok(log)
}

/// Fills an empty live log with what the archive has. It may have been emptied since the task was read, for archiving
/// it; or a person has put an archived task back by hand.
pub(super) fn bring_back<L: Log>(root: &Root, id: TaskId, log: &mut L) -> Result<(), StoreError> {
    if log.entries().is_empty() {
        *log = read_log(root, L::ARCHIVE, id)?;
    }
    Ok(())
}

/// What is in both places; the archive's first, for they are older. It can be written, or this is an error.
fn joined<L: Log>(root: &Root, id: TaskId) -> Result<L, StoreError> {
    let mut log: L = read_log(root, L::ARCHIVE, id)?;
    log.join(&read_log(root, L::FOLDER, id)?);
    document::encode(&root.path_of(&place(L::FOLDER, id)), &log)?;
    Ok(log)
}

/// Reads the archive's copy of a task.
pub(super) fn read_copy(root: &Root, id: TaskId) -> Result<Option<AnyTask>, StoreError> {
    let place = place(Folder::ArchiveTasks, id);
    let copy: Option<AnyTask> = root.read(&place)?;
    match copy {
        Some(copy) if copy.id() != id => {
            let reason = format!("its id is {}: expected that of the file's name", copy.id());
            Err(StoreError::corrupt(root.path_of(&place), reason))
        }
        copy => Ok(copy),
    }
}

/// Whether one is what the other has been: the same story, told less far.
fn is_earlier(one: &AnyTask, other: &AnyTask) -> bool {
    other.history().starts_with(one.history())
}

fn another_story(copy: &AnyTask) -> String {
    format!(
        "it is at version {}, and the live task's history is not the rest of its own: move one of them away",
        copy.version()
    )
}

/// Why the archive's copy of a live task is in the way, if it is.
pub(super) fn conflict(root: &Root, task: &AnyTask) -> Result<Option<String>, StoreError> {
    let copy = read_copy(root, task.id())?;
    Ok(copy
        .filter(|it| !is_earlier(it, task))
        .map(|it| another_story(&it)))
}

/// Whether there is anything in the live logs of a task.
pub(super) fn has_live_logs(root: &Root, id: TaskId) -> Result<bool, StoreError> {
    let thread: Thread = read_log(root, Folder::Messages, id)?;
    let progress: ProgressLog = read_log(root, Folder::Progress, id)?;
    Ok(!thread.entries().is_empty() || !progress.entries().is_empty())
}

#[cfg(test)]
mod tests;
