//! Conversations step by step, and the bytes that they are on the wire.

use std::collections::BTreeSet;

use proptest::sample::Index;
use serde_json::{Value, json};

use super::{
    initialize,
    oracle::{LONE_SURROGATE, deep},
};
use crate::child::{modern, request};

/// A line that is as it should be, but for its surroundings.
#[derive(Debug, Clone)]
pub(super) enum Message {
    Initialize(&'static str),
    Create,
    CreateCutText,
    Call(&'static str, Value),
    Method(&'static str, Value),
    Deep,
    Notification(&'static str, Value),
    Cancel(Index),
    CancelUnknown,
}

#[derive(Debug, Clone)]
pub(super) enum Mutation {
    Flip(Index, u8),
    Cut(Index),
    Remove(Index, usize),
    Insert(Index, Vec<u8>),
    /// The beginning of the line, then the end of the one before.
    Splice(Index, Index),
    RepeatKey(&'static str),
}

#[derive(Debug, Clone)]
pub(super) struct Written {
    pub(super) message: Message,
    pub(super) id: IdKind,
    pub(super) is_modern: bool,
    pub(super) mutation: Option<Mutation>,
    pub(super) before: &'static str,
    pub(super) after: &'static str,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Written(Box<Written>),
    Garbage(Vec<u8>),
    Blank(&'static str),
}

/// Ids of which each is used once, and some that are used again and again.
#[derive(Debug, Clone)]
pub(super) enum IdKind {
    Number,
    Negative,
    Fraction,
    Huge,
    Text,
    Digits,
    Strange,
    Long,
    Shared(Value),
}

impl IdKind {
    fn write(&self, number: u32) -> Value {
        match self {
            Self::Number => json!(number + 100),
            Self::Negative => json!(-i64::from(number) - 1),
            Self::Fraction => json!(f64::from(number) + 0.5),
            Self::Huge => json!(u64::MAX - u64::from(number)),
            Self::Text => json!(format!("request {number}")),
            Self::Digits => json!((number + 100).to_string()),
            Self::Strange => json!(format!("\"\\\u{0}\n\u{2028}é\u{1F600}{number}")),
            Self::Long => json!(format!("{number}{}", "x".repeat(3000))),
            Self::Shared(id) => id.clone(),
        }
    }
}

/// Steps as bytes, and what has to be known of them later.
#[derive(Debug, Default)]
pub(super) struct Script {
    pub(super) bytes: Vec<u8>,
    /// The line before, without what surrounds it.
    previous: Vec<u8>,
    ids: Vec<Value>,
    number: u32,
}

impl Script {
    pub(super) fn write(steps: &[Step], ends_with_newline: bool) -> Self {
        let mut script = Self::default();
        for step in steps {
            match step {
                Step::Written(written) => script.written(written),
                Step::Garbage(bytes) => {
                    script.bytes.extend(bytes);
                    script.bytes.push(b'\n');
                }
                Step::Blank(line) => script.bytes.extend(format!("{line}\n").bytes()),
            }
        }
        let last = request(&json!("the last"), "ping", &json!({}));
        script.bytes.extend(last.to_string().bytes());
        if ends_with_newline {
            script.bytes.push(b'\n');
        }
        script
    }

    fn written(&mut self, written: &Written) {
        self.number += 1;
        let id = written.id.write(self.number);
        let line = self.message(written, &id).into_bytes();
        let mutated = match &written.mutation {
            Some(mutation) => mutate(line.clone(), mutation, &self.previous),
            None => line.clone(),
        };
        self.ids.push(id);
        self.previous = line;
        self.bytes.extend(written.before.bytes());
        self.bytes.extend(mutated);
        self.bytes.extend(written.after.bytes());
    }

    fn message(&mut self, written: &Written, id: &Value) -> String {
        let ask = |method: &str, params: Value| {
            let params = if written.is_modern && params.is_object() {
                modern(params)
            } else {
                params
            };
            request(id, method, &params).to_string()
        };
        let notify = |method: &str, params: Value| {
            json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
        };
        match &written.message {
            Message::Initialize(version) => initialize(id, version).to_string(),
            Message::Create | Message::CreateCutText => {
                let title = format!("task of line {}", self.number);
                let description = if matches!(written.message, Message::Create) {
                    "d"
                } else {
                    "CUT"
                };
                let arguments = json!({"title": title, "description": description});
                ask(
                    "tools/call",
                    json!({"name": "create_task", "arguments": arguments}),
                )
                .replace("CUT", LONE_SURROGATE)
            }
            Message::Call(tool, arguments) => {
                ask("tools/call", json!({"name": tool, "arguments": arguments}))
            }
            Message::Method(method, params) => ask(method, params.clone()),
            Message::Deep => ask("ping", json!({"deep": "DEEP"})).replace("\"DEEP\"", &deep()),
            Message::Notification(method, params) => notify(method, params.clone()),
            Message::Cancel(_) if self.ids.is_empty() => {
                notify("notifications/cancelled", json!({"requestId": 77}))
            }
            Message::Cancel(which) => notify(
                "notifications/cancelled",
                json!({"requestId": which.get(&self.ids)}),
            ),
            Message::CancelUnknown => {
                notify("notifications/cancelled", json!({"requestId": "nobody"}))
            }
        }
    }

    /// The script in pieces that end anywhere.
    pub(super) fn pieces(&self, cuts: &[Index]) -> Vec<&[u8]> {
        let cuts: BTreeSet<_> = cuts.iter().map(|cut| cut.index(self.bytes.len())).collect();
        let ends = cuts.iter().copied().chain([self.bytes.len()]);
        let mut start = 0;
        ends.map(|end| &self.bytes[std::mem::replace(&mut start, end)..end])
            .collect()
    }
}

fn mutate(mut line: Vec<u8>, mutation: &Mutation, previous: &[u8]) -> Vec<u8> {
    match mutation {
        Mutation::Flip(at, bits) => {
            let at = at.index(line.len());
            line[at] ^= bits;
        }
        Mutation::Cut(at) => line.truncate(at.index(line.len())),
        Mutation::Remove(at, length) => {
            let at = at.index(line.len());
            let end = line.len().min(at + length);
            line.drain(at..end);
        }
        Mutation::Insert(at, bytes) => {
            let at = at.index(line.len());
            line.splice(at..at, bytes.iter().copied());
        }
        Mutation::Splice(here, there) => {
            line.truncate(here.index(line.len()));
            line.extend(previous.iter().skip(there.index(previous.len().max(1))));
        }
        Mutation::RepeatKey(key) => {
            line.splice(1..1, key.bytes());
        }
    }
    line
}
