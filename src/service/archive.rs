//! Putting finished tasks away, and bringing them back: a person's business, who acts under no process's name.

use std::time::Duration;

use super::{Code, Failure, Ref, Service};
use crate::{
    domain::{AnyTask, Stamp, Status, TaskId, Timestamp},
    store::{Archiving, Listing, Restoring, Unreadable},
};

/// Which tasks are to be archived, of those that are over.
#[derive(Clone, Debug)]
pub(crate) enum Due {
    /// Those that are named.
    Named(Vec<TaskId>),
    /// All of some age.
    Old {
        /// In one of these statuses.
        statuses: Vec<Status>,
        /// Unchanged for at least so long.
        older_than: Duration,
    },
}

/// What archiving has done.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    /// What is in the archive now, by id.
    pub(crate) archived: Vec<TaskId>,
    /// How many others in such a status stay, because they changed too recently.
    pub(crate) recent: usize,
    /// The cancelled ones that stay because others wait for them, and would wait in vain.
    pub(crate) needed: Vec<TaskId>,
    /// What could not be archived, or not even be read, and why.
    pub(crate) failed: Vec<(TaskId, Failure)>,
}

/// A task in the archive, for people.
#[derive(Debug)]
pub(crate) struct Archived {
    /// The task.
    pub(crate) id: TaskId,
    /// How it ended.
    pub(crate) status: Status,
    /// What it was called; why that cannot be read, if it cannot.
    pub(crate) title: Result<String, Failure>,
}

impl Due {
    fn wants(&self, task: &AnyTask) -> bool {
        match self {
            Self::Named(ids) => ids.contains(&task.id()),
            Self::Old { statuses, .. } => statuses.contains(&task.status()),
        }
    }

    fn is_old(&self, task: &AnyTask, now: Timestamp) -> bool {
        match self {
            Self::Named(_) => true,
            Self::Old { older_than, .. } => now.since(task.updated_at()) >= *older_than,
        }
    }
}

impl Service {
    /// Archives what is due, and ends what an earlier archiving left. One that cannot be archived keeps no other from it.
    pub(crate) fn archive(&self, due: &Due) -> Result<Moved, Failure> {
        let now = self.now();
        let stamp = self.stamp(self.identity.person());
        let listing = self.store.list()?;
        let mut moved = Moved::default();
        if let Due::Named(ids) = due {
            self.refuse_unfinished(ids, &listing, &mut moved);
        }
        for task in listing.tasks.iter().filter(|it| due.wants(it)) {
            if !due.is_old(task, now) {
                moved.recent += 1;
            } else if is_waited_for(task, &listing) {
                moved.needed.push(task.id());
            } else {
                self.archive_one(task.id(), &stamp, &mut moved, |it| {
                    due.wants(it) && due.is_old(it, now)
                });
            }
        }
        for Unreadable { id, error } in listing.unreadable {
            moved.failed.push((id, error.into()));
        }
        for id in listing.archived.into_keys() {
            if let Err(error) = self.store.finish_archiving(id) {
                moved.failed.push((id, error.into()));
            }
        }
        Ok(moved)
    }

    fn archive_one(
        &self,
        id: TaskId,
        stamp: &Stamp,
        moved: &mut Moved,
        is_due: impl Fn(&AnyTask) -> bool,
    ) {
        match self.store.archive(id, stamp, is_due) {
            Ok(Archiving::Done) => moved.archived.push(id),
            // Somebody was faster, or has just changed it.
            Ok(Archiving::Already | Archiving::Stays | Archiving::Missing) => {}
            Err(error) => {
                // What stands is told as done, though it may not be flushed.
                if matches!(self.store.task(id), Ok(Some(it)) if it.is_archived) {
                    moved.archived.push(id);
                }
                moved.failed.push((id, error.into()));
            }
        }
    }

    /// Says of those that are named what is known now: that they are not there, or not over.
    fn refuse_unfinished(&self, ids: &[TaskId], listing: &Listing, moved: &mut Moved) {
        for id in ids {
            let status = listing.status(*id);
            let is_there = status.is_some() || listing.unreadable.iter().any(|it| it.id == *id);
            match status {
                None if !is_there => moved.failed.push((*id, self.not_found(*id))),
                Some(status) if !Status::ARCHIVABLE.contains(&status) => {
                    let text =
                        format!("{id} is {status}; only what is approved or cancelled is archived");
                    let failure = Failure::new(Code::InvalidTransition, text);
                    moved.failed.push((*id, failure));
                }
                _ => {}
            }
        }
    }

    /// What is in the archive, by id.
    pub(crate) fn archived(&self) -> Result<Vec<Archived>, Failure> {
        let listing = self.store.list()?;
        let each = listing.archived.into_iter().map(|(id, status)| Archived {
            id,
            status,
            title: self.task(id).map(|it| it.work().title.to_string()),
        });
        Ok(each.collect())
    }

    /// Brings a task back from the archive.
    pub(crate) fn restore(&self, id: TaskId) -> Result<Ref, Failure> {
        let stamp = self.stamp(self.identity.person());
        match self.store.restore(id, &stamp)? {
            Restoring::Done(task) => Ok(task.as_ref().into()),
            Restoring::Missing => Err(self.not_found(id)),
            Restoring::Live => Err(Failure::new(
                Code::InvalidTransition,
                format!("{id} is not in the archive: there is nothing to bring back"),
            )),
        }
    }
}

/// Whether a task that is not over waits for this one, which was cancelled: it has to be seen what it waits for.
fn is_waited_for(task: &AnyTask, listing: &Listing) -> bool {
    let mut waiting = listing
        .tasks
        .iter()
        .filter(|it| it.status() == Status::Pending);
    task.status() == Status::Cancelled && waiting.any(|it| it.work().after.contains(&task.id()))
}
