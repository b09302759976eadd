//! A whole conversation with the program: bytes in, in pieces, and everything that it wrote until it ended.
//!
//! The output is read strictly: a line that is no message of JSON-RPC is a failure, whoever it may be for.

use std::{
    fs::{self, File},
    io::{Read, Write},
    process::{Child, ExitStatus, Stdio},
    sync::mpsc::channel,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Map, Value, json};

use crate::{
    agent::Place,
    child::{PATIENCE, modern, request},
};

/// What the server wrote in one line.
#[derive(Debug)]
pub(super) enum Said {
    Answer {
        id: Value,
        outcome: Result<Value, i64>,
    },
    Notification,
}

impl Said {
    fn parse(line: &str) -> Option<Self> {
        let mut fields: Map<String, Value> = serde_json::from_str(line).ok()?;
        if fields.remove("jsonrpc")? != "2.0" {
            return None;
        }
        let said = match fields.remove("id") {
            Some(id) => Self::Answer {
                id,
                outcome: outcome(&mut fields)?,
            },
            None if fields.remove("method")? == "notifications/progress" => {
                fields.remove("params")?.is_object().then_some(())?;
                Self::Notification
            }
            None => return None,
        };
        fields.is_empty().then_some(said)
    }

    /// The result of the request of this id.
    pub(super) fn result_of(&self, asked: &Value) -> Option<&Value> {
        match self {
            Self::Answer {
                id,
                outcome: Ok(result),
            } if id == asked => Some(result),
            _ => None,
        }
    }
}

fn outcome(fields: &mut Map<String, Value>) -> Option<Result<Value, i64>> {
    let Some(error) = fields.remove("error") else {
        return fields
            .remove("result")
            .filter(Value::is_object)
            .map(Result::Ok);
    };
    error["message"].as_str()?;
    error["code"].as_i64().map(Err)
}

/// Says `pieces`, each in a write of its own, ends the input, and hears the server out.
///
/// The server has to end well, and soon enough.
pub(super) fn converse(place: &Place, pieces: &[&[u8]]) -> Vec<Said> {
    let output = raw(place, pieces);
    let text = String::from_utf8(output).expect("the output is text");
    assert!(
        text.is_empty() || text.ends_with('\n'),
        "the last line is whole: {text}"
    );
    let said =
        |line| Said::parse(line).unwrap_or_else(|| panic!("no message of JSON-RPC: {line:?}"));
    text.split_terminator('\n').map(said).collect()
}

/// Like [`converse`], to the letter.
pub(super) fn raw(place: &Place, pieces: &[&[u8]]) -> Vec<u8> {
    let errors = place.outside().join("stderr");
    let child = place
        .command()
        .as_std_mut()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(File::create(&errors).unwrap())
        .spawn()
        .unwrap();
    let mut child = Running(child);
    let mut input = child.0.stdin.take().unwrap();
    let mut output = child.0.stdout.take().unwrap();
    let (sender, heard) = channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = output.read_to_end(&mut bytes);
        // Nobody listens after a failure.
        let _ = sender.send(read.map(|_| bytes));
    });
    thread::scope(|scope| {
        scope.spawn(move || {
            for piece in pieces {
                input.write_all(piece).expect("the server reads to the end");
            }
        });
        let heard = heard.recv_timeout(PATIENCE);
        // Where it hangs, only this ends the writer, and with it the scope.
        let status = heard.is_ok().then(|| child.ended()).flatten();
        if status.is_none() {
            child.0.kill().expect("it is our child");
        }
        let complaints = fs::read_to_string(&errors).unwrap_or_default();
        assert_eq!(
            status.and_then(|status| status.code()),
            Some(0),
            "how it ended: {complaints}"
        );
        assert!(!complaints.contains("panicked"), "{complaints}");
        heard.expect("it has ended").expect("a pipe can be read")
    })
}

/// Says `bytes` to a server whose output nobody can read, and leaves its input open. How it ended.
pub(super) fn said_to_nobody(place: &Place, bytes: &[u8]) -> Option<i32> {
    let child = place
        .command()
        .as_std_mut()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut child = Running(child);
    drop(child.0.stdout.take());
    let mut input = child.0.stdin.take().unwrap();
    // It may have ended before it read all of it.
    let _ = input.write_all(bytes);
    child.ended().expect("it ends").code()
}

/// Killed when dropped.
struct Running(Child);

impl Running {
    /// `None` if it does not end.
    fn ended(&mut self) -> Option<ExitStatus> {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if let Some(status) = self.0.try_wait().expect("it is our child") {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(1));
        }
        None
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended long ago.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A task as the list shows it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Stored {
    pub(super) title: String,
    pub(super) id: String,
}

/// All tasks of a place, as a server that comes later lists them.
pub(super) fn stored(place: &Place) -> Vec<Stored> {
    let arguments = json!({"status": "all", "limit": 200});
    let params = modern(json!({"name": "list_tasks", "arguments": arguments}));
    let line = request(&json!("all"), "tools/call", &params).to_string();
    let said = converse(place, &[line.as_bytes()]);
    let list = said
        .first()
        .and_then(|said| said.result_of(&json!("all")))
        .unwrap_or_else(|| panic!("no list: {said:?}"));
    let list = &list["structuredContent"];
    let tasks = list["tasks"].as_array().expect("a list");
    assert_eq!(
        list["total"].as_u64(),
        u64::try_from(tasks.len()).ok(),
        "one page: {list}"
    );
    let text = |value: &Value| value.as_str().expect("it is text").to_owned();
    let mut stored: Vec<_> = tasks
        .iter()
        .map(|task| Stored {
            title: text(&task["title"]),
            id: text(&task["id"]),
        })
        .collect();
    stored.sort();
    stored
}
