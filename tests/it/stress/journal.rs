//! What was asked of the servers, and what they answered: what the checks hold against the files.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

/// The tools that change something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Tool {
    Create,
    Claim,
    ClaimNext,
    Report,
    Complete,
    Approve,
    RequestRevision,
    Cancel,
    Reopen,
    Post,
}

/// A place in which the text of a call shows up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Trace {
    Title,
    Note,
    Message,
    Progress,
}

impl Tool {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Create => "create_task",
            Self::Claim => "claim_task",
            Self::ClaimNext => "claim_next_task",
            Self::Report => "update_progress",
            Self::Complete => "complete_task",
            Self::Approve => "approve_task",
            Self::RequestRevision => "request_revision",
            Self::Cancel => "cancel_task",
            Self::Reopen => "reopen_task",
            Self::Post => "post_message",
        }
    }

    /// The argument that takes a text of the caller's own.
    pub(super) const fn text_argument(self) -> Option<&'static str> {
        match self {
            Self::Create => Some("title"),
            Self::Claim | Self::ClaimNext => None,
            Self::Report => Some("notes"),
            Self::Complete => Some("summary"),
            Self::Approve => Some("note"),
            Self::RequestRevision => Some("feedback"),
            Self::Cancel | Self::Reopen => Some("reason"),
            Self::Post => Some("content"),
        }
    }

    /// Where that text is found afterwards, once in each.
    pub(super) const fn traces(self) -> &'static [Trace] {
        match self {
            Self::Create => &[Trace::Title],
            Self::Claim | Self::ClaimNext => &[],
            Self::Report => &[Trace::Progress],
            Self::RequestRevision => &[Trace::Note, Trace::Message],
            Self::Complete | Self::Approve | Self::Cancel | Self::Reopen => &[Trace::Note],
            Self::Post => &[Trace::Message],
        }
    }

    /// The action of the history entry that always comes of it.
    pub(super) const fn action(self) -> Option<&'static str> {
        match self {
            Self::Complete => Some("complete"),
            Self::Approve => Some("approve"),
            Self::RequestRevision => Some("request_revision"),
            Self::Cancel => Some("cancel"),
            Self::Reopen => Some("reopen"),
            Self::Create | Self::Claim | Self::ClaimNext | Self::Report | Self::Post => None,
        }
    }
}

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) by: String,
    pub(super) tool: Tool,
    /// The task that it names.
    pub(super) task: Option<String>,
    /// A text that no other call has.
    pub(super) text: Option<String>,
    pub(super) fate: Fate,
}

/// What became of a call, as far as its caller knows.
#[derive(Clone, Debug)]
pub(super) enum Fate {
    /// Acknowledged, with this result.
    Answered(Value),
    /// Refused with `code: text`: nothing has happened.
    Refused(String),
    /// The server ended before it answered: it has happened once, or not at all.
    Lost,
}

impl Fate {
    pub(super) const fn answer(&self) -> Option<&Value> {
        match self {
            Self::Answered(answer) => Some(answer),
            Self::Refused(_) | Self::Lost => None,
        }
    }

    pub(super) const fn may_have_happened(&self) -> bool {
        !matches!(self, Self::Refused(_))
    }
}

/// What must not be.
#[derive(Debug, Default)]
pub(super) struct Violations(Mutex<Vec<String>>);

impl Violations {
    pub(super) fn add(&self, violation: String) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(violation);
    }

    pub(super) fn check(&self, holds: bool, violation: impl FnOnce() -> String) {
        if !holds {
            self.add(violation());
        }
    }

    pub(super) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
