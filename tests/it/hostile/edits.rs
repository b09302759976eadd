//! Edits of a file: what a person, a merge or a broken disk may do to it.

mod choice;

use proptest::sample::Index;
use serde_json::{Map, Value, json};

pub(super) use choice::{edits, respelling, splice};

/// What marks a key that is to stand in its object a second time, until the text is written.
const AGAIN: &str = "(AGAIN)";

/// A place anywhere in a file: one of its objects and lists, and one of the values in that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot {
    container: Index,
    place: Index,
}

/// One edit of the JSON. An `Index` picks an object or list, or an entry of the history.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    Set(Spot, Value),
    /// Puts into the second what stands in the first.
    Copy(Spot, Spot),
    Remove(Spot),
    Rename(Spot, String),
    /// The key a second time, with another value or the same.
    Again(Spot, Option<Value>),
    Add(Index, String, Value),
    /// Sets a field of the task itself, or removes it.
    Top(&'static str, Option<Value>),
    /// Sets a field of a history entry, or removes it.
    Entry(Index, &'static str, Option<Value>),
    /// Sets a field of the submission, or removes it.
    Submission(&'static str, Option<Value>),
    /// Sets a field of an entry in the outbox, or removes it.
    Outbox(Index, &'static str, Option<Value>),
    SwapEntries(Index, Index),
    DropEntry(Index),
    RepeatEntry(Index, Index),
    Reverse,
    /// What a careful forger does: counts versions and chains statuses anew, and lets the task follow.
    Cover,
    /// An object becomes the list of its values.
    Unroll(Index),
    /// A word becomes an object: `{"pending": null}`.
    Wrap(Spot),
}

/// One edit of the text.
#[derive(Clone, Debug)]
pub(super) enum Splice {
    Truncate(Index),
    Replace(Index, usize, Vec<u8>),
}

/// The text of a file after edits of its JSON and of its text.
pub(super) fn edited(file: &str, edits: &[Edit], splices: &[Splice]) -> Vec<u8> {
    let text = if edits.is_empty() {
        file.to_owned()
    } else {
        let mut value = serde_json::from_str(file).expect("what is edited first is JSON");
        for edit in edits {
            apply(&mut value, edit);
        }
        let text = serde_json::to_string_pretty(&value).expect("keys are strings");
        text.replace(&format!("{AGAIN}\":"), "\":")
    };
    let mut bytes = text.into_bytes();
    for splice in splices {
        match splice {
            Splice::Truncate(at) => bytes.truncate(at.index(bytes.len() + 1)),
            Splice::Replace(at, length, with) => {
                let start = at.index(bytes.len() + 1);
                let end = bytes.len().min(start + length);
                bytes.splice(start..end, with.iter().copied());
            }
        }
    }
    bytes
}

fn apply(task: &mut Value, edit: &Edit) {
    match edit {
        Edit::Set(spot, value) => put(task, *spot, value.clone()),
        Edit::Copy(from, to) => {
            let value = at(task, *from).cloned();
            put(task, *to, value.unwrap_or_default());
        }
        Edit::Top(key, value) => change(task, key, value.as_ref()),
        Edit::Submission(key, value) => {
            if let Some(submission) = task.get_mut("submission") {
                change(submission, key, value.as_ref());
            }
        }
        Edit::Outbox(which, key, value) => {
            if let Some(Value::Array(outbox)) = task.get_mut("outbox")
                && !outbox.is_empty()
            {
                let at = which.index(outbox.len());
                let Value::Object(tagged) = &mut outbox[at] else {
                    return;
                };
                for entry in tagged.values_mut() {
                    change(entry, key, value.as_ref());
                }
            }
        }
        Edit::Unroll(which) => {
            let object = container(task, *which);
            if let Value::Object(fields) = object {
                *object = fields.values().cloned().collect();
            }
        }
        Edit::Wrap(spot) => {
            if let Some(word) = at(task, *spot)
                && let Value::String(text) = word
            {
                *word = Value::Object(Map::from_iter([(text.clone(), Value::Null)]));
            }
        }
        Edit::Cover => cover(task),
        Edit::Add(which, key, value) => match container(task, *which) {
            Value::Array(entries) => entries.push(value.clone()),
            object => insert(object, key, value.clone()),
        },
        Edit::Remove(spot) | Edit::Rename(spot, _) | Edit::Again(spot, _) => {
            if let Value::Object(fields) = container(task, spot.container)
                && !fields.is_empty()
            {
                in_object(fields, spot.place, edit);
            }
        }
        Edit::Entry(..)
        | Edit::SwapEntries(..)
        | Edit::DropEntry(..)
        | Edit::RepeatEntry(..)
        | Edit::Reverse => {
            if let Some(Value::Array(history)) = task.get_mut("history")
                && !history.is_empty()
            {
                in_history(history, edit);
            }
        }
    }
}

fn in_object(fields: &mut Map<String, Value>, place: Index, edit: &Edit) {
    let keys: Vec<_> = fields.keys().cloned().collect();
    let key = place.get(&keys);
    match edit {
        Edit::Remove(..) => drop(fields.shift_remove(key)),
        Edit::Rename(_, name) => {
            let value = fields.shift_remove(key).unwrap_or_default();
            fields.insert(name.clone(), value);
        }
        Edit::Again(_, value) => {
            let value = value.clone().unwrap_or_else(|| fields[key].clone());
            fields.insert(format!("{key}{AGAIN}"), value);
        }
        _ => {}
    }
}

fn in_history(history: &mut Vec<Value>, edit: &Edit) {
    let length = history.len();
    match edit {
        Edit::Entry(at, key, value) => {
            change(&mut history[at.index(length)], key, value.as_ref());
        }
        Edit::SwapEntries(a, b) => history.swap(a.index(length), b.index(length)),
        Edit::DropEntry(at) => drop(history.remove(at.index(length))),
        Edit::RepeatEntry(from, to) => {
            let entry = history[from.index(length)].clone();
            history.insert(to.index(length + 1), entry);
        }
        Edit::Reverse => history.reverse(),
        _ => {}
    }
}

/// Makes everything that can be counted agree with the history again.
fn cover(task: &mut Value) {
    let Some(Value::Array(history)) = task.get_mut("history") else {
        return;
    };
    let mut status = Value::Null;
    for (version, entry) in (1..).zip(history.iter_mut()) {
        insert(entry, "version", json!(version));
        if !status.is_null() {
            insert(entry, "from", status);
        }
        status = entry.get("to").cloned().unwrap_or_default();
    }
    let Some((first, last)) = history.first().cloned().zip(history.last().cloned()) else {
        return;
    };
    for (field, entry, told) in [
        ("status", &last, "to"),
        ("version", &last, "version"),
        ("updatedAt", &last, "timestamp"),
        ("createdAt", &first, "timestamp"),
        ("creator", &first, "actor"),
    ] {
        let value = entry.get(told).cloned().unwrap_or_default();
        insert(task, field, value);
    }
}

fn insert(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(fields) = object {
        fields.insert(key.to_owned(), value);
    }
}

fn change(object: &mut Value, key: &str, value: Option<&Value>) {
    match (object, value) {
        (Value::Object(fields), None) => drop(fields.shift_remove(key)),
        (object, Some(value)) => insert(object, key, value.clone()),
        _ => {}
    }
}

fn put(root: &mut Value, spot: Spot, value: Value) {
    if let Some(it) = at(root, spot) {
        *it = value;
    }
}

/// The value there. None: the object or list is empty.
fn at(root: &mut Value, spot: Spot) -> Option<&mut Value> {
    match container(root, spot.container) {
        Value::Object(fields) if !fields.is_empty() => {
            let index = spot.place.index(fields.len());
            fields.values_mut().nth(index)
        }
        Value::Array(entries) if !entries.is_empty() => {
            let index = spot.place.index(entries.len());
            entries.get_mut(index)
        }
        _ => None,
    }
}

/// One of the objects and lists in a value; the value itself if it is neither.
fn container(root: &mut Value, which: Index) -> &mut Value {
    let count = containers(root);
    if count == 0 {
        return root;
    }
    let mut left = which.index(count);
    nth(root, &mut left).expect("there are so many")
}

fn containers(value: &Value) -> usize {
    match value {
        Value::Object(fields) => 1 + fields.values().map(containers).sum::<usize>(),
        Value::Array(entries) => 1 + entries.iter().map(containers).sum::<usize>(),
        _ => 0,
    }
}

fn nth<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if !value.is_object() && !value.is_array() {
        return None;
    }
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Object(fields) => fields.values_mut().find_map(|it| nth(it, left)),
        Value::Array(entries) => entries.iter_mut().find_map(|it| nth(it, left)),
        _ => None,
    }
}
