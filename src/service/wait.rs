//! Waiting: subscribe, look, and look again at every change, for as long as the client has patience.
//!
//! A wait holds no lock and no thread. It ends at once when its request is cancelled or the process
//! ends; a time-out is an answer and no error.

use std::{future::Future, sync::Arc, time::Duration};

use futures::future::{BoxFuture, FutureExt, Shared};
use tokio::time::Instant;

use super::{
    AttentionWait, Claim, ClaimNext, Client, Code, Failure, Post, PostResult, Service, TaskView,
    TaskWait,
    page::{self, PAGE_BYTES},
};
use crate::{
    domain::{Message, Status, TaskId, Timestamp},
    store::Found,
};

/// How often somebody who can be told is told that a wait goes on.
const TELL_EVERY: Duration = Duration::from_secs(15);

/// The longest wait that any client keeps up, and what those get that set no limit themselves.
const LONG: Duration = Duration::from_mins(25);

/// What a client is good for that nothing is known of.
const SHORT: Duration = Duration::from_secs(50);

/// How long waits may take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ceiling(Option<Duration>);

impl Ceiling {
    /// A person's choice for all clients (`COORDINATION_MAX_WAIT_SECONDS`), if there is one.
    pub(crate) fn new(seconds: Option<u64>) -> Self {
        Self(seconds.map(Duration::from_secs))
    }

    /// How long a client's tool calls may take, less a margin. Measured: each client gives up by a
    /// rule of its own, and some go on as long as they are told that the call is alive.
    fn of(self, client: &Client, tells: bool) -> Duration {
        let known = match client.name.as_deref().unwrap_or_default() {
            "claude-code" => LONG,
            "codex-mcp-client" => Duration::from_mins(4),
            "gemini-cli-mcp-client" => Duration::from_mins(9),
            "opencode" | "copilot-cli" if tells => LONG,
            _ => SHORT,
        };
        self.0.unwrap_or(known)
    }
}

/// A wait that somebody asked for.
pub(crate) struct Patience {
    client: Client,
    seconds: Option<u64>,
    interrupted: Shared<BoxFuture<'static, ()>>,
    tell: Option<Tell>,
}

impl Patience {
    /// `seconds`: how long at the most; the client's own limit if none is given. `interrupted` ends the wait. `tell`
    /// is told every 15 seconds how long the caller has been waiting, where it can be told.
    pub(crate) fn new(
        client: Client,
        seconds: Option<u64>,
        interrupted: BoxFuture<'static, ()>,
        tell: Option<Tell>,
    ) -> Self {
        Self {
            client,
            seconds,
            interrupted: interrupted.shared(),
            tell,
        }
    }
}

/// Says that a wait has taken so long.
pub(crate) type Tell = Box<dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync>;

/// How a wait ended.
#[derive(Debug)]
enum Waiting<T> {
    /// What was waited for is there.
    Found(T),
    /// The time is up.
    TimedOut,
}

impl Service {
    /// Looks until there is something, the time is up, or nobody waits any more.
    async fn wait<T, F, L>(&self, patience: &Patience, mut look: L) -> Result<Waiting<T>, Failure>
    where
        F: Future<Output = Result<Option<T>, Failure>>,
        L: FnMut() -> F,
    {
        let ceiling = self.ceiling.of(&patience.client, patience.tell.is_some());
        let limit = patience
            .seconds
            .map_or(ceiling, |it| ceiling.min(Duration::from_secs(it)));
        let started = Instant::now();
        let mut changes = self.store.subscribe();
        let mut last_told = started;
        loop {
            changes.mark_unchanged();
            if let Some(found) = look().await? {
                return Ok(Waiting::Found(found));
            }
            let deadline = started + limit;
            let next = deadline.min(last_told + TELL_EVERY);
            tokio::select! {
                () = patience.interrupted.clone() => return Err(cancelled()),
                seen = changes.changed() => if seen.is_err() {
                    // The watcher could not be started: look now and then instead.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    changes = self.store.subscribe();
                },
                () = tokio::time::sleep_until(next) => {
                    if next >= deadline {
                        return Ok(Waiting::TimedOut);
                    }
                    last_told = next;
                    if let Some(tell) = &patience.tell {
                        tell(started.elapsed()).await;
                    }
                }
            }
        }
    }

    /// Waits until a task can be claimed, and claims it.
    pub(crate) async fn wait_and_claim(
        self: Arc<Self>,
        wanted: ClaimNext,
        patience: Patience,
    ) -> Result<Claim, Failure> {
        self.clone().blocking(|it| Ok(it.store.prepare()?)).await?;
        let look = || {
            let (service, wanted, client) = (self.clone(), wanted.clone(), patience.client.clone());
            async move {
                let claim = service
                    .blocking(move |it| it.claim_next(&wanted, &client))
                    .await?;
                Ok(Some(claim).filter(|it| it.task.is_some()))
            }
        };
        match self.wait(&patience, look).await? {
            Waiting::Found(claim) => {
                // Nobody reads the answer any more: the task is the caller's, and handed out again.
                if patience.interrupted.clone().now_or_never().is_some() {
                    self.take_back(&claim);
                }
                Ok(claim)
            }
            Waiting::TimedOut => {
                let client = patience.client.clone();
                self.clone()
                    .blocking(move |it| it.claim_next(&wanted, &client))
                    .await
            }
        }
    }

