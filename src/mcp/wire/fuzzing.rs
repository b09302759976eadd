//! What has to hold of the client's side of a conversation, whatever bytes it is: the target in `fuzz/`.
//!
//! Lines are the same in whatever pieces they come, decoding one does not panic, a message means the same when it is
//! written as it was understood, and the id that is found in a line which was not understood is the one that is there.

use std::io::{BufRead, BufReader, Read};

use serde_json::{Value, json};

use super::{
    decode::{Decoded, decode},
    in_flight::Id,
    lines::{Line, Lines},
    scan::IdScanner,
};

/// Short, so that lines above it are found.
const LONGEST_LINE: u64 = 512;

/// Reads a conversation.
///
/// # Panics
///
/// Where something of the above does not hold.
pub fn conversation(bytes: &[u8]) {
    let whole = lines(bytes);
    assert!(
        whole == split(bytes),
        "lines end at newlines, and long ones are told by their ids"
    );
    // A reader of little room gives out little at a time.
    assert!(
        whole == lines(Pieces(BufReader::with_capacity(7, bytes))),
        "the pieces in which lines come make no difference"
    );
    for line in whole.iter().flatten() {
        understood(line);
        identified(line);
    }
}

/// The lines, where all of them are at hand.
fn split(bytes: &[u8]) -> Vec<Result<Vec<u8>, Option<Id>>> {
    let ended = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if bytes.is_empty() {
        return Vec::new();
    }
    let lines = ended.split(|byte| *byte == b'\n').map(|line| {
        if u64::try_from(line.len()).is_ok_and(|it| it <= LONGEST_LINE) {
            Ok(line.to_owned())
        } else {
            let mut scanner = IdScanner::default();
            scanner.feed(line);
            Err(scanner.finish())
        }
    });
    lines.collect()
}

/// The lines, and the ids of those that are too long, as they are read.
fn lines(input: impl Read) -> Vec<Result<Vec<u8>, Option<Id>>> {
    let mut lines = Lines::new(input, LONGEST_LINE);
    let mut all = Vec::new();
    while let Some(line) = lines.next_line().expect("memory can be read") {
        all.push(match line {
            Line::Complete(line) => Ok(line.to_owned()),
            Line::TooLong(id) => Err(id),
        });
    }
    all
}

/// Gives out what its buffer holds, and no more at once.
struct Pieces<'a>(BufReader<&'a [u8]>);

impl Read for Pieces<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let mut piece = self.0.fill_buf()?;
        let read = piece.read(into)?;
        self.0.consume(read);
        Ok(read)
    }
}

/// A message, written as it was understood, means the same again.
fn understood(line: &[u8]) {
    let Some(message) = decode(line).and_then(written) else {
        return;
    };
    let again = decode(message.to_string().as_bytes()).and_then(written);
    assert_eq!(again.as_ref(), Some(&message));
}

/// None: it was answered or ignored.
fn written(decoded: Decoded) -> Option<Value> {
    let (id, message) = match decoded {
        Decoded::Request { id, request } => (Some(json!(id)), json!(request)),
        Decoded::Notification(notification) => (None, json!(notification)),
        Decoded::Cancelled(id) => (
            None,
            json!({ "method": "notifications/cancelled", "params": { "requestId": id } }),
        ),
        Decoded::Rejected { .. } => return None,
    };
    let mut whole = json!({ "jsonrpc": "2.0" });
    let fields = whole.as_object_mut()?;
    fields.extend(id.map(|id| ("id".to_owned(), id)));
    fields.extend(message.as_object().cloned().into_iter().flatten());
    Some(whole)
}

/// The scanner finds what a parser finds. It does not look behind escapes.
fn identified(line: &[u8]) {
    let Ok(Value::Object(fields)) = serde_json::from_slice(line) else {
        return;
    };
    if line.contains(&b'\\') {
        return;
    }
    let mut scanner = IdScanner::default();
    scanner.feed(line);
    assert_eq!(
        scanner.finish(),
        fields.get("id").cloned().and_then(Id::parse)
    );
}

#[cfg(test)]
mod tests;
