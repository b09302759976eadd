//! Entries that a task's own commit carries until they are in their thread or progress file.
//!
//! Two files cannot change in one step. The task is the one that decides: it is committed with the entry in its
//! outbox, and every later writer of the other file, and every reader, adds what is missing there.

use serde::{Deserialize, Serialize};

use super::{Message, MessageId, ProgressEntry};

/// An entry on its way to another file of the same task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutboxEntry {
    /// To the thread.
    Message(Message),
    /// To the progress file.
    Progress(ProgressEntry),
}

impl OutboxEntry {
    /// The entry's id.
    pub fn id(&self) -> MessageId {
        match self {
            Self::Message(message) => message.id,
            Self::Progress(entry) => entry.id,
        }
    }

    /// The message, if it is one.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Self::Message(message) => Some(message),
            Self::Progress(_) => None,
        }
    }

    /// The progress entry, if it is one.
    pub fn progress(&self) -> Option<&ProgressEntry> {
        match self {
            Self::Message(_) => None,
            Self::Progress(entry) => Some(entry),
        }
    }
}
