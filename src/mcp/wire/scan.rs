//! Finding the id of a message that cannot be parsed: one too long to hold, or nested too deeply.
//!
//! The id may stand at either end of the line (the TypeScript SDK writes it last), so the whole
//! line is walked, with the little state that telling its outermost keys from their values takes.
//! Lines that aren't JSON give no id or a wrong one; do not ask for those.

use serde_json::Value;

use super::in_flight::Id;

/// The longest outermost key or scalar that is kept, in bytes.
const LONGEST_TOKEN: usize = 4096;

/// Walks a line, in as many pieces as it comes in.
#[derive(Debug, Default)]
pub(super) struct IdScanner {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The current key or scalar of the outermost object, as written.
    token: Vec<u8>,
    /// The value being read is that of the key `id`.
    at_id: bool,
    found: Option<Id>,
}

impl IdScanner {
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string {
                self.string_byte(byte);
            } else {
                self.structural_byte(byte);
            }
        }
    }

    /// The id, if there was one that could be read.
    pub(super) fn finish(self) -> Option<Id> {
        self.found
    }

    fn string_byte(&mut self, byte: u8) {
        self.keep(byte);
        if self.escaped {
            self.escaped = false;
        } else if byte == b'\\' {
            self.escaped = true;
        } else if byte == b'"' {
            self.in_string = false;
        }
    }

    fn structural_byte(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.end_value();
                self.depth = self.depth.saturating_sub(1);
            }
            b',' => self.end_value(),
            b':' if self.depth == 1 => {
                self.at_id = self.token == br#""id""#;
                self.token.clear();
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            _ => {
                self.in_string = byte == b'"';
                self.keep(byte);
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() < LONGEST_TOKEN {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.at_id {
            self.found = serde_json::from_slice::<Value>(&self.token)
                .ok()
                .and_then(Id::parse);
        }
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn scan(line: &str) -> Option<Value> {
        let mut scanner = IdScanner::default();
        scanner.feed(line.as_bytes());
        scanner.finish().map(|id| json!(id))
    }

    #[test]
    fn finds_the_id_wherever_it_stands() {
        for (line, id) in [
            (r#"{"id":7,"method":"m"}"#, json!(7)),
            (
                r#"{"method":"m","params":{"id":1,"a":[{"id":2}]},"jsonrpc":"2.0","id":"seven"}"#,
                json!("seven"),
            ),
            (r#" { "a" : "\"id\":1" , "id" : -3 } "#, json!(-3)),
            (r#"{"a":"}{][","id":18446744073709551615}"#, json!(u64::MAX)),
            (r#"{"a":"\\","id":"x\"y"}"#, json!("x\"y")),
            (r#"{"id":"cut", "params": {"a": "#, json!("cut")),
            // The last one counts, as it does to parsers.
            (r#"{"id":1,"id":2}"#, json!(2)),
        ] {
            assert_eq!(scan(line), Some(id), "{line}");
        }
    }

    #[test]
    fn reports_no_id_where_there_is_none() {
        for line in [
            r#"{"method":"m","params":{"id":1}}"#,
            r#"{"id":null}"#,
            r#"{"id":{"a":1}}"#,
            r#"{"id":[1]}"#,
            r#"[{"id":1}]"#,
            r#"{"a":"id","b":1}"#,
            r#"{"id":1"#,
            r#"{"id":1,"id":null}"#,
            "",
            "}}}]",
        ] {
            assert_eq!(scan(line), None, "{line}");
        }
    }

    #[test]
    fn the_pieces_a_line_comes_in_make_no_difference() {
        let line = r#"{"params":{"t":"a\\\"b","id":0},"id":"seven"}"#;
        for cut in 0..line.len() {
            let mut scanner = IdScanner::default();
            scanner.feed(&line.as_bytes()[..cut]);
            scanner.feed(&line.as_bytes()[cut..]);
            assert_eq!(scanner.finish(), Id::parse(json!("seven")), "cut at {cut}");
        }
    }

    #[test]
    fn keeps_little_of_a_long_line() {
        let mut scanner = IdScanner::default();
        scanner.feed(br#"{"a":""#);
        scanner.feed(&vec![b'x'; 1 << 20]);
        assert!(scanner.token.len() <= LONGEST_TOKEN);
        scanner.feed(br#"","id":5}"#);
        assert_eq!(scanner.finish(), Id::parse(json!(5)));
    }
}
