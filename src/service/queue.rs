//! Creating and finding tasks.

use super::{
    Changed, Client, Code, Failure, Filter, Service, TaskPage, WholeTask,
    page::{self, Criteria, PAGE_BYTES},
    view::unreadable,
};
use crate::{
    domain::{AgentName, NewTask, RequestedName, Status, Tag, Task, TaskId, Work},
    store::{Found, Listing},
};

/// The least that a task's history gets of a result, however long the task itself is.
const HISTORY_BYTES: usize = 1_500;

/// What a caller looks for. Names may be `me`.
#[derive(Debug, Default)]
pub(crate) struct Search {
    /// The status.
    pub(crate) status: Filter,
    /// Who holds it.
    pub(crate) assignee: Option<String>,
    /// Who created it.
    pub(crate) creator: Option<String>,
    /// A tag it has.
    pub(crate) tag: Option<Tag>,
    /// A text it mentions.
    pub(crate) text: Option<String>,
    /// How many at the most.
    pub(crate) limit: usize,
    /// The last id of the page before.
    pub(crate) cursor: Option<TaskId>,
}

impl Service {
    /// Creates a task.
    pub(crate) fn create(
        &self,
        work: &Work,
        agent: Option<RequestedName>,
        client: &Client,
    ) -> Result<Changed, Failure> {
        for id in work.after.iter() {
            // A task that cannot be read is there all the same; it blocks until it is mended.
            if matches!(self.store.task(*id), Ok(None)) {
                let text = format!(
                    "after: {}; create that task first",
                    self.not_found(*id).text()
                );
                return Err(Failure::new(Code::NotFound, text));
            }
        }
        let stamp = self.stamp(self.acting(agent, client)?);
        let make = |id| {
            Task::create(
                NewTask {
                    id,
                    work: work.clone(),
                },
                stamp.clone(),
            )
            .into()
        };
        let task = self.store.create(make)?;
        let after = work.after.iter().copied();
        let withdrawn: Vec<_> = after
            .filter(|id| self.status_of(*id, None) == Some(Status::Cancelled))
            .collect();
        let next = format!("it stays blocked by {}", self.waits_for(&withdrawn));
        Ok(Changed {
            task: (&task).into(),
            next: Some(next).filter(|_| !withdrawn.is_empty()),
        })
    }

    /// A page of the tasks that a caller looks for.
    pub(crate) fn find(&self, search: Search, client: &Client) -> Result<TaskPage, Failure> {
        let criteria = Criteria {
            status: search.status,
            assignee: self.among(search.assignee.as_deref(), "assignee", client)?,
            creator: self.among(search.creator.as_deref(), "creator", client)?,
            tag: search.tag,
            text: search.text.map(|it| it.to_lowercase()),
        };
        let listing = self.store.list()?;
        let found: Vec<_> = listing
            .tasks
            .iter()
            .filter(|it| criteria.take(it))
            .collect();
        let page: Vec<_> = found
            .iter()
            .filter(|it| search.cursor.is_none_or(|cursor| it.id() > cursor))
            .collect();
        let unreadable = match search.cursor {
            None => unreadable(&listing.unreadable),
            Some(_) => Vec::new(),
        };
        let room = PAGE_BYTES.saturating_sub(400 + page::size_of(&unreadable));
        let views = page.iter().map(|it| self.summary(it, Some(&listing)));
        let tasks = page::fit(views, search.limit, room);
        let is_last = tasks.len() == page.len();
        Ok(TaskPage {
            next_cursor: tasks.last().map(|it| it.id).filter(|_| !is_last),
            total: found.len(),
            counts: counts(&listing),
            you: self.identity.taken().into_iter().next(),
            next: listing.is_empty().then(|| self.nothing_here()),
            unreadable,
            tasks,
        })
    }

    /// One task, with the newest lines of its history.
    pub(crate) fn get(&self, id: TaskId, history_limit: usize) -> Result<WholeTask, Failure> {
        let Found { task, is_archived } = self.look_up(id)?;
        let mut view = self.work_order(&task);
        view.archived = is_archived;
        let room = PAGE_BYTES
            .saturating_sub(page::size_of(&view))
            .max(HISTORY_BYTES);
        let newest = task.history().iter().rev().cloned();
        let mut history = page::fit(newest, history_limit, room);
        history.reverse();
        view.history = Some(history);
        Ok(WholeTask {
            task: view,
            history_total: task.history().len(),
        })
    }

    /// What an empty queue may mean.
    pub(super) fn nothing_here(&self) -> String {
        let directory = self.directory();
        format!(
            "there are no tasks in {directory}; if others see some, compare `ai-coord-mcp where` on both sides"
        )
    }

    /// The name that a caller acts under: the one asked for, else the process's own.
    pub(super) fn acting(
        &self,
        agent: Option<RequestedName>,
        client: &Client,
    ) -> Result<AgentName, Failure> {
        match agent {
            Some(name) => self
                .identity
                .further(name.into_name(), &self.store, &self.clock, client),
            None => Ok(self
                .names(client)?
                .into_iter()
                .next()
                .unwrap_or_else(super::Identity::nameless)),
        }
    }

    /// The names that a filter means.
    fn among(
        &self,
        name: Option<&str>,
        field: &str,
        client: &Client,
    ) -> Result<Option<Vec<AgentName>>, Failure> {
        let Some(name) = name else { return Ok(None) };
        if name.trim() == AgentName::ME {
            return self.names(client).map(Some);
        }
        match RequestedName::try_from(name.to_owned()) {
            Ok(name) => Ok(Some(vec![name.into_name()])),
            Err(error) => Err(Failure::new(
                Code::InvalidArguments,
                format!("{field}: {error}"),
            )),
        }
    }
}

/// How many tasks there are in each status that has any, and in the archive.
fn counts(listing: &Listing) -> serde_json::Map<String, serde_json::Value> {
    let tasks = listing.tasks.iter();
    let count = |status| tasks.clone().filter(|it| it.status() == status).count();
    let each = Status::ALL
        .into_iter()
        .map(|status| (status.to_string(), count(status)))
        .chain([("archived".to_owned(), listing.archived.len())]);
    each.filter(|(_, count)| *count > 0)
        .map(|(status, count)| (status, count.into()))
        .collect()
}
