//! What a caller is told when something is not done: a code that is part of the contract, and a
//! text that says what happened and what to do next.

use std::fmt;

use crate::{
    domain::TextError,
    store::{StoreError, one_line},
};

/// The kinds of failure. Part of the contract: clients and people rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// An argument is missing, of the wrong type or not allowed.
    InvalidArguments,
    /// There is no such task.
    NotFound,
    /// The task's status does not allow it.
    InvalidTransition,
    /// The task is not at the expected version.
    Conflict,
    /// Somebody else holds the task.
    NotAssignee,
    /// The caller's own work is not the caller's to review.
    NotReviewer,
    /// A living process has the name.
    NameTaken,
    /// The task waits for others.
    Blocked,
    /// Another process holds the lock.
    Busy,
    /// A file is not what the server writes.
    Corrupt,
    /// A file is of a newer version.
    UnsupportedFormat,
    /// A text or file is over its limit.
    TooLarge,
    /// The file system refused.
    Storage,
    /// A fault of this program.
    Internal,
}

impl Code {
    /// The code as callers see it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArguments => "invalid_arguments",
            Self::NotFound => "not_found",
            Self::InvalidTransition => "invalid_transition",
            Self::Conflict => "conflict",
            Self::NotAssignee => "not_assignee",
            Self::NotReviewer => "not_reviewer",
            Self::NameTaken => "name_taken",
            Self::Blocked => "blocked",
            Self::Busy => "busy",
            Self::Corrupt => "corrupt",
            Self::UnsupportedFormat => "unsupported_format",
            Self::TooLarge => "too_large",
            Self::Storage => "storage",
            Self::Internal => "internal",
        }
    }
}

/// Something was not done, and nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    code: Code,
    text: String,
}

impl Failure {
    /// A failure. The text: what happened; what to do next.
    pub(crate) fn new(code: Code, text: impl AsRef<str>) -> Self {
        Self {
            code,
            text: one_line(text.as_ref()),
        }
    }

    /// The code.
    pub(crate) fn code(&self) -> Code {
        self.code
    }

    /// The text, without the code.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.text)
    }
}

impl std::error::Error for Failure {}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let code = code_of(&error);
        let mut text = error.to_string();
        if let StoreError::Corrupt { path, reason } = &error {
            text += if path.ends_with("sequence.json") {
                "; mend it, or remove it and run `ai-coord-mcp doctor --fix`; existing tasks go on working"
            } else if reason.contains("unknown field") {
                "; a key of your own belongs under `metadata`"
            } else if reason.contains("undo the edit") {
                "; the file is never replaced, every other task goes on working"
            } else {
                "; mend the file by hand (it is never replaced; `ai-coord-mcp doctor` helps), every other task goes on working"
            };
        }
        Self::new(code, text)
    }
}

/// The code that a failure of the store has, also where it is only listed.
pub(crate) fn code_of(error: &StoreError) -> Code {
    match error {
        StoreError::Corrupt { .. } => Code::Corrupt,
        StoreError::UnsupportedFormat { .. } => Code::UnsupportedFormat,
        StoreError::Busy { .. } => Code::Busy,
        StoreError::Archived { .. } => Code::InvalidTransition,
        StoreError::TooLarge { .. } => Code::TooLarge,
        StoreError::Storage { .. } | StoreError::NotDurable { .. } => Code::Storage,
    }
}

impl From<TextError> for Failure {
    fn from(error: TextError) -> Self {
        let code = match error {
            TextError::Blank { .. } => Code::InvalidArguments,
            TextError::TooLong { .. } => Code::TooLarge,
        };
        Self::new(code, error.to_string())
    }
}