    /// Posts a message and waits for somebody's answer.
    pub(crate) async fn post_and_wait(
        self: Arc<Self>,
        post: Post,
        patience: Patience,
    ) -> Result<PostResult, Failure> {
        let client = patience.client.clone();
        let id = post.task_id;
        let message = self
            .clone()
            .blocking(move |it| it.post(&post, &client))
            .await?;
        let after = Some(message.timestamp);
        let look = || {
            let (service, client) = (self.clone(), patience.client.clone());
            service.blocking(move |it| {
                let names = it.names(&client)?;
                Ok(it
                    .others_messages(&it.task(id)?, &names, after)?
                    .into_iter()
                    .next())
            })
        };
        // The message stands: a wait that fails must not make it look refused, and posted again.
        let waited = self.wait(&patience, look).await;
        let waited = waited.unwrap_or(Waiting::TimedOut);
        let timed_out = Some(matches!(waited, Waiting::TimedOut));
        let reply = match waited {
            Waiting::Found(reply) => self.showing(vec![reply]).pop(),
            Waiting::TimedOut => None,
        };
        Ok(PostResult {
            reply,
            timed_out,
            ..Self::posted(&message)
        })
    }

    /// Waits until a task's status changes or somebody else posts on it.
    pub(crate) async fn wait_for_task(
        self: Arc<Self>,
        id: TaskId,
        known: Option<Status>,
        since: Option<Timestamp>,
        patience: Patience,
    ) -> Result<TaskWait, Failure> {
        let first = self.clone().blocking(move |it| {
            let task = it.task(id)?;
            // Messages that are there now count as seen. What a clock says now proves less: one that
            // was stamped earlier may be written later.
            let newest = it.newest_message(&task)?;
            Ok((known.unwrap_or(task.status()), since.or(newest)))
        });
        let (known, after) = first.await?;
        let look = || {
            let service = self.clone();
            service.blocking(move |it| {
                let found = it.look_up(id)?;
                let messages = it.others_messages(&found.task, &it.identity.taken(), after)?;
                // Nobody can change what is in the archive.
                let changed =
                    found.task.status() != known || !messages.is_empty() || found.is_archived;
                Ok(changed.then(|| it.task_wait(&found, messages, false)))
            })
        };
        match self.wait(&patience, look).await? {
            Waiting::Found(found) => Ok(found),
            Waiting::TimedOut => {
                self.clone()
                    .blocking(move |it| Ok(it.task_wait(&it.look_up(id)?, Vec::new(), true)))
                    .await
            }
        }
    }

    /// Waits until something needs the caller.
    pub(crate) async fn wait_for_attention(
        self: Arc<Self>,
        since: Option<Timestamp>,
        patience: Patience,
    ) -> Result<AttentionWait, Failure> {
        self.clone().blocking(|it| Ok(it.store.prepare()?)).await?;
        let look = || {
            let (service, client) = (self.clone(), patience.client.clone());
            service.blocking(move |it| {
                let (attention, now) = it.attention(since, &client)?;
                let timed_out = false;
                let found = AttentionWait {
                    attention,
                    now,
                    timed_out,
                };
                Ok(Some(found).filter(|it| !it.attention.is_empty()))
            })
        };
        match self.wait(&patience, look).await? {
            Waiting::Found(found) => Ok(found),
            Waiting::TimedOut => Ok(AttentionWait {
                attention: Vec::new(),
                now: self.now(),
                timed_out: true,
            }),
        }
    }

    /// Runs what blocks where blocking is allowed.
    pub(crate) async fn blocking<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let done = tokio::task::spawn_blocking(move || work(&self)).await;
        done.unwrap_or_else(|error| {
            tracing::error!(%error, "a call panicked");
            Err(Failure::new(
                Code::Internal,
                "this is a fault of the server; try again, and report it if it stays",
            ))
        })
    }

    fn task_wait(&self, found: &Found, messages: Vec<Message>, timed_out: bool) -> TaskWait {
        let task = TaskView {
            archived: found.is_archived,
            ..self.summary(&found.task, None)
        };
        let room = PAGE_BYTES.saturating_sub(page::size_of(&task) + 50);
        TaskWait {
            task,
            messages: self.showing(page::fit(messages, usize::MAX, room)),
            timed_out,
        }
    }
}

/// Seen only where the conversation ends: a cancelled request gets no answer.
fn cancelled() -> Failure {
    let text = "the wait was interrupted, because it was cancelled or the server ends; call the tool again";
    Failure::new(Code::Internal, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_waits_as_long_as_it_keeps_up() {
        let limit = |name: &str, tells| {
            let client = Client {
                name: Some(name.to_owned()),
                version: None,
            };
            Ceiling::default().of(&client, tells).as_secs()
        };
        for (name, silent, told) in [
            ("claude-code", 1_500, 1_500),
            ("codex-mcp-client", 240, 240),
            ("gemini-cli-mcp-client", 540, 540),
            ("opencode", 50, 1_500),
            ("copilot-cli", 50, 1_500),
            ("cline", 50, 50),
            ("", 50, 50),
        ] {
            assert_eq!(
                (limit(name, false), limit(name, true)),
                (silent, told),
                "{name}"
            );
        }
        let chosen = Ceiling::new(Some(7));
        assert_eq!(chosen.of(&Client::default(), true), Duration::from_secs(7));
    }
}
