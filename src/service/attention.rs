//! What needs the caller: work to review, holders that are gone, feedback, withdrawals, messages.
//!
//! Level-triggered: it says what *is*, so an assistant that lost its context is told again. `since`
//! hides what was told up to then.

use std::time::Duration;

use serde::Serialize;

use super::{Attention, Client, Failure, Service, identity::Life, page, view::shortened};
use crate::{
    domain::{
        Action, AgentName, AnyTask, HistoryEntry, Message, MessageId, ProgressLog, Status, TaskId,
        Thread, Timestamp, Transition,
    },
    store::Listing,
};

/// How long before it is seen an event may have been stamped: no honest write takes as long.
const IN_FLIGHT: Duration = Duration::from_secs(15);

/// How many bytes of a result may be attention.
const BYTES: usize = 7_000;

/// Why something needs the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// Work on a task that the caller created has been handed in.
    Review,
    /// Whoever holds a task that the caller created is not running any more.
    HolderGone,
    /// The caller's work has been sent back.
    Revision,
    /// A task of the caller's has been withdrawn.
    Cancelled,
    /// Somebody has said something.
    Message,
}

/// One thing that happened, told apart from all others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Event {
    task: TaskId,
    why: Why,
    version: u64,
    message: Option<MessageId>,
    /// Which life of the holder has ended: it may die, return and die again within one version.
    ended: Option<Life>,
}

/// An event with what is shown of it.
struct Found<'a> {
    event: Event,
    at: Timestamp,
    task: &'a AnyTask,
    message: Option<Message>,
}

/// Whether the result of an action carries the messages on its task.
fn shows_messages(entry: &HistoryEntry) -> bool {
    [Transition::Claim, Transition::Start]
        .map(Action::from)
        .contains(&entry.action)
}

impl Service {
    /// What needs the caller now, and a moment for `since` behind all that it is told.
    pub(super) fn attention(
        &self,
        since: Option<Timestamp>,
        client: &Client,
    ) -> Result<(Vec<Attention>, Timestamp), Failure> {
        let now = self.now();
        let names = self.names(client)?;
        let listing = self.store.list()?;
        let found: Vec<_> = listing
            .tasks
            .iter()
            .filter_map(|task| self.event(task, &names))
            .collect();
        let found: Vec<_> = found
            .into_iter()
            .filter(|it| !self.is_hidden(it, since))
            .collect();
        let events: Vec<_> = found.iter().map(|it| it.event.clone()).collect();
        let views = found.iter().map(|it| self.attention_of(it, &listing));
        let attention = page::fit(views, usize::MAX, BYTES);
        let mut memory = self.memory();
        for event in events.into_iter().take(attention.len()) {
            memory.shown.extend(event.message);
            memory.told.entry(event).or_insert(now);
        }
        Ok((attention, now))
    }

    fn attention_of(&self, found: &Found<'_>, listing: &Listing) -> Attention {
        Attention {
            task: self.summary(found.task, Some(listing)),
            why: found.event.why,
            message: found.message.as_ref().map(shortened),
        }
    }

    /// The most pressing thing about a task, if there is one.
    fn event<'a>(&self, task: &'a AnyTask, names: &[AgentName]) -> Option<Found<'a>> {
        let is_creator = names.contains(task.creator());
        let is_holder = task.assignee().is_some_and(|it| names.contains(it));
        if !is_creator && !is_holder {
            return None;
        }
        let unread = self.unread(task, names);
        let change = task.last_change();
        let by_other = !names.contains(&change.actor);
        let ended = self.ended_holder(task).filter(|_| is_creator);
        let (why, at) = match (task.status(), &ended) {
            (Status::Completed, _) if is_creator => (Why::Review, change.timestamp),
            (Status::RevisionRequested, _) if is_holder => (Why::Revision, change.timestamp),
            (Status::Cancelled, _) if by_other && !self.is_answered(task, change, names) => {
                (Why::Cancelled, change.timestamp)
            }
            // The moment itself nobody knows; it is no older than the last look.
            (_, Some(_)) => (Why::HolderGone, self.now()),
            _ => (Why::Message, unread.as_ref()?.timestamp),
        };
        let at = unread
            .as_ref()
            .map_or(at, |message| at.max(message.timestamp));
        let message_id = unread.as_ref().map(|it| it.id);
        let event = Event {
            task: task.id(),
            why,
            version: change.version,
            message: message_id,
            ended,
        };
        Some(Found {
            event,
            at,
            task,
            message: unread,
        })
    }

    /// The newest message of somebody else that the caller has not seen, as far as that shows: it has said nothing since,
    /// and done nothing that shows messages; or only something else, without having been shown it.
    fn unread(&self, task: &AnyTask, names: &[AgentName]) -> Option<Message> {
        let thread: Thread = self.store.log(task).ok()?;
        let newest = thread
            .messages()
            .last()
            .filter(|it| !names.contains(&it.author))?;
        let log: ProgressLog = self.store.log(task).unwrap_or_default();
        let reports = log.history().iter().filter(|it| names.contains(&it.author));
        let reported = reports
            .map(|it| it.timestamp)
            .any(|at| at > newest.timestamp);
        let mut acts = task
            .history()
            .iter()
            .filter(|it| names.contains(&it.actor) && it.timestamp > newest.timestamp);
        let is_shown = || self.memory().shown.contains(&newest.id);
        let is_seen = reported || acts.any(|it| shows_messages(it) || is_shown());
        (!is_seen).then(|| newest.clone())
    }

    /// Whether the caller has said something on the task since.
    fn is_answered(&self, task: &AnyTask, change: &HistoryEntry, names: &[AgentName]) -> bool {
        let thread: Thread = self.store.log(task).unwrap_or_default();
        let own = thread
            .messages()
            .iter()
            .rev()
            .find(|it| names.contains(&it.author));
        own.is_some_and(|it| it.timestamp > change.timestamp)
    }

    /// What was told is hidden from whoever asks for what came after the telling. What this process has not told, only
    /// an earlier one of its name can have: a moment alone proves nothing for a page that was cut, a file that could
    /// not be read then, or a clock that was set.
    fn is_hidden(&self, found: &Found<'_>, since: Option<Timestamp>) -> bool {
        let Some(since) = since else {
            return false;
        };
        match self.memory().told.get(&found.event) {
            Some(told) => *told <= since,
            None => since < self.started && since.since(found.at) > IN_FLIGHT,
        }
    }
}
