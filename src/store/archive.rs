//! The archive: where finished tasks go with their thread and progress, and come back from.
//!
//! Responsibility: that an archiver and a restorer may be killed or stopped at any step, and stopped ones go on at any
//! later moment, without an entry getting lost. Nothing is ever moved or deleted, for such a step cannot be taken back
//! from somebody who was stopped before it:
//!
//! 1. The copies in `archive/` are made first, under the task's lock. A log's copy only ever grows: it is joined with
//!    the live log, by the ids of the entries, each read under the copy's own lock.
//! 2. The task is *replaced*, under its lock and so fenced, by a small [`Tombstone`]. From here on it is archived.
//! 3. Each live log is replaced by an empty one, where, under that log's lock, the tombstone still stands and the copy
//!    holds all that the log does.
//!
//! Back: the tombstone is first marked as being restored, which ends step 3 for everybody; the live logs are joined with
//! their copies; the task, one version on, replaces the tombstone. The copies stay, for the next time.
//!
//! # Limits
//!
//! What is interrupted is readable all the time, and ended by calling the same again.

use std::time::Instant;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::document::{self, Document};
use super::error::StoreError;
use super::listing::{self, place};
use super::lock::{Commit, Lock};
use super::log::Log;
use super::place::Folder;
use super::root::Root;
use super::tasks::{Store, read_log};
use crate::domain::{
    AgentName, AnyTask, FormatVersion, Objects, ProgressLog, Stamp, Status, TaskId, Thread,
    Timestamp,
};

/// How often archiving or restoring starts over whose lock was taken away. One more than elsewhere: marking a
/// tombstone takes a lock of its own.
const ATTEMPTS: u32 = 4;

/// What a task's file holds.
#[derive(Debug)]
pub(super) enum Entry {
    /// The task.
    Live(Box<AnyTask>),
    /// What stands for a task that is in the archive.
    Archived(Tombstone),
}

/// What stands for an archived task where it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Tombstone {
    #[serde(default)]
    format_version: FormatVersion,
    archived: Yes,
    id: TaskId,
    status: Status,
    version: u64,
    archived_at: Timestamp,
    archived_by: AgentName,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    restoring: bool,
}

/// `true`, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "bool", into = "bool")]
struct Yes;

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

impl Entry {
    pub(super) fn id(&self) -> TaskId {
        match self {
            Self::Live(task) => task.id(),
            Self::Archived(tombstone) => tombstone.id,
        }
    }

    pub(super) fn status(&self) -> Status {
        match self {
            Self::Live(task) => task.status(),
            Self::Archived(tombstone) => tombstone.status,
        }
    }

    /// Reads what stands for a task. `None`: nothing does.
    pub(super) fn read(root: &Root, id: TaskId) -> Result<Option<Self>, StoreError> {
        let place = place(Folder::Tasks, id);
        listing::checked(&root.path_of(&place), id, root.read(&place)?)
    }

    /// Reads what stands for a task whose lock is held.
    pub(super) fn locked(lock: &Lock, id: TaskId) -> Result<Option<Self>, StoreError> {
        listing::checked(&lock.path(), id, lock.read()?)
    }

    /// The task, to be changed: one in the archive is refused.
    pub(super) fn live(self) -> Result<AnyTask, StoreError> {
        match self {
            Self::Live(task) => Ok(*task),
            Self::Archived(tombstone) => Err(StoreError::Archived { id: tombstone.id }),
        }
    }
}

impl Document for Entry {
    fn parse(text: &str) -> serde_json::Result<Self> {
        match serde_json::from_str(text) {
            Ok(task) => Ok(Self::Live(Box::new(task))),
            Err(_) if is_tombstone(text) => serde_json::from_str(text).map(Self::Archived),
            Err(error) => Err(error),
        }
    }

    fn explain(text: &str) -> String {
        if is_tombstone(text) {
            Tombstone::explain(text)
        } else {
            AnyTask::explain(text)
        }
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Live(task) => task.serialize(serializer),
            Self::Archived(tombstone) => tombstone.serialize(serializer),
        }
    }
}

impl Tombstone {
    fn of(task: &AnyTask, stamp: &Stamp) -> Self {
        Self {
            format_version: FormatVersion,
            archived: Yes,
            id: task.id(),
            status: task.status(),
            version: task.version(),
            archived_at: stamp.at,
            archived_by: stamp.actor.clone(),
            restoring: false,
        }
    }

    pub(super) fn status(&self) -> Status {
        self.status
    }

    /// Whether a restore has begun and not ended.
    pub(super) fn is_restoring(&self) -> bool {
        self.restoring
    }

