//! What the store's tests share: a small document, quick settings, and other processes.
//!
//! A test that needs another process starts this test binary again, with [`child`] as the only test
//! to run. The two talk through marker files in a directory of their own.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::document;
use super::durability::Durability;
use super::engine::{Engine, Settings};
use super::error::StoreError;
use super::lock::Lock;
use super::place::{Folder, Place};
use super::presence::{Card, Presence, Taken};
use crate::domain::FormatVersion;

/// Longer than anything here takes on a busy machine.
const BOUND: Duration = Duration::from_secs(30);
const ROLE: &str = "AI_COORD_STORE_TEST_ROLE";
const ANSWERS: &str = "answers-";
const DESK: &str = "AI_COORD_STORE_TEST_DESK";

/// The document of these tests.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Counter {
    #[serde(default)]
    format_version: FormatVersion,
    pub(super) count: u64,
}

impl Counter {
    pub(super) fn new(count: u64) -> Self {
        Self {
            format_version: FormatVersion,
            count,
        }
    }
}

/// A temporary place for a store and, beside it, the markers.
pub(super) struct Desk {
    temp: TempDir,
}

impl Desk {
    pub(super) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        Self { temp }
    }

    pub(super) fn path(&self) -> &Path {
        self.temp.path()
    }

    pub(super) fn store(&self) -> PathBuf {
        store_of(self.path())
    }

    pub(super) fn document(&self) -> PathBuf {
        self.store().join("tasks/counter.json")
    }

    pub(super) fn locks(&self) -> PathBuf {
        self.store().join(".locks")
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.locks().join(place().lock_name())
    }

    pub(super) fn engine(&self, settings: Settings) -> Engine {
        Engine::new(self.store(), settings)
    }

    pub(super) fn count(&self) -> u64 {
        let engine = self.engine(quick());
        let counter: Option<Counter> = engine.read(&place()).unwrap();
        counter.map_or(0, |counter| counter.count)
    }

    pub(super) fn mark(&self, name: &str) {
        fs::write(self.path().join(name), "").unwrap();
    }

    pub(super) fn wait_for(&self, name: &str) -> String {
        wait_for(&self.path().join(name))
    }

    /// What [`Role::Increment`] has got as answers, in all processes.
    pub(super) fn answered(&self) -> Vec<u64> {
        let logs = names(self.path()).into_iter();
        let logs = logs.filter(|name| name.starts_with(ANSWERS));
        let texts = logs.map(|name| fs::read_to_string(self.path().join(name)).unwrap());
        texts
            .flat_map(|text| {
                let (whole, _) = text.rsplit_once('\n').unwrap_or_default();
                let answers = whole.lines().map(|line| line.parse().unwrap());
                answers.collect::<Vec<u64>>()
            })
            .collect()
    }

    /// The names in `.locks/`; no directory is none.
    pub(super) fn left_in_locks(&self) -> Vec<String> {
        names(&self.locks())
    }

    pub(super) fn start(&self, role: Role) -> Child {
        self.start_program_as(&std::env::current_exe().unwrap(), role, |_| {})
    }

    /// `program` is a copy of this test binary.
    pub(super) fn start_program_as(
        &self,
        program: &Path,
        role: Role,
        prepare: impl FnOnce(&mut Command),
    ) -> Child {
        let mut command = Command::new(program);
        command
            .args(["--exact", "store::testing::child", "--ignored"])
            .env(ROLE, role.to_string())
            .env(DESK, self.path())
            .stdout(Stdio::null());
        prepare(&mut command);
        Child(command.spawn().unwrap())
    }
}

/// No flushing, and no taking away of what is held by the living.
pub(super) fn quick() -> Settings {
    Settings::default()
        .durability(Durability::None)
        .give_up_after(BOUND * 2)
        .patience(BOUND)
}

pub(super) fn place() -> Place {
    Place::new(Folder::Tasks, "counter")
}

