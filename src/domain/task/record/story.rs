//! What a history tells: a walk from the creation, by the rules of the transitions table.
//!
//! It is told without making a task, so that a file which cannot be true is refused by the entry that is wrong.

use super::{RecordError, TaskRecord};
use crate::domain::{Action, AgentName, HistoryEntry, Note, Status, Transition};

/// What a history tells about its task.
pub(super) struct Story<'a> {
    last: &'a HistoryEntry,
    first: &'a HistoryEntry,
    assignee: Option<&'a AgentName>,
    feedback: Option<&'a Note>,
    /// What was handed in last, where something was.
    submitted: Option<Summary<'a>>,
    reason: Option<&'a Note>,
}

/// The summary that was given with a submission.
#[derive(Clone, Copy, PartialEq)]
struct Summary<'a>(Option<&'a Note>);

impl<'a> Story<'a> {
    /// Walks a history from its creation, by the rules of the transitions table.
    pub(super) fn of(history: &'a [HistoryEntry]) -> Result<Self, RecordError> {
        let (first, rest) = history.split_first().ok_or(RecordError::NoHistory)?;
        let wrong = |problem| {
            Err(RecordError::History {
                version: first.version,
                problem,
            })
        };
        match first {
            HistoryEntry {
                version: 2.. | 0, ..
            } => return wrong("versions begin at 1"),
            HistoryEntry {
                action: Action::Create,
                from: None,
                to: Status::Pending,
                ..
            } => {}
            _ => return wrong("a history begins with create, to pending"),
        }
        if first.note.is_some() || first.self_approved {
            return wrong("a creation has neither note nor selfApproved");
        }
        let none = None;
        let mut story = Self {
            last: first,
            first,
            assignee: none,
            feedback: None,
            submitted: None,
            reason: None,
        };
        for entry in rest {
            story
                .follow(entry)
                .map_err(|problem| RecordError::History {
                    version: entry.version,
                    problem,
                })?;
        }
        Ok(story)
    }

    fn follow(&mut self, entry: &'a HistoryEntry) -> Result<(), &'static str> {
        if entry.version != self.last.version + 1 {
            return Err("versions count up by one");
        }
        if entry.timestamp <= self.last.timestamp {
            return Err("timestamps increase");
        }
        match entry.action {
            Action::Create => return Err("only the first entry can be a creation"),
            Action::Move(transition) => self.go(transition, entry)?,
            Action::Restore => self.come_back(entry)?,
        }
        self.last = entry;
        Ok(())
    }

    fn come_back(&self, entry: &HistoryEntry) -> Result<(), &'static str> {
        if entry.from != Some(self.last.to)
            || entry.to != self.last.to
            || !Status::ARCHIVABLE.contains(&entry.to)
        {
            return Err(
                "only an approved or cancelled task comes back from the archive, as it was",
            );
        }
        if entry.note.is_some() || entry.self_approved {
            return Err("a restore has neither note nor selfApproved");
        }
        Ok(())
    }

    fn go(&mut self, transition: Transition, entry: &'a HistoryEntry) -> Result<(), &'static str> {
        if entry.from != Some(self.last.to)
            || !transition.sources().contains(&self.last.to)
            || transition.target() != entry.to
        {
            return Err("no transition leads from the entry before it to this one");
        }
        if !transition
            .authority()
            .admits(&entry.actor, self.assignee, &self.first.actor)
        {
            return Err("its actor may not do this");
        }
        let own = transition == Transition::Approve && self.assignee == Some(&entry.actor);
        if entry.self_approved != own {
            return Err("selfApproved stands on an approval by the assignee, and only there");
        }
        self.apply(transition, entry)
    }

    fn apply(
        &mut self,
        transition: Transition,
        entry: &'a HistoryEntry,
    ) -> Result<(), &'static str> {
        let note = entry.note.as_ref();
        match transition {
            Transition::Claim | Transition::Start if note.is_some() => {
                return Err("a claim or start has no note");
            }
            Transition::Claim => self.assignee = Some(&entry.actor),
            Transition::Start | Transition::Approve => {}
            Transition::Complete => (self.feedback, self.submitted) = (None, Some(Summary(note))),
            Transition::RequestRevision => {
                self.feedback =
                    Some(note.ok_or("a request for revision has its feedback as note")?);
            }
            Transition::Cancel => (self.feedback, self.submitted, self.reason) = (None, None, note),
            Transition::Reopen => {
                (self.assignee, self.feedback, self.submitted, self.reason) =
                    (None, None, None, None);
            }
        }
        Ok(())
    }

    /// Compares what the record says with what the history tells.
    pub(super) fn check(&self, record: &TaskRecord) -> Result<(), RecordError> {
        if record.status != self.last.to {
            return Err(RecordError::Status {
                found: record.status,
                told: self.last.to,
            });
        }
        let summary = record
            .submission
            .as_ref()
            .map(|it| Summary(it.summary.as_ref()));
        let checks = [
            ("version", record.version == self.last.version),
            ("creator", record.creator == self.first.actor),
            ("assignee", record.assignee.as_ref() == self.assignee),
            ("createdAt", record.created_at == self.first.timestamp),
            ("updatedAt", record.updated_at == self.last.timestamp),
            ("feedback", record.feedback.as_ref() == self.feedback),
            ("submission", summary == self.submitted),
            ("reason", record.reason.as_ref() == self.reason),
        ];
        match checks.into_iter().find(|(_, agrees)| !agrees) {
            Some((field, _)) => Err(RecordError::Field {
                field,
                status: record.status,
            }),
            None => Ok(()),
        }
    }
}
