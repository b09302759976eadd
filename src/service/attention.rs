//! What needs the caller: work to review, holders that are gone, feedback, withdrawals, messages.
//!
//! Level-triggered: it says what *is*, so an assistant that lost its context is told again. `since`
//! hides what is older. A moment proves little, though: an event may be stamped before it is written,
//! so one that is only just older is hidden only if this process has told it already.

use std::time::Duration;

use serde::Serialize;

use super::{Attention, Client, Failure, Service, identity::Life, page};
use crate::{
    domain::{
        AgentName, AnyTask, HistoryEntry, Message, MessageId, ProgressLog, Status, TaskId, Thread,
        Timestamp,
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
        let events: Vec<_> = found.iter().map(|it| (it.event.clone(), it.at)).collect();
        let views = found.into_iter().map(|it| self.attention_of(it, &listing));
        let attention = page::fit(views, usize::MAX, BYTES);
        let told = events.into_iter().take(attention.len());
        let (events, moments): (Vec<_>, Vec<_>) = told.unzip();
        self.memory().reported.extend(events);
        // Stamps run ahead of a clock that stands still.
        Ok((attention, moments.into_iter().fold(now, Timestamp::max)))
    }

    fn attention_of(&self, found: Found<'_>, listing: &Listing) -> Attention {
        Attention {
            task: self.summary(found.task, Some(listing)),
            why: found.event.why,
            message: found.message,
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
            (_, Some(life)) => (Why::HolderGone, self.gone_since(task, life)),
            _ => (Why::Message, unread.as_ref()?.timestamp),
        };
        let at = unread
            .as_ref()
            .map_or(at, |message| at.max(message.timestamp));
        let message_id = unread.as_ref().map(|it| it.id);
        let event = Event {
            task: task.id(),
            why,
            version: task.version(),
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

    /// The newest message of somebody else that came after the caller's last word or action on the task.
    fn unread(&self, task: &AnyTask, names: &[AgentName]) -> Option<Message> {
        let thread: Thread = self.store.log(task).ok()?;
        let newest = thread
            .messages()
            .last()
            .filter(|it| !names.contains(&it.author))?;
        let acted = task
            .history()
            .iter()
            .rev()
            .find(|it| names.contains(&it.actor));
        let log: ProgressLog = self.store.log(task).unwrap_or_default();
        let reported = log
            .history()
            .iter()
            .rev()
            .find(|it| names.contains(&it.author));
        let last = acted
            .map(|it| it.timestamp)
            .max(reported.map(|it| it.timestamp));
        last.is_none_or(|last| newest.timestamp > last)
            .then(|| newest.clone())
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

    /// When this process first saw that this life of the holder has ended: the moment itself nobody knows.
    fn gone_since(&self, task: &AnyTask, life: &Life) -> Timestamp {
        let now = self.now();
        let key = (task.id(), life.clone());
        *self.memory().gone_since.entry(key).or_insert(now)
    }

    fn is_hidden(&self, found: &Found<'_>, since: Option<Timestamp>) -> bool {
        let Some(since) = since.filter(|since| found.at <= *since) else {
            return false;
        };
        since.since(found.at) > IN_FLIGHT || self.memory().reported.contains(&found.event)
    }
}
