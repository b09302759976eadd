//! Changes as inotify reports them.
//!
//! The root is watched for directories that come and go in it, the others for everything that changes a file. Opening
//! and reading are not asked for: the readers that a change wakes would wake each other.
//!
//! That a process ended shows in `agents/`. It holds its file there open for writing, however it ends the kernel
//! closes it, and the closing is reported (`IN_CLOSE_WRITE`). But it is reported *before* the lock on the file is let
//! go (`__fput` in the kernel): somebody who looks at once may find a dead process still holding its name. So such an
//! event counts again a little later.
//!
//! # Limits
//! A root that does not exist is looked for ten times a second. After that, a second passes at most until a root that
//! was moved away, or deleted while somebody had it open, is noticed.

#[cfg(test)]
mod tests;

use std::{
    mem,
    os::fd::AsFd,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
    sys::inotify::{AddWatchFlags, InitFlags, Inotify, InotifyEvent, WatchDescriptor},
};

use super::{AGENTS, DOCUMENTS, POLL_INTERVAL, SAFETY_INTERVAL, is_absent, stamp::Stamp};

/// What is reported of the directory itself, which then has to be found again.
const ITSELF: AddWatchFlags = AddWatchFlags::IN_DELETE_SELF.union(AddWatchFlags::IN_MOVE_SELF);

/// Names that come and go.
const ENTRIES: AddWatchFlags = AddWatchFlags::IN_CREATE
    .union(AddWatchFlags::IN_DELETE)
    .union(AddWatchFlags::IN_MOVED_FROM)
    .union(AddWatchFlags::IN_MOVED_TO);

/// Edits in place.
const EDITS: AddWatchFlags = AddWatchFlags::IN_MODIFY.union(AddWatchFlags::IN_CLOSE_WRITE);

/// When to count again after a file in `agents/` was closed: soon, for the usual case, and once more for a process
/// that was kept waiting on its way out.
const AFTER_CLOSING: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];

/// The watches on a store.
#[derive(Debug)]
pub(super) struct Events {
    inotify: Inotify,
    root: Directory,
    below: Vec<Directory>,
    /// What the directories looked like when last seen, for changes that are not reported.
    stamps: Vec<Option<Stamp>>,
    tick_due: Instant,
    recounts_due: Vec<Instant>,
}

impl Events {
    /// Watches what there is to watch.
    pub(super) fn open(root: &Path) -> Result<Self, Errno> {
        let documents = DOCUMENTS.map(|name| Directory::new(root.join(name), Role::Documents));
        let agents = Directory::new(root.join(AGENTS), Role::Agents);
        let mut events = Self {
            inotify: Inotify::init(InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK)?,
            root: Directory::new(root.to_owned(), Role::Root),
            below: documents.into_iter().chain([agents]).collect(),
            stamps: Vec::new(),
            tick_due: Instant::now(),
            recounts_due: Vec::new(),
        };
        events.find_directories()?;
        events.renew_stamps();
        Ok(events)
    }

    /// Waits for the next event or tick, and says whether something may have changed. An error means that there will
    /// be no more events.
    pub(super) fn wait(&mut self) -> Result<bool, Errno> {
        self.sleep()?;
        let seen = self.read()?;
        let now = Instant::now();
        let mut changed = seen.change;
        if seen.lost_track || now >= self.tick_due {
            changed |= self.find_directories()?;
        }
        // After every event too, or the next tick would take what was reported for something new.
        changed |= self.renew_stamps();
        changed |= self.take_due_recounts(now);
        if seen.closing {
            self.recounts_due = AFTER_CLOSING.map(|delay| now + delay).into();
        }
        Ok(changed)
    }

    fn sleep(&self) -> Result<(), Errno> {
        let due = self
            .recounts_due
            .iter()
            .copied()
            .fold(self.tick_due, Ord::min);
        // Rounded up, or the last fraction of a millisecond would be spent spinning.
        let left = due.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
        let timeout = PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX);
        let mut descriptors = [PollFd::new(self.inotify.as_fd(), PollFlags::POLLIN)];
        match poll(&mut descriptors, timeout) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn read(&self) -> Result<Seen, Errno> {
        let mut seen = Seen::default();
        match self.inotify.read_events() {
            Ok(events) => events.iter().for_each(|event| self.note(event, &mut seen)),
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(error) => return Err(error),
        }
        Ok(seen)
    }

