//! `doctor`: what is wrong with the shared directory, and what can be done about it.
//!
//! The exit code is 1 if anything is wrong. `--json` prints the report as it is.

use std::process::ExitCode;

use super::{
    failed,
    layout::{UNBREAKABLE, entry, wrap},
    print,
};
use crate::store::{
    Content, Finding, Ground, Report, Store, Treatment,
    location::{Location, printable},
};

/// How a command begins that is told.
const COMMAND: &str = "ai-coord-mcp --dir ";

/// Examines the directory and says what was found.
pub(super) fn run(
    store: &Store,
    location: &Location,
    treatment: &Treatment,
    is_json: bool,
) -> ExitCode {
    let report = store.examine(treatment);
    let text = if is_json {
        match json(&report, location) {
            Ok(text) => text,
            Err(error) => return failed(&error, 1),
        }
    } else {
        text(&report, location)
    };
    let printed = print(&text);
    if report.ok {
        printed
    } else {
        ExitCode::from(1)
    }
}

fn json(report: &Report, location: &Location) -> serde_json::Result<String> {
    let mut value = serde_json::to_value(report)?;
    if let Some(fields) = value.as_object_mut() {
        fields.insert("chosenBy".to_owned(), location.reason().to_string().into());
    }
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

fn text(report: &Report, location: &Location) -> String {
    let mut text = format!("{}\n\n", printable(location.directory()));
    text += &entry("chosen by", &location.reason().to_string());
    if !report.exists {
        text += &entry("exists", "not yet; it is made when it is first needed");
    }
    text += &report.ground.as_ref().map(ground).unwrap_or_default();
    text += &report.content.as_ref().map(content).unwrap_or_default();
    if !report.mended.is_empty() {
        text += "\nDone:\n";
        text += &report
            .mended
            .iter()
            .map(|it| wrap(it, 2))
            .collect::<String>();
    }
    text += &section("note", &report.notes, location);
    text += &section("problem", &report.problems, location);
    text += match (report.ok, report.exists) {
        (true, true) => "\nNothing is wrong.\n",
        (true, false) => "\nThere is nothing to be wrong with yet.\n",
        (false, _) => "\n--fix mends what loses nothing; the rest is for you.\n",
    };
    text
}

fn ground(ground: &Ground) -> String {
    let Ground {
        owner,
        mode,
        file_system,
        preconditions,
        ..
    } = ground;
    let holding = preconditions.iter().filter(|it| it.holds).count();
    let all = preconditions.len();
    let owner = format!("you (user {owner}), mode {mode}");
    let on = if holding == all {
        format!("{file_system}, which does all that locks need")
    } else {
        format!(
            "{file_system}; {} of {all} things that locks need fail",
            all - holding
        )
    };
    entry("owner", &owner) + &entry("on", &on)
}

fn content(content: &Content) -> String {
    let tasks = match content.tasks {
        1 => "1 task".to_owned(),
        many => format!("{many} tasks"),
    };
    let last = content.last_number.map(|it| format!(", last number {it}"));
    let holds = format!(
        "{tasks}, {} archived{}",
        content.archived,
        last.unwrap_or_default()
    );
    let agents = content.agents.iter().map(|agent| {
        let pid = agent
            .pid
            .map(|it| format!(" (pid {it})"))
            .unwrap_or_default();
        let since = agent.since.as_deref().unwrap_or("an unknown time");
        entry("here", &format!("{}{pid}, since {since}", agent.name))
    });
    entry("holds", &holds) + &agents.collect::<String>()
}

fn section(what: &str, findings: &[Finding], location: &Location) -> String {
    let heading = match findings.len() {
        0 => return String::new(),
        1 => format!("\n1 {what}:\n"),
        many => format!("\n{many} {what}s:\n"),
    };
    let each = findings.iter().map(|it| {
        let said = wrap(&format!("{}: {}", shown(&it.path, location), it.reason), 2);
        said + &wrap(&format!("→ {}", copyable(&it.next)), 4)
    });
    heading + &each.collect::<String>()
}

/// A command at the end of a text stays on one line.
fn copyable(text: &str) -> String {
    match text.split_once(COMMAND) {
        Some((before, rest)) => {
            let command = format!("{COMMAND}{rest}").replace(' ', UNBREAKABLE);
            before.to_owned() + &command
        }
        None => text.to_owned(),
    }
}

/// Paths in the directory are told from there on: it has been named.
fn shown(path: &str, location: &Location) -> String {
    let directory = printable(location.directory());
    let below = path
        .strip_prefix(&directory)
        .map(|it| it.trim_start_matches('/'));
    match below {
        Some("") => "the directory".to_owned(),
        Some(below) => below.to_owned(),
        None => path.to_owned(),
    }
}
