//! The doctor: looks at a coordination directory and says what is wrong with it.
//!
//! Responsibility: to find what keeps assistants from working, or will; to tell it from what heals by itself; to mend
//! what can be mended without losing anything, if asked to; to move a corrupt file aside, if it is named.
//!
//! It takes no locks to look, so beside running servers it may see halves of what goes on. Therefore it looks again when
//! something is wrong, and tells what it has seen both times. What it mends, it mends as every other writer does, under
//! the locks.

mod content;
mod ground;
mod locks;
mod mend;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::thread;
use std::time::Duration;

use serde::Serialize;

use super::error::{StoreError, one_line};
use super::location::printable;
use super::tasks::Store;
use crate::domain::TaskId;

pub(crate) use content::Content;
pub(crate) use ground::Ground;

/// Between two looks: longer than any honest operation takes.
const MEANWHILE: Duration = Duration::from_millis(100);

/// What a doctor found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// Whether nothing is wrong.
    pub(crate) ok: bool,
    /// The coordination directory.
    pub(crate) directory: String,
    /// Whether it is there. It is made when it is first needed.
    pub(crate) exists: bool,
    /// What it lies on; nothing if it is not there or cannot be opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ground: Option<Ground>,
    /// What is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content: Option<Content>,
    /// What has been mended, and moved aside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) mended: Vec<String>,
    /// What is wrong.
    pub(crate) problems: Vec<Finding>,
    /// What heals by itself, or is only to be known.
    pub(crate) notes: Vec<Finding>,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// What kind of thing it is, for programs.
    pub(crate) kind: &'static str,
    /// The file or directory.
    pub(crate) path: String,
    /// What is the matter with it.
    pub(crate) reason: String,
    /// What to do, or what will happen.
    pub(crate) next: String,
}

/// What was found so far.
#[derive(Debug, Default)]
struct Findings {
    problems: Vec<Finding>,
    notes: Vec<Finding>,
}

/// What is to be done about what is found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Treatment {
    /// Mend what can be mended without losing anything.
    pub(crate) fix: bool,
    /// Move the corrupt files of these tasks aside.
    pub(crate) quarantine: Vec<TaskId>,
}

impl Findings {
    fn problem(
        &mut self,
        kind: &'static str,
        path: &Path,
        reason: impl Into<String>,
        next: impl Into<String>,
    ) {
        let finding = Finding::new(kind, path, reason, next);
        // What cannot be opened is met on several ways.
        if !self.problems.contains(&finding) {
            self.problems.push(finding);
        }
    }

    fn note(
        &mut self,
        kind: &'static str,
        path: &Path,
        reason: impl Into<String>,
        next: impl Into<String>,
    ) {
        self.notes.push(Finding::new(kind, path, reason, next));
    }

    /// Something that could not even be looked at.
    fn failure(&mut self, path: &Path, error: &StoreError) {
        let next = "see the reason; nothing in there can be used until it is mended";
        self.problem("storage", path, reason_of(path, error), next);
    }
}

impl Finding {
    fn new(
        kind: &'static str,
        path: &Path,
        reason: impl Into<String>,
        next: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            path: printable(path),
            reason: one_line(&reason.into()),
            next: next.into(),
        }
    }
}

impl Store {
    /// Looks at everything, after doing what is to be done.
    pub(crate) fn examine(&self, treatment: &Treatment) -> Report {
        let (mended, failed) = mend::treat(self, treatment);
        let mut report = self.look();
        if !report.problems.is_empty() {
            thread::sleep(MEANWHILE);
            let before = report.problems;
            report = self.look();
            report.problems.retain(|it| before.contains(it));
        }
        // What was in the way of mending is told where it is the problem itself.
        let told: Vec<_> = report.problems.iter().map(|it| it.path.clone()).collect();
        let failed = failed.into_iter().filter(|it| !told.contains(&it.path));
        report.problems.extend(failed);
        Report {
            ok: report.problems.is_empty(),
            mended,
            ..report
        }
    }

    fn look(&self) -> Report {
        let mut findings = Findings::default();
        let root = match self.engine().open() {
            Ok(root) => root,
            Err(error) => {
                findings.failure(self.directory(), &error);
                None
            }
        };
        let exists = root.is_some() || self.directory().symlink_metadata().is_ok();
        let ground = root.as_ref().map(|it| ground::examine(it, &mut findings));
        let content = root.as_ref().map(|it| {
            locks::examine(it, &mut findings);
            content::examine(it, &mut findings)
        });
        Report {
            ok: findings.problems.is_empty(),
            directory: printable(self.directory()),
            exists,
            ground,
            content,
            mended: Vec::new(),
            problems: findings.problems,
            notes: findings.notes,
        }
    }
}

/// The reason alone: the path is told beside it.
fn reason_of(path: &Path, error: &StoreError) -> String {
    match error {
        StoreError::Corrupt { path: its, reason } if its == path => reason.clone(),
        StoreError::Storage {
            path: its, source, ..
        } if its == path => source.to_string(),
        error => error.to_string(),
    }
}