    fn note(&self, event: &InotifyEvent, seen: &mut Seen) {
        if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
            seen.change = true;
            seen.lost_track = true;
        }
        let is_source = |directory: &&Directory| directory.watch == Some(event.wd);
        let Some(source) = self.directories().find(is_source) else {
            return;
        };
        if event.mask.intersects(ITSELF | AddWatchFlags::IN_IGNORED) {
            seen.lost_track = true;
        } else if source.role == Role::Root {
            seen.lost_track |= event.mask.contains(AddWatchFlags::IN_ISDIR);
        } else {
            seen.change = true;
            let is_closing = event.mask.contains(AddWatchFlags::IN_CLOSE_WRITE);
            seen.closing |= is_closing && source.role == Role::Agents;
        }
    }

    fn directories(&self) -> impl Iterator<Item = &Directory> {
        [&self.root].into_iter().chain(&self.below)
    }

    /// Watches the directories that are at their places now, and says whether they are others than before. The root
    /// comes first: what is made in it while the others are looked for is then reported.
    fn find_directories(&mut self) -> Result<bool, Errno> {
        let mut changed = self.root.find(&self.inotify)?;
        for directory in &mut self.below {
            changed |= directory.find(&self.inotify)?;
        }
        let is_there = self.root.watch.is_some();
        let interval = if is_there {
            SAFETY_INTERVAL
        } else {
            POLL_INTERVAL
        };
        self.tick_due = Instant::now() + interval;
        Ok(changed)
    }

    /// Looks at the directories, and says whether they look different from before.
    fn renew_stamps(&mut self) -> bool {
        let stamps = self
            .below
            .iter()
            .map(|directory| Stamp::at(&directory.path))
            .collect();
        let before = mem::replace(&mut self.stamps, stamps);
        before != self.stamps
    }

    /// Forgets the recounts that are due, and says whether there were any.
    fn take_due_recounts(&mut self, now: Instant) -> bool {
        let before = self.recounts_due.len();
        self.recounts_due.retain(|&due| due > now);
        self.recounts_due.len() < before
    }
}

/// What a batch of events amounts to.
#[derive(Debug, Default)]
struct Seen {
    change: bool,
    lost_track: bool,
    closing: bool,
}

/// What a directory is watched for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Role {
    Root,
    Documents,
    Agents,
}

/// A place where a directory is, was or may come.
#[derive(Debug)]
struct Directory {
    path: PathBuf,
    role: Role,
    watch: Option<WatchDescriptor>,
}

impl Directory {
    fn new(path: PathBuf, role: Role) -> Self {
        let watch = None;
        Self { path, role, watch }
    }

    /// Watches what is at the path now, and says whether that is another directory than before. The kernel answers
    /// with the same descriptor exactly if it is the same directory, and gives none out twice; comparing inode
    /// numbers instead would be deceived by a new directory with the number of the old one.
    fn find(&mut self, inotify: &Inotify) -> Result<bool, Errno> {
        let found = match inotify.add_watch(&self.path, self.mask()) {
            Ok(watch) => Some(watch),
            Err(error) if is_absent(error) => None,
            Err(error) => return Err(error),
        };
        let before = mem::replace(&mut self.watch, found);
        if before == found {
            return Ok(false);
        }
        if let Some(before) = before {
            // Fails if the directory was deleted, which ended its watch.
            let _ = inotify.rm_watch(before);
        }
        Ok(true)
    }

    /// The root may be reached through a link, what is in it may not.
    fn mask(&self) -> AddWatchFlags {
        let reported = match self.role {
            Role::Root => ENTRIES,
            Role::Documents | Role::Agents => ENTRIES | EDITS | AddWatchFlags::IN_DONT_FOLLOW,
        };
        reported | ITSELF | AddWatchFlags::IN_ONLYDIR
    }
}
