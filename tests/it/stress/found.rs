//! What is in a coordination directory after a storm, read without the program under test.

use std::{collections::BTreeMap, fs, path::Path};

use serde_json::Value;

/// One list of entries, history or thread or reports, for each task.
pub(super) type Entries = BTreeMap<String, Vec<Value>>;

/// All documents.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) tasks: BTreeMap<String, Value>,
    pub(super) messages: Entries,
    pub(super) progress: Entries,
}

impl Found {
    pub(super) fn read(directory: &Path) -> Self {
        let entries = |folder, key: Option<&str>| {
            let documents = documents(&directory.join(folder)).into_iter();
            documents
                .map(|(id, document)| {
                    let entries = key.map_or(&document, |key| &document[key]);
                    (id, entries.as_array().expect("it is a list").clone())
                })
                .collect()
        };
        Self {
            tasks: documents(&directory.join("tasks")),
            messages: entries("messages", None),
            progress: entries("progress", Some("history")),
        }
    }

    /// The transitions that made a task.
    pub(super) fn history(&self, task: &str) -> &[Value] {
        let task = self.tasks.get(task);
        let history = task.and_then(|it| it["history"].as_array());
        history.map_or(&[], Vec::as_slice)
    }
}

fn documents(folder: &Path) -> BTreeMap<String, Value> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries
        .map(|entry| {
            let path = entry.expect("the folder can be read").path();
            let id = path.file_stem().expect("it has a name").to_string_lossy();
            let text = fs::read_to_string(&path).expect("it can be read");
            let document = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (id.into_owned(), document)
        })
        .collect()
}

/// Timestamps increase, and no id comes twice.
pub(super) fn check_order(entries: &[Value]) -> Result<(), String> {
    for pair in entries.windows(2) {
        let [one, next] = pair else { continue };
        // Of one length and time zone, so that their texts are in order if they are.
        if one["timestamp"].as_str() >= next["timestamp"].as_str() {
            return Err(format!("{next} is not later than {one}"));
        }
    }
    let mut ids: Vec<_> = entries.iter().filter_map(|it| it["id"].as_str()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() < count {
        return Err("an id comes twice".to_owned());
    }
    Ok(())
}

/// Versions are 1, 2, 3 and so on, and each transition starts where the one before it ended.
pub(super) fn check_versions(history: &[Value]) -> Result<(), String> {
    let mut status = Value::Null;
    for (entry, version) in history.iter().zip(1_u64..) {
        if entry["version"] != version {
            return Err(format!("entry {version} is {entry}"));
        }
        if entry["from"] != status {
            return Err(format!("{entry} comes after {status}"));
        }
        status = entry["to"].clone();
    }
    Ok(())
}
