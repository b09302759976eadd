//! The small part of regular expressions that every client understands alike, and so the only one
//! schemas here use: anchored at both ends, a sequence of characters and classes, each with an
//! optional count.
//!
//! # Limitations
//!
//! No groups, alternatives, escapes or negated classes. A pattern with one of them doesn't parse.

use std::{iter::Peekable, str::Chars};

/// A parsed pattern, `^task-[0-9]{4,}$` for instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) struct Pattern(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    /// Inclusive ranges of characters.
    class: Vec<(char, char)>,
    least: usize,
    most: usize,
}

impl Pattern {
    /// `None` if it is outside of the supported part.
    pub(in super::super) fn parse(pattern: &str) -> Option<Self> {
        let mut rest = pattern
            .strip_prefix('^')?
            .strip_suffix('$')?
            .chars()
            .peekable();
        let mut parts = Vec::new();
        while let Some(letter) = rest.next() {
            let class = match letter {
                '[' => class(&mut rest)?,
                '\\' | '(' | ')' | '|' | '.' | '^' | '$' | '*' | '+' | '?' | '{' | '}' | ']' => {
                    return None;
                }
                letter => vec![(letter, letter)],
            };
            let (least, most) = count(&mut rest)?;
            parts.push(Part { class, least, most });
        }
        Some(Self(parts))
    }

    /// Whether the whole of `text` fits.
    pub(in super::super) fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        // All the places where the parts so far may have ended.
        let mut ends = vec![0];
        for part in &self.0 {
            let mut next: Vec<usize> = ends
                .iter()
                .flat_map(|start| part.ends(&text, *start))
                .collect();
            next.sort_unstable();
            next.dedup();
            ends = next;
        }
        ends.contains(&text.len())
    }
}

impl Part {
    fn ends(&self, text: &[char], start: usize) -> impl Iterator<Item = usize> {
        let fits = |letter: &&char| {
            self.class
                .iter()
                .any(|(first, last)| (first..=last).contains(letter))
        };
        let run = text.iter().skip(start).take_while(fits).count();
        (self.least..=run.min(self.most)).map(move |length| start + length)
    }
}

/// The rest of a class, after its `[`.
fn class(rest: &mut Peekable<Chars<'_>>) -> Option<Vec<(char, char)>> {
    let mut ranges = Vec::new();
    loop {
        match rest.next()? {
            ']' if !ranges.is_empty() => return Some(ranges),
            ']' | '\\' | '[' => return None,
            '^' if ranges.is_empty() => return None,
            first => {
                let mut ahead = rest.clone();
                let last = match (ahead.next(), ahead.next()) {
                    (Some('-'), Some(last)) if last != ']' => {
                        *rest = ahead;
                        last
                    }
                    _ => first,
                };
                (first <= last).then(|| ranges.push((first, last)))?;
            }
        }
    }
}

/// How often a part may occur: once if nothing is said.
fn count(rest: &mut Peekable<Chars<'_>>) -> Option<(usize, usize)> {
    let simple = match rest.peek() {
        Some('*') => (0, usize::MAX),
        Some('+') => (1, usize::MAX),
        Some('?') => (0, 1),
        Some('{') => {
            let braces: String = rest
                .by_ref()
                .skip(1)
                .take_while(|letter| *letter != '}')
                .collect();
            let (least, most) = braces.split_once(',').unwrap_or((&braces, &braces));
            let most = if most.is_empty() {
                usize::MAX
            } else {
                most.parse().ok()?
            };
            return Some((least.parse().ok()?, most));
        }
        _ => return Some((1, 1)),
    };
    rest.next();
    Some(simple)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_as_regular_expressions_do() {
        for (pattern, fits, fails) in [
            (
                "^task-[0-9]{4,}$",
                &["task-0001", "task-123456"][..],
                &["task-001", "task-0001x", "xtask-0001", "", "task-"][..],
            ),
            (
                "^[A-Za-z0-9._@#-]{1,4}$",
                &["a", "@-#", "A._9"],
                &["", "abcde", "a b"],
            ),
            ("^a*ab?$", &["a", "aaa", "ab", "aaab"], &["", "b", "abb"]),
            ("^x+y{2}$", &["xyy", "xxyy"], &["yy", "xy", "xyyy"]),
            ("^$", &[""], &["a"]),
            ("^[-a]$", &["-", "a"], &["b"]),
            ("^ä{1,2}$", &["ä", "ää"], &["", "äää"]),
        ] {
            let pattern =
                Pattern::parse(pattern).unwrap_or_else(|| panic!("{pattern} is supported"));
            for text in fits {
                assert!(pattern.matches(text), "{pattern:?} {text}");
            }
            for text in fails {
                assert!(!pattern.matches(text), "{pattern:?} {text}");
            }
        }
    }

    #[test]
    fn refuses_what_it_does_not_support() {
        for pattern in [
            "task", "^task", "task$", "^(a)$", "^a|b$", "^.$", "^\\d$", "^[^a]$", "^[]$", "^[a$",
            "^[\\d]$", "^a{x}$", "^a{1$x", "^*$", "^a**$", "^[z-a]$", "^a{,2}$",
        ] {
            assert_eq!(Pattern::parse(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn long_texts_take_no_longer_than_they_are() {
        let pattern = Pattern::parse("^[a-z]*[a-z]*[a-z]*x$").expect("supported");
        assert!(!pattern.matches(&"a".repeat(2000)));
    }
}