    /// Reads the task that this stands for.
    pub(super) fn task(&self, root: &Root) -> Result<AnyTask, StoreError> {
        let place = place(Folder::ArchiveTasks, self.id);
        let path = root.path_of(&place);
        let missing = || {
            let reason = format!(
                "it is missing, though {} stands for it: put it back",
                root.path_of(&listing::place(Folder::Tasks, self.id))
                    .display()
            );
            StoreError::corrupt(path.clone(), reason)
        };
        let task: AnyTask = root.read(&place)?.ok_or_else(missing)?;
        if (task.id(), task.version(), task.status()) != (self.id, self.version, self.status) {
            let reason = format!(
                "it is {} at version {} ({}), expected {} at version {} ({}): undo the edit",
                task.id(),
                task.version(),
                task.status(),
                self.id,
                self.version,
                self.status
            );
            return Err(StoreError::corrupt(path, reason));
        }
        Ok(task)
    }
}

impl Serialize for Tombstone {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Tombstone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(Objects(deserializer))
    }
}

impl From<Yes> for bool {
    fn from(_: Yes) -> Self {
        true
    }
}

impl TryFrom<bool> for Yes {
    type Error = &'static str;

    fn try_from(value: bool) -> Result<Self, Self::Error> {
        value
            .then_some(Self)
            .ok_or("expected true: to bring a task back, run `ai-coord-mcp restore`")
    }
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
            self.copy_log::<Thread>(&task)?;
            self.copy_log::<ProgressLog>(&task)?;
            // All that it carried is in the copies now.
            task.settle(|_| true);
            if self.copy_task(&task)? == Commit::Lost {
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
        for _ in 0..ATTEMPTS {
            let lock = Lock::acquire(self.engine(), &place)?;
            let tombstone = match Entry::locked(&lock, id)? {
                Some(Entry::Archived(tombstone)) => tombstone,
                Some(Entry::Live(_)) => return Ok(Restoring::Live),
                None => return Ok(Restoring::Missing),
            };
            // First of all: what cannot be read is not marked as being restored.
            let task = tombstone.task(lock.root())?;
            if !tombstone.is_restoring() {
                let marked = Tombstone {
                    restoring: true,
                    ..tombstone
                };
                let bytes = document::encode(&lock.path(), &marked)?;
                let (Commit::Done | Commit::Lost) = lock.commit(&bytes)?;
                continue;
            }
            self.join_log::<Thread>(id)?;
            self.join_log::<ProgressLog>(id)?;
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
                self.copy_log::<Thread>(&task)?;
                self.copy_log::<ProgressLog>(&task)?;
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

    /// Makes sure that the archive has all entries of a log.
    fn copy_log<L: Log>(&self, task: &AnyTask) -> Result<(), StoreError> {
        let id = task.id();
        self.engine()
            .update(&place(L::ARCHIVE, id), |root, kept: Option<L>| {
                let is_there = kept.is_some();
                let mut log = kept.unwrap_or_default();
                let is_more = log.join(&read_log(root, L::FOLDER, id)?);
                let is_more = log.receive(task.outbox()) || is_more;
                Ok(((is_more || !is_there).then_some(log), ()))
            })
    }

    /// Makes sure that the archive has a task at this version, or a later one: a stopped archiver comes too late.
    fn copy_task(&self, task: &AnyTask) -> Result<Commit, StoreError> {
        let lock = Lock::acquire(self.engine(), &place(Folder::ArchiveTasks, task.id()))?;
        let kept: Option<AnyTask> = lock.read()?;
        if kept.is_some_and(|it| it.version() > task.version()) {
            return Ok(Commit::Done);
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
            .update(&place(L::FOLDER, id), |root, live: Option<L>| {
                // The archive's come first: they are older.
                let mut log: L = read_log(root, L::ARCHIVE, id)?;
                log.join(&live.unwrap_or_default());
                Ok((Some(log), ()))
            })
    }
}

/// Whether there is anything in the live logs of a task.
pub(super) fn has_live_logs(root: &Root, id: TaskId) -> Result<bool, StoreError> {
    let thread: Thread = read_log(root, Folder::Messages, id)?;
    let progress: ProgressLog = read_log(root, Folder::Progress, id)?;
    Ok(!thread.entries().is_empty() || !progress.entries().is_empty())
}

/// Whether the text says that it stands for an archived task, whatever else is wrong with it.
fn is_tombstone(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Header {
        #[expect(dead_code, reason = "it is there or not")]
        archived: serde::de::IgnoredAny,
    }
    serde_json::from_str::<Header>(text).is_ok()
}

#[cfg(test)]
mod tests;
