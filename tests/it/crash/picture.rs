//! What a queue says, without what differs from run to run: times and the ids of entries.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use serde_json::{Value, json};

use super::queue::{DOCUMENTS, Queue, files, ok};
use crate::child::Server;

/// Tasks with all that is said on them.
#[derive(Debug, PartialEq)]
pub(super) struct Picture(BTreeMap<String, Vec<Value>>);

/// Looks at these tasks by the tools, and at all files: everything can be read.
pub(super) fn take(auditor: &mut Server, queue: &Queue, ids: &BTreeSet<String>) -> Picture {
    assert_all_is_json(queue);
    let list = ok(
        auditor,
        "list_tasks",
        &json!({"status": "all", "limit": 200}),
    );
    assert_eq!(list["unreadable"], Value::Null, "{list}");
    let mut tasks = BTreeMap::new();
    for id in ids.iter().filter(|it| queue.has(it)) {
        let on = json!({"task_id": id, "history_limit": 50});
        let parts = ["get_task", "get_messages", "get_progress"]
            .map(|tool| timeless(ok(auditor, tool, &only_known(&on, tool))));
        tasks.insert(id.clone(), parts.to_vec());
    }
    Picture(tasks)
}

fn only_known(arguments: &Value, tool: &str) -> Value {
    match tool {
        "get_task" => arguments.clone(),
        _ => json!({"task_id": arguments["task_id"]}),
    }
}

/// A reader that knows nothing of locks finds whole files only.
fn assert_all_is_json(queue: &Queue) {
    for file in DOCUMENTS
        .into_iter()
        .chain([""])
        .flat_map(|it| files(&queue.path().join(it)))
        .filter(|it| it.extension().is_some_and(|it| it == "json"))
    {
        let bytes = fs::read(&file).unwrap();
        let read: Result<Value, _> = serde_json::from_slice(&bytes);
        assert!(read.is_ok(), "{}: {read:?}", file.display());
    }
}

fn timeless(mut value: Value) -> Value {
    strip(&mut value);
    value
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in [
                "timestamp",
                "createdAt",
                "updatedAt",
                "idleSeconds",
                "holderGone",
            ] {
                fields.remove(name);
            }
            if fields.contains_key("content") {
                fields.remove("id");
            }
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}
