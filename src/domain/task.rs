//! [`Task`] and the one function that moves it from state to state.
//!
//! The fields are private to this file and its child `record`, so no transition can be written without
//! `Task::advance`, and that one never forgets the version and the history.

mod record;

use serde::{Deserialize, Serialize};

use super::{
    Action, AgentName, Assigned, Bounded, Description, DirectoryPath, ExpectedOutput, FilePath,
    Metadata, Note, OutboxEntry, Pending, State, Status, Tag, TaskId, Timestamp, Title, Transition,
    present::present,
};

pub use record::RecordError;

/// A task in state `S`.
///
/// Not `Clone`: a transition consumes it. Not `Deserialize`: what a file holds is an [`AnyTask`](super::AnyTask).
#[derive(Debug)]
#[must_use = "a transition does nothing until the task that it returns is stored"]
pub struct Task<S: State> {
    pub(super) common: Common,
    state: S,
}

/// What every task has, whatever its state.
#[derive(Debug)]
pub(super) struct Common {
    id: TaskId,
    creator: AgentName,
    work: Work,
    /// In this order, never empty: the first entry is the creation.
    history: Vec<HistoryEntry>,
    outbox: Vec<OutboxEntry>,
}

/// What is to be done: set by the creator, never changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// What the task is called.
    pub title: Title,
    /// What is to be done.
    pub description: Description,
    /// When it counts as done.
    pub expected_output: Option<ExpectedOutput>,
    /// The tasks that have to be approved first.
    pub after: Bounded<TaskId, 64>,
    /// Words that group tasks.
    pub tags: Bounded<Tag, 32>,
    /// Files to look at.
    pub files: Bounded<FilePath, 256>,
    /// Where the work is to be done.
    pub working_directory: Option<DirectoryPath>,
    /// The creator's own.
    pub metadata: Metadata,
}

/// What a caller gives to create a task.
#[derive(Clone, Debug)]
pub struct NewTask {
    /// The number that was given out for it.
    pub id: TaskId,
    /// What is to be done.
    pub work: Work,
}

/// Who does something, and when. The domain has no clock of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The acting agent.
    pub actor: AgentName,
    /// The moment; a transition moves it behind the task's last change if the clock was set back.
    pub at: Timestamp,
}

impl From<Stamp> for Timestamp {
    fn from(stamp: Stamp) -> Self {
        stamp.at
    }
}

/// One line of a task's audit trail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HistoryEntry {
    /// The task's version after the action: 1, 2, 3, ….
    pub version: u64,
    /// When it was.
    pub timestamp: Timestamp,
    /// Who did it.
    pub actor: AgentName,
    /// What was done.
    pub action: Action,
    /// The status before; none at the creation.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub from: Option<Status>,
    /// The status after.
    pub to: Status,
    /// The summary, feedback, reason or note that was given.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub note: Option<Note>,
    /// Whether the approval is the assignee's own, of a task that it had created itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub self_approved: bool,
}

impl Task<Pending> {
    /// Opens a task: the only way to a `Task` that does not start from one.
    pub fn create(new: NewTask, stamp: Stamp) -> Self {
        let NewTask { id, work } = new;
        let creation = HistoryEntry {
            version: 1,
            timestamp: stamp.at,
            actor: stamp.actor.clone(),
            action: Action::Create,
            from: None,
            to: Status::Pending,
            note: None,
            self_approved: false,
        };
        let common = Common {
            id,
            creator: stamp.actor,
            work,
            history: vec![creation],
            outbox: Vec::new(),
        };
        Self {
            common,
            state: Pending {},
        }
    }
}

impl<S: State> Task<S> {
    /// The task's id.
    pub fn id(&self) -> TaskId {
        self.common.id
    }

    /// Who created the task.
    pub fn creator(&self) -> &AgentName {
        &self.common.creator
    }

    /// How often the task has changed, from 1.
    pub fn version(&self) -> u64 {
        self.common.version()
    }

    /// The audit trail, oldest first.
    pub fn history(&self) -> &[HistoryEntry] {
        &self.common.history
    }

    /// The data of the state.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Who holds the task: no `Option`, for in such a state somebody does.
    pub fn assignee(&self) -> &AgentName
    where
        S: Assigned,
    {
        self.state.assignee()
    }

    /// Moves to state `T`: the only constructor of a task from a task.
    pub(super) fn advance<T: State>(
        self,
        action: impl Into<Action>,
        stamp: Stamp,
        note: Option<Note>,
        next: impl FnOnce(S) -> T,
    ) -> Task<T> {
        let Self { mut common, state } = self;
        let action = action.into();
        let self_approved =
            action == Transition::Approve.into() && state.facts().assignee == Some(&stamp.actor);
        common.history.push(HistoryEntry {
            version: common.version() + 1,
            timestamp: stamp.at.following(Some(common.last().timestamp)),
            actor: stamp.actor,
            action,
            from: Some(S::STATUS),
            to: T::STATUS,
            note,
            self_approved,
        });
        Task {
            common,
            state: next(state),
        }
    }
}

impl Common {
    pub(super) fn id(&self) -> TaskId {
        self.id
    }

    pub(super) fn creator(&self) -> &AgentName {
        &self.creator
    }

    pub(super) fn work(&self) -> &Work {
        &self.work
    }

    pub(super) fn history(&self) -> &[HistoryEntry] {
        &self.history
    }

    pub(super) fn version(&self) -> u64 {
        self.last().version
    }

    pub(super) fn first(&self) -> &HistoryEntry {
        self.history
            .first()
            .expect("a task begins with its creation")
    }

    pub(super) fn last(&self) -> &HistoryEntry {
        self.history
            .last()
            .expect("a task begins with its creation")
    }

    pub(super) fn outbox(&self) -> &[OutboxEntry] {
        &self.outbox
    }

    pub(super) fn outbox_mut(&mut self) -> &mut Vec<OutboxEntry> {
        &mut self.outbox
    }
}
