//! Every transition: what it does, once; from where and by whom, once, in the table at the end of this file.
//!
//! The bound that says from where sits on the method, not on the `impl`: only then does the compiler find the method,
//! fail on the bound, and print the message that the capability trait carries.

mod table;

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{
    AgentName, AnyTask, Approved, Assigned, Cancelled, Claimed, Completed, InProgress, Note,
    Pending, RevisionRequested, Rework, Stamp, State, Status, Submission, Submitted, Task,
    Timestamp,
};

pub use table::Transition;

impl<S: State> Task<S> {
    /// Takes the task for whoever acts.
    pub fn claim(self, stamp: Stamp) -> Task<Claimed>
    where
        S: Claimable,
    {
        let assignee = stamp.actor.clone();
        self.advance(Transition::Claim, stamp, None, |_| Claimed { assignee })
    }

    /// Begins the assignee's work, or begins it again after a review.
    pub fn start(self, at: Timestamp) -> Task<InProgress>
    where
        S: Startable,
    {
        let stamp = self.assignees(at);
        self.advance(Transition::Start, stamp, None, |state| {
            let (assignee, rework) = state.into_holder();
            InProgress { assignee, rework }
        })
    }

    /// Hands the assignee's work in.
    pub fn complete(self, at: Timestamp, submission: Submission) -> Task<Completed>
    where
        S: Completable,
    {
        let stamp = self.assignees(at);
        let note = submission.summary.clone();
        self.advance(Transition::Complete, stamp, note, |state| {
            let (assignee, _) = state.into_holder();
            Completed {
                assignee,
                submission,
            }
        })
    }

    /// Accepts the work.
    ///
    /// # Errors
    ///
    /// [`OwnWork`] where the assignee acts, unless it created the task itself: then there is nobody else to ask.
    pub fn approve(self, stamp: Stamp, note: Option<Note>) -> Result<Task<Approved>, OwnWork<S>>
    where
        S: Approvable,
    {
        let task = self.reviewed(Transition::Approve, &stamp)?;
        Ok(task.advance(Transition::Approve, stamp, note, |state| {
            let (assignee, submission) = state.into_submission();
            Approved {
                assignee,
                submission,
            }
        }))
    }

    /// Sends the work back.
    ///
    /// # Errors
    ///
    /// [`OwnWork`] where the assignee acts.
    pub fn request_revision(
        self,
        stamp: Stamp,
        feedback: Note,
    ) -> Result<Task<RevisionRequested>, OwnWork<S>>
    where
        S: Returnable,
    {
        let task = self.reviewed(Transition::RequestRevision, &stamp)?;
        Ok(task.advance(
            Transition::RequestRevision,
            stamp,
            Some(feedback.clone()),
            |state| {
                let (assignee, submission) = state.into_submission();
                RevisionRequested {
                    assignee,
                    rework: Rework {
                        feedback,
                        submission,
                    },
                }
            },
        ))
    }

    /// Withdraws the task.
    pub fn cancel(self, stamp: Stamp, reason: Option<Note>) -> Task<Cancelled>
    where
        S: Cancellable,
    {
        self.advance(Transition::Cancel, stamp, reason.clone(), |state| {
            let assignee = state.facts().assignee.cloned();
            Cancelled { assignee, reason }
        })
    }

    /// Puts the task back for anyone to claim.
    pub fn reopen(self, stamp: Stamp, reason: Option<Note>) -> Task<Pending>
    where
        S: Reopenable,
    {
        self.advance(Transition::Reopen, stamp, reason, |_| Pending {})
    }

    /// Brings the task back from the archive, as it was.
    pub fn restore(self, stamp: Stamp) -> Self
    where
        S: Archivable,
    {
        self.advance(Action::Restore, stamp, None, |state| state)
    }

    fn assignees(&self, at: Timestamp) -> Stamp
    where
        S: Assigned,
    {
        Stamp {
            actor: self.assignee().clone(),
            at,
        }
    }

    fn reviewed(self, transition: Transition, stamp: &Stamp) -> Result<Self, OwnWork<S>>
    where
        S: Assigned,
    {
        let authority = transition.authority();
        if authority.admits(&stamp.actor, Some(self.assignee()), self.creator()) {
            Ok(self)
        } else {
            Err(OwnWork(Box::new(self)))
        }
    }
}

/// The assignee tried to review its own work. Holds the task, which is as it was.
#[derive(Debug)]
pub struct OwnWork<S: State>(Box<Task<S>>);

impl<S: State> OwnWork<S> {
    /// The task.
    pub fn into_task(self) -> Task<S> {
        *self.0
    }
}

/// A state from which a task can be claimed.
#[diagnostic::on_unimplemented(
    message = "a task in state `{Self}` cannot be claimed",
    label = "`claim` takes a `Pending` task",
    note = "a task that is held is free again after `cancel` and `reopen`, one that is handed in or over after `reopen`"
)]
pub trait Claimable: State {}

/// A state from which work can begin.
#[diagnostic::on_unimplemented(
    message = "work on a task in state `{Self}` cannot start",
    label = "`start` takes a `Claimed` or `RevisionRequested` task",
    note = "`claim` a pending task first; one in progress has been started and only reports progress",
    note = "completed work is begun again after `request_revision`, an approved or cancelled task after `reopen` and `claim`"
)]
pub trait Startable: Assigned {}

