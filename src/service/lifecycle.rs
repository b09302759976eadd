//! Moving a task along: progress, handing in, review, withdrawal.

use std::cell::Cell;

use super::{Changed, Client, Failure, Posted, Reported, SentBack, Service, expect_version};
use crate::{
    domain::{
        AgentName, AnyTask, Bounded, Denial, FilePath, Message, Note, ProgressEntry, ProgressLog,
        Reference, Refused, Report, Stamp, Status, Submission, TaskId, Thread, Timestamp,
        Transition,
    },
    store::Appended,
};

/// What a caller says of the work that it hands in.
#[derive(Clone, Debug, Default)]
pub(crate) struct HandIn {
    /// What was done.
    pub(crate) summary: Option<Note>,
    /// The files to look at.
    pub(crate) files: Bounded<FilePath, 256>,
    /// The commit that holds it.
    pub(crate) commit: Option<Reference>,
}

impl Service {
    /// Reports progress; the first report of a claim or revision starts the work.
    pub(crate) fn report(
        &self,
        id: TaskId,
        report: &Report,
        expected_version: Option<u64>,
        client: &Client,
    ) -> Result<Reported, Failure> {
        let names = self.names(client)?;
        let (task, entry, since) = self.store.append(id, |task, log: &ProgressLog| {
            let task = task.ok_or_else(|| self.not_found(id))?;
            expect_version(&task, expected_version)?;
            let actor = self.actor(&task, client)?;
            let since = self.last_word(&task, log, &names);
            let (task, reference) = self.working(task, &actor, &names)?;
            let entry = ProgressEntry::new(
                Self::new_id(),
                log.stamp(self.now()),
                actor,
                reference.1,
                report.clone(),
            );
            let answer = (reference.0, entry.clone(), since);
            Ok::<_, Failure>(Appended {
                task,
                entry,
                answer,
            })
        })?;
        // The report is made: what cannot be read now must not make it look refused.
        let mut unreadable = Vec::new();
        let thread: Thread = match self.task(id) {
            Ok(task) => self.log_or_note(&task, &mut unreadable),
            Err(_) => Thread::default(),
        };
        let messages = self.showing(Self::riding(&thread, &names, since));
        Ok(Reported {
            task,
            progress: (&entry).into(),
            messages,
            unreadable,
        })
    }

    /// Hands work in.
    pub(crate) fn complete(
        &self,
        id: TaskId,
        hand_in: &HandIn,
        expected_version: Option<u64>,
        client: &Client,
    ) -> Result<Changed, Failure> {
        let submission = Submission {
            summary: hand_in.summary.clone(),
            files: hand_in.files.clone(),
            commit: hand_in.commit.clone(),
            branch: self.branch(),
            directory: self.workplace(),
        };
        let own = Cell::new(false);
        let mut changed = self.transition(
            id,
            expected_version,
            client,
            |task| {
                own.set(task.assignee() == Some(task.creator()));
                self.actor(task, client)
            },
            |task, stamp| task.complete(stamp, submission.clone()),
        )?;
        let next = if own.get() {
            "it is a task of your own: approve_task accepts it, unless somebody else should review it"
        } else {
            "it waits for review now; call claim_next_task: it brings a revision of this task, or the next one"
        };
        changed.next = Some(next.to_owned());
        Ok(changed)
    }

    /// Accepts work.
    pub(crate) fn approve(
        &self,
        id: TaskId,
        note: Option<&Note>,
        expected_version: Option<u64>,
        client: &Client,
    ) -> Result<Changed, Failure> {
        self.transition(
            id,
            expected_version,
            client,
            |task| self.reviewer(task, client),
            |task, stamp| task.approve(stamp, note.cloned()),
        )
    }

