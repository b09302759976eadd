//! A process that may not open as many files as it needs.
//!
//! Responsibility: that it answers or ends, never hangs, and that what it did answer is true.
//!
//! Limits: whether a process gets as far as serving is the system's choice; it may end instead.

use std::{
    ops::RangeInclusive,
    process::{Command, Stdio},
    thread,
};

use serde_json::{Value, json};

use super::site::{Site, surroundings};
use crate::child::{Server, request, text};

const TASKS: usize = 3;
/// From too few to begin with to more than enough.
const LIMITS: RangeInclusive<u32> = 4..=32;

/// What became of a process.
#[derive(Debug, Default)]
struct Served {
    created: Vec<String>,
    refused: Vec<String>,
}

/// `None`: it has ended.
fn answer(server: &mut Server, id: &str, method: &str, params: &Value) -> Option<Value> {
    server.try_send(&request(&json!(id), method, params));
    loop {
        let message = server.message()?;
        if message["id"] == id {
            return Some(message);
        }
    }
}

/// Lets a process that may have this many files open do what it can.
fn serve(site: &Site, limit: u32) -> Served {
    let mut command = Command::new("/bin/sh");
    surroundings(&mut command, &site.path(), "poor");
    command
        .args(["-c", &format!("ulimit -n {limit}; exec \"$0\"")])
        .arg(env!("CARGO_BIN_EXE_ai-coord-mcp"))
        // What a process says when it cannot even begin is no test's output.
        .stderr(Stdio::null());
    let mut server = Server::spawn(&mut command);
    let mut outcome = Served::default();
    let client = json!({"name": "poor", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    if answer(&mut server, "hello", "initialize", &hello).is_some() {
        server.try_send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        for number in 0..TASKS {
            let title = format!("limit {limit}, task {number}");
            let arguments = json!({"title": title, "description": "to do"});
            let params = json!({"name": "create_task", "arguments": arguments});
            match answer(&mut server, &title, "tools/call", &params) {
                Some(answer) if answer["result"]["isError"] == true => {
                    outcome.refused.push(text(&answer["result"]).to_owned());
                }
                Some(_) => outcome.created.push(title),
                None => break,
            }
        }
        for (tool, arguments) in [
            ("list_tasks", json!({})),
            ("wait_for_task", json!({"timeout_seconds": 0})),
            ("claim_next_task", json!({"wait_seconds": 1, "tag": "none"})),
        ] {
            let params = json!({"name": tool, "arguments": arguments});
            if let Some(answer) = answer(&mut server, tool, "tools/call", &params)
                && answer["result"]["isError"] == true
            {
                outcome.refused.push(text(&answer["result"]).to_owned());
            }
        }
    }
    server.close_input();
    server.ended();
    outcome
}

#[test]
fn a_process_short_of_files_answers_or_ends_and_loses_nothing() {
    let site = Site::new();
    let mut created = Vec::new();
    let (mut failing, mut serving) = (0, 0);
    // Side by side: those that get as far as waiting take a second.
    let all: Vec<_> = thread::scope(|scope| {
        let serve = |limit| (limit, serve(&site, limit));
        let serving: Vec<_> = LIMITS
            .map(|limit| scope.spawn(move || serve(limit)))
            .collect();
        serving.into_iter().map(|it| it.join().unwrap()).collect()
    });
    for (limit, served) in all {
        for error in &served.refused {
            let is_clear = error.starts_with("storage: ") && error.contains("Too many open files");
            assert!(is_clear, "{limit}: {error}");
        }
        failing += usize::from(!served.refused.is_empty());
        serving += usize::from(served.created.len() == TASKS);
        created.extend(served.created);
    }
    assert!(failing > 0, "some limits are too small for a call");
    assert!(serving > 0, "some limits are enough");
    site.assert_no_leftovers();
    let mut rich = site.caller("rich");
    let page = rich.ok("list_tasks", &json!({"status": "all", "limit": 200}));
    assert_eq!(
        page["total"],
        created.len(),
        "what was answered, no more and no less"
    );
    rich.ok(
        "create_task",
        &json!({"title": "more", "description": "to do"}),
    );
}