pub(super) fn increment(engine: &Engine) -> Result<u64, StoreError> {
    engine.update(&place(), |_, counter: Option<Counter>| {
        let next = counter.map_or(0, |counter| counter.count) + 1;
        Ok((Some(Counter::new(next)), next))
    })
}

pub(super) fn increment_times(engine: &Engine, times: u32) {
    for _ in 0..times {
        increment(engine).unwrap();
    }
}

pub(super) fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

pub(super) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < BOUND, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// What another process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Takes the lock, says `held`, and on `go` commits 1000, saying the outcome in `outcome`.
    Hold,
    /// Increments this many times, keeping a log of the answers.
    Increment(u32),
    /// Says the outcome of a single increment in `outcome`.
    Attempt,
    /// Takes the name `worker`, says `present`, and stays.
    BePresent,
}

impl std::fmt::Display for Role {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Hold => formatter.write_str("hold"),
            Self::Increment(times) => write!(formatter, "{times}"),
            Self::Attempt => formatter.write_str("attempt"),
            Self::BePresent => formatter.write_str("be-present"),
        }
    }
}

impl FromStr for Role {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "hold" => Ok(Self::Hold),
            "attempt" => Ok(Self::Attempt),
            "be-present" => Ok(Self::BePresent),
            times => times.parse().map(Self::Increment),
        }
    }
}

/// Another process, ended with the test at the latest.
pub(super) struct Child(process::Child);

impl Child {
    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.0.id().try_into().unwrap()), signal).unwrap();
    }

    pub(super) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    pub(super) fn succeed(mut self) {
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
#[ignore = "the entry point of the processes that other tests start"]
fn child() {
    let (Ok(role), Some(desk)) = (std::env::var(ROLE), std::env::var_os(DESK)) else {
        return;
    };
    let desk = PathBuf::from(desk);
    let engine = Engine::new(store_of(&desk), quick());
    match role.parse().unwrap() {
        Role::Hold => hold(&engine, &desk),
        Role::Increment(times) => increment_and_log(&engine, &desk, times),
        Role::Attempt => {
            let outcome = increment(&engine);
            say(
                &desk,
                "outcome",
                &outcome.map_or_else(|e| e.to_string(), |n| n.to_string()),
            );
        }
        Role::BePresent => be_present(&engine, &desk),
    }
}

fn increment_and_log(engine: &Engine, desk: &Path, times: u32) {
    let mut log = File::create(desk.join(format!("{ANSWERS}{}", process::id()))).unwrap();
    for _ in 0..times {
        writeln!(log, "{}", increment(engine).unwrap()).unwrap();
    }
}

fn hold(engine: &Engine, desk: &Path) {
    let lock = Lock::acquire(engine, &place()).unwrap();
    let bytes = document::encode(&lock.path(), &Counter::new(1000)).unwrap();
    say(desk, "held", "");
    wait_for(&desk.join("go"));
    let outcome = lock.commit(&bytes).unwrap();
    say(desk, "outcome", &format!("{outcome:?}"));
}

fn be_present(engine: &Engine, desk: &Path) {
    let root = engine.open_or_create().unwrap();
    let card = Card::new(
        "worker",
        "/a/long/way/".repeat(20),
        "2026-01-01T00:00:00.000Z",
    );
    let Taken::Held(_presence) = Presence::take(&root, "worker", &card).unwrap() else {
        panic!("the name is free");
    };
    say(desk, "present", "");
    thread::sleep(BOUND);
}

/// Appears with its content, so that nobody reads half of it.
fn say(desk: &Path, name: &str, text: &str) {
    let unfinished = desk.join(format!("{name}.unfinished"));
    fs::write(&unfinished, text).unwrap();
    fs::rename(unfinished, desk.join(name)).unwrap();
}

fn wait_for(path: &Path) -> String {
    eventually(&path.display().to_string(), || path.exists());
    fs::read_to_string(path).unwrap()
}

fn store_of(desk: &Path) -> PathBuf {
    desk.join("store")
}
