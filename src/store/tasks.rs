//! The typed seam: tasks with their threads and progress, created, updated, read and watched.
//!
//! # Two documents in one operation
//! A task and one of its logs cannot change in one step, so the task decides. It is committed with
//! the entry in its outbox, under both locks (task first, then the log), then the log is. Whoever
//! writes the log later first adds what it lacks of the outbox; readers read the task first, then
//! the log, and add the same. So an entry is there from the moment its task is committed, once,
//! whatever happens in between.

use std::{path::Path, sync::OnceLock, time::Instant};

use tokio::sync::watch::Receiver;

use super::{
    archive::{self, Entry},
    document,
    engine::{Engine, Settings},
    error::{StoreError, command_line},
    listing::{self, Listing, place},
    lock::{Commit, Lock},
    log::Log,
    place::Folder,
    presence::{self, Card, Holder, Presence, Taken},
    root::Root,
    sequence,
    watch::Watch,
};
use crate::domain::{AgentName, AnyTask, ProgressLog, Status, TaskId, Thread};

/// How often an operation starts over whose lock was taken away, or whose number turned out used.
const ATTEMPTS: u32 = 3;

/// The shared directory, as tasks.
#[derive(Debug)]
pub(crate) struct Store {
    engine: Engine,
    watch: OnceLock<Watch>,
}

/// A task as it was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// The task.
    pub(crate) task: AnyTask,
    /// Whether it is in the archive.
    pub(crate) is_archived: bool,
}

/// What an operation on a task and one of its logs leads to.
#[derive(Debug)]
pub(crate) struct Appended<L: Log, R> {
    /// The task's next version, if it changes too.
    pub(crate) task: Option<AnyTask>,
    /// The entry to add.
    pub(crate) entry: L::Entry,
    /// The answer.
    pub(crate) answer: R,
}

impl Store {
    /// The store in `directory`. Touches nothing yet.
    pub(crate) fn new(directory: &Path, settings: Settings) -> Self {
        Self {
            engine: Engine::new(directory, settings),
            watch: OnceLock::new(),
        }
    }

    /// Where it lies.
    pub(crate) fn directory(&self) -> &Path {
        self.engine.path()
    }

    /// Whether the directory is there.
    pub(crate) fn is_there(&self) -> Result<bool, StoreError> {
        Ok(self.engine.open()?.is_some())
    }

    /// Makes the directory if it isn't there.
    pub(crate) fn prepare(&self) -> Result<(), StoreError> {
        let root = self.engine.open_or_create()?;
        for folder in [Folder::Tasks, Folder::Messages, Folder::Progress] {
            root.folder_or_create(folder)?;
        }
        Ok(())
    }

    /// A count that grows with every change by any process. Subscribe first, then read, then wait.
    pub(crate) fn subscribe(&self) -> Receiver<u64> {
        self.watch.get_or_init(|| self.watcher()).subscribe()
    }

    /// Events tell of changes that this kernel makes. Where others can make some too, it looks for itself.
    fn watcher(&self) -> Watch {
        let directory = self.engine.path().to_owned();
        match self.engine.open() {
            Ok(Some(root)) if !root.dir().is_local() => {
                tracing::warn!(
                    directory = %directory.display(),
                    "this file system is not known to belong to one kernel: names are not exclusive on it, nobody is \
                     reported gone, and a dead holder's lock is given up after 10 seconds only"
                );
                Watch::polling(directory)
            }
            _ => Watch::new(directory),
        }
    }

    pub(super) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Reads a task, also one in the archive. `None`: there is none.
    pub(crate) fn task(&self, id: TaskId) -> Result<Option<Found>, StoreError> {
        let Some(root) = self.engine.open()? else {
            return Ok(None);
        };
        let found = |task, is_archived| Ok(Some(Found { task, is_archived }));
        match Entry::read(&root, id)? {
            Some(Entry::Live(task)) => found(*task, false),
            Some(Entry::Archived(tombstone)) => found(tombstone.task(&root)?, true),
            None => Ok(None),
        }
    }

    /// A command of this program on this directory, for people to copy.
    pub(crate) fn command(&self, words: &str) -> String {
        command_line(self.directory(), words)
    }

