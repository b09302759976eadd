//! A stand-in for an assistant: starts the server as a client does, and calls its tools.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Instant,
};

use serde_json::{Value, json};

use super::{DemoError, story::Place};

/// The revision that most clients speak today.
const PROTOCOL: &str = "2025-11-25";

/// An assistant with its own copy of the server.
#[derive(Debug)]
pub(super) struct Assistant {
    name: &'static str,
    server: Child,
    requests: ChildStdin,
    answers: Receiver<Value>,
    deadline: Instant,
    early: HashMap<u64, Value>,
    last_id: u64,
}

/// A call that is under way.
#[derive(Clone, Debug)]
#[must_use = "an answer that nobody looks at proves nothing"]
pub(super) struct Pending {
    id: u64,
    tool: String,
}

/// What a call was answered with.
#[derive(Debug)]
pub(super) struct Answer {
    who: &'static str,
    tool: String,
    value: Value,
}

impl Assistant {
    /// Starts the server and introduces itself.
    pub(super) fn start(name: &'static str, place: Place<'_>) -> Result<Self, DemoError> {
        let mut command = Command::new(place.program);
        command
            .args(place.arguments)
            .env_clear()
            .env("COORDINATION_DIR", place.coordination)
            .current_dir(place.checkout)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut server = command
            .spawn()
            .map_err(DemoError::surroundings("this program does not start"))?;
        let (Some(requests), Some(output)) = (server.stdin.take(), server.stdout.take()) else {
            let source = std::io::ErrorKind::BrokenPipe.into();
            return Err(DemoError::Surroundings {
                what: "the server has no pipes",
                source,
            });
        };
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            let values = lines.filter_map(|line| serde_json::from_str::<Value>(&line).ok());
            for value in values {
                if sender.send(value).is_err() {
                    break;
                }
            }
        });
        let mut assistant = Self {
            name,
            server,
            requests,
            answers,
            deadline: place.deadline,
            early: HashMap::new(),
            last_id: 0,
        };
        assistant.introduce()?;
        Ok(assistant)
    }

    /// Calls a tool without waiting for the answer.
    pub(super) fn begin(&mut self, tool: &str, arguments: &Value) -> Result<Pending, DemoError> {
        let id = self.request(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        )?;
        Ok(Pending {
            id,
            tool: tool.to_owned(),
        })
    }

    /// Waits for the answer.
    pub(super) fn finish(&mut self, pending: Pending) -> Result<Answer, DemoError> {
        let Pending { id, tool } = pending;
        let message = self.answer_to(id, &tool)?;
        let text = message
            .pointer("/result/content/0/text")
            .and_then(Value::as_str)
            .unwrap_or_default();
        Ok(if text.is_empty() {
            // No result of a tool: an error of the protocol, and shown as what it is.
            Answer {
                who: self.name,
                tool,
                value: message,
            }
        } else {
            Answer::parse(self.name, tool, text)
        })
    }

    /// Ends the server as a crash would, in the middle of whatever it does.
    pub(super) fn crash(&mut self) {
        self.end();
    }

    fn introduce(&mut self) -> Result<(), DemoError> {
        let hello = json!({
            "protocolVersion": PROTOCOL,
            "capabilities": {},
            "clientInfo": { "name": self.name, "version": env!("CARGO_PKG_VERSION") },
        });
        let id = self.request("initialize", &hello)?;
        let welcome = Answer {
            who: self.name,
            tool: "initialize".to_owned(),
            value: self.answer_to(id, "initialize")?,
        };
        welcome.expect("/result/protocolVersion", PROTOCOL)?;
        self.send(
            &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            "initialize",
        )
    }

    fn request(&mut self, method: &str, params: &Value) -> Result<u64, DemoError> {
        self.last_id += 1;
        let id = self.last_id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request, method)?;
        Ok(id)
    }

    fn send(&mut self, message: &Value, tool: &str) -> Result<(), DemoError> {
        let sent = writeln!(self.requests, "{message}").and_then(|()| self.requests.flush());
        sent.map_err(|_| self.silence(tool, "its server has ended"))
    }

    fn answer_to(&mut self, id: u64, tool: &str) -> Result<Value, DemoError> {
        loop {
            if let Some(answer) = self.early.remove(&id) {
                return Ok(answer);
            }
            match self
                .answers
                .recv_timeout(self.deadline.saturating_duration_since(Instant::now()))
            {
                Ok(message) => {
                    if let Some(of) = message.get("id").and_then(Value::as_u64) {
                        self.early.insert(of, message);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    return Err(self.silence(tool, "the time for the whole demonstration is over"));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.silence(tool, "its server has ended"));
                }
            }
        }
    }

    fn silence(&self, tool: &str, why: &'static str) -> DemoError {
        DemoError::Silence {
            who: self.name,
            tool: tool.to_owned(),
            why,
        }
    }

    fn end(&mut self) {
        // It may have ended by itself; then there is nothing to kill, and it is still to be waited for.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Drop for Assistant {
    fn drop(&mut self) {
        self.end();
    }
}

