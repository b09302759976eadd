//! What is on the disk when a change is answered, for each setting of `COORDINATION_DURABILITY`.
//!
//! Responsibility: the order of writing, flushing, renaming and answering, for every kind of change, as the program
//! records it and as the system sees it.
//!
//! Limits: that a flush reaches the disk is the system's promise. What the program records is read when the answer has
//! come, so a flush right after the answer may pass for one before it; where `strace` is at hand it does not, and
//! [`faults`](crate::faults) shows that a flush which fails is in the answer.

mod order;
mod recorded;
mod traced;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use self::order::{Event, Level, check};
use crate::faults::{
    operation::{Operation, prepared},
    site::{Caller, Documents, Site},
};

/// What makes a directory's folders where they are missing is there to be seen too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// Everything is there.
    Prepared,
    /// Only the tasks and the number last given out.
    Bare,
    /// There is no directory.
    Nothing,
}

impl Start {
    fn site(self) -> Site {
        if self == Self::Nothing {
            return Site::with(&Documents::default());
        }
        let site = Site::with(prepared());
        if self == Self::Bare {
            for folder in ["messages", "progress", "agents", ".locks"] {
                fs::remove_dir_all(site.path().join(folder)).unwrap();
            }
            fs::remove_file(site.path().join(".gitignore")).unwrap();
        }
        site
    }

    fn possible(operation: &Operation) -> Vec<Self> {
        let mut starts = vec![Self::Prepared, Self::Bare];
        if operation.tool == "create_task" {
            starts.push(Self::Nothing);
        }
        starts
    }

    /// The documents that the operation writes, from here.
    fn expected(self, operation: &Operation) -> Vec<PathBuf> {
        let here = |it: &&str| match self {
            Self::Nothing => it.replace("0007", "0001").into(),
            _ => it.into(),
        };
        operation.writes.iter().map(here).collect()
    }
}

/// A way to see what a process does.
trait Watcher {
    /// The program under observation, its log going to this file.
    fn command(&self, site: &Site, agent: &str, log: &Path) -> Command;

    /// What the log says of the one call that the process has just answered.
    fn events(&self, caller: Caller, log: &Path) -> Vec<Event>;
}

/// Does every operation at this level, from every start, and checks what was seen.
fn check_all(watcher: &impl Watcher, level: Level) {
    for operation in Operation::all() {
        for start in Start::possible(&operation) {
            let what = format!("{} at {level:?}, {start:?}", operation.name);
            let site = start.site();
            let log = site.outside().join("log");
            let mut command = watcher.command(&site, operation.agent, &log);
            command.env("COORDINATION_DURABILITY", level.setting());
            let mut caller = Caller::start(&mut command);
            operation.run(&mut caller).expect(&what);
            let events = watcher.events(caller, &log);
            // As the program names it: the way to a temporary directory may go through links.
            let root = site.path().canonicalize().unwrap();
            match check(level, &root, &events) {
                Ok(written) => assert_eq!(written, start.expected(&operation), "{what}"),
                Err(wrong) => panic!("{what}: {wrong} in {events:#?}"),
            }
        }
    }
}

#[test]
fn the_program_records_the_order_of_full() {
    check_all(&recorded::Recorder, Level::Full);
}

#[test]
fn the_program_records_the_order_of_data() {
    check_all(&recorded::Recorder, Level::Data);
}

#[test]
fn the_program_records_the_order_of_none() {
    check_all(&recorded::Recorder, Level::None);
}

#[test]
fn the_system_sees_the_order_of_full() {
    if let Some(tracer) = traced::Tracer::new() {
        check_all(&tracer, Level::Full);
    }
}

#[test]
fn the_system_sees_the_order_of_data() {
    if let Some(tracer) = traced::Tracer::new() {
        check_all(&tracer, Level::Data);
    }
}

#[test]
fn the_system_sees_the_order_of_none() {
    if let Some(tracer) = traced::Tracer::new() {
        check_all(&tracer, Level::None);
    }
}

/// A directory that is there may have been made by a call whose flush failed.
#[test]
fn a_directory_whose_flush_failed_is_flushed_before_the_next_answer() {
    for number in 1..30 {
        let site = Start::Nothing.site();
        let log = site.outside().join("log");
        let mut command = recorded::Recorder.command(&site, "planner", &log);
        command.env("COORDINATION_DURABILITY", "full").env(
            "AI_COORD_FAULT",
            format!("fail {number} {}", nix::libc::EIO),
        );
        let mut caller = Caller::start(&mut command);
        let new = serde_json::json!({"title": "t", "description": "d"});
        // Refused or done, whichever step it is that fails.
        let _ = caller.call("create_task", &new);
        caller.ok("create_task", &new);
        let events = recorded::Recorder.events(caller, &log);
        let root = site.path().canonicalize().unwrap();
        for (index, event) in events.iter().enumerate() {
            let Event::MakeDirectory(made) = event else {
                continue;
            };
            let lasts = !made.starts_with(root.join(".locks")) && !made.ends_with("agents");
            let above = made.parent().unwrap().to_path_buf();
            let is_flushed = events[index..].contains(&Event::Flush(above));
            assert!(is_flushed || !lasts, "{number}: {made:?} in {events:#?}");
        }
    }
}