    /// Reads a task's status, also of one in the archive. `None`: there is none.
    pub(crate) fn status(&self, id: TaskId) -> Result<Option<Status>, StoreError> {
        match self.engine.open()? {
            Some(root) => Ok(Entry::read(&root, id)?.map(|it| it.status())),
            None => Ok(None),
        }
    }

    /// Reads the messages or the progress of a task that has just been read, also of one in the archive: in this order,
    /// so that nothing which the task carries is missed.
    pub(crate) fn log<L: Log>(&self, task: &AnyTask) -> Result<L, StoreError> {
        let Some(root) = self.engine.open()? else {
            return Ok(L::default());
        };
        let mut log: L = archive::read_log_of(&root, task)?;
        log.receive(task.outbox());
        Ok(log)
    }

    /// Reads all tasks.
    pub(crate) fn list(&self) -> Result<Listing, StoreError> {
        match self.engine.open()? {
            Some(root) => Listing::read(&root),
            None => Ok(Listing::default()),
        }
    }

    /// Creates the task that `make` makes of the id that is given out.
    pub(crate) fn create(&self, make: impl Fn(TaskId) -> AnyTask) -> Result<AnyTask, StoreError> {
        let mut floor = 0;
        loop {
            let number = sequence::reserve(&self.engine, floor, listing::highest)
                .map_err(StoreError::of_a_step)?;
            let id = TaskId::from_number(number);
            let lock = Lock::acquire(&self.engine, &place(Folder::Tasks, id))?;
            // A number that is in use although it was never given out: somebody put files here by
            // hand, or an old sequence back. Go on behind all of them then.
            if is_used(lock.root(), id)? {
                floor = listing::highest(lock.root())?;
                continue;
            }
            let task = make(id);
            let bytes = document::encode(&lock.path(), &task)?;
            if lock.commit(&bytes)? == Commit::Done {
                return Ok(task);
            }
        }
    }

    /// Changes a task: `decide` gets it as it is under its lock and returns its next version (`None`:
    /// nothing to change) and the answer. It may run more than once; only the last run counts.
    pub(crate) fn update<R, E: From<StoreError>>(
        &self,
        id: TaskId,
        decide: impl FnMut(Option<AnyTask>) -> Result<(Option<AnyTask>, R), E>,
    ) -> Result<R, E> {
        let (_, answer) = self.change(id, decide)?;
        Ok(answer)
    }

    /// [`update`](Self::update) that gives the task as it is now, if it was changed.
    pub(crate) fn change<R, E: From<StoreError>>(
        &self,
        id: TaskId,
        mut decide: impl FnMut(Option<AnyTask>) -> Result<(Option<AnyTask>, R), E>,
    ) -> Result<(Option<AnyTask>, R), E> {
        let place = place(Folder::Tasks, id);
        let changed = self.engine.change(&place, |root, entry: Option<Entry>| {
            let entry = listing::checked(&root.path_of(&place), id, entry)?;
            let (next, answer) = decide(entry.map(|it| it.live(root)).transpose()?)?;
            let next = next.map(|task| Entry::Live(Box::new(settled(root, task))));
            Ok::<_, E>((next, answer))
        });
        let (entry, answer) = changed?;
        let task = entry.and_then(|it| match it {
            Entry::Live(task) => Some(*task),
            Entry::Archived(_) => None,
        });
        Ok((task, answer))
    }

