//! What has to come of a conversation, whatever bytes it is, told from the bytes alone.
//!
//! Every line is read a second time here, by rules written down apart from the program's, and the answers are held
//! against that: which are due, which may come, which may not, and in what order.

use std::{collections::BTreeMap, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Value, json};

use super::session::Said;

/// Half of a pair, with a space behind it so that no other half can follow.
pub(super) const LONE_SURROGATE: &str = r"\ud83d ";

/// What is read in place of [`deep`].
const BOTTOM: &str = r#"["bottom"]"#;

/// More levels than a parser that recurses takes.
pub(super) fn deep() -> String {
    format!("{}{}", "[".repeat(200), "]".repeat(200))
}

/// What one line asks for.
#[derive(Debug)]
enum Meaning {
    /// No answer at all.
    Silent,
    Request(Request),
    /// An error, at once.
    Refused {
        id: Value,
        code: i64,
    },
    /// No answer to earlier requests of this id, unless they have been answered.
    Cancels(Value),
    /// JSON that this file cannot read. It may mean anything.
    Unclear,
}

#[derive(Debug)]
struct Request {
    id: Value,
    method: String,
    params: Value,
}

impl Request {
    fn is_modern(&self) -> bool {
        self.params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    }
}

/// The outermost object, with keys that are there twice.
struct Fields(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Fields;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut all = Vec::new();
                while let Some(field) = map.next_entry()? {
                    all.push(field);
                }
                Ok(Fields(all))
            }
        }
        deserializer.deserialize_map(All)
    }
}

impl Fields {
    fn last(&self, key: &str) -> Option<&Value> {
        let mut fields = self.0.iter().rev();
        fields.find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Whether a key of a message is there twice.
    fn is_ambiguous(&self) -> bool {
        let known = ["jsonrpc", "id", "method", "params", "result", "error"];
        let times = |key| self.0.iter().filter(|(name, _)| name == key).count();
        known.into_iter().any(|key| times(key) > 1)
    }

    /// Whether something that has to be read is nested too deeply for that.
    fn is_deep(&self) -> bool {
        let mut read = ["jsonrpc", "id", "method", "params"].into_iter();
        read.any(|key| {
            self.last(key)
                .is_some_and(|value| value.to_string().contains(BOTTOM))
        })
    }

    fn meaning(&self) -> Meaning {
        let id = self.last("id");
        let legal = id.filter(|id| id.is_string() || id.is_number()).cloned();
        let refused = || Meaning::Refused {
            id: legal.clone().unwrap_or_default(),
            code: -32600,
        };
        if self.is_ambiguous() || self.is_deep() {
            return refused();
        }
        let method = match self.last("method") {
            Some(Value::String(method)) => method.clone(),
            None | Some(Value::Null) if self.last("result").or(self.last("error")).is_some() => {
                return Meaning::Silent;
            }
            _ => return refused(),
        };
        let versioned = self.last("jsonrpc") == Some(&json!("2.0"));
        let params = self.last("params").cloned().unwrap_or_default();
        match (id, &legal) {
            (None, _) if versioned && method == "notifications/cancelled" => {
                Meaning::Cancels(params["requestId"].clone())
            }
            (None, _) => Meaning::Silent,
            (Some(_), Some(id)) if versioned => Meaning::Request(Request {
                id: id.clone(),
                method,
                params,
            }),
            _ => refused(),
        }
    }
}

fn meaning(line: &[u8]) -> Meaning {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Meaning::Silent;
    }
    let none = |code| Meaning::Refused {
        id: Value::Null,
        code,
    };
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return none(-32700);
    }
    if !text.starts_with('{') {
        return none(-32600);
    }
    let readable = text
        .replace(&deep(), BOTTOM)
        .replace(LONE_SURROGATE, r"\ufffd ");
    let fields = serde_json::from_str::<Fields>(&readable);
    fields.map_or(Meaning::Unclear, |fields| fields.meaning())
}

/// The requests of one id, and what was said to them.
#[derive(Debug, Default)]
struct Thread {
    /// Where they stand, by line.
    lines: Vec<usize>,
    /// Where the first of their cancellations stands.
    cancelled: Option<usize>,
    /// How many of them may go without an answer.
    spared: usize,
    /// The last of them that was not refused.
    request: Option<Request>,
    /// The errors due to those that were.
    codes: Vec<i64>,
    /// Where their answers stand, by line.
    answers: Vec<(usize, Result<Value, i64>)>,
}

/// The whole conversation.
#[derive(Debug, Default)]
pub(super) struct Oracle {
    threads: BTreeMap<String, Thread>,
    unclear: usize,
    initialize: Vec<String>,
    creations: Vec<Creation>,
}

/// A call that makes a task.
#[derive(Debug)]
pub(super) struct Creation {
    id: String,
    pub(super) title: String,
}

