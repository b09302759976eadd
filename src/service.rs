//! What the tools and commands do, said once: every rule that needs the store, a clock or an identity.
//!
//! The methods block (they read and write files); only the waits are asynchronous. Results are the
//! shapes that callers see, so that every front end shows the same.

mod advice;
mod archive;
mod attention;
mod claims;
mod clock;
mod error;
mod identity;
mod lifecycle;
mod messages;
mod page;
mod queue;
mod shapes;
mod view;
mod wait;

#[cfg(test)]
mod tests;

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
    sync::Mutex,
    sync::PoisonError,
    time::Duration,
};

use crate::{
    domain::{
        AgentName, AnyTask, DirectoryPath, Message, MessageId, Reference, Stamp, TaskId, Timestamp,
    },
    store::{Found, Store, location::Worktree},
};

pub(crate) use archive::{Archived, Due, Moved};
pub(crate) use attention::Why;
pub(crate) use claims::ClaimNext;
pub(crate) use clock::Clock;
use error::Code;
pub(crate) use error::Failure;
pub(crate) use identity::{Client, Identity};
pub(crate) use lifecycle::HandIn;
pub(crate) use messages::Post;
pub(crate) use page::Filter;
pub(crate) use queue::Search;
pub(crate) use shapes::*;
pub(crate) use wait::{Ceiling, Patience, Tell};

/// The task queue as one process serves it.
#[derive(Debug)]
pub(crate) struct Service {
    store: Store,
    clock: Clock,
    identity: Identity,
    worktree: Option<Worktree>,
    working_directory: PathBuf,
    ceiling: Ceiling,
    started: Timestamp,
    memory: Mutex<Memory>,
}

/// What a process remembers of what it has told its client. Forgetting it repeats something, at most.
#[derive(Debug, Default)]
struct Memory {
    /// Claims that this process made or handed out: task and version of the claim.
    handed_out: HashSet<(TaskId, u64)>,
    /// Messages that some result has shown.
    shown: HashSet<MessageId>,
    /// Events that a wait has returned, with the `now` that it returned beside them first.
    told: HashMap<attention::Event, Timestamp>,
}

/// How long this process may look gone after somebody has removed its card.
const KEEP_EVERY: Duration = Duration::from_secs(1);

/// What a service is made for.
#[derive(Debug)]
pub(crate) struct Setting {
    /// The shared directory.
    pub(crate) store: Store,
    /// The time.
    pub(crate) clock: Clock,
    /// The name that a person chose for this process, if one did.
    pub(crate) agent: Option<AgentName>,
    /// The worktree that the process works in.
    pub(crate) worktree: Option<Worktree>,
    /// The directory that it works in.
    pub(crate) working_directory: PathBuf,
    /// How long a wait may take.
    pub(crate) ceiling: Ceiling,
}

impl Service {
    /// Touches nothing yet: not the directory, and no name is taken.
    pub(crate) fn new(setting: Setting) -> Arc<Self> {
        let Setting {
            store,
            clock,
            agent,
            worktree,
            working_directory,
            ceiling,
        } = setting;
        let place = worktree
            .as_ref()
            .map_or(working_directory.as_path(), Worktree::root)
            .to_owned();
        let identity = Identity::new(agent, place);
        let started = clock.now();
        let memory = Mutex::default();
        Arc::new(Self {
            store,
            clock,
            identity,
            worktree,
            working_directory,
            ceiling,
            started,
            memory,
        })
    }

    /// Keeps the names of this process, every now and then, for as long as it is polled.
    pub(crate) async fn keep_names(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(KEEP_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if self.identity.taken().is_empty() {
                continue;
            }
            let kept = self
                .clone()
                .blocking(|it| it.identity.keep(&it.store))
                .await;
            if let Err(error) = kept {
                tracing::debug!(%error, "names could not be kept; the next call tries again");
            }
        }
    }

