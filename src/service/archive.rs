//! Putting finished tasks away, and bringing them back: a person's business, who acts under no process's name.

use std::time::Duration;

use super::{Code, Failure, Ref, Service};
use crate::{
    domain::{AnyTask, Status, TaskId},
    store::{Archiving, Restoring, Unreadable},
};

/// Which tasks are to be archived, of those that are over.
#[derive(Clone, Debug)]
pub(crate) struct Due {
    /// In one of these statuses.
    pub(crate) statuses: Vec<Status>,
    /// Unchanged for at least so long.
    pub(crate) older_than: Duration,
}

/// What archiving has done.
#[derive(Debug, Default)]
pub(crate) struct Moved {
    /// What is in the archive now, by id.
    pub(crate) archived: Vec<TaskId>,
    /// How many others in such a status stay, because they changed too recently.
    pub(crate) recent: usize,
    /// What could not be archived, or not even be read, and why.
    pub(crate) failed: Vec<(TaskId, Failure)>,
}

impl Service {
    /// Archives what is due, and ends what an earlier archiving left. One that cannot be archived keeps no other from it.
    pub(crate) fn archive(&self, due: &Due) -> Result<Moved, Failure> {
        let now = self.now();
        let is_old = |task: &AnyTask| now.since(task.updated_at()) >= due.older_than;
        let is_wanted = |task: &AnyTask| due.statuses.contains(&task.status());
        let stamp = self.stamp(self.identity.person());
        let listing = self.store.list()?;
        let mut moved = Moved::default();
        for Unreadable { id, error } in listing.unreadable {
            moved.failed.push((id, error.into()));
        }
        for task in listing.tasks.iter().filter(|it| is_wanted(it)) {
            if !is_old(task) {
                moved.recent += 1;
                continue;
            }
            let is_due = |task: &AnyTask| is_wanted(task) && is_old(task);
            match self.store.archive(task.id(), &stamp, is_due) {
                Ok(Archiving::Done) => moved.archived.push(task.id()),
                // Somebody was faster, or has just changed it.
                Ok(Archiving::Already | Archiving::Stays | Archiving::Missing) => {}
                Err(error) => {
                    // What stands is told as done, though it may not be flushed.
                    let found = self.store.task(task.id());
                    if matches!(found, Ok(Some(it)) if it.is_archived) {
                        moved.archived.push(task.id());
                    }
                    moved.failed.push((task.id(), error.into()));
                }
            }
        }
        for id in listing.archived.into_keys() {
            if let Err(error) = self.store.finish_archiving(id) {
                moved.failed.push((id, error.into()));
            }
        }
        Ok(moved)
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
