//! The shapes of results: what callers see, whatever they called it with.
//!
//! Empty optionals are left out. Long texts come last, so that what a client cuts off is the least.

use serde::Serialize;

use super::Why;
use crate::domain::{
    AgentName, AnyTask, HistoryEntry, Message, Note, Percent, ProgressEntry, Status, Submission,
    TaskId, Timestamp,
};

/// What a caller needs to go on with a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Ref {
    /// The task.
    pub(crate) id: TaskId,
    /// Its status.
    pub(crate) status: Status,
    /// Its version, for `expected_version`.
    pub(crate) version: u64,
}

impl From<&AnyTask> for Ref {
    fn from(task: &AnyTask) -> Self {
        Self {
            id: task.id(),
            status: task.status(),
            version: task.version(),
        }
    }
}

/// A task: as a summary, a work order (with `order`) or whole (with `history`).
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskView {
    pub(crate) id: TaskId,
    pub(crate) title: String,
    pub(crate) status: Status,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) archived: bool,
    pub(crate) version: u64,
    pub(crate) creator: AgentName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) assignee: Option<AgentName>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) holder_gone: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) blocked_by: Vec<TaskId>,
    pub(crate) tags: Vec<String>,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) idle_seconds: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) percent: Option<Percent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expected_output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) working_directory: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<crate::domain::Metadata>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Vec<TaskId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) feedback: Option<Note>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) submission: Option<Submission>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) history: Option<Vec<HistoryEntry>>,
}

/// A progress entry.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgressView {
    timestamp: Timestamp,
    author: AgentName,
    #[serde(skip_serializing_if = "Option::is_none")]
    percent: Option<Percent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_step: Option<Note>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<Note>,
}

impl From<&ProgressEntry> for ProgressView {
    fn from(entry: &ProgressEntry) -> Self {
        let ProgressEntry {
            timestamp,
            author,
            percent,
            current_step,
            notes,
            ..
        } = entry.clone();
        Self {
            timestamp,
            author,
            percent,
            current_step,
            notes,
        }
    }
}

/// A file of a task that could not be read.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct UnreadableView {
    pub(crate) id: TaskId,
    pub(crate) code: &'static str,
    pub(crate) reason: String,
}

/// `{task: ref}`, with what a caller may do next where that isn't obvious.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Changed {
    pub(crate) task: Ref,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// A page of tasks.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaskPage {
    pub(crate) tasks: Vec<TaskView>,
    pub(crate) total: usize,
    pub(crate) counts: serde_json::Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) you: Option<AgentName>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<TaskId>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unreadable: Vec<UnreadableView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// One task whole.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WholeTask {
    pub(crate) task: TaskView,
    pub(crate) history_total: usize,
}

/// What a claim returns. `task` is `null` where there is nothing to do.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Claim {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) already: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) why: Option<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) held: Vec<Ref>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) progress: Option<ProgressView>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) messages: Vec<Message>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unreadable: Vec<UnreadableView>,
    pub(crate) task: Option<TaskView>,
}

/// What a report returns.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reported {
    pub(crate) task: Ref,
    pub(crate) progress: ProgressView,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) messages: Vec<Message>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unreadable: Vec<UnreadableView>,
}

/// What a request for revision returns.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SentBack {
    pub(crate) task: Ref,
    pub(crate) message: Posted,
}

/// A message that was just posted; its content is the caller's own and not echoed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Posted {
    id: crate::domain::MessageId,
    task_id: TaskId,
    author: AgentName,
    timestamp: Timestamp,
}

impl From<&Message> for Posted {
    fn from(message: &Message) -> Self {
        let Message {
            id,
            task_id,
            author,
            timestamp,
            ..
        } = message.clone();
        Self {
            id,
            task_id,
            author,
            timestamp,
        }
    }
}

/// What posting returns.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct PostResult {
    pub(crate) message: Posted,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reply: Option<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timed_out: Option<bool>,
}

/// A part of a thread.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MessagePage {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) archived: bool,
    pub(crate) messages: Vec<Message>,
    pub(crate) total: usize,
    pub(crate) more: bool,
}

/// A part of a task's progress.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ProgressPage {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) archived: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) latest: Option<ProgressView>,
    pub(crate) history: Vec<ProgressView>,
    pub(crate) total: usize,
}

/// What waiting for one task returns.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct TaskWait {
    pub(crate) task: TaskView,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) messages: Vec<Message>,
    pub(crate) timed_out: bool,
}

/// What waiting for anything returns.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct AttentionWait {
    pub(crate) attention: Vec<Attention>,
    pub(crate) now: Timestamp,
    pub(crate) timed_out: bool,
}

/// Something that needs the caller.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Attention {
    pub(crate) task: TaskView,
    pub(crate) why: Why,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<Message>,
}
