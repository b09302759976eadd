//! A client whose server may be killed or stopped at any moment, and is started again.
//!
//! Responsibility: one call at a time, and a journal of all of them. A server that ended is replaced with the next call,
//! under the same name.

use std::{
    os::unix::process::ExitStatusExt,
    process::Command,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

use super::journal::{Call, Fate, Tool, Violations};
use crate::child::{Server, modern, request};

/// The process of a client, for those who send it signals.
#[derive(Debug)]
pub(super) struct Slot {
    name: String,
    /// Nobody but the client reaps the process, and it takes the id out before: so it never is another process's.
    pid: Mutex<Option<Pid>>,
    deaths: AtomicU64,
}

impl Slot {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            pid: Mutex::default(),
            deaths: AtomicU64::new(0),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// How many servers ended while they were called.
    pub(super) fn deaths(&self) -> u64 {
        self.deaths.load(Ordering::SeqCst)
    }

    /// `false`: no process is running.
    pub(super) fn signal(&self, signal: Signal) -> bool {
        let pid = self.pid.lock().unwrap_or_else(PoisonError::into_inner);
        pid.is_some_and(|pid| kill(pid, signal).is_ok())
    }

    fn set(&self, pid: Option<Pid>) {
        *self.pid.lock().unwrap_or_else(PoisonError::into_inner) = pid;
    }
}

/// A client, with its server if that is running.
pub(super) struct Client<'a> {
    slot: &'a Slot,
    command: Box<dyn FnMut() -> Command + Send + 'a>,
    violations: &'a Violations,
    server: Option<Server>,
    journal: Vec<Call>,
    calls: u64,
}

impl<'a> Client<'a> {
    /// `command` makes the command of each server in turn.
    pub(super) fn new(
        slot: &'a Slot,
        violations: &'a Violations,
        command: impl FnMut() -> Command + Send + 'a,
    ) -> Self {
        Self {
            slot,
            command: Box::new(command),
            violations,
            server: None,
            journal: Vec::new(),
            calls: 0,
        }
    }

    pub(super) fn name(&self) -> &str {
        self.slot.name()
    }

    /// Makes a call that changes something, on a task or on none, with a text that nobody else uses.
    pub(super) fn act(&mut self, tool: Tool, task: Option<&str>) -> Fate {
        let mut arguments = json!({});
        if let Some(task) = task {
            arguments["task_id"] = json!(task);
        }
        if tool == Tool::Create {
            arguments["description"] = json!("whatever");
        }
        let text = tool.text_argument().map(|argument| {
            let text = format!("{} {} by {}", tool.name(), self.calls, self.slot.name);
            arguments[argument] = json!(text);
            text
        });
        let fate = self.call(tool.name(), &arguments);
        self.journal.push(Call {
            by: self.slot.name.clone(),
            tool,
            task: task.map(ToOwned::to_owned),
            text,
            fate: fate.clone(),
        });
        fate
    }

    /// Makes any call.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Fate {
        self.calls += 1;
        let id = json!(self.calls);
        let params = modern(json!({"name": tool, "arguments": arguments}));
        let server = self.server();
        // What it does not read it does not answer either.
        server.try_send(&request(&id, "tools/call", &params));
        while let Some(mut message) = server.message() {
            if message["id"] == id {
                return fate(&mut message, tool);
            }
        }
        self.bury();
        Fate::Lost
    }

    /// Ends the server as a client does that has no more work for it; hands the journal out.
    pub(super) fn end(mut self) -> Vec<Call> {
        if let Some(mut server) = self.server.take() {
            server.close_input();
            let (status, _) = server.ended();
            self.slot.set(None);
            self.violations.check(
                status.success() || status.signal() == Some(Signal::SIGKILL as i32),
                || format!("{}: ended with {status}", self.slot.name),
            );
        }
        std::mem::take(&mut self.journal)
    }

    fn server(&mut self) -> &mut Server {
        let Self {
            server,
            slot,
            command,
            ..
        } = self;
        server.get_or_insert_with(|| {
            let server = Server::spawn(&mut command());
            slot.set(Some(server.pid()));
            server
        })
    }

    fn bury(&mut self) {
        self.slot.deaths.fetch_add(1, Ordering::SeqCst);
        // Reaping frees the id for others, so it is taken out first. The output is at its end, so the process is, too.
        self.slot.set(None);
        let Some(mut server) = self.server.take() else {
            return;
        };
        let (status, _) = server.ended();
        self.violations
            .check(status.signal() == Some(Signal::SIGKILL as i32), || {
                format!("{}: ended by itself with {status}", self.slot.name)
            });
    }
}

impl Drop for Client<'_> {
    fn drop(&mut self) {
        // Before the server is reaped, should a test have failed in between.
        self.slot.set(None);
    }
}

fn fate(message: &mut Value, tool: &str) -> Fate {
    let mut result = message["result"].take();
    if result["isError"] == true {
        let text = result["content"][0]["text"].as_str();
        return Fate::Refused(text.expect("an error has a text").to_owned());
    }
    assert!(result.is_object(), "{tool} is a tool: {message}");
    Fate::Answered(result["structuredContent"].take())
}
