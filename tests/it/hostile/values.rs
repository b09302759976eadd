//! Values that look like those of a record and need not be any: the material of bad files.

use proptest::{prelude::*, sample::select};
use serde_json::{Map, Value, json};

/// The keys of a task.
pub(super) const TASK_KEYS: &[&str] = &[
    "formatVersion",
    "id",
    "title",
    "status",
    "version",
    "creator",
    "assignee",
    "createdAt",
    "updatedAt",
    "tags",
    "after",
    "description",
    "expectedOutput",
    "files",
    "workingDirectory",
    "metadata",
    "feedback",
    "submission",
    "reason",
    "outbox",
    "history",
];

/// The keys of a history entry.
pub(super) const ENTRY_KEYS: &[&str] = &[
    "version",
    "timestamp",
    "actor",
    "action",
    "from",
    "to",
    "note",
    "selfApproved",
];

/// The keys of everything else, and one that nothing has.
const OTHER_KEYS: &[&str] = &[
    "summary",
    "commit",
    "branch",
    "directory",
    "message",
    "progress",
    "taskId",
    "author",
    "content",
    "claimVersion",
    "percent",
    "last",
    "colour",
];

/// Words that mean something somewhere in a record.
const WORDS: [&str; 37] = [
    "pending",
    "claimed",
    "in_progress",
    "completed",
    "approved",
    "revision_requested",
    "cancelled",
    "create",
    "claim",
    "start",
    "complete",
    "approve",
    "request_revision",
    "cancel",
    "reopen",
    "restore",
    "planner",
    "worker",
    "stranger",
    "me",
    "a b",
    "task-0001",
    "task-00001",
    "task-0002",
    "2027-01-15T08:00:00.000Z",
    "2027-01-15T08:00:00.001Z",
    "2027-01-15T09:00:01+01:00",
    "2027-01-15T08:00:03.5Z",
    "1969-12-31T23:59:59.999Z",
    "9000-01-01T00:00:00.000Z",
    "2027-02-30T00:00:00.000Z",
    "00000000-0000-0000-0000-000000000001",
    "00000000000000000000000000000002",
    "done",
    "",
    " \t",
    "\u{0}",
];

/// A string: one with a meaning, one at the edge of a limit, or any.
pub(super) fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => select(&WORDS[..]).prop_map(str::to_owned),
        2 => select(&[64, 65, 200, 201, 256, 257, 1_024, 1_025, 4_000, 4_001, 8_000, 8_001][..])
            .prop_map(|length| "ä".repeat(length)),
        1 => select(&[64, 65][..]).prop_map(|length| "n".repeat(length)),
        3 => any::<String>(),
    ]
}

/// A number: one with a meaning, one at the edge of a type, or any.
pub(super) fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (0_u64..12).prop_map(Value::from),
        1 => select(vec![json!(100), json!(101), json!(-1), json!(-0.0), json!(1.0), json!(1e300), json!(u64::MAX)]),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
    ]
}

/// A value without parts.
pub(super) fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::from),
        3 => number(),
        6 => string().prop_map(Value::from),
    ]
}

/// A key: mostly one of a record's.
pub(super) fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => select([TASK_KEYS, ENTRY_KEYS, OTHER_KEYS].concat()).prop_map(str::to_owned),
        1 => any::<String>(),
    ]
}

/// Any JSON, with the keys of records more often than not.
pub(super) fn json() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(5, 48, 8, |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            3 => object(inner),
        ]
    })
}

/// An object of such values.
pub(super) fn object(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let fields = prop::collection::vec((key(), value), 0..8);
    fields.prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>()))
}

/// Any bytes, most of them close to JSON.
pub(super) fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        2 => prop::collection::vec(any::<u8>(), 0..300),
        2 => prop::collection::vec(select(&TOKENS[..]), 0..40).prop_map(|tokens| tokens.concat().into_bytes()),
        4 => json().prop_map(|value| value.to_string().into_bytes()),
        1 => (select(&["[", "{\"metadata\":", "[{\"history\":"][..]), 0_usize..3_000)
            .prop_map(|(opening, depth)| opening.repeat(depth).into_bytes()),
    ]
}

/// Pieces of JSON, and of what is nearly JSON.
const TOKENS: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "\"",
    "\\",
    "\\ud83d",
    "\"\\udc00\"",
    "null",
    "true",
    "-",
    "1e999",
    "0",
    " ",
    "\n",
    "\u{feff}",
    "\"id\":",
    "\"history\":[",
    "\"formatVersion\":2",
    "\"status\":\"pending\"",
    "ä",
    "NaN",
];
