//! Events as a debug build of the program records them (`AI_COORD_STEPS`, see `store/dir/fault.rs`).

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Watcher, order::Event};
use crate::faults::site::{Caller, Site};

pub(super) struct Recorder;

impl Watcher for Recorder {
    fn command(&self, site: &Site, agent: &str, log: &Path) -> Command {
        let mut command = site.command(agent);
        command.env("AI_COORD_STEPS", log);
        command
    }

    /// While the process still runs: what it does later is not to count.
    fn events(&self, _: Caller, log: &Path) -> Vec<Event> {
        let text = fs::read_to_string(log).unwrap();
        let mut events: Vec<_> = text.lines().filter_map(event).collect();
        events.push(Event::Answer);
        events
    }
}

/// `3 SyncFile ok /c/..`: what was tried in vain has not happened.
fn event(line: &str) -> Option<Event> {
    let mut words = line.splitn(4, ' ').skip(1);
    let (step, outcome) = (words.next()?, words.next()?);
    let path = PathBuf::from(words.next()?);
    if outcome != "ok" {
        return None;
    }
    match step {
        "CreateDirectory" => Some(Event::MakeDirectory(path)),
        "Write" => Some(Event::Write(path)),
        "SyncFile" | "SyncDirectory" => Some(Event::Flush(path)),
        "Rename" => Some(Event::Rename(path)),
        "CreateFile" | "Unlink" | "RemoveDirectory" => None,
        other => panic!("an unknown step: {other}"),
    }
}

#[test]
fn lines_are_read_as_the_program_writes_them() {
    let path = PathBuf::from("/c d/tasks");
    assert_eq!(
        event("3 SyncDirectory ok /c d/tasks"),
        Some(Event::Flush(path))
    );
    assert_eq!(event("4 Rename failed /c/tasks/task-0001.json"), None);
    assert_eq!(event("5 Unlink ok /c/x"), None);
}