    /// A service that is never called.
    #[cfg(test)]
    pub(crate) fn idle() -> Arc<Self> {
        let nowhere = PathBuf::from("/nowhere");
        Self::new(Setting {
            store: Store::new(&nowhere, crate::store::Settings::default()),
            clock: Clock::system(),
            agent: None,
            worktree: None,
            working_directory: nowhere,
            ceiling: Ceiling::default(),
        })
    }

    /// The shared directory, for people.
    pub(crate) fn directory(&self) -> String {
        self.store.directory().display().to_string()
    }

    /// A count that grows with every change by any process.
    pub(crate) fn changes(&self) -> tokio::sync::watch::Receiver<u64> {
        self.store.subscribe()
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Under which name a caller acts on a task: the one that holds it if it is the caller's, else
    /// the process's own.
    fn actor(&self, task: &AnyTask, client: &Client) -> Result<AgentName, Failure> {
        let names = self.names(client)?;
        let holding = task.assignee().filter(|it| names.contains(it));
        Ok(holding
            .or(names.first())
            .cloned()
            .unwrap_or_else(Identity::nameless))
    }

    /// Under which name a caller reviews a task: the one that created it, if that is the caller's and not the one
    /// that did the work, so that an assistant can review what its subagents hand in; else as for everything.
    fn reviewer(&self, task: &AnyTask, client: &Client) -> Result<AgentName, Failure> {
        let creator = task.creator();
        if task.assignee() != Some(creator) && self.names(client)?.contains(creator) {
            return Ok(creator.clone());
        }
        self.actor(task, client)
    }

    /// The names of this process, its own first.
    fn names(&self, client: &Client) -> Result<Vec<AgentName>, Failure> {
        self.identity.names(&self.store, &self.clock, client)
    }

    fn stamp(&self, actor: AgentName) -> Stamp {
        Stamp {
            actor,
            at: self.now(),
        }
    }

    /// The branch that is checked out where this process works.
    fn branch(&self) -> Option<Reference> {
        let head = self.worktree.as_ref()?.head();
        Reference::try_from(head.branch()?.to_owned()).ok()
    }

    /// Where this process works: its worktree, else its directory.
    fn workplace(&self) -> DirectoryPath {
        let place = self
            .worktree
            .as_ref()
            .map_or(self.working_directory.as_path(), Worktree::root);
        let text = place
            .display()
            .to_string()
            .chars()
            .take(DirectoryPath::LIMIT)
            .collect::<String>();
        DirectoryPath::try_from(text)
            .or_else(|_| DirectoryPath::try_from("/".to_owned()))
            .expect("a slash is no blank")
    }

    /// Reads a task that has to be there, or in the archive.
    fn look_up(&self, id: TaskId) -> Result<Found, Failure> {
        self.store.task(id)?.ok_or_else(|| self.not_found(id))
    }

    /// [`look_up`](Self::look_up), for those to whom it is the same whether it is in the archive.
    fn task(&self, id: TaskId) -> Result<AnyTask, Failure> {
        Ok(self.look_up(id)?.task)
    }

    fn not_found(&self, id: TaskId) -> Failure {
        let directory = self.directory();
        let text = format!(
            "there is no {id} in {directory}; list_tasks with status \"all\" shows what there is outside the archive"
        );
        Failure::new(Code::NotFound, text)
    }

    fn memory(&self) -> std::sync::MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers that messages are being shown.
    fn showing(&self, messages: Vec<Message>) -> Vec<Message> {
        self.memory().shown.extend(messages.iter().map(|it| it.id));
        messages
    }

    fn new_id() -> MessageId {
        MessageId::from_uuid(uuid::Uuid::new_v4())
    }
}

/// The version that a caller expects a task to have.
fn expect_version(task: &AnyTask, expected: Option<u64>) -> Result<(), Failure> {
    match expected {
        Some(expected) if expected != task.version() => Err(Failure::new(
            Code::Conflict,
            format!(
                "{} is at version {} ({}), not {expected}: look at it with get_task and decide again",
                task.id(),
                task.version(),
                task.status()
            ),
        )),
        _ => Ok(()),
    }
}
