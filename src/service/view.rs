//! From a task to what a caller sees of it.

use super::{Service, TaskView, UnreadableView, error::code_of, identity::Life, page};
use crate::{
    domain::{
        AgentName, AnyTask, Content, Message, ProgressLog, Status, TaskId, Thread, Timestamp,
    },
    store::{Listing, Log, StoreError, Unreadable, one_line},
};

/// At most this many messages ride on another result, of this many bytes together.
const RIDING: (usize, usize) = (5, 2_000);

/// At most this many bytes of one such message are its text.
const RIDING_MESSAGE: usize = 1_500;

/// At most this many unreadable files are listed.
const UNREADABLE: usize = 10;

impl Service {
    /// A task in a list.
    pub(super) fn summary(&self, task: &AnyTask, listing: Option<&Listing>) -> TaskView {
        let progress: ProgressLog = self.store.log(task).unwrap_or_default();
        let newest = progress.history().last().map(|it| it.timestamp);
        let active_at = newest.map_or(task.updated_at(), |it| it.max(task.updated_at()));
        let claim = task.claimed().map(|it| it.version);
        let work = task.work();
        TaskView {
            id: task.id(),
            title: work.title.to_string(),
            status: task.status(),
            archived: false,
            version: task.version(),
            creator: task.creator().clone(),
            assignee: task.assignee().cloned(),
            holder_gone: self.holder_gone(task),
            blocked_by: self.blocked_by(task, listing),
            tags: work.tags.iter().map(ToString::to_string).collect(),
            created_at: task.created_at(),
            updated_at: task.updated_at(),
            idle_seconds: self.now().since(active_at).as_secs(),
            percent: progress.percent(claim),
            expected_output: None,
            files: None,
            working_directory: None,
            metadata: None,
            after: None,
            feedback: None,
            submission: None,
            description: None,
            history: None,
        }
    }

    /// A task for the one who works on it.
    pub(super) fn work_order(&self, task: &AnyTask) -> TaskView {
        let (work, facts) = (task.work(), task.facts());
        TaskView {
            expected_output: work.expected_output.as_ref().map(ToString::to_string),
            files: Some(work.files.iter().map(ToString::to_string).collect()),
            working_directory: work.working_directory.as_ref().map(ToString::to_string),
            metadata: Some(work.metadata.clone()),
            after: Some(work.after.to_vec()),
            feedback: facts.feedback.cloned(),
            submission: facts.submission.cloned(),
            description: Some(work.description.to_string()),
            ..self.summary(task, None)
        }
    }

    /// Whether somebody holds the task and no living process goes by that name.
    pub(super) fn holder_gone(&self, task: &AnyTask) -> bool {
        self.ended_holder(task).is_some()
    }

    /// The process that held the task and has ended.
    pub(super) fn ended_holder(&self, task: &AnyTask) -> Option<Life> {
        let holder = task.assignee().filter(|_| task.status().is_held())?;
        self.identity.ended(holder, &self.store)
    }

    /// The tasks that have to be approved before this one can be claimed.
    pub(super) fn blocked_by(&self, task: &AnyTask, listing: Option<&Listing>) -> Vec<TaskId> {
        if task.status() != Status::Pending {
            return Vec::new();
        }
        let after = task.work().after.iter().copied();
        after
            .filter(|id| self.status_of(*id, listing) != Some(Status::Approved))
            .collect()
    }

    /// A task's status; none if it is gone or cannot be read.
    pub(super) fn status_of(&self, id: TaskId, listing: Option<&Listing>) -> Option<Status> {
        match listing {
            Some(listing) => listing.status(id),
            None => self.store.status(id).ok().flatten(),
        }
    }

    /// The newest messages of others that ride on another result, oldest first.
    pub(super) fn riding(
        thread: &Thread,
        me: &[AgentName],
        after: Option<Timestamp>,
    ) -> Vec<Message> {
        let newest = thread.messages().iter().rev();
        let others = newest
            .take_while(|it| after.is_none_or(|after| it.timestamp > after))
            .filter(|it| !me.contains(&it.author))
            .map(shortened);
        let (limit, bytes) = RIDING;
        let mut riding = page::fit(others, limit, bytes);
        riding.reverse();
        riding
    }

    /// A log for another result. One that cannot be read is noted there.
    pub(super) fn log_or_note<L: Log>(
        &self,
        task: &AnyTask,
        unreadable: &mut Vec<UnreadableView>,
    ) -> L {
        self.store.log(task).unwrap_or_else(|error| {
            unreadable.push(UnreadableView::new(task.id(), &error));
            L::default()
        })
    }
}

/// The message, cut where it would take the room of others; `get_messages` has it whole.
pub(super) fn shortened(message: &Message) -> Message {
    const CUT: &str = "… (cut here; get_messages has it whole)";
    let mut message = message.clone();
    let mut text = message.content.to_string();
    // Escapes make JSON longer than its text, so by what it takes and not by what it says.
    while page::size_of(&text) > RIDING_MESSAGE {
        let length = text.chars().count() / 2;
        text = text.chars().take(length).collect();
    }
    if text.len() < message.content.as_str().len()
        && let Ok(content) = Content::try_from(text + CUT)
    {
        message.content = content;
    }
    message
}

impl UnreadableView {
    fn new(id: TaskId, error: &StoreError) -> Self {
        Self {
            id,
            code: code_of(error).as_str(),
            reason: one_line(&error.to_string()).chars().take(300).collect(),
        }
    }
}

/// The files that could not be read, as far as they are shown.
pub(super) fn unreadable(files: &[Unreadable]) -> Vec<UnreadableView> {
    let view = |it: &Unreadable| UnreadableView::new(it.id, &it.error);
    files.iter().take(UNREADABLE).map(view).collect()
}
