//! A server in a process of its own, and a client that exchanges lines with it.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

/// More than anything here takes, on however busy a machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A running server. It is killed when this is dropped.
pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<Value>,
    /// Answers that came before they were asked for.
    early: Vec<Value>,
}

impl Server {
    /// Runs `command` with its standard input and output in our hands.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command can be run");
        let input = child.stdin.take();
        let stdout = child.stdout.take().expect("it is piped");
        Self {
            child,
            input,
            output: messages(stdout),
            early: Vec::new(),
        }
    }

    /// Sends `initialize` for this revision and takes the answer.
    pub(crate) fn initialize(&mut self, version: &str) -> Value {
        let client = json!({"name": "a-client", "version": "1.2"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let answer = self.request(&json!("initialize"), "initialize", &params);
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        input
            .write_all(bytes)
            .and_then(|()| input.flush())
            .expect("the server reads");
    }

    /// Sends a request and takes its answer.
    pub(crate) fn request(&mut self, id: &Value, method: &str, params: &Value) -> Value {
        self.send(&request(id, method, params));
        self.answer(id)
    }

    /// Calls a tool and takes its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let mut answer = self.request(&json!(format!("call {tool}")), "tools/call", &params);
        answer["result"].take()
    }

    /// The answer to the request of this id, whatever else comes in the meantime.
    pub(crate) fn answer(&mut self, id: &Value) -> Value {
        if let Some(early) = self.early.iter().position(|message| message["id"] == *id) {
            return self.early.remove(early);
        }
        loop {
            let message = self
                .message()
                .unwrap_or_else(|| panic!("the output ended before the answer to {id}"));
            if message["id"] == *id {
                return message;
            }
            self.early.push(message);
        }
    }

    /// The next message. `None` at the end of output.
    pub(crate) fn message(&mut self) -> Option<Value> {
        match self.output.recv_timeout(PATIENCE) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("no message came; so far: {:?}", self.early),
        }
    }

    /// Whether a message has come that nobody has taken.
    pub(crate) fn has_message(&mut self) -> bool {
        self.early.extend(self.output.try_iter());
        !self.early.is_empty()
    }

    /// All messages up to the end of output that nobody has taken.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        let mut rest = std::mem::take(&mut self.early);
        rest.extend(std::iter::from_fn(|| self.message()));
        rest
    }

    /// Forgets the progress that came early; anything else must not have.
    pub(crate) fn forget_progress(&mut self) {
        for message in self.early.drain(..) {
            assert_eq!(message["method"], "notifications/progress", "{message}");
        }
    }

    /// Stops reading: the server finds its output closed, not with its next message but soon after.
    pub(crate) fn close_output(&mut self) {
        self.output = channel().1;
    }

    /// Like [`send`](Self::send), to a server that may have ended.
    pub(crate) fn try_send(&mut self, message: &Value) {
        if let Some(input) = &mut self.input {
            let _ = writeln!(input, "{message}");
        }
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.child.id()).expect("a pid is an i32"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(self.pid(), signal).expect("it is our child");
    }

    /// How the process ended, if it has.
    pub(crate) fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("it is our child")
    }

    /// Waits for the process to end. How it did, and how long that took.
    pub(crate) fn ended(&mut self) -> (ExitStatus, Duration) {
        let start = Instant::now();
        loop {
            if let Some(status) = self.status() {
                return (status, start.elapsed());
            }
            assert!(start.elapsed() < PATIENCE, "the server does not end");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended long ago.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn request(id: &Value, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// Params of a request of revision 2026-07-28, which needs no `initialize`.
pub(crate) fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "a-modern-client", "version": "3"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

/// The one text of a tool's result.
pub(crate) fn text(result: &Value) -> &str {
    assert_eq!(
        result["content"].as_array().map(Vec::len),
        Some(1),
        "one block: {result}"
    );
    result["content"][0]["text"].as_str().expect("it is text")
}

fn messages(stdout: ChildStdout) -> Receiver<Value> {
    let (sender, messages) = channel();
    thread::spawn(move || {
        let lines = BufReader::new(stdout).lines().map_while(Result::ok);
        // A server that is a test in disguise starts with what the test harness prints.
        for line in lines.skip_while(|line| !line.starts_with('{')) {
            let message =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if sender.send(message).is_err() {
                return;
            }
        }
    });
    messages
}
