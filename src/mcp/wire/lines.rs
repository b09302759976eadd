//! Bytes into lines, none of them held beyond a limit.

use std::io::{self, BufRead, BufReader, Read};

use super::{in_flight::Id, scan::IdScanner};

/// What is read at once; a message up to this size costs one read.
const BUFFER: usize = 64 << 10;

/// One line, without its newline. The last one need not have had any.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Complete(&'a [u8]),
    /// It was over the limit and has been skipped. Its id, where that could be read.
    TooLong(Option<Id>),
}

/// A source of lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    limit: u64,
}

impl<R: Read> Lines<R> {
    /// Lines of up to `limit` bytes.
    pub(super) fn new(input: R, limit: u64) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER, input),
            line: Vec::new(),
            limit,
        }
    }

    /// `None` at the end of input.
    pub(super) fn next_line(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        self.line.shrink_to(BUFFER);
        let mut input = self.input.by_ref().take(self.limit.saturating_add(1));
        let read = input.read_until(b'\n', &mut self.line)?;
        if read == 0 {
            return Ok(None);
        }
        let is_terminated = self.line.pop_if(|last| *last == b'\n').is_some();
        if is_terminated || u64::try_from(read).is_ok_and(|read| read <= self.limit) {
            return Ok(Some(Line::Complete(&self.line)));
        }
        self.skip_rest().map(|id| Some(Line::TooLong(id)))
    }

    fn skip_rest(&mut self) -> io::Result<Option<Id>> {
        let mut scanner = IdScanner::default();
        scanner.feed(&self.line);
        loop {
            let buffered = match self.input.fill_buf() {
                Ok(buffered) => buffered,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let (rest, ended) = match buffered.iter().position(|byte| *byte == b'\n') {
                Some(newline) => (buffered.get(..newline).unwrap_or(buffered), true),
                None => (buffered, buffered.is_empty()),
            };
            scanner.feed(rest);
            let used = rest.len() + usize::from(ended && !buffered.is_empty());
            self.input.consume(used);
            if ended {
                return Ok(scanner.finish());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Gives its bytes out one at a time, as a slow pipe may.
    struct Trickle<'a>(&'a [u8]);

    impl Read for Trickle<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let (Some((first, rest)), Some(slot)) = (self.0.split_first(), buffer.first_mut())
            else {
                return Ok(0);
            };
            *slot = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    /// A complete line's text, or the id of one that was too long.
    #[derive(Debug, PartialEq, Eq)]
    enum Item {
        Text(String),
        TooLong(Option<Id>),
    }

    fn lines(input: &[u8], limit: u64) -> Vec<Item> {
        let collect = |input: &mut dyn Read| {
            let mut lines = Lines::new(input, limit);
            let mut all = Vec::new();
            while let Some(line) = lines.next_line().expect("memory can be read") {
                all.push(match line {
                    Line::Complete(line) => Item::Text(String::from_utf8_lossy(line).into_owned()),
                    Line::TooLong(id) => Item::TooLong(id),
                });
            }
            all
        };
        let at_once = collect(&mut &*input);
        assert_eq!(
            at_once,
            collect(&mut Trickle(input)),
            "the pieces input comes in make no difference"
        );
        at_once
    }

    fn text(line: &str) -> Item {
        Item::Text(line.to_owned())
    }

    #[test]
    fn the_last_line_needs_no_newline() {
        assert_eq!(lines(b"a\nb", 8), [text("a"), text("b")]);
        assert_eq!(lines(b"a\n\nb\n", 8), [text("a"), text(""), text("b")]);
        assert_eq!(lines(b"", 8), []);
    }

    #[test]
    fn the_limit_counts_the_line_without_its_newline() {
        assert_eq!(lines(b"12345678\nx\n", 8), [text("12345678"), text("x")]);
        assert_eq!(
            lines(b"123456789\nx\n", 8),
            [Item::TooLong(None), text("x")]
        );
        assert_eq!(lines(b"12345678", 8), [text("12345678")]);
        assert_eq!(lines(b"123456789", 8), [Item::TooLong(None)]);
    }

    #[test]
    fn a_line_over_the_limit_still_tells_its_id() {
        let id = |value| Item::TooLong(Id::parse(value));
        assert_eq!(
            lines(b"{\"a\":\"xxxxxxxxxxxx\",\"id\":4}\nnext", 8),
            [id(json!(4)), text("next")]
        );
        assert_eq!(
            lines(b"{\"id\":5,\"a\":\"xxxxxxxxxxxx\"}\nnext", 8),
            [id(json!(5)), text("next")]
        );
    }

    #[test]
    fn memory_of_a_long_line_is_given_back() {
        let mut input = vec![b'x'; 1 << 20];
        input.extend(b"\ny\n");
        let mut lines = Lines::new(&*input, 2 << 20);
        lines.next_line().expect("memory can be read");
        lines.next_line().expect("memory can be read");
        assert!(lines.line.capacity() <= BUFFER);
    }
}
