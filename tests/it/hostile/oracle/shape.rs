//! The fields of a task file: a table, and the one way to write each value.

use chrono::{DateTime, Datelike, SecondsFormat};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::hostile::document::Document;

/// What a value has to be.
enum Kind {
    /// Not blank, of at most so many characters.
    Text(usize),
    Time,
    Name,
    Task,
    Uuid,
    Word(&'static [&'static str]),
    /// A whole number up to this one.
    Count(u64),
    /// The number 1.
    One,
    Flag,
    List(usize, &'static Kind),
    Metadata,
    Record(&'static [Field]),
    /// An object with exactly one of these.
    Choice(&'static [Field]),
}

/// The name of a field, whether it has to be there, and what it holds.
struct Field(&'static str, Need, Kind);

#[derive(PartialEq)]
enum Need {
    Required,
    Optional,
}

use Kind::{
    Choice, Count, Flag, List, Metadata, Name, One, Record, Task, Text, Time, Uuid as Id, Word,
};
use Need::{Optional, Required};

const STATUS: Kind = Word(&[
    "pending",
    "claimed",
    "in_progress",
    "completed",
    "approved",
    "revision_requested",
    "cancelled",
]);

const ACTION: Kind = Word(&[
    "create",
    "claim",
    "start",
    "complete",
    "approve",
    "request_revision",
    "cancel",
    "reopen",
    "restore",
]);

#[rustfmt::skip]
const TASK: &[Field] = &[
    Field("formatVersion", Optional, One),
    Field("id", Required, Task),
    Field("title", Required, Text(200)),
    Field("status", Required, STATUS),
    Field("version", Required, Count(u64::MAX)),
    Field("creator", Required, Name),
    Field("assignee", Optional, Name),
    Field("createdAt", Required, Time),
    Field("updatedAt", Required, Time),
    Field("tags", Optional, List(32, &Text(64))),
    Field("after", Optional, List(64, &Task)),
    Field("description", Required, Text(8_000)),
    Field("expectedOutput", Optional, Text(4_000)),
    Field("files", Optional, List(256, &Text(1_024))),
    Field("workingDirectory", Optional, Text(4_096)),
    Field("metadata", Optional, Metadata),
    Field("feedback", Optional, Text(4_000)),
    Field("submission", Optional, Record(SUBMISSION)),
    Field("reason", Optional, Text(4_000)),
    Field("outbox", Optional, List(usize::MAX, &Choice(OUTBOX))),
    Field("history", Required, List(usize::MAX, &Record(ENTRY))),
];

#[rustfmt::skip]
const SUBMISSION: &[Field] = &[
    Field("summary", Optional, Text(4_000)),
    Field("files", Optional, List(256, &Text(1_024))),
    Field("commit", Optional, Text(256)),
    Field("branch", Optional, Text(256)),
    Field("directory", Required, Text(4_096)),
];

#[rustfmt::skip]
const ENTRY: &[Field] = &[
    Field("version", Required, Count(u64::MAX)),
    Field("timestamp", Required, Time),
    Field("actor", Required, Name),
    Field("action", Required, ACTION),
    Field("from", Optional, STATUS),
    Field("to", Required, STATUS),
    Field("note", Optional, Text(4_000)),
    Field("selfApproved", Optional, Flag),
];

const OUTBOX: &[Field] = &[
    Field("message", Optional, Record(MESSAGE)),
    Field("progress", Optional, Record(PROGRESS)),
];

const MESSAGE: &[Field] = &[
    Field("id", Required, Id),
    Field("taskId", Required, Task),
    Field("author", Required, Name),
    Field("timestamp", Required, Time),
    Field("content", Required, Text(8_000)),
];

const PROGRESS: &[Field] = &[
    Field("id", Required, Id),
    Field("timestamp", Required, Time),
    Field("author", Required, Name),
    Field("claimVersion", Required, Count(u64::MAX)),
    Field("percent", Optional, Count(100)),
    Field("currentStep", Optional, Text(4_000)),
    Field("notes", Optional, Text(4_000)),
];

/// The task in a file as the server would write it, if every field of it may be there.
pub(super) fn task(document: Document) -> Result<Value, String> {
    let mut task = read(&Record(TASK), document)?;
    task["formatVersion"] = 1.into();
    Ok(task)
}

/// The value as the server would write it.
fn read(kind: &Kind, document: Document) -> Result<Value, String> {
    match (kind, document) {
        (Record(fields), Document::Object(found)) => record(fields, found),
        (Choice(fields), Document::Object(found)) if found.len() == 1 => record(fields, found),
        (List(limit, kind), Document::List(entries)) if entries.len() <= *limit => {
            entries.into_iter().map(|it| read(kind, it)).collect()
        }
        (Metadata, object @ Document::Object(_)) => metadata(object.value()),
        (Flag, Document::Scalar(flag @ Value::Bool(_))) => Ok(flag),
        (One, Document::Scalar(number)) if number.as_u64() == Some(1) => Ok(number),
        (Count(limit), Document::Scalar(number))
            if number.as_u64().is_some_and(|it| it <= *limit) =>
        {
            Ok(number)
        }
        (_, Document::Scalar(Value::String(text))) => word(kind, &text).map(Value::from),
        (_, other) => Err(format!("{other:?} is out of place")),
    }
}

fn record(fields: &[Field], found: Vec<(String, Document)>) -> Result<Value, String> {
    let mut record = Map::new();
    for (key, value) in found {
        let field = fields.iter().find(|Field(name, ..)| *name == key);
        let Field(_, _, kind) = field.ok_or_else(|| format!("{key} is unknown"))?;
        let value = read(kind, value).map_err(|wrong| format!("{key}: {wrong}"))?;
        if record.insert(key.clone(), value).is_some() {
            return Err(format!("{key} stands twice"));
        }
    }
    for Field(name, need, kind) in fields {
        match record.get(*name) {
            None if *need == Required => return Err(format!("{name} is missing")),
            // What says no more than its absence is left out.
            Some(value) if *need == Optional && is_nothing(kind, value) => {
                record.shift_remove(*name);
            }
            _ => {}
        }
    }
    Ok(Value::Object(record))
}

fn is_nothing(kind: &Kind, value: &Value) -> bool {
    match kind {
        Flag => *value == false,
        List(..) => value.as_array().is_some_and(Vec::is_empty),
        Metadata => value.as_object().is_some_and(Map::is_empty),
        _ => false,
    }
}

/// A value that is written as a string.
fn word(kind: &Kind, text: &str) -> Result<String, String> {
    let wrong = || format!("{text:?} is no such word");
    match kind {
        Text(limit) if !text.trim().is_empty() && text.chars().count() <= *limit => {
            Ok(text.to_owned())
        }
        Word(words) if words.contains(&text) => Ok(text.to_owned()),
        Name if is_name(text) => Ok(text.to_owned()),
        Task if is_task(text) => Ok(text.to_owned()),
        Id => Uuid::parse_str(text)
            .map(|id| id.to_string())
            .map_err(|_| wrong()),
        Time => time(text).ok_or_else(wrong),
        _ => Err(wrong()),
    }
}

fn is_name(text: &str) -> bool {
    let allowed = |it: char| it.is_ascii_alphanumeric() || "._@#-".contains(it);
    let named = text.chars().any(|it| it.is_ascii_alphanumeric());
    named && text.len() <= 64 && text.chars().all(allowed) && text != "me"
}

fn is_task(text: &str) -> bool {
    let Some(digits) = text.strip_prefix("task-") else {
        return false;
    };
    let short = digits.len() == 4 || (digits.len() > 4 && !digits.starts_with('0'));
    short && digits.bytes().all(|it| it.is_ascii_digit()) && digits.parse::<u64>().is_ok()
}

/// UTC, to the millisecond.
fn time(text: &str) -> Option<String> {
    let moment = DateTime::parse_from_rfc3339(text).ok()?.timestamp_millis();
    let moment = DateTime::from_timestamp_millis(moment)?;
    let taken = (1970..9_000).contains(&moment.year());
    taken.then(|| moment.to_rfc3339_opts(SecondsFormat::Millis, true))
}

fn metadata(object: Value) -> Result<Value, String> {
    let small = object.to_string().len() <= 4_096 && depth(&object) <= 32;
    small
        .then_some(object)
        .ok_or_else(|| "the metadata is too much".to_owned())
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(fields) => 1 + fields.values().map(depth).max().unwrap_or(0),
        Value::Array(entries) => 1 + entries.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
