//! The flat JSON shape of a task, and the only way back from it.
//!
//! Reading is a constructor from outside, so it trusts nothing: the record is taken only if its history is one that
//! the transitions make, and if every field says what that history leads to.

mod story;

use std::collections::HashSet;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use story::Story;

use super::{Common, HistoryEntry, Task, Work};
use crate::domain::{
    AgentName, AnyTask, Approved, Bounded, Cancelled, Claimed, Completed, Description,
    DirectoryPath, ExpectedOutput, Facts, FilePath, FormatVersion, InProgress, MessageId, Metadata,
    Note, OutboxEntry, Pending, RevisionRequested, Rework, State, Status, Submission, Tag, TaskId,
    Timestamp, Title, Transition, objects::Objects, present::present,
};

/// What a task file says. Private: to everybody else a file is an [`AnyTask`] or an error.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TaskRecord {
    #[serde(default)]
    format_version: FormatVersion,
    id: TaskId,
    title: Title,
    status: Status,
    version: u64,
    creator: AgentName,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    assignee: Option<AgentName>,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    tags: Bounded<Tag, 32>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    after: Bounded<TaskId, 64>,
    description: Description,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    expected_output: Option<ExpectedOutput>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    files: Bounded<FilePath, 256>,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    working_directory: Option<DirectoryPath>,
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    metadata: Metadata,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    feedback: Option<Note>,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    submission: Option<Submission>,
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    reason: Option<Note>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outbox: Vec<OutboxEntry>,
    history: Vec<HistoryEntry>,
}

/// A well-formed task that no sequence of transitions can have made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// There is no creation.
    #[error("history is empty: it has to begin with the task's creation")]
    NoHistory,
    /// A line of the history does not follow from those before it.
    #[error("history entry {version}: {problem}: undo the edit")]
    History {
        /// The version that the entry gives.
        version: u64,
        /// What is wrong.
        problem: &'static str,
    },
    /// The status is not the one that the history leads to.
    #[error("status \"{found}\", but its history ends at {told}: undo the edit{}", hint(*.told, *.found))]
    Status {
        /// What the task says.
        found: Status,
        /// What the history says.
        told: Status,
    },
    /// Another field is not what the history leads to.
    #[error("`{field}` is not what a {status} task with this history has: undo the edit")]
    Field {
        /// Its name in the file.
        field: &'static str,
        /// The task's status.
        status: Status,
    },
    /// It waits for itself.
    #[error("`after` names the task itself: take it out")]
    After,
    /// The outbox holds what this task cannot have sent: delivered, it would spoil the thread.
    #[error("outbox entry {id}: {problem}: remove it")]
    Outbox {
        /// The entry's id.
        id: MessageId,
        /// What is wrong.
        problem: &'static str,
    },
}

/// The tool that would have made the edit, where there is one.
fn hint(from: Status, to: Status) -> String {
    Transition::between(from, to).map_or_else(String::new, |it| format!(", then {}", it.tool()))
}

impl TryFrom<TaskRecord> for AnyTask {
    type Error = RecordError;

    fn try_from(record: TaskRecord) -> Result<Self, RecordError> {
        Story::of(&record.history)?.check(&record)?;
        if record.after.contains(&record.id) {
            return Err(RecordError::After);
        }
        check_outbox(&record)?;
        let status = record.status;
        let missing = |field| RecordError::Field { field, status };
        let TaskRecord {
            assignee,
            feedback,
            submission,
            reason,
            ..
        } = record;
        let holder = || assignee.clone().ok_or(missing("assignee"));
        let handed_in = || submission.clone().ok_or(missing("submission"));
        let rework = feedback
            .map(|feedback| {
                Ok(Rework {
                    feedback,
                    submission: handed_in()?,
                })
            })
            .transpose()?;
        let common = Common {
            id: record.id,
            creator: record.creator,
            work: Work {
                title: record.title,
                description: record.description,
                expected_output: record.expected_output,
                after: record.after,
                tags: record.tags,
                files: record.files,
                working_directory: record.working_directory,
                metadata: record.metadata,
            },
            history: record.history,
            outbox: record.outbox,
        };
        Ok(match status {
            Status::Pending => task(common, Pending {}),
            Status::Claimed => task(
                common,
                Claimed {
                    assignee: holder()?,
                },
            ),
            Status::InProgress => task(
                common,
                InProgress {
                    assignee: holder()?,
                    rework,
                },
            ),
            Status::Completed => task(
                common,
                Completed {
                    assignee: holder()?,
                    submission: handed_in()?,
                },
            ),
            Status::Approved => task(
                common,
                Approved {
                    assignee: holder()?,
                    submission: handed_in()?,
                },
            ),
            Status::RevisionRequested => {
                let rework = rework.ok_or(missing("feedback"))?;
                task(
                    common,
                    RevisionRequested {
                        assignee: holder()?,
                        rework,
                    },
                )
            }
            Status::Cancelled => task(common, Cancelled { assignee, reason }),
        })
    }
}

fn task<S: State>(common: Common, state: S) -> AnyTask
where
    AnyTask: From<Task<S>>,
{
    Task { common, state }.into()
}

/// What is in an outbox came with a line of the history: a start with its report, a request for revision with its
/// feedback.
fn check_outbox(record: &TaskRecord) -> Result<(), RecordError> {
    let mut seen = HashSet::new();
    for entry in &record.outbox {
        let id = entry.id();
        let wrong = |problem| Err(RecordError::Outbox { id, problem });
        if !seen.insert(id) {
            return wrong("another one has the same id");
        }
        if entry.message().is_some_and(|it| it.task_id != record.id) {
            return wrong("its taskId is another task's");
        }
        if !record.history.iter().any(|it| sends(it, entry)) {
            return wrong("no line of the history sends it");
        }
    }
    Ok(())
}

/// Whether a line of the history may have put an entry into the outbox.
fn sends(line: &HistoryEntry, entry: &OutboxEntry) -> bool {
    match entry {
        OutboxEntry::Message(message) => {
            line.action == Transition::RequestRevision.into()
                && line.actor == message.author
                && line.note.as_ref().map(Note::as_str) == Some(message.content.as_str())
        }
        OutboxEntry::Progress(report) => {
            line.action == Transition::Claim.into()
                && line.actor == report.author
                && line.version == report.claim_version
        }
    }
}

impl<'de> Deserialize<'de> for AnyTask {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        TaskRecord::deserialize(Objects(deserializer))?
            .try_into()
            .map_err(de::Error::custom)
    }
}

impl Serialize for AnyTask {
    fn serialize<R: Serializer>(&self, serializer: R) -> Result<R::Ok, R::Error> {
        let Common {
            id,
            creator,
            work,
            history,
            outbox,
        } = self.common();
        let Facts {
            assignee,
            feedback,
            submission,
            reason,
        } = self.facts();
        let Work {
            title,
            description,
            expected_output,
            after,
            tags,
            files,
            working_directory,
            metadata,
        } = work.clone();
        let record = TaskRecord {
            format_version: FormatVersion,
            id: *id,
            title,
            status: self.status(),
            version: self.version(),
            creator: creator.clone(),
            assignee: assignee.cloned(),
            created_at: self.created_at(),
            updated_at: self.updated_at(),
            tags,
            after,
            description,
            expected_output,
            files,
            working_directory,
            metadata,
            feedback: feedback.cloned(),
            submission: submission.cloned(),
            reason: reason.cloned(),
            outbox: outbox.clone(),
            history: history.clone(),
        };
        record.serialize(serializer)
    }
}
