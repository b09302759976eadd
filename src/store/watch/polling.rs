//! Finding changes by looking, where nothing reports them.
//!
//! # Limits
//! That a process ended, and with it let go of its file in `agents/`, is nothing that can be looked at. Therefore, and
//! for edits that left no trace in a stamp, every second counts as a change.

use std::{
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::{AGENTS, DOCUMENTS, POLL_INTERVAL, SAFETY_INTERVAL, stamp::Stamp};

/// A sweep is followed by a pause this many times as long, so that a store of any size costs 5 % of a core at most.
const PAUSE_PER_SWEEP: u32 = 20;

/// Looks at the names and stamps of all files of a store.
#[derive(Debug)]
pub(super) struct Polling {
    directories: Vec<PathBuf>,
    sum: u64,
    pause: Duration,
    bump_due: Instant,
}

impl Polling {
    /// Looks for the first time.
    pub(super) fn open(root: &Path) -> Self {
        let names = DOCUMENTS.into_iter().chain([AGENTS]);
        let directories: Vec<_> = names.map(|name| root.join(name)).collect();
        Self {
            sum: sweep(&directories),
            directories,
            pause: POLL_INTERVAL,
            bump_due: Instant::now() + SAFETY_INTERVAL,
        }
    }

    /// Waits, looks, and says whether something may have changed.
    pub(super) fn wait(&mut self) -> bool {
        thread::sleep(self.pause);
        let begun = Instant::now();
        let sum = sweep(&self.directories);
        self.pause = pause_after(begun.elapsed());
        let mut changed = self.sum != sum;
        self.sum = sum;
        if begun >= self.bump_due {
            self.bump_due = begun + SAFETY_INTERVAL;
            changed = true;
        }
        changed
    }
}

fn pause_after(sweep: Duration) -> Duration {
    (sweep * PAUSE_PER_SWEEP).clamp(POLL_INTERVAL, SAFETY_INTERVAL)
}

/// One number for everything in the directories, in whatever order it is listed.
fn sweep(directories: &[PathBuf]) -> u64 {
    let mut sum = 0_u64;
    for directory in directories {
        let Ok(entries) = fs::read_dir(directory) else {
            continue;
        };
        sum = sum.wrapping_add(digest(&(directory, Stamp::at(directory))));
        for entry in entries.flatten() {
            let stamp = entry.metadata().ok().map(|metadata| Stamp::of(&metadata));
            sum = sum.wrapping_add(digest(&(directory, entry.file_name(), stamp)));
        }
    }
    sum
}

fn digest(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    use tempfile::TempDir;

    /// Polling that counts nothing but what it sees.
    fn polling(root: &Path) -> Polling {
        let mut polling = Polling::open(root);
        polling.bump_due += Duration::from_hours(1);
        polling
    }

    #[test]
    fn sees_every_kind_of_change_and_nothing_else() {
        let store = TempDir::new().unwrap();
        let tasks = store.path().join("tasks");
        let file = tasks.join("a.json");
        let mut polling = polling(store.path());
        let mut sees = |change: &str| {
            assert!(polling.wait(), "{change} is seen");
            assert!(!polling.wait(), "{change} is seen once");
        };
        fs::create_dir(&tasks).unwrap();
        sees("a new directory");
        fs::write(&file, "{}").unwrap();
        sees("a new file");
        fs::write(&file, "[ ]").unwrap();
        sees("an edit in place");
        fs::write(tasks.join("b"), "[1]").unwrap();
        sees("another file");
        fs::rename(tasks.join("b"), &file).unwrap();
        sees("a replaced file");
        fs::remove_file(&file).unwrap();
        sees("a deleted file");
        fs::remove_dir(&tasks).unwrap();
        sees("a deleted directory");
        fs::create_dir(store.path().join(AGENTS)).unwrap();
        sees("the directory of agents");
    }

    #[test]
    fn rests_longer_after_a_long_sweep() {
        for (sweep, pause) in [(0, 100), (4, 100), (10, 200), (47, 940), (60_000, 1_000)] {
            let (sweep, pause) = (Duration::from_millis(sweep), Duration::from_millis(pause));
            assert_eq!(pause_after(sweep), pause, "after {sweep:?}");
        }
    }
}
