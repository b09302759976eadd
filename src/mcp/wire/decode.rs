//! One line into one message, or into the reason why it is none.
//!
//! Clients are taken as they are: a byte order mark, carriage returns, invalid UTF-8 and unpaired
//! surrogates (JavaScript writes them when it cuts a string) don't cost them their call. What can't
//! be understood is answered with the id wherever one can be read, so that nobody waits for a
//! time-out; notifications are never answered.

use std::borrow::Cow;

use rmcp::{
    ErrorData,
    model::{ClientNotification, ClientRequest},
};
use serde::{Deserialize, Deserializer, de::IgnoredAny};
use serde_json::{Map, Value};

use super::{
    super::text::{abbreviated, thousands},
    in_flight::Id,
    scan::IdScanner,
};

/// The notification that takes a request back.
const CANCELLED: &str = "notifications/cancelled";

/// What a line means.
#[derive(Debug)]
pub(super) enum Decoded {
    Request {
        id: Id,
        request: Box<ClientRequest>,
    },
    /// The request of this id is no longer wanted.
    Cancelled(Id),
    Notification(ClientNotification),
    /// No message: the answer to give.
    Rejected {
        id: Option<Id>,
        error: ErrorData,
    },
}

impl Decoded {
    pub(super) fn too_long(id: Option<Id>, limit: u64) -> Self {
        Self::invalid_request(
            id,
            &format!("a message may have at most {} bytes", thousands(limit)),
        )
    }

    fn invalid_request(id: Option<Id>, reason: &str) -> Self {
        let error =
            ErrorData::invalid_request(format!("not a valid JSON-RPC 2.0 request: {reason}"), None);
        Self::Rejected { id, error }
    }
}

/// `None` for what needs no answer: blank lines, unknown and malformed notifications, answers to
/// questions this server never asks.
pub(super) fn decode(line: &[u8]) -> Option<Decoded> {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return None;
    }
    match Envelope::parse(text) {
        Ok(envelope) => envelope.decode(),
        Err(reason) => Some(reject(text, &reason)),
    }
}

/// A message of any kind, before it is known which.
#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Envelope {
    jsonrpc: Option<Value>,
    /// Null is not absent here: with an `id` of null it is no notification, but wrong.
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    method: Option<String>,
    params: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    result: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "present")]
    error: Option<IgnoredAny>,
}

impl Envelope {
    fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with('[') {
            return Err("batches are not supported, send one message per line".to_owned());
        }
        serde_json::from_str(text)
            .or_else(|error| match pair_surrogates(text) {
                Cow::Owned(paired) => serde_json::from_str(&paired),
                Cow::Borrowed(_) => Err(error),
            })
            .map_err(|error| abbreviated(&error.to_string(), 200).into_owned())
    }

    fn decode(self) -> Option<Decoded> {
        let is_request = self.id.is_some();
        let id = self.id.and_then(Id::parse);
        let Some(method) = self.method else {
            let is_answer = self.result.is_some() || self.error.is_some();
            return (!is_answer).then(|| Decoded::invalid_request(id, "it has no method"));
        };
        let versioned = self.jsonrpc.as_ref().and_then(Value::as_str) == Some("2.0");
        match (is_request, id) {
            (false, _) if versioned => notification(method, self.params),
            (false, _) => None,
            (true, None) => Some(Decoded::invalid_request(
                None,
                "its id is neither a string nor a number",
            )),
            (true, id) if !versioned => {
                Some(Decoded::invalid_request(id, r#"it lacks "jsonrpc": "2.0""#))
            }
            (true, Some(id)) => Some(request(id, method, self.params)),
        }
    }
}

fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

fn request(id: Id, method: String, params: Option<Value>) -> Decoded {
    // Params that don't fit a known method still make a request: the handler says what is wrong
    // with them.
    match ClientRequest::deserialize(message(method, params)) {
        Ok(request) => Decoded::Request {
            id,
            request: Box::new(request),
        },
        Err(_) => Decoded::Rejected {
            id: Some(id),
            error: ErrorData::invalid_params(
                "params, and _meta in them, must be objects where given",
                None,
            ),
        },
    }
}

fn notification(method: String, params: Option<Value>) -> Option<Decoded> {
    if method == CANCELLED {
        return params?
            .get("requestId")
            .cloned()
            .and_then(Id::parse)
            .map(Decoded::Cancelled);
    }
    ClientNotification::deserialize(message(method, params))
        .ok()
        .map(Decoded::Notification)
}

fn message(method: String, params: Option<Value>) -> Value {
    let mut message = Map::new();
    message.insert("method".to_owned(), Value::String(method));
    message.extend(params.map(|params| ("params".to_owned(), params)));
    Value::Object(message)
}

fn reject(text: &str, reason: &str) -> Decoded {
    // This parser neither builds values nor recurses, so that only what is no JSON at all fails it.
    if serde_json::from_str::<IgnoredAny>(text).is_err() {
        return Decoded::Rejected {
            id: None,
            error: ErrorData::parse_error(format!("invalid JSON: {reason}"), None),
        };
    }
    let mut scanner = IdScanner::default();
    scanner.feed(text.as_bytes());
    Decoded::invalid_request(scanner.finish(), reason)
}

/// Replaces escapes of surrogates without their other half, which are no Unicode text, by that of
/// U+FFFD.
fn pair_surrogates(text: &str) -> Cow<'_, str> {
    let mut paired = String::new();
    let mut rest = text;
    while let Some((before, escape)) = rest.find('\\').map(|at| rest.split_at(at)) {
        paired.push_str(before);
        let (written, length) = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => (escape.get(..12), 12),
            (Some(0xD800..=0xDFFF), _) => (Some("\\ufffd"), 6),
            // Two bytes, so that the backslash of `\\` starts no escape of its own.
            _ => (escape.get(..2), 2),
        };
        paired.push_str(written.unwrap_or(escape));
        rest = escape.get(length..).unwrap_or_default();
    }
    if paired.is_empty() {
        return Cow::Borrowed(text);
    }
    paired.push_str(rest);
    if paired == text {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(paired)
    }
}

/// The UTF-16 unit that `text` starts with as an escape, `\ud83d` for instance.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests;
