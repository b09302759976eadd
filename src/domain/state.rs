//! The statuses: as a value ([`Status`]) and as types, each of which owns the data that exists only in it.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};

use super::{AgentName, Note, Submission};

/// A status as a value: the run-time twin of the types in this module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nobody has taken the task.
    Pending,
    /// Taken, not begun.
    Claimed,
    /// Being worked on.
    InProgress,
    /// Handed in, waiting for review.
    Completed,
    /// Accepted.
    Approved,
    /// Sent back by the reviewer.
    RevisionRequested,
    /// Withdrawn.
    Cancelled,
}

impl Status {
    /// Every status, in the order of the lifecycle.
    pub const ALL: [Self; 7] = [
        Self::Pending,
        Self::Claimed,
        Self::InProgress,
        Self::Completed,
        Self::Approved,
        Self::RevisionRequested,
        Self::Cancelled,
    ];

    /// The status as files and results spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Claimed => "claimed",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Approved => "approved",
            Self::RevisionRequested => "revision_requested",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether work remains: neither approved nor cancelled.
    pub const fn is_active(self) -> bool {
        !matches!(self, Self::Approved | Self::Cancelled)
    }

    /// Whether somebody holds the task and has not handed it in.
    pub const fn is_held(self) -> bool {
        matches!(
            self,
            Self::Claimed | Self::InProgress | Self::RevisionRequested
        )
    }
}

impl Serialize for Status {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// By hand, because a derived reader takes `{"claimed": null}` for `"claimed"`.
impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;

        impl Visitor<'_> for Name {
            type Value = Status;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a status")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<Status, E> {
                let known = Status::ALL.into_iter().find(|it| it.as_str() == name);
                known.ok_or_else(|| {
                    let all = Status::ALL.map(|it| format!("`{it}`")).join(", ");
                    E::custom(format!("unknown variant `{name}`, expected one of {all}"))
                })
            }
        }

        deserializer.deserialize_str(Name)
    }
}

impl schemars::JsonSchema for Status {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Status".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "enum": Self::ALL.map(Self::as_str) })
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Work that was handed in and sent back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rework {
    /// What the reviewer wants changed.
    pub feedback: Note,
    /// What had been handed in.
    pub submission: Submission,
}

/// What a state knows, for those who meet it only at run time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Who holds the task, or held it when it was withdrawn.
    pub assignee: Option<&'a AgentName>,
    /// What the reviewer wants changed.
    pub feedback: Option<&'a Note>,
    /// What was handed in last.
    pub submission: Option<&'a Submission>,
    /// Why the task was withdrawn.
    pub reason: Option<&'a Note>,
}

/// A status as a type. Sealed: the seven structs here are all there will be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no state of a task",
    label = "not one of the seven states",
    note = "the states are `Pending`, `Claimed`, `InProgress`, `Completed`, `Approved`, `RevisionRequested` and `Cancelled`"
)]
pub trait State: sealed::Sealed {
    /// The status as a value.
    const STATUS: Status;

    /// The data of this state.
    fn facts(&self) -> Facts<'_>;
}

/// A state in which an agent holds the task or has handed it in.
#[diagnostic::on_unimplemented(
    message = "a task in state `{Self}` has no assignee",
    label = "nobody need hold a task in this state",
    note = "`claim` the task first: `Claimed`, `InProgress`, `Completed`, `Approved` and `RevisionRequested` have an assignee"
)]
pub trait Assigned: State {
    /// Who it is.
    fn assignee(&self) -> &AgentName;

    /// Takes the holder out for the next state to keep, with what was sent back to it.
    fn into_holder(self) -> (AgentName, Option<Rework>);
}

/// A state in which work has been handed in and not been sent back.
#[diagnostic::on_unimplemented(
    message = "a task in state `{Self}` has no work to review",
    label = "nothing is handed in in this state",
    note = "`complete` the task first: `Completed` and `Approved` have a submission"
)]
pub trait Submitted: Assigned {
    /// Takes the work out for the next state to keep.
    fn into_submission(self) -> (AgentName, Submission);
}

macro_rules! states {
    ($($(#[$meta:meta])* $name:ident { $($field:ident: $type:ty),* } => $facts:expr;)*) => {$(
        $(#[$meta])*
        #[derive(Debug)]
        pub struct $name { $(pub(super) $field: $type),* }

        #[diagnostic::do_not_recommend]
        impl sealed::Sealed for $name {}

        #[diagnostic::do_not_recommend]
        impl State for $name {
            const STATUS: Status = Status::$name;

            fn facts(&self) -> Facts<'_> {
                let facts: fn(&Self) -> Facts<'_> = $facts;
                facts(self)
            }
        }
    )*};
}

states! {
    /// Nobody has taken the task.
    #[non_exhaustive]
    Pending {} => |_| Facts::default();
    /// Taken, not begun.
    Claimed { assignee: AgentName } => |it| Facts { assignee: Some(&it.assignee), ..Facts::default() };
    /// Being worked on, for the first time or again.
    InProgress { assignee: AgentName, rework: Option<Rework> } => |it| Facts {
        assignee: Some(&it.assignee),
        feedback: it.rework.as_ref().map(|it| &it.feedback),
        submission: it.rework.as_ref().map(|it| &it.submission),
        reason: None,
    };
    /// Handed in, waiting for review.
    Completed { assignee: AgentName, submission: Submission } => |it| Facts {
        assignee: Some(&it.assignee),
        submission: Some(&it.submission),
        ..Facts::default()
    };
    /// Accepted.
    Approved { assignee: AgentName, submission: Submission } => |it| Facts {
        assignee: Some(&it.assignee),
        submission: Some(&it.submission),
        ..Facts::default()
    };
    /// Sent back by the reviewer.
    RevisionRequested { assignee: AgentName, rework: Rework } => |it| Facts {
        assignee: Some(&it.assignee),
        feedback: Some(&it.rework.feedback),
        submission: Some(&it.rework.submission),
        reason: None,
    };
    /// Withdrawn; whoever held the task still has to learn of it.
    Cancelled { assignee: Option<AgentName>, reason: Option<Note> } => |it| Facts {
        assignee: it.assignee.as_ref(),
        reason: it.reason.as_ref(),
        ..Facts::default()
    };
}

macro_rules! assigned {
    ($($name:ident: $rework:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Assigned for $name {
            fn assignee(&self) -> &AgentName {
                &self.assignee
            }

            fn into_holder(self) -> (AgentName, Option<Rework>) {
                let rework: fn(Self) -> (AgentName, Option<Rework>) = $rework;
                rework(self)
            }
        }
    )*};
}

assigned! {
    Claimed: |it| (it.assignee, None);
    InProgress: |it| (it.assignee, it.rework);
    Completed: |it| (it.assignee, None);
    Approved: |it| (it.assignee, None);
    RevisionRequested: |it| (it.assignee, Some(it.rework));
}

macro_rules! submitted {
    ($($name:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Submitted for $name {
            fn into_submission(self) -> (AgentName, Submission) {
                (self.assignee, self.submission)
            }
        }
    )*};
}

submitted! { Completed Approved }

mod sealed {
    /// Keeps other crates from adding states.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be made a state of a task",
        label = "the lifecycle takes no states from outside",
        note = "a new status is a variant of `Status`, a struct beside `Pending` and rows of the transitions table"
    )]
    pub trait Sealed {}
}
