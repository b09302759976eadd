//! After the storm: a new process finds everything as it should be, and nothing is in its way.
//!
//! Responsibility: the same threads and reports through the program and in the files, which the next writer completes;
//! every document can be locked again at once; no lock is left.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    client::Client,
    found::Found,
    journal::{Call, Fate, Tool, Violations},
    readers,
};

/// Far more than an update takes, far less than waiting for a lock may.
pub(crate) const FAST: Duration = Duration::from_secs(5);

/// What the program shows of a task before anything else is written.
struct Shown {
    task: String,
    messages: Vec<Value>,
    reports: Vec<Value>,
    report_count: usize,
}

/// Uses every document once more. What was done for it.
pub(super) fn settle(
    directory: &Path,
    mut client: Client<'_>,
    violations: &Violations,
) -> Vec<Call> {
    let name = client.name().to_owned();
    let tasks = readers::list(&mut client, violations);
    let listed: BTreeSet<_> = tasks.iter().map(id).collect();
    let found: BTreeSet<_> = Found::read(directory).tasks.into_keys().collect();
    violations.check(listed == found, || {
        format!("listed: {listed:?}, found: {found:?}")
    });
    let shown: Vec<_> = tasks.iter().map(|it| show(&mut client, &id(it))).collect();
    if let Err(wrong) = lock_everything(&mut client, &tasks) {
        // What comes after would only say the same, and take long.
        violations.add(wrong);
        return client.end();
    }
    let calls = client.end();
    let after = Found::read(directory);
    for before in shown {
        before.check(&after, &name, violations);
    }
    check_locks(&directory.join(".locks"), violations);
    calls
}

fn id(task: &Value) -> String {
    task["id"].as_str().expect("a task has an id").to_owned()
}

fn show(client: &mut Client<'_>, task: &str) -> Shown {
    let mut messages: Vec<Value> = Vec::new();
    loop {
        let since = messages.last().map(|it| it["timestamp"].clone());
        let since = since.unwrap_or(json!("1970-01-01T00:00:00Z"));
        let page = client.call(
            "get_messages",
            &json!({"task_id": task, "since": since, "limit": 200}),
        );
        let page = page.answer().expect("a thread can be read");
        messages.extend(page["messages"].as_array().into_iter().flatten().cloned());
        if page["more"] == false {
            break;
        }
    }
    let progress = client.call("get_progress", &json!({"task_id": task, "limit": 200}));
    let progress = progress.answer().expect("reports can be read");
    let total = progress["total"].as_u64().expect("it is a number");
    let reports = progress["history"].as_array();
    Shown {
        task: task.to_owned(),
        messages,
        reports: reports.expect("it is a list").clone(),
        report_count: usize::try_from(total).expect("a length fits"),
    }
}

/// Changes each task, its thread and its reports, which takes the lock of each, and makes a task, which takes the last.
fn lock_everything(client: &mut Client<'_>, tasks: &[Value]) -> Result<(), String> {
    act(client, Tool::Create, None)?;
    for task in tasks {
        let to_pending: &[Tool] = match task["status"].as_str().expect("a task has a status") {
            "pending" => &[],
            "completed" | "approved" | "cancelled" => &[Tool::Reopen],
            _ => &[Tool::Cancel, Tool::Reopen],
        };
        let task = id(task);
        act(client, Tool::Post, Some(&task))?;
        for tool in to_pending.iter().chain(&[Tool::Claim, Tool::Report]) {
            act(client, *tool, Some(&task))?;
        }
    }
    Ok(())
}

fn act(client: &mut Client<'_>, tool: Tool, task: Option<&str>) -> Result<(), String> {
    let started = Instant::now();
    let fate = client.act(tool, task);
    let elapsed = started.elapsed();
    match fate {
        Fate::Answered(_) if elapsed < FAST => Ok(()),
        _ => Err(format!(
            "after everything: {tool:?} of {task:?} took {elapsed:?}: {fate:?}"
        )),
    }
}

impl Shown {
    /// What was shown is what the files have, but for what was added since by this name.
    fn check(&self, after: &Found, added_by: &str, violations: &Violations) {
        let others = |entries: Option<&Vec<Value>>| -> Vec<Value> {
            let entries = entries.into_iter().flatten();
            entries
                .filter(|it| it["author"] != added_by)
                .cloned()
                .collect()
        };
        let task = &self.task;
        let messages = others(after.messages.get(task));
        violations.check(messages == self.messages, || {
            format!(
                "{task}: its thread was shown as {:?}, and is {messages:?} now",
                self.messages
            )
        });
        let reports = others(after.progress.get(task));
        // The newest are shown, as many as fit, without the fields that are for the store.
        let key = |it: &Value| (it["timestamp"].clone(), it["notes"].clone());
        let tail = reports.iter().rev().take(self.reports.len()).rev();
        let is_same =
            reports.len() == self.report_count && tail.map(key).eq(self.reports.iter().map(key));
        violations.check(is_same, || {
            format!(
                "{task}: {} reports were shown, the last {:?}; now they are {reports:?}",
                self.report_count, self.reports
            )
        });
    }
}

/// Locks are empty now, or gone: the last process has swept what the killed left. Only their candidates stay, until they
/// are old.
fn check_locks(locks: &Path, violations: &Violations) {
    for entry in fs::read_dir(locks).expect("the directory is there") {
        let path = entry.expect("the directory can be read").path();
        let name = path.file_name().map_or("".into(), OsStr::to_string_lossy);
        if name.starts_with(".new-") {
            continue;
        }
        let content: Vec<_> = fs::read_dir(&path)
            .expect("a lock is a directory")
            .map(|it| it.expect("it can be read").path())
            .collect();
        violations.check(name.ends_with(".lock") && content.is_empty(), || {
            format!("{} is left with {content:?}", path.display())
        });
    }
}
