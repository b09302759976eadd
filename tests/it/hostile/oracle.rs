//! Which task files are legal: a second opinion, from the README and not from the code.
//!
//! What a file may hold is a table of fields (`shape`), what a history may hold a table of moves. Nothing of the crate
//! is used, and the facts of a task are looked up in its history instead of carried along it.
//!
//! Limits: none that is known.

mod shape;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::document::Document;

/// Who may do something.
#[derive(Clone, Copy, PartialEq)]
enum Who {
    Anyone,
    Assignee,
    AnyoneElse,
    /// The assignee only if it is the creator too.
    AnyoneElseOrOwner,
}

/// A row of the lifecycle.
struct Move {
    name: &'static str,
    from: &'static [&'static str],
    to: &'static str,
    who: Who,
}

const fn row(
    name: &'static str,
    from: &'static [&'static str],
    to: &'static str,
    who: Who,
) -> Move {
    Move {
        name,
        from,
        to,
        who,
    }
}

/// The lifecycle table of the README.
#[rustfmt::skip]
const MOVES: [Move; 8] = [
    row("claim", &["pending"], "claimed", Who::Anyone),
    row("start", &["claimed", "revision_requested"], "in_progress", Who::Assignee),
    row("complete", &["claimed", "in_progress", "revision_requested"], "completed", Who::Assignee),
    row("approve", &["completed"], "approved", Who::AnyoneElseOrOwner),
    row("request_revision", &["completed"], "revision_requested", Who::AnyoneElse),
    row("cancel", &["pending", "claimed", "in_progress", "revision_requested"], "cancelled", Who::Anyone),
    row("reopen", &["completed", "approved", "cancelled"], "pending", Who::Anyone),
    row("restore", &["approved", "cancelled"], UNCHANGED, Who::Anyone),
];

/// In place of a status: the one before.
const UNCHANGED: &str = "unchanged";

/// What a task file says if it is legal, as the server would write it; else what is wrong.
pub(super) fn judged(file: &[u8]) -> Result<Value, String> {
    let document: Document =
        serde_json::from_slice(file).map_err(|error| format!("no JSON: {error}"))?;
    let task = shape::task(document)?;
    let history = task["history"].as_array().ok_or("no history")?;
    for (index, entry) in history.iter().enumerate() {
        follows(&history[..index], entry).map_err(|wrong| format!("entry {index}: {wrong}"))?;
    }
    facts(&task, history)?;
    let mut after = task["after"].as_array().into_iter().flatten();
    must(!after.any(|it| *it == task["id"]), "it waits for itself")?;
    outbox(&task)?;
    Ok(task)
}

/// Whether an entry may stand after these.
fn follows(before: &[Value], entry: &Value) -> Result<(), String> {
    must(
        entry["version"] == json!(before.len() + 1),
        "versions count from 1",
    )?;
    let noted = !entry["note"].is_null();
    let Some(last) = before.last() else {
        let keys: BTreeSet<_> = entry
            .as_object()
            .into_iter()
            .flatten()
            .map(|it| it.0.as_str())
            .collect();
        let creation = ["action", "actor", "timestamp", "to", "version"];
        must(keys.into_iter().eq(creation), "a creation has these fields")?;
        must(entry["action"] == "create", "the first is the creation")?;
        return must(entry["to"] == "pending", "a task begins as pending");
    };
    // All are written alike, so that their texts are in the order of their times.
    must(
        entry["timestamp"].as_str() > last["timestamp"].as_str(),
        "timestamps increase",
    )?;
    let found = MOVES.iter().find(|it| entry["action"] == it.name);
    let found = found.ok_or("there is no such move")?;
    must(entry["from"] == last["to"], "from is the status before")?;
    must(
        found.from.iter().any(|it| entry["from"] == *it),
        "the move does not start there",
    )?;
    let to = match found.to {
        UNCHANGED => &entry["from"],
        to => &json!(to),
    };
    must(entry["to"] == *to, "the move does not end there")?;
    let assignee = assignee(before);
    let own = assignee == Some(&entry["actor"]);
    let owner = before[0]["actor"] == entry["actor"];
    let may = match found.who {
        Who::Anyone => true,
        Who::Assignee => own,
        Who::AnyoneElse => !own,
        Who::AnyoneElseOrOwner => !own || owner,
    };
    must(may, "the actor may not")?;
    let self_approved = own && found.name == "approve";
    must(
        entry["selfApproved"] == true || !self_approved,
        "selfApproved is missing",
    )?;
    must(
        entry["selfApproved"].is_null() || self_approved,
        "selfApproved is wrong",
    )?;
    match found.name {
        "claim" | "start" | "restore" => must(!noted, "such a move has no note"),
        "request_revision" => must(noted, "feedback is required"),
        _ => Ok(()),
    }
}

