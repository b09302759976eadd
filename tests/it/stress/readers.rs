//! Readers that take no lock and are never disturbed: what they see is whole and never goes back.

use std::{
    collections::HashMap,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{
    client::Client,
    drivers::Board,
    found,
    journal::{Fate, Violations},
    rng::Rng,
};

/// Reads the files as they are on the disk. How many it read.
pub(super) fn read_files(directory: &Path, violations: &Violations, over: &AtomicBool) -> u64 {
    let mut seen = HashMap::new();
    let mut reads = 0;
    while !over.load(Ordering::SeqCst) {
        for path in documents(directory) {
            // It may have been listed and is always replaced by another one, so it is there.
            let text = match fs::read_to_string(&path) {
                Ok(text) => text,
                Err(error) if error.kind() == ErrorKind::NotFound && !seen.contains_key(&path) => {
                    continue;
                }
                Err(error) => {
                    violations.add(format!("{}: {error}", path.display()));
                    continue;
                }
            };
            reads += 1;
            match check(&text) {
                Ok(now) => {
                    let before = seen.insert(path.clone(), now).unwrap_or(0);
                    violations.check(now >= before, || {
                        format!("{} went back from {before} to {now}", path.display())
                    });
                }
                Err(wrong) => violations.add(format!("{}: {wrong}: {text:?}", path.display())),
            }
        }
        // Leaves the processors to those that are watched.
        thread::sleep(Duration::from_millis(2));
    }
    reads
}

fn documents(directory: &Path) -> Vec<PathBuf> {
    let folders = ["tasks", "messages", "progress"].map(|it| directory.join(it));
    let entries = folders.iter().filter_map(|it| fs::read_dir(it).ok());
    let mut paths: Vec<_> = entries
        .flatten()
        .map(|it| it.expect("the folder can be read").path())
        .collect();
    let sequence = directory.join("sequence.json");
    if sequence.exists() {
        paths.push(sequence);
    }
    paths
}

/// What can only grow in a document: the version, the number last given out, or the count of its entries.
fn check(text: &str) -> Result<u64, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if let Some(last) = document.get("last") {
        return last.as_u64().ok_or_else(|| "no number".to_owned());
    }
    let entries = document
        .as_array()
        .or_else(|| document["history"].as_array())
        .ok_or("no entries")?;
    found::check_order(entries)?;
    let count = u64::try_from(entries.len()).expect("a length fits");
    let Some(version) = document.get("version") else {
        return Ok(count);
    };
    found::check_versions(entries)?;
    if *version != count {
        return Err(format!("version {version}, but {count} entries"));
    }
    Ok(count)
}

/// Lists and reads through a server of its own. How often.
pub(super) fn ask(
    client: &mut Client<'_>,
    board: &Board,
    rng: &mut Rng,
    violations: &Violations,
    over: &AtomicBool,
) -> u64 {
    let mut seen = HashMap::new();
    let mut rounds = 0;
    while !over.load(Ordering::SeqCst) {
        rounds += 1;
        list(client, violations);
        let Some(task) = board.any(rng) else {
            continue;
        };
        for tool in ["get_messages", "get_progress", "get_task"] {
            match client.call(tool, &json!({"task_id": task})) {
                Fate::Answered(answer) => {
                    let total = answer["total"].as_u64().or(answer["historyTotal"].as_u64());
                    let total = total.expect("all three count");
                    let before = seen.insert((tool, task.clone()), total).unwrap_or(0);
                    violations.check(total >= before, || {
                        format!("{tool} of {task}: {total} entries after {before}")
                    });
                }
                other => violations.add(format!("{tool} of {task}: {other:?}")),
            }
        }
    }
    rounds
}

/// All tasks as they are listed, page by page.
pub(super) fn list(client: &mut Client<'_>, violations: &Violations) -> Vec<Value> {
    let mut tasks = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let arguments = json!({"status": "all", "limit": 200, "cursor": cursor});
        let Fate::Answered(page) = client.call("list_tasks", &arguments) else {
            violations.add(format!("list_tasks did not answer {arguments}"));
            return tasks;
        };
        violations.check(page.get("unreadable").is_none(), || {
            format!("a list has unreadable tasks: {}", page["unreadable"])
        });
        tasks.extend(page["tasks"].as_array().into_iter().flatten().cloned());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            return tasks;
        }
    }
}