    /// Adds an entry to a log of a task, and changes the task with it where `decide` says so.
    pub(crate) fn append<L: Log, R, E: From<StoreError>>(
        &self,
        id: TaskId,
        mut decide: impl FnMut(Option<AnyTask>, &L) -> Result<Appended<L, R>, E>,
    ) -> Result<R, E> {
        let started = Instant::now();
        let task_place = place(Folder::Tasks, id);
        for _ in 0..ATTEMPTS {
            let task_lock = Lock::acquire(&self.engine, &task_place)?;
            let entry = Entry::locked(&task_lock, id)?;
            let task = entry.map(|it| it.live(task_lock.root())).transpose()?;
            if task.is_none() {
                // Says that there is none; the log of a task that isn't must not come into being.
                return decide(None, &L::default()).map(|it| it.answer);
            }
            let log_lock = Lock::acquire(&self.engine, &place(L::FOLDER, id))?;
            let mut log: L = placed(&log_lock.path(), id, log_lock.read()?.unwrap_or_default())?;
            archive::bring_back(log_lock.root(), id, &mut log)?;
            log.receive(task.as_ref().map_or(&[], AnyTask::outbox));
            let Appended {
                task,
                entry,
                answer,
            } = decide(task, &log)?;
            log.append(entry.clone());
            // Both, before either is written: what is too large changes nothing.
            let log_bytes = document::encode(&log_lock.path(), &log)?;
            let Some(task) = task else {
                match log_lock.commit(&log_bytes)? {
                    Commit::Done => return Ok(answer),
                    Commit::Lost => continue,
                }
            };
            let mut task = settled(task_lock.root(), task);
            task.enqueue(L::queued(entry));
            let task_bytes = document::encode(&task_lock.path(), &task)?;
            if task_lock.commit(&task_bytes)? == Commit::Done {
                follow(log_lock, &log_bytes);
                return Ok(answer);
            }
        }
        Err(self.engine.lost(&task_place, started.elapsed()).into())
    }

    /// Takes a name for this process, if no living one has it.
    pub(crate) fn take_name(&self, name: &AgentName, card: &Card) -> Result<Taken, StoreError> {
        Presence::take(&self.engine.open_or_create()?, name.as_str(), card)
    }

    /// Whether a name that was taken still is this process's: the directory may have been removed.
    pub(crate) fn keeps_name(&self, presence: &Presence) -> Result<bool, StoreError> {
        match self.engine.open()? {
            Some(root) => presence.is_current(&root),
            None => Ok(false),
        }
    }

    /// Whether a living process goes by a name.
    pub(crate) fn holder(&self, name: &AgentName) -> Result<Holder, StoreError> {
        match self.engine.open()? {
            Some(root) => presence::holder(&root, name.as_str()),
            None => Ok(Holder::Gone(None)),
        }
    }
}

/// The second commit of two. The first has decided, so a failure here is nobody's error: the entry
/// is in the task's outbox, where every reader finds it and the next writer takes it from.
fn follow(lock: Lock, bytes: &[u8]) {
    let path = lock.path();
    match lock.commit(bytes) {
        Ok(Commit::Done) => {}
        Ok(Commit::Lost) => tracing::debug!(path = %path.display(), "left to the next writer"),
        Err(error) => tracing::warn!(%error, "left in the task's outbox for the next writer"),
    }
}

/// Whether anything of a task with this id is or was here.
fn is_used(root: &Root, id: TaskId) -> Result<bool, StoreError> {
    for folder in [
        Folder::Tasks,
        Folder::Messages,
        Folder::Progress,
        Folder::ArchiveTasks,
    ] {
        if root.contains(&place(folder, id))? {
            return Ok(true);
        }
    }
    listing::is_quarantined(root, id)
}

/// Reads a log where it lies among the live ones or in the archive.
pub(super) fn read_log<L: Log>(root: &Root, folder: Folder, id: TaskId) -> Result<L, StoreError> {
    let place = place(folder, id);
    let log = root.read(&place)?.unwrap_or_default();
    placed(&root.path_of(&place), id, log)
}

/// The log that was read at a path, if it can be that task's.
pub(super) fn placed<L: Log>(path: &Path, id: TaskId, log: L) -> Result<L, StoreError> {
    match log.misplaced(id) {
        Some(reason) => Err(StoreError::corrupt(path.to_owned(), reason)),
        None => Ok(log),
    }
}

/// The task without those outbox entries that are in their files. One that cannot be looked up stays.
fn settled(root: &Root, mut task: AnyTask) -> AnyTask {
    if task.outbox().is_empty() {
        return task;
    }
    let thread: Option<Thread> = read_log(root, Folder::Messages, task.id()).ok();
    let progress: Option<ProgressLog> = read_log(root, Folder::Progress, task.id()).ok();
    task.settle(|entry| {
        thread.as_ref().is_some_and(|it| it.has(entry))
            || progress.as_ref().is_some_and(|it| it.has(entry))
    });
    task
}

#[cfg(test)]
pub(super) mod tests;
