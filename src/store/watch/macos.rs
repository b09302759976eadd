//! Changes as kqueue reports them.
//!
//! A directory reports names that come, go or are replaced. It is held open for that, which also keeps its inode
//! number from being given to another, so that comparing numbers tells whether it is still the one at its place.
//!
//! # Limits
//! Edits in place, and processes that end, are not reported; so every second counts as a change.

use std::{
    fs::{self, File, OpenOptions},
    os::{
        fd::AsRawFd,
        unix::fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use nix::{
    errno::Errno,
    libc,
    sys::event::{EvFlags, EventFilter, FilterFlag, KEvent, Kqueue},
};

use super::{AGENTS, DOCUMENTS, POLL_INTERVAL, SAFETY_INTERVAL, is_absent};

/// The watches on a store.
#[derive(Debug)]
pub(super) struct Events {
    queue: Kqueue,
    root: Directory,
    below: Vec<Directory>,
    tick_due: Instant,
}

impl Events {
    /// Watches what there is to watch.
    pub(super) fn open(root: &Path) -> Result<Self, Errno> {
        let names = DOCUMENTS.into_iter().chain([AGENTS]);
        let below = names.map(|name| Directory::new(root.join(name), libc::O_NOFOLLOW));
        let mut events = Self {
            queue: Kqueue::new()?,
            root: Directory::new(root.to_owned(), 0),
            below: below.collect(),
            tick_due: Instant::now(),
        };
        events.find_directories()?;
        Ok(events)
    }

    /// Waits for the next event or tick, and says whether something may have changed. An error means that there will
    /// be no more events.
    pub(super) fn wait(&mut self) -> Result<bool, Errno> {
        let is_reported = self.sleep()?;
        if !is_reported && Instant::now() < self.tick_due {
            return Ok(false);
        }
        let is_found = self.find_directories()?;
        Ok(is_reported || is_found || self.root.open.is_some())
    }

    /// Sleeps, and says whether an event ended it.
    fn sleep(&self) -> Result<bool, Errno> {
        let left = self.tick_due.saturating_duration_since(Instant::now());
        let mut events = [KEvent::new(
            0,
            EventFilter::EVFILT_VNODE,
            EvFlags::empty(),
            FilterFlag::empty(),
            0,
            0,
        ); 8];
        match self.queue.kevent(&[], &mut events, Some(timespec(left))) {
            Ok(count) => Ok(count > 0),
            Err(Errno::EINTR) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Watches the directories that are at their places now, and says whether they are others than before. The root
    /// comes first: what is made in it while the others are looked for is then reported.
    fn find_directories(&mut self) -> Result<bool, Errno> {
        let mut changed = self.root.find(&self.queue)?;
        for directory in &mut self.below {
            changed |= directory.find(&self.queue)?;
        }
        let is_there = self.root.open.is_some();
        let interval = if is_there {
            SAFETY_INTERVAL
        } else {
            POLL_INTERVAL
        };
        self.tick_due = Instant::now() + interval;
        Ok(changed)
    }
}

/// A place where a directory is, was or may come.
#[derive(Debug)]
struct Directory {
    path: PathBuf,
    flags: libc::c_int,
    open: Option<File>,
}

impl Directory {
    fn new(path: PathBuf, flags: libc::c_int) -> Self {
        let open = None;
        Self { path, flags, open }
    }

    /// Watches what is at the path now, and says whether that is another directory than before.
    fn find(&mut self, queue: &Kqueue) -> Result<bool, Errno> {
        let before = self.open.as_ref().and_then(|file| file.metadata().ok());
        let there = fs::metadata(&self.path).ok();
        if before.as_ref().map(identity) == there.as_ref().map(identity) {
            return Ok(false);
        }
        // Closing the old one ends its watch.
        self.open = self.open_directory()?;
        if let Some(file) = &self.open {
            watch(queue, file)?;
        }
        Ok(before.is_some() || self.open.is_some())
    }

    /// Opens it for nothing but events, which does not keep its volume from being ejected.
    fn open_directory(&self) -> Result<Option<File>, Errno> {
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_EVTONLY | libc::O_DIRECTORY | self.flags)
            .open(&self.path);
        match opened {
            Ok(file) => Ok(Some(file)),
            Err(error) => match Errno::from_raw(error.raw_os_error().unwrap_or_default()) {
                error if is_absent(error) => Ok(None),
                error => Err(error),
            },
        }
    }
}

fn identity(metadata: &fs::Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}

fn watch(queue: &Kqueue, file: &File) -> Result<(), Errno> {
    let descriptor = usize::try_from(file.as_raw_fd()).map_err(|_| Errno::EBADF)?;
    let event = KEvent::new(
        descriptor,
        EventFilter::EVFILT_VNODE,
        EvFlags::EV_ADD | EvFlags::EV_CLEAR,
        FilterFlag::NOTE_WRITE
            | FilterFlag::NOTE_EXTEND
            | FilterFlag::NOTE_LINK
            | FilterFlag::NOTE_DELETE
            | FilterFlag::NOTE_RENAME
            | FilterFlag::NOTE_REVOKE,
        0,
        0,
    );
    queue.kevent(&[event], &mut [], None)?;
    Ok(())
}

/// `duration`, which is a second at most.
fn timespec(duration: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: libc::time_t::try_from(duration.as_secs()).unwrap_or(1),
        tv_nsec: libc::c_long::from(duration.subsec_nanos()),
    }
}
