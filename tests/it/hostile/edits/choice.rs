//! Which edits are tried: wild ones, and those of a forger who knows what a record looks like.

use proptest::{
    prelude::*,
    sample::{Index, select},
};
use serde_json::{Value, json};

use super::{Edit, Splice, Spot};
use crate::hostile::values::{self, ENTRY_KEYS, TASK_KEYS};

/// A few edits of any kind, or a gentle one.
pub(in crate::hostile) fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let few = prop::collection::vec(edit(), 0..4);
    let edits = prop_oneof![2 => few, 1 => gentle().prop_map(|edit| vec![edit])];
    (edits, any::<bool>()).prop_map(|(mut edits, cover)| {
        edits.extend(cover.then_some(Edit::Cover));
        edits
    })
}

/// An edit that a legal task may well survive.
fn gentle() -> impl Strategy<Value = Edit> {
    let texts = prop::collection::vec(values::string().prop_map(Value::from), 0..35);
    let list = (select(&["tags", "files"][..]), texts.prop_map(Value::from));
    let text = (
        select(&["title", "description", "expectedOutput", "workingDirectory"][..]),
        values::string().prop_map(Value::from),
    );
    let metadata = values::object(values::json()).prop_map(|it| ("metadata", it));
    let free = prop_oneof![2 => text, 1 => list, 1 => metadata];
    prop_oneof![
        2 => free.prop_map(|(key, value)| Edit::Top(key, Some(value))),
        1 => (any::<Index>(), moved()).prop_map(|(it, (key, value))| Edit::Entry(it, key, value)),
        1 => any::<Index>().prop_map(Edit::DropEntry),
        1 => spot().prop_map(Edit::Remove),
    ]
}

fn edit() -> impl Strategy<Value = Edit> {
    let index = any::<Index>;
    prop_oneof![
        4 => (spot(), values::json()).prop_map(|(spot, value)| Edit::Set(spot, value)),
        3 => (spot(), spot()).prop_map(|(from, to)| Edit::Copy(from, to)),
        3 => spot().prop_map(Edit::Remove),
        2 => (spot(), values::key()).prop_map(|(spot, key)| Edit::Rename(spot, key)),
        1 => (spot(), prop::option::of(values::scalar())).prop_map(|(spot, value)| Edit::Again(spot, value)),
        2 => (index(), values::key(), values::json()).prop_map(|(it, key, value)| Edit::Add(it, key, value)),
        3 => (select(TASK_KEYS), values::scalar()).prop_map(|(key, value)| Edit::Top(key, Some(value))),
        8 => told().prop_map(|(key, value)| Edit::Top(key, value)),
        2 => (select(vec!["summary", "commit", "directory"]), word(&["so", "t"]))
            .prop_map(|(key, value)| Edit::Submission(key, value)),
        6 => (index(), select(ENTRY_KEYS), values::scalar()).prop_map(|(it, key, value)| Edit::Entry(it, key, Some(value))),
        6 => (index(), moved()).prop_map(|(it, (key, value))| Edit::Entry(it, key, value)),
        2 => (index(), sent()).prop_map(|(it, (key, value))| Edit::Outbox(it, key, value)),
        3 => (index(), index()).prop_map(|(a, b)| Edit::SwapEntries(a, b)),
        6 => index().prop_map(Edit::DropEntry),
        3 => (index(), index()).prop_map(|(from, to)| Edit::RepeatEntry(from, to)),
        1 => Just(Edit::Reverse),
        1 => Just(Edit::Cover),
    ]
}

/// An edit that changes no value, but how it is written.
pub(in crate::hostile) fn respelling() -> impl Strategy<Value = Edit> {
    prop_oneof![
        any::<Index>().prop_map(Edit::Unroll),
        spot().prop_map(Edit::Wrap)
    ]
}

fn spot() -> impl Strategy<Value = Spot> {
    any::<(Index, Index)>().prop_map(|(container, place)| Spot { container, place })
}

const STATUSES: &[&str] = &[
    "pending",
    "claimed",
    "in_progress",
    "completed",
    "approved",
    "revision_requested",
    "cancelled",
];

const ACTIONS: &[&str] = &[
    "create",
    "claim",
    "start",
    "complete",
    "approve",
    "request_revision",
    "cancel",
    "reopen",
    "restore",
];

const NAMES: &[&str] = &["planner", "worker", "stranger"];

/// Around the times of the walks.
const TIMES: &[&str] = &[
    "2027-01-15T07:59:59.999Z",
    "2027-01-15T08:00:00.000Z",
    "2027-01-15T08:00:00.001Z",
    "2027-01-15T09:00:01+01:00",
    "2027-01-15T08:00:03.5Z",
    "2027-01-15T09:00:00.000Z",
];

/// A value of the right kind for a field of an entry, or none.
fn moved() -> impl Strategy<Value = (&'static str, Option<Value>)> {
    let flag = prop::option::of(any::<bool>().prop_map(Value::from));
    prop_oneof![
        1 => (Just("from"), word(STATUSES)),
        1 => (Just("to"), word(STATUSES)),
        1 => (Just("action"), word(ACTIONS)),
        1 => (Just("actor"), word(NAMES)),
        1 => (Just("timestamp"), word(TIMES)),
        1 => (Just("note"), word(&["so"])),
        3 => (Just("selfApproved"), flag),
    ]
}

/// A value of the right kind for a field that follows from the history, or none.
fn told() -> impl Strategy<Value = (&'static str, Option<Value>)> {
    prop_oneof![
        (Just("status"), word(STATUSES)),
        (Just("creator"), word(NAMES)),
        (Just("assignee"), word(NAMES)),
        (Just("createdAt"), word(TIMES)),
        (Just("updatedAt"), word(TIMES)),
        (Just("feedback"), word(&["so"])),
        (Just("reason"), word(&["so"])),
        (Just("version"), (0_u64..12).prop_map(|it| Some(json!(it)))),
    ]
}

/// A value of the right kind for a field of an entry in the outbox, or none.
fn sent() -> impl Strategy<Value = (&'static str, Option<Value>)> {
    const IDS: &[&str] = &[
        "00000000-0000-0000-0000-000000000001",
        "00000000000000000000000000000002",
    ];
    prop_oneof![
        (Just("id"), word(IDS)),
        (Just("taskId"), word(&["task-0001", "task-0007"])),
        (Just("content"), word(&["so", " "])),
        (
            Just("percent"),
            (98_u64..103).prop_map(|it| Some(json!(it)))
        ),
    ]
}

/// One of the words, mostly; also `null`, or nothing.
fn word(words: &'static [&'static str]) -> impl Strategy<Value = Option<Value>> {
    prop_oneof![
        6 => select(words).prop_map(|word| Some(Value::from(word))),
        1 => Just(Some(Value::Null)),
        1 => Just(None),
    ]
}

/// An edit of the text.
pub(in crate::hostile) fn splice() -> impl Strategy<Value = Splice> {
    let bytes = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..4),
        values::string().prop_map(String::into_bytes),
        values::scalar().prop_map(|value| value.to_string().into_bytes()),
        select(&["\"", ",", "}", "]", "\\", "a", " ", "1", "\u{feff}"][..])
            .prop_map(|it| it.as_bytes().to_vec()),
    ];
    prop_oneof![
        1 => any::<Index>().prop_map(Splice::Truncate),
        6 => (any::<Index>(), 0_usize..4, bytes).prop_map(|(at, length, bytes)| Splice::Replace(at, length, bytes)),
    ]
}
