//! One round of a storm: a directory, four implementers and a coordinator, and what happens to them.

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    path::PathBuf,
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread::{self, ScopedJoinHandle},
    time::{Duration, Instant},
};

use super::{
    Limit,
    chaos::{self, Toll},
    checks,
    client::{Client, Slot},
    drivers::{self, Board},
    found::Found,
    journal::{Call, Fate, Violations},
    readers,
    rng::Rng,
    settle,
};
use crate::agent::Place;

const COORDINATOR: &str = "coordinator";
const WORKERS: [&str; 4] = ["worker-1", "worker-2", "worker-3", "worker-4"];

/// The one whose every step takes longer.
const FLUSHING: &str = "worker-4";

pub(super) struct Round {
    place: Place,
    limit: Limit,
    seed: u64,
    violations: Violations,
    board: Board,
    /// The clients are done.
    over: AtomicBool,
    /// Chaos is, too.
    calm: AtomicBool,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Report {
    took: Duration,
    answered: usize,
    refused: usize,
    busy: usize,
    lost: usize,
    toll: Toll,
    deaths: u64,
    from_dead: usize,
    from_living: usize,
    reads: u64,
    tasks: usize,
    violations: Vec<String>,
}

impl Round {
    pub(super) fn new(limit: Limit, seed: u64) -> Self {
        Self {
            place: Place::new(),
            limit,
            seed,
            violations: Violations::default(),
            board: Board::default(),
            over: AtomicBool::new(false),
            calm: AtomicBool::new(false),
        }
    }

    pub(super) fn run(self, length: Duration) -> Report {
        let started = Instant::now();
        let names = [COORDINATOR].into_iter().chain(WORKERS);
        let slots: Vec<_> = names.map(Slot::new).collect();
        let mut report = Report::default();
        let mut calls = self.rage(&slots, started + length, &mut report);
        let finisher = Slot::new("finisher");
        let finisher = self.client(&finisher, 2);
        calls.extend(settle::settle(
            &self.place.path(),
            finisher,
            &self.violations,
        ));
        let found = Found::read(&self.place.path());
        checks::account(&calls, &found, self.limit, &self.violations);
        report.count(&calls);
        report.tasks = found.tasks.len();
        report.deaths = slots.iter().map(Slot::deaths).sum();
        (report.from_dead, report.from_living) = self.takeovers();
        report.took = started.elapsed();
        report.violations = self.violations.take();
        report
    }

    /// The storm itself: all calls that were made in it.
    fn rage(&self, slots: &[Slot], until: Instant, report: &mut Report) -> Vec<Call> {
        thread::scope(|scope| {
            let drivers: Vec<_> = slots
                .iter()
                .zip(10..)
                .map(|(slot, stream)| scope.spawn(move || self.drive(slot, stream, until)))
                .collect();
            let chaos = scope.spawn(|| {
                let mut rng = Rng::new(self.seed, 1);
                chaos::rage(slots, &mut rng, until, &self.over)
            });
            let files = scope
                .spawn(|| readers::read_files(&self.place.path(), &self.violations, &self.calm));
            let asker = scope.spawn(|| self.ask());
            // All are told of the end before any failure is passed on, or they would never hear of it.
            let journals: Vec<_> = drivers.into_iter().map(ScopedJoinHandle::join).collect();
            self.over.store(true, Ordering::SeqCst);
            let toll = chaos.join();
            self.calm.store(true, Ordering::SeqCst);
            report.toll = toll.expect("chaos does not fail");
            report.reads = files.join().expect("the reader of files does not fail");
            report.reads += asker.join().expect("the asking reader does not fail");
            let journals = journals.into_iter();
            journals
                .flat_map(|it| it.expect("a driver does not fail"))
                .collect()
        })
    }

    fn drive(&self, slot: &Slot, stream: u64, until: Instant) -> Vec<Call> {
        let mut client = self.client(slot, stream);
        let mut rng = Rng::new(self.seed, stream + 100);
        let drive = if slot.name() == COORDINATOR {
            drivers::coordinate
        } else {
            drivers::implement
        };
        drive(&mut client, &self.board, &mut rng, until);
        client.end()
    }