    /// Sends work back; the feedback is a message, too.
    pub(crate) fn request_revision(
        &self,
        id: TaskId,
        feedback: &Note,
        expected_version: Option<u64>,
        client: &Client,
    ) -> Result<SentBack, Failure> {
        let names = self.names(client)?;
        self.store.append(id, |task, thread: &Thread| {
            let task = task.ok_or_else(|| self.not_found(id))?;
            expect_version(&task, expected_version)?;
            let stamp = self.stamp(self.reviewer(&task, client)?);
            let entry = self.message(id, stamp.actor.clone(), feedback.clone().into(), thread);
            let task = task
                .request_revision(stamp, feedback.clone())
                .map_err(|refused| self.refusal(&refused, &names))?;
            let answer = SentBack {
                task: (&task).into(),
                message: Posted::from(&entry),
            };
            Ok(Appended {
                task: Some(task),
                entry,
                answer,
            })
        })
    }

    /// Withdraws a task.
    pub(crate) fn cancel(
        &self,
        id: TaskId,
        reason: Option<&Note>,
        expected_version: Option<u64>,
        client: &Client,
    ) -> Result<Changed, Failure> {
        self.transition(
            id,
            expected_version,
            client,
            |task| self.actor(task, client),
            |task, stamp| task.cancel(stamp, reason.cloned()),
        )
    }

    /// Puts a task back in the queue.
    pub(crate) fn reopen(
        &self,
        id: TaskId,
        reason: Option<&Note>,
        expected_version: Option<u64>,
        client: &Client,
    ) -> Result<Changed, Failure> {
        self.transition(
            id,
            expected_version,
            client,
            |task| self.actor(task, client),
            |task, stamp| task.reopen(stamp, reason.cloned()),
        )
    }

    fn transition(
        &self,
        id: TaskId,
        expected_version: Option<u64>,
        client: &Client,
        by: impl Fn(&AnyTask) -> Result<AgentName, Failure>,
        go: impl Fn(AnyTask, Stamp) -> Result<AnyTask, Refused>,
    ) -> Result<Changed, Failure> {
        let names = self.names(client)?;
        self.store.update(id, |task| {
            let task = task.ok_or_else(|| self.not_found(id))?;
            expect_version(&task, expected_version)?;
            let stamp = self.stamp(by(&task)?);
            let task = go(task, stamp).map_err(|refused| self.refusal(&refused, &names))?;
            let changed = Changed {
                task: (&task).into(),
                next: None,
            };
            Ok((Some(task), changed))
        })
    }

    /// A message that is posted now.
    pub(super) fn message(
        &self,
        task_id: TaskId,
        author: AgentName,
        content: crate::domain::Content,
        thread: &Thread,
    ) -> Message {
        Message {
            id: Self::new_id(),
            task_id,
            author,
            timestamp: thread.stamp(self.now()),
            content,
        }
    }

    /// The task being worked on: changed where that has to begin, with its reference and the version of its claim.
    fn working(
        &self,
        task: AnyTask,
        actor: &AgentName,
        names: &[AgentName],
    ) -> Result<(Option<AnyTask>, (super::Ref, u64)), Failure> {
        let claim = task.claimed().map_or(0, |it| it.version);
        if task.status() != Status::InProgress {
            let task = task
                .start(self.stamp(actor.clone()))
                .map_err(|refused| self.refusal(&refused, names))?;
            let reference = (&task).into();
            return Ok((Some(task), (reference, claim)));
        }
        let reference = (&task).into();
        if task.assignee() == Some(actor) {
            return Ok((None, (reference, claim)));
        }
        let refused = Refused {
            task: Box::new(task),
            transition: Transition::Start,
            denial: Denial::NotAssignee,
        };
        Err(self.refusal(&refused, names))
    }

    /// When the caller last said or did something on a task: its report, message or claim.
    fn last_word(
        &self,
        task: &AnyTask,
        log: &ProgressLog,
        names: &[AgentName],
    ) -> Option<Timestamp> {
        let report = log
            .history()
            .iter()
            .rev()
            .find(|it| names.contains(&it.author));
        let thread: Thread = self.store.log(task).unwrap_or_default();
        let message = thread
            .messages()
            .iter()
            .rev()
            .find(|it| names.contains(&it.author));
        let claim = task.claimed().filter(|it| names.contains(&it.actor));
        let words = [
            report.map(|it| it.timestamp),
            message.map(|it| it.timestamp),
            claim.map(|it| it.timestamp),
        ];
        words.into_iter().flatten().max()
    }
}
