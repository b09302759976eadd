//! Talking about a task, and looking back.

use super::{
    Client, Failure, MessagePage, PostResult, Posted, ProgressPage, Service, expect_version,
    page::{self, PAGE_BYTES},
};
use crate::{
    domain::{AnyTask, Content, Message, ProgressLog, RequestedName, TaskId, Thread, Timestamp},
    store::{Appended, Found},
};

/// What a caller says.
#[derive(Clone, Debug)]
pub(crate) struct Post {
    /// On which task.
    pub(crate) task_id: TaskId,
    /// What.
    pub(crate) content: Content,
    /// Under which name.
    pub(crate) agent: Option<RequestedName>,
    /// The version that the task has to have.
    pub(crate) expected_version: Option<u64>,
}

impl Service {
    /// Posts a message.
    pub(crate) fn post(&self, post: &Post, client: &Client) -> Result<Message, Failure> {
        let id = post.task_id;
        let named = match &post.agent {
            Some(_) => Some(self.acting(post.agent.clone(), client)?),
            None => None,
        };
        self.store.append(id, |task, thread: &Thread| {
            let task = task.ok_or_else(|| self.not_found(id))?;
            expect_version(&task, post.expected_version)?;
            let author = match &named {
                Some(name) => name.clone(),
                None => self.actor(&task, client)?,
            };
            let entry = self.message(id, author, post.content.clone(), thread);
            Ok::<_, Failure>(Appended {
                task: None,
                entry: entry.clone(),
                answer: entry,
            })
        })
    }

    /// What posting returns when nobody is waited for.
    pub(crate) fn posted(message: &Message) -> PostResult {
        PostResult {
            message: Posted::from(message),
            reply: None,
            timed_out: None,
        }
    }

    /// Reads messages: the newest, or those after a moment.
    pub(crate) fn messages(
        &self,
        id: TaskId,
        since: Option<Timestamp>,
        limit: usize,
    ) -> Result<MessagePage, Failure> {
        let Found { task, is_archived } = self.look_up(id)?;
        let thread: Thread = self.store.log(&task)?;
        let all = thread.messages();
        let room = PAGE_BYTES.saturating_sub(100);
        let (messages, asked) = if let Some(since) = since {
            let later: Vec<_> = all
                .iter()
                .filter(|it| it.timestamp > since)
                .cloned()
                .collect();
            let asked = later.len();
            (page::fit(later, limit, room), asked)
        } else {
            let mut newest = page::fit(all.iter().rev().cloned(), limit, room);
            newest.reverse();
            (newest, all.len())
        };
        let more = messages.len() < asked;
        let messages = self.showing(messages);
        Ok(MessagePage {
            archived: is_archived,
            messages,
            total: all.len(),
            more,
        })
    }

    /// Reads the newest reports.
    pub(crate) fn progress(&self, id: TaskId, limit: usize) -> Result<ProgressPage, Failure> {
        let Found { task, is_archived } = self.look_up(id)?;
        let log: ProgressLog = self.store.log(&task)?;
        let latest = log.latest().map(Into::into);
        let room = PAGE_BYTES.saturating_sub(100 + page::size_of(&latest));
        let mut history = page::fit(log.history().iter().rev().map(Into::into), limit, room);
        history.reverse();
        Ok(ProgressPage {
            archived: is_archived,
            latest,
            history,
            total: log.history().len(),
        })
    }

    /// The messages of others on a task after a moment, oldest first.
    pub(super) fn others_messages(
        &self,
        task: &AnyTask,
        names: &[crate::domain::AgentName],
        after: Option<Timestamp>,
    ) -> Result<Vec<Message>, Failure> {
        let thread: Thread = self.store.log(task)?;
        let later = thread
            .messages()
            .iter()
            .filter(|it| after.is_none_or(|after| it.timestamp > after));
        Ok(later
            .filter(|it| !names.contains(&it.author))
            .cloned()
            .collect())
    }

    /// When the newest message on a task was posted.
    pub(super) fn newest_message(&self, task: &AnyTask) -> Result<Option<Timestamp>, Failure> {
        let thread: Thread = self.store.log(task)?;
        Ok(thread.messages().last().map(|it| it.timestamp))
    }
}