/// A state from which work can be handed in.
#[diagnostic::on_unimplemented(
    message = "a task in state `{Self}` cannot be completed",
    label = "`complete` takes a `Claimed`, `InProgress` or `RevisionRequested` task",
    note = "`claim` a pending task first, so that the work has an author",
    note = "completed work is handed in again after `request_revision`, an approved or cancelled task after `reopen` and `claim`"
)]
pub trait Completable: Assigned {}

/// A state in which work can be accepted.
#[diagnostic::on_unimplemented(
    message = "a task in state `{Self}` cannot be approved",
    label = "`approve` takes a `Completed` task",
    note = "its holder calls `complete` first, so that there is work to review; an approved or cancelled task is over"
)]
pub trait Approvable: Submitted {}

/// A state in which work can be sent back.
#[diagnostic::on_unimplemented(
    message = "no revision of a task in state `{Self}` can be requested",
    label = "`request_revision` takes a `Completed` task",
    note = "its holder calls `complete` first, so that there is work to review; an approved or cancelled task can only be reopened"
)]
pub trait Returnable: Submitted {}

/// A state from which a task can be withdrawn.
#[diagnostic::on_unimplemented(
    message = "a task in state `{Self}` cannot be cancelled",
    label = "`cancel` takes a `Pending`, `Claimed`, `InProgress` or `RevisionRequested` task",
    note = "completed work is approved, or sent back with `request_revision` first; an approved or cancelled task is over"
)]
pub trait Cancellable: State {}

/// A state from which a task can be put back.
#[diagnostic::on_unimplemented(
    message = "a task in state `{Self}` cannot be reopened",
    label = "`reopen` takes a `Completed`, `Approved` or `Cancelled` task",
    note = "a pending task is open already; one that is held is taken from its holder with `cancel` first"
)]
pub trait Reopenable: State {}

/// A state in which nothing is left to be done.
#[diagnostic::on_unimplemented(
    message = "a task in state `{Self}` cannot have been in the archive",
    label = "`restore` takes an `Approved` or `Cancelled` task",
    note = "only what is over is archived: `approve` work that is handed in, `cancel` what should not be done"
)]
pub trait Archivable: State {}

/// Who may do something to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Authority {
    /// Everybody.
    Anyone,
    /// The one who holds it.
    Assignee,
    /// Everybody but the one who holds it.
    Reviewer,
    /// As `Reviewer`, and the one who holds it if it created the task too.
    ReviewerOrOwner,
}

impl Authority {
    /// Whether `actor` may.
    pub fn admits(
        self,
        actor: &AgentName,
        assignee: Option<&AgentName>,
        creator: &AgentName,
    ) -> bool {
        let is_assignee = assignee == Some(actor);
        match self {
            Self::Anyone => true,
            Self::Assignee => is_assignee,
            Self::Reviewer => !is_assignee,
            Self::ReviewerOrOwner => !is_assignee || creator == actor,
        }
    }
}

/// What a line of the audit trail records: the creation, a transition, or the return from the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The task was created.
    Create,
    /// It moved.
    Move(Transition),
    /// It came back from the archive, as it was.
    Restore,
}

impl Action {
    /// The action as files and results spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Move(transition) => transition.name(),
            Self::Restore => "restore",
        }
    }
}

impl From<Transition> for Action {
    fn from(transition: Transition) -> Self {
        Self::Move(transition)
    }
}

impl Serialize for Action {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Action {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for Action {
    type Err = UnknownAction;

    fn from_str(text: &str) -> Result<Self, UnknownAction> {
        let moves = Transition::ALL.iter().copied().map(Self::Move);
        let mut all = [Self::Create, Self::Restore].into_iter().chain(moves);
        all.find(|it| it.as_str() == text)
            .ok_or_else(|| UnknownAction(text.to_owned()))
    }
}

/// The text names no action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no action of the lifecycle")]
pub struct UnknownAction(String);

/// A transition that was asked for and is not to be had. Holds the task, which is as it was.
#[derive(Debug)]
pub struct Refused {
    /// The task.
    pub task: Box<AnyTask>,
    /// What was asked for.
    pub transition: Transition,
    /// Why it is not to be had.
    pub denial: Denial,
}

/// Why a transition is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// Its status does not allow it.
    Status,
    /// Only the assignee may.
    NotAssignee,
    /// The assignee may not.
    NotReviewer,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (id, tool) = (self.task.id(), self.transition.tool());
        match self.denial {
            Denial::Status => {
                let takes: Vec<_> = Transition::taken_by(tool)
                    .into_iter()
                    .map(Status::as_str)
                    .collect();
                write!(
                    f,
                    "{id} is {}; {tool} takes {}",
                    self.task.status(),
                    takes.join(", ")
                )
            }
            Denial::NotAssignee => {
                write!(f, "{id} is held by somebody else; {tool} is its holder's")
            }
            Denial::NotReviewer => write!(f, "{id} is your own work; {tool} is a reviewer's"),
        }
    }
}

impl std::error::Error for Refused {}