impl Oracle {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut oracle = Self::default();
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            oracle.line(number, meaning(line));
        }
        oracle
    }

    fn line(&mut self, number: usize, meaning: Meaning) {
        match meaning {
            Meaning::Silent => {}
            Meaning::Request(request) => {
                let key = request.id.to_string();
                if request.method == "initialize" {
                    self.initialize.push(key.clone());
                }
                self.creations.extend(request.creation());
                let thread = self.threads.entry(key).or_default();
                thread.lines.push(number);
                thread.request = Some(request);
            }
            Meaning::Refused { id, code } => {
                let thread = self.threads.entry(id.to_string()).or_default();
                thread.lines.push(number);
                thread.codes.push(code);
            }
            Meaning::Cancels(id) => {
                if let Some(thread) = self.threads.get_mut(&id.to_string()) {
                    thread.cancel(number);
                }
            }
            Meaning::Unclear => {
                self.unclear += 1;
                for thread in self.threads.values_mut() {
                    thread.spare();
                }
            }
        }
    }

    /// Whether a call may have been done without an answer.
    pub(super) fn is_cancelled(&self, creation: &Creation) -> bool {
        self.threads[&creation.id].spared > 0
    }

    pub(super) fn creations(&self) -> &[Creation] {
        &self.creations
    }

    /// Whether all of the lines could be read.
    pub(super) fn is_certain(&self) -> bool {
        self.unclear == 0
    }

    /// Holds what was said against what had to be.
    pub(super) fn judge(mut self, said: &[Said]) {
        let mut strange = 0;
        for (position, said) in said.iter().enumerate() {
            let thread = match said {
                Said::Answer { id, .. } => self.threads.get_mut(&id.to_string()),
                // Nobody asks for progress here.
                Said::Notification => None,
            };
            match (thread, said) {
                (Some(thread), Said::Answer { outcome, .. }) => {
                    thread.answers.push((position, outcome.clone()));
                }
                _ => strange += 1,
            }
        }
        for (id, thread) in &self.threads {
            let (due, answers) = (thread.lines.len(), thread.answers.len());
            assert!(
                due - thread.spared <= answers,
                "{id}: {answers} answers for {due}"
            );
            strange += answers.saturating_sub(due);
            thread.judge(id);
        }
        assert!(
            strange <= self.unclear,
            "{strange} messages that nobody asked for: {said:?}"
        );
        self.judge_cancellations();
        self.judge_handshakes();
    }

    /// An answer to what was sent after a cancellation shows that the cancellation has been heard.
    fn judge_cancellations(&self) {
        let single = || self.threads.iter().filter(|(_, it)| it.lines.len() == 1);
        for (id, thread) in single() {
            let (Some(cancelled), Some((answered, _))) = (thread.cancelled, thread.answers.first())
            else {
                continue;
            };
            let later = single().filter(|(_, it)| it.lines[0] > cancelled);
            let heard = later
                .filter_map(|(_, it)| Some(it.answers.first()?.0))
                .min();
            assert!(
                heard.is_none_or(|heard| *answered < heard),
                "{id} was answered after its cancellation had been heard"
            );
        }
    }

    /// What comes after an `initialize` that was accepted is not asked for a version.
    fn judge_handshakes(&self) {
        let accepted = self.initialize.iter().filter_map(|id| {
            let thread = &self.threads[id];
            let accepted = thread.lines.len() == 1 && thread.answers.first()?.1.is_ok();
            accepted.then_some(thread.lines[0])
        });
        let Some(accepted) = accepted.min() else {
            return;
        };
        for (id, thread) in &self.threads {
            let (Some(request), [line]) = (&thread.request, &thread.lines[..]) else {
                continue;
            };
            if *line > accepted && request.method == "tools/list" && request.params == json!({}) {
                assert!(
                    thread.answers.iter().all(|(_, outcome)| outcome.is_ok()),
                    "{id} came after the handshake: {thread:?}"
                );
            }
        }
    }
}

impl Thread {
    fn cancel(&mut self, line: usize) {
        self.cancelled.get_or_insert(line);
        self.spare();
    }

    /// Refusals are not in flight: they have been answered.
    fn spare(&mut self) {
        self.spared = self.lines.len() - self.codes.len();
    }

    fn judge(&self, id: &str) {
        if self.lines.len() == self.codes.len() {
            let answers = self
                .answers
                .iter()
                .map(|(_, outcome)| outcome.as_ref().err());
            assert!(
                answers.eq(self.codes.iter().map(Some)),
                "{id}: the errors due are {:?}: {:?}",
                self.codes,
                self.answers
            );
        } else if let (Some(request), [(_, outcome)], [_]) =
            (&self.request, &self.answers[..], &self.lines[..])
        {
            request.judge(outcome);
        }
    }
}

impl Request {
    fn creation(&self) -> Option<Creation> {
        let is_call = self.method == "tools/call" && self.params["name"] == "create_task";
        let title = self.params["arguments"]["title"].as_str()?.to_owned();
        let id = self.id.to_string();
        is_call.then_some(Creation { id, title })
    }

    fn judge(&self, outcome: &Result<Value, i64>) {
        let what = || format!("{self:?} was answered with {outcome:?}");
        let known = [
            "initialize",
            "ping",
            "tools/list",
            "tools/call",
            "server/discover",
        ];
        match outcome {
            Ok(result) if self.method.starts_with("tools/") => {
                let modern = result.get("resultType").is_some();
                assert_eq!(modern, self.is_modern(), "{}", what());
            }
            Ok(_) => assert!(known.contains(&&*self.method), "{}", what()),
            Err(code) => assert!([-32601, -32602, -32022].contains(code), "{}", what()),
        }
        if !(self.params.is_object() || self.params.is_null()) {
            assert_eq!(outcome.as_ref().err(), Some(&-32602), "{}", what());
        } else if !known.contains(&&*self.method) && self.params.get("_meta").is_none() {
            assert!(outcome.is_err(), "{}", what());
        } else if self.method == "ping" && self.params.get("_meta").is_none() {
            assert_eq!(outcome.as_ref().ok(), Some(&json!({})), "{}", what());
        }
    }
}