    fn ask(&self) -> u64 {
        let slot = Slot::new("reader");
        let mut client = self.client(&slot, 3);
        let mut rng = Rng::new(self.seed, 3);
        let asked = readers::ask(
            &mut client,
            &self.board,
            &mut rng,
            &self.violations,
            &self.calm,
        );
        client.end();
        asked
    }

    /// A client; those in the storm get servers with faults.
    fn client<'a>(&'a self, slot: &'a Slot, stream: u64) -> Client<'a> {
        let mut rng = Rng::new(self.seed, stream);
        let is_in_the_storm = slot.name() == COORDINATOR || WORKERS.contains(&slot.name());
        Client::new(slot, &self.violations, move || {
            let mut command = self.command(slot.name());
            if is_in_the_storm && let Some(fault) = chaos::fault(&mut rng) {
                command.env("AI_COORD_FAULT", fault);
            }
            command
        })
    }

    fn command(&self, name: &str) -> Command {
        let mut command = self.place.command().into_std();
        command
            .env("COORDINATION_AGENT", name)
            .env(
                "COORDINATION_STALE_LOCK_SECONDS",
                self.limit.seconds().to_string(),
            )
            .stderr(self.log());
        if name == FLUSHING {
            command.env("COORDINATION_DURABILITY", "full");
        }
        command
    }

    fn log(&self) -> File {
        let log = OpenOptions::new()
            .append(true)
            .create(true)
            .open(self.log_path());
        log.expect("the scratch directory is ours")
    }

    fn log_path(&self) -> PathBuf {
        self.place.outside().join("stderr")
    }

    /// The locks that were taken away: from the dead, and from the living.
    fn takeovers(&self) -> (usize, usize) {
        let log = fs::read_to_string(self.log_path()).expect("the servers wrote text");
        let ages = log
            .lines()
            .filter(|line| line.contains("took a lock away"))
            .filter_map(|line| line.rsplit_once("age=").map(|(_, age)| age));
        // Before the limit only the dead are given up.
        let (dead, living) = ages.partition::<Vec<_>, _>(|age| seconds(age) < self.limit.seconds());
        (dead.len(), living.len())
    }
}

/// How many seconds a [`Duration`] is that `Debug` wrote.
fn seconds(age: &str) -> f64 {
    let units = [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let number = units
        .iter()
        .find_map(|(unit, size)| Some(age.strip_suffix(unit)?.parse::<f64>().ok()? * size));
    number.unwrap_or_else(|| panic!("{age} is no age"))
}

impl Report {
    pub(super) const fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    /// Whether it was worth the name, on however busy a machine.
    pub(super) const fn was_a_storm(&self) -> bool {
        self.answered >= 10 && self.toll.kills + self.deaths > 0 && self.reads > 0
    }

    fn count(&mut self, calls: &[Call]) {
        for call in calls {
            match &call.fate {
                Fate::Answered(_) => self.answered += 1,
                Fate::Refused(text) if text.starts_with("busy: ") => self.busy += 1,
                Fate::Refused(_) => self.refused += 1,
                Fate::Lost => self.lost += 1,
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 20;
        write!(
            out,
            "{:.1} s, {} tasks: {} changes acknowledged, {} refused, {} busy, {} unanswered; {} kills and {} stops sent, \
             {} servers lost in a call, {} locks taken from the dead and {} from the living; {} undisturbed reads; {} violations",
            self.took.as_secs_f64(),
            self.tasks,
            self.answered,
            self.refused,
            self.busy,
            self.lost,
            self.toll.kills,
            self.toll.stops,
            self.deaths,
            self.from_dead,
            self.from_living,
            self.reads,
            self.violations.len(),
        )?;
        for violation in self.violations.iter().take(SHOWN) {
            write!(out, "\n- {violation}")?;
        }
        Ok(())
    }
}