/// Who holds the task after these entries: whoever claimed it since it was last open.
fn assignee(history: &[Value]) -> Option<&Value> {
    let last = last(history, &["claim", "reopen"])?;
    (last["action"] == "claim").then(|| &last["actor"])
}

/// The newest entry with one of these actions.
fn last<'a>(history: &'a [Value], actions: &[&str]) -> Option<&'a Value> {
    let mut newest = history.iter().rev();
    newest.find(|entry| actions.iter().any(|it| entry["action"] == *it))
}

/// Whether the fields of the task say what its history ends with.
fn facts(task: &Value, history: &[Value]) -> Result<(), String> {
    let (first, end) = history
        .first()
        .zip(history.last())
        .ok_or("history is empty")?;
    let status = end["to"].as_str().unwrap_or_default();
    let back = match status {
        "in_progress" | "revision_requested" => {
            last(history, &["claim", "request_revision"]).map_or(&Value::Null, |it| &it["note"])
        }
        _ => &Value::Null,
    };
    let reason = if status == "cancelled" {
        last(history, &["cancel"]).map_or(&Value::Null, |it| &it["note"])
    } else {
        &Value::Null
    };
    let none = Value::Null;
    for (field, told) in [
        ("status", &end["to"]),
        ("version", &end["version"]),
        ("creator", &first["actor"]),
        ("createdAt", &first["timestamp"]),
        ("updatedAt", &end["timestamp"]),
        ("assignee", assignee(history).unwrap_or(&none)),
        ("feedback", back),
        ("reason", reason),
    ] {
        must(task[field] == *told, field)?;
    }
    let handed_in = matches!(status, "completed" | "approved") || !back.is_null();
    must(
        task["submission"].is_object() == handed_in,
        "submission is wrong",
    )?;
    let summary = last(history, &["complete"]).map_or(&none, |it| &it["note"]);
    must(
        !handed_in || task["submission"]["summary"] == *summary,
        "the summary is wrong",
    )
}

/// Whether every entry has an id of its own, is for this task and came with a line of its history.
fn outbox(task: &Value) -> Result<(), String> {
    let mut ids = BTreeSet::new();
    for entry in task["outbox"].as_array().into_iter().flatten() {
        let content = [&entry["message"], &entry["progress"]]
            .into_iter()
            .find(|it| it.is_object());
        let content = content.ok_or("an outbox entry is a message or progress")?;
        must(
            ids.insert(content["id"].to_string()),
            "an outbox id stands twice",
        )?;
        let elsewhere = entry["message"].is_object() && content["taskId"] != task["id"];
        must(!elsewhere, "a message in the outbox is another task's")?;
        let history = task["history"].as_array().into_iter().flatten();
        let is_message = entry["message"].is_object();
        let mut senders = history.filter(|it| {
            let is_sender = if is_message {
                it["action"] == "request_revision" && it["note"] == content["content"]
            } else {
                it["action"] == "claim" && it["version"] == content["claimVersion"]
            };
            is_sender && it["actor"] == content["author"]
        });
        must(senders.next().is_some(), "nothing in the history sends it")?;
    }
    Ok(())
}

fn must(holds: bool, wrong: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(wrong.to_owned()) }
}

#[test]
fn the_table_of_moves_is_the_one_of_the_readme() {
    let readme = include_str!("../../../README.md");
    for it in MOVES {
        let from: Vec<_> = it.from.iter().map(|it| format!("`{it}`")).collect();
        let who = match it.who {
            Who::Anyone => "anyone",
            Who::Assignee => "the assignee",
            Who::AnyoneElse => "anyone else",
            Who::AnyoneElseOrOwner => "anyone else; the assignee if it is the creator too",
        };
        let name = format!("| {} | ", it.name.replace('_', " "));
        let to = match it.to {
            UNCHANGED => UNCHANGED.to_owned(),
            to => format!("`{to}`"),
        };
        let rest = format!(" | {} | {to} | {who} |", from.join(", "));
        let mut rows = readme.lines();
        assert!(
            rows.any(|row| row.starts_with(&name) && row.ends_with(&rest)),
            "{name}…{rest}"
        );
    }
}
