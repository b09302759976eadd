//! Events as the system sees them, by `strace`.
//!
//! Limits: Linux, and only where processes may be traced; elsewhere the tests are skipped visibly.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::{Watcher, order::Event};
use crate::faults::{
    site::{Caller, Site, surroundings},
    skip,
};

const CALLS: &str = "trace=fsync,fdatasync,sync_file_range,rename,renameat,renameat2,mkdir,mkdirat,\
                     write,writev,pwrite64,ftruncate,truncate";
/// What the answer to a call begins with, as a C string; see `Server::call`.
const ANSWER: &str = r#"\"id\":\"call "#;

pub(super) struct Tracer;

impl Tracer {
    /// `None` where nothing can be traced.
    pub(super) fn new() -> Option<Self> {
        let mut command = Command::new("strace");
        let quiet = command
            .args(["-f", "-o", "/dev/null", "true"])
            .stderr(Stdio::null());
        match quiet.status() {
            Ok(status) if status.success() => Some(Self),
            Ok(_) => {
                skip("`strace` may not trace here");
                None
            }
            Err(_) => {
                skip("there is no `strace`");
                None
            }
        }
    }
}

impl Watcher for Tracer {
    fn command(&self, site: &Site, agent: &str, log: &Path) -> Command {
        let mut command = Command::new("strace");
        surroundings(&mut command, &site.path(), agent);
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            // Descriptors with their paths, and of what is written no more than tells an answer.
            .args([
                "-f",
                "-y",
                "-s",
                "64",
                "-e",
                "signal=none",
                "-e",
                CALLS,
                "-o",
            ])
            .arg(log)
            .arg(env!("CARGO_BIN_EXE_ai-coord-mcp"));
        command
    }

    /// The log is complete when the process has ended.
    fn events(&self, caller: Caller, log: &Path) -> Vec<Event> {
        caller.end();
        events(&fs::read_to_string(log).unwrap())
    }
}

fn events(text: &str) -> Vec<Event> {
    let mut begun: HashMap<&str, &str> = HashMap::new();
    let mut events = Vec::new();
    for line in text.lines() {
        let (thread, call) = line.split_once(' ').expect("a thread and its call");
        let call = call.trim_start();
        if let Some(start) = call.strip_suffix(" <unfinished ...>") {
            // An answer may have been read as soon as it is being written. All else counts when it is done.
            if is_answer(start) {
                events.push(Event::Answer);
            } else {
                begun.insert(thread, start);
            }
        } else if let Some(rest) = call.strip_prefix("<... ") {
            let end = rest.split_once("resumed>").map_or(rest, |(_, end)| end);
            events.extend(
                begun
                    .remove(thread)
                    .and_then(|it| event(&format!("{it}{end}"))),
            );
        } else {
            events.extend(event(call));
        }
    }
    events
}

fn is_answer(call: &str) -> bool {
    (call.starts_with("write(1<") || call.starts_with("writev(1<")) && call.contains(ANSWER)
}

/// A call that has worked, e.g. `renameat(3</c/.locks>, "a", 4</c/tasks>, "b") = 0`.
fn event(call: &str) -> Option<Event> {
    if is_answer(call) {
        return Some(Event::Answer);
    }
    let (name, rest) = call.split_once('(')?;
    let (arguments, result) = rest.rsplit_once(" = ")?;
    if result.starts_with('-') || result.starts_with('?') {
        return None;
    }
    match name {
        "mkdir" | "mkdirat" => Some(Event::MakeDirectory(named(arguments)?)),
        "rename" | "renameat" | "renameat2" => Some(Event::Rename(named(arguments)?)),
        "fsync" | "fdatasync" | "sync_file_range" => Some(Event::Flush(opened(arguments)?)),
        _ => opened(arguments)
            .or_else(|| named(arguments))
            .map(Event::Write),
    }
}

/// The last name among the arguments, below the directory before it if there is one.
fn named(arguments: &str) -> Option<PathBuf> {
    let (before, name) = arguments.rsplit_once('"')?.0.rsplit_once('"')?;
    let directory = before
        .strip_suffix(">, ")
        .and_then(|it| it.rsplit_once('<'));
    Some(
        directory
            .map_or_else(PathBuf::new, |(_, it)| it.into())
            .join(name),
    )
}

/// The path of the descriptor that comes first.
fn opened(arguments: &str) -> Option<PathBuf> {
    let (descriptor, rest) = arguments.split_once('<')?;
    descriptor.parse::<u32>().ok()?;
    rest.split_once('>').map(|(path, _)| path.into())
}

#[test]
fn calls_are_read_as_strace_writes_them() {
    let text = r#"7 mkdir("/c", 0700)          = 0
7 mkdirat(9</c>, "tasks", 0700) = -1 EEXIST (File exists)
7 mkdirat(9</c>, ".locks", 0700) = 0
7 fdatasync(3</c/.locks/a.lock/1-b> <unfinished ...>
8 write(1<pipe:[1]>, "{\"jsonrpc\":\"2.0\",\"id\":\"call get_task\"", 9 <unfinished ...>
7 <... fdatasync resumed>)   = 0
7 renameat(3</c/.locks>, "a.lock/1-b", 4</c/tasks>, "task-0001.json") = 0
8 <... write resumed>)         = 9
7 ftruncate(5</c/x>, 0) = 0
7 fsync(4</c/tasks>)        = -1 EIO (Input/output error)
7 +++ exited with 0 +++
"#;
    let expected = [
        Event::MakeDirectory("/c".into()),
        Event::MakeDirectory("/c/.locks".into()),
        Event::Answer,
        Event::Flush("/c/.locks/a.lock/1-b".into()),
        Event::Rename("/c/tasks/task-0001.json".into()),
        Event::Write("/c/x".into()),
    ];
    assert_eq!(events(text), expected);
}
