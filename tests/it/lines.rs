//! Hostile and sloppy lines, said to the program itself: what clients with faults, and broken pipes, send.
//!
//! Single lines, each with what is due to it, are in `table`, cancellations and repeated ids in `flight`, and
//! conversations made up by chance in `random`.

mod flight;
mod oracle;
mod random;
mod script;
mod session;
mod table;

use std::fmt::Display;

use serde_json::{Value, json};

use crate::child::request;

/// A call that makes a task.
fn create(id: &Value, title: &str) -> Value {
    let arguments = json!({"title": title, "description": "d"});
    let params = json!({"name": "create_task", "arguments": arguments});
    request(id, "tools/call", &params)
}

fn initialize(id: &Value, version: &str) -> Value {
    let client = json!({"name": "a-client", "version": "1.2"});
    let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
    request(id, "initialize", &params)
}

/// Messages, a line each.
fn lines(messages: impl IntoIterator<Item: Display>) -> String {
    let lines = messages.into_iter().map(|message| format!("{message}\n"));
    lines.collect()
}

fn handshake() -> String {
    lines([initialize(&json!("handshake"), "2025-11-25")])
}
