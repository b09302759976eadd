//! Waking up when anybody changes the store.
//!
//! One thread per process watches the directories of the store and counts what it sees; whoever waits compares the
//! count. It says *that* something may have changed and never what: a waiter reads, finds or does not find what it
//! waits for, and waits again. So a count too many costs a read, and only a missing one would be an error.
//!
//! To miss nothing: subscribe first, then read, then wait. The directories are being watched by the time
//! [`Watch::subscribe`] returns, so a change that the read was too early for is still to be counted.
//!
//! # Limits
//! Where events of other machines do not arrive (network file systems, directories shared with a virtual machine), an
//! edit in place of an existing file by another machine goes unnoticed; [`Watch::polling`] is for those.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
mod polling;
mod stamp;
#[cfg(test)]
mod tests;

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, Weak},
    thread,
    time::Duration,
};

use nix::errno::Errno;
use tokio::sync::watch::{Receiver, Sender};

#[cfg(target_os = "linux")]
use linux::Events;
#[cfg(target_os = "macos")]
use macos::Events;
use polling::Polling;

/// The directories in which a change can be what somebody waits for.
const DOCUMENTS: [&str; 3] = ["tasks", "messages", "progress"];

/// The directory whose files living processes hold open.
const AGENTS: &str = "agents";

/// How long a change that no event announced can go unnoticed, and how long the thread outlives its [`Watch`].
const SAFETY_INTERVAL: Duration = Duration::from_secs(1);

/// How often to look while there are no events to wait for: no store yet, or nothing that would report on it.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// The one watcher of a process.
#[derive(Debug)]
pub(crate) struct Watch {
    root: PathBuf,
    method: fn(&Path) -> Method,
    /// The count, once somebody asked for it. Its thread has a weak reference, and ends when this one is gone.
    generation: Mutex<Option<Arc<Sender<u64>>>>,
}

impl Watch {
    /// A watcher of the store at `root`, which need not exist. Opens nothing before the first subscription.
    pub(crate) fn new(root: PathBuf) -> Self {
        Self::with_method(root, Method::events)
    }

    /// A watcher that looks at every file of the store, ten times a second in a small one, and asks for no events.
    pub(crate) fn polling(root: PathBuf) -> Self {
        Self::with_method(root, Method::polling)
    }

    fn with_method(root: PathBuf, method: fn(&Path) -> Method) -> Self {
        Self {
            root,
            method,
            generation: Mutex::default(),
        }
    }

    /// The count of changes, which grows after every one that is made from now on. The first call opens the watcher,
    /// which takes microseconds, or reads the directories once where it polls.
    ///
    /// Waiting on it fails when the `Watch` is dropped, and at once when its thread could not be started; the next
    /// subscription tries again.
    pub(crate) fn subscribe(&self) -> Receiver<u64> {
        let mut generation = self
            .generation
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = &*generation {
            return running.subscribe();
        }
        let (sender, receiver) = tokio::sync::watch::channel(0);
        let sender = Arc::new(sender);
        match self.start(Arc::downgrade(&sender)) {
            Ok(()) => *generation = Some(sender),
            Err(error) => tracing::warn!(%error, "cannot start the thread that watches the store"),
        }
        receiver
    }

    fn start(&self, generation: Weak<Sender<u64>>) -> io::Result<()> {
        let root = self.root.clone();
        let method = (self.method)(&root);
        thread::Builder::new()
            .name("store-watch".to_owned())
            .spawn(move || count_changes(&root, method, &generation))?;
        Ok(())
    }
}

/// How changes are found.
#[derive(Debug)]
enum Method {
    /// The kernel reports them.
    Events(Events),
    /// By looking.
    Polling(Polling),
}

impl Method {
    /// Events, if they can be had: a user's instances and watches are limited, and others use them too.
    fn events(root: &Path) -> Self {
        match Events::open(root) {
            Ok(events) => Self::Events(events),
            Err(error) => Self::instead_of_events(root, error),
        }
    }

    fn polling(root: &Path) -> Self {
        Self::Polling(Polling::open(root))
    }

    fn instead_of_events(root: &Path, error: Errno) -> Self {
        tracing::warn!(
            %error,
            "the system reports no changes of files (too many watchers? see /proc/sys/fs/inotify on Linux), so the \
             store is looked at ten times a second instead"
        );
        Self::polling(root)
    }

    /// Waits, for at most a second, and says whether something may have changed.
    fn wait(&mut self, root: &Path) -> bool {
        let error = match self {
            Self::Polling(polling) => return polling.wait(),
            Self::Events(events) => match events.wait() {
                Ok(changed) => return changed,
                Err(error) => error,
            },
        };
        *self = Self::instead_of_events(root, error);
        true
    }
}

/// The watcher's thread.
fn count_changes(root: &Path, mut method: Method, generation: &Weak<Sender<u64>>) {
    loop {
        let changed = method.wait(root);
        let Some(generation) = generation.upgrade() else {
            return;
        };
        if changed {
            generation.send_modify(|count| *count += 1);
        }
    }
}

/// Whether opening a directory failed because there is none at that place, or none for us; it may come.
fn is_absent(error: Errno) -> bool {
    matches!(
        error,
        Errno::ENOENT | Errno::ENOTDIR | Errno::ELOOP | Errno::EACCES | Errno::ENAMETOOLONG
    )
}
