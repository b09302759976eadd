//! A directory that is removed under the hands of those who work in it (`git clean -fdx` happens).
//!
//! Responsibility: that calls work or say clearly why not, that the server goes on, and that work can begin anew.
//!
//! Limits: what was in the directory is gone, numbers included.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use serde_json::{Value, json};

use super::{
    operation::{Operation, prepared},
    site::{Caller, Site},
};

fn task(title: &str) -> Value {
    json!({"title": title, "description": "to do"})
}

#[test]
fn between_calls_everything_is_gone_and_can_begin_anew() {
    let site = Site::with(prepared());
    for operation in Operation::all() {
        prepared().write_to(&site.path());
        let mut caller = site.caller(operation.agent);
        caller.ok(
            "post_message",
            &json!({"task_id": "task-0006", "content": "here"}),
        );
        fs::remove_dir_all(site.path()).unwrap();
        match (operation.tool, operation.run(&mut caller)) {
            ("create_task", Ok(created)) => assert_eq!(created["task"]["id"], "task-0001"),
            ("claim_next_task", Ok(claim)) => assert_eq!(claim["task"], Value::Null),
            (_, Err(error)) => assert!(
                error.starts_with("not_found: "),
                "{}: {error}",
                operation.name
            ),
            (tool, Ok(result)) => panic!("{tool} of nothing: {result}"),
        }
        let (before, _) = caller.listed();
        let created = caller.ok("create_task", &task("anew"));
        assert_eq!(
            created["task"]["id"],
            format!("task-000{}", before.len() + 1)
        );
        assert_eq!(caller.listed().0.len(), before.len() + 1);
        site.assert_no_leftovers();
    }
}

/// Removes the directory again and again, as soon as there is one, until `work` is done.
fn while_vanishing(directory: &Path, work: impl FnOnce()) {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // Somebody may be putting something into it: then the next round gets it.
                let _ = fs::remove_dir_all(directory);
                thread::yield_now();
            }
        });
        // Also when an assertion fails, or the other thread would never end.
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        is_over.store(true, Ordering::Relaxed);
        if let Err(panic) = done {
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn during_calls_they_work_or_say_why_not() {
    let site = Site::new();
    let mut caller = site.caller("boss");
    let path = site.path().display().to_string();
    let calls = [
        ("create_task", task("short-lived")),
        (
            "post_message",
            json!({"task_id": "task-0001", "content": "hello"}),
        ),
        ("claim_task", json!({"task_id": "task-0001"})),
        ("update_progress", json!({"task_id": "task-0001"})),
        ("list_tasks", json!({})),
    ];
    let mut refused = 0;
    while_vanishing(&site.path(), || {
        for (tool, arguments) in calls.iter().cycle().take(150) {
            if let Err(error) = caller.call(tool, arguments) {
                let is_clear = error.starts_with("not_found: ")
                    || error.starts_with("storage: ") && error.contains(&path)
                    || error.starts_with("busy: ") && error.contains(&path)
                    // A task that somebody else made meanwhile is nobody's.
                    || error.starts_with("not_assignee: ")
                    || error.starts_with("invalid_transition: ");
                assert!(is_clear, "{tool}: {error}");
                refused += 1;
            }
        }
    });
    assert!(
        refused > 0,
        "the directory was in fact removed during or between calls"
    );
    let _ = fs::remove_dir_all(site.path());
    assert_eq!(
        caller.ok("create_task", &task("lasting"))["task"]["id"],
        "task-0001"
    );
    assert_eq!(caller.listed().0, ["task-0001"]);
    site.assert_no_leftovers();
}

#[test]
fn locks_that_are_removed_while_held_cost_no_message_and_double_none() {
    const MESSAGES: usize = 60;
    let site = Site::with(prepared());
    let path = site.path();
    let talk = |name: &str| {
        let mut caller = site.caller(name);
        let post = |number| {
            let content = format!("{name} {number}");
            let arguments = json!({"task_id": "task-0003", "content": content});
            match caller.call("post_message", &arguments) {
                Ok(_) => Some(content),
                Err(error) => {
                    let is_clear = ["busy: ", "storage: "]
                        .iter()
                        .any(|it| error.starts_with(it));
                    assert!(
                        is_clear && error.contains(path.to_str().unwrap()),
                        "{error}"
                    );
                    None
                }
            }
        };
        (0..MESSAGES).filter_map(post).collect::<Vec<_>>()
    };
    let mut acknowledged = Vec::new();
    while_vanishing(&path.join(".locks"), || {
        thread::scope(|scope| {
            let talkers = ["one", "other"].map(|name| scope.spawn(move || talk(name)));
            for talker in talkers {
                acknowledged.extend(talker.join().unwrap());
            }
        });
    });
    assert!(!acknowledged.is_empty(), "some got through");
    let mut said = contents(&mut site.caller("observer"));
    said.retain(|it| it != "how is it going?");
    acknowledged.sort();
    said.sort();
    assert_eq!(said, acknowledged);
}

fn contents(observer: &mut Caller) -> Vec<String> {
    let mut contents = Vec::new();
    let mut arguments =
        json!({"task_id": "task-0003", "since": "2000-01-01T00:00:00Z", "limit": 200});
    loop {
        let page = observer.ok("get_messages", &arguments);
        for message in page["messages"].as_array().unwrap() {
            contents.push(message["content"].as_str().unwrap().to_owned());
            arguments["since"] = message["timestamp"].clone();
        }
        if page["more"] != true {
            return contents;
        }
    }
}