impl Answer {
    /// What a text says: JSON as what it is, anything else, as a refusal, as itself.
    pub(super) fn parse(who: &'static str, tool: String, text: &str) -> Self {
        let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
        Self { who, tool, value }
    }

    /// The answer as it came.
    pub(super) fn value(&self) -> &Value {
        &self.value
    }

    /// Checks a place in the answer.
    pub(super) fn expect(&self, at: &str, expected: impl Into<Value>) -> Result<&Self, DemoError> {
        let expected = expected.into();
        let got = self.value.pointer(at);
        // A place that is missing is not one that holds null: a refusal has neither.
        if got == Some(&expected) {
            return Ok(self);
        }
        Err(DemoError::Unexpected {
            who: self.who,
            tool: self.tool.clone(),
            at: at.to_owned(),
            expected: expected.to_string(),
            // The whole answer where the place is not even there.
            got: got.unwrap_or(&self.value).to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use super::*;

    fn place<'a>(program: &'a str, arguments: &'a [&'a str], patience: Duration) -> Place<'a> {
        Place {
            program: Path::new(program),
            arguments,
            checkout: Path::new("/"),
            coordination: Path::new("/"),
            deadline: Instant::now() + patience,
        }
    }

    #[test]
    fn an_answer_that_is_not_as_it_has_to_be_is_named() {
        let value = json!({ "task": { "status": "claimed" } });
        let answer = Answer {
            who: "opencode",
            tool: "claim_task".to_owned(),
            value,
        };
        assert!(answer.expect("/task/status", "claimed").is_ok());
        let error = answer
            .expect("/task/status", "pending")
            .unwrap_err()
            .to_string();
        assert_eq!(
            error,
            "opencode: claim_task: expected /task/status to be \"pending\", got \"claimed\""
        );
        let error = answer.expect("/why", "new").unwrap_err().to_string();
        assert!(error.contains("got {\"task\""), "{error}");
    }

    #[test]
    fn what_is_missing_is_not_null() {
        let refusal = Answer::parse("opencode", "get_task".to_owned(), "busy: try again");
        let error = refusal.expect("/task", Value::Null).unwrap_err();
        assert_eq!(
            error.to_string(),
            "opencode: get_task: expected /task to be null, got \"busy: try again\""
        );
        let nothing = Answer::parse("opencode", "get_task".to_owned(), r#"{"task":null}"#);
        assert!(nothing.expect("/task", Value::Null).is_ok());
    }

    #[test]
    fn a_program_that_is_no_server_is_an_error() {
        let place = place("/bin/sh", &["-c", "exit"], Duration::from_mins(1));
        let error = Assistant::start("opencode", place).unwrap_err();
        assert_eq!(
            error.to_string(),
            "opencode: initialize was not answered (its server has ended)"
        );
    }

    #[test]
    fn a_server_that_never_answers_is_given_up() {
        let silent = ["-c", "while read -r line; do :; done"];
        let place = place("/bin/sh", &silent, Duration::from_millis(50));
        let error = Assistant::start("opencode", place).unwrap_err();
        assert_eq!(
            error.to_string(),
            "opencode: initialize was not answered (the time for the whole demonstration is over)"
        );
    }
}
