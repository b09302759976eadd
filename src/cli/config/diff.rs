//! The lines in which two texts differ, for a person to read.
//!
//! Limits: lines that are the same are not shown, for another server's entry may hold a secret.

use std::fmt::Write as _;

use crate::store::one_line;

/// Above this many comparisons all lines between the first and the last difference are shown as changed.
const MOST: usize = 4_000_000;

/// Of a longer line, which may be a whole file, only the change is shown, and this much around it.
const LONG: usize = 200;
const AROUND: usize = 20;

/// The lines that go, after `-`, and those that come, after `+`.
pub(super) fn diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let same = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(same).count();
    let rest = old.len().min(new.len()) - head;
    let backwards = old.iter().rev().zip(new.iter().rev()).take(rest);
    let tail = backwards.take_while(same).count();
    let middle = |lines: &[&str]| -> Vec<String> {
        let lines = lines.iter().take(lines.len() - tail).skip(head);
        lines.map(|it| shown(it)).collect()
    };
    let hunks = hunks(&middle(&old), &middle(&new), head);
    hunks.iter().map(Hunk::text).collect()
}

/// Lines that stand for others, from some line of the new text on.
struct Hunk {
    line: usize,
    gone: Vec<String>,
    new: Vec<String>,
}

fn hunks(old: &[String], new: &[String], head: usize) -> Vec<Hunk> {
    let common = Common::new(old, new);
    let (mut a, mut b) = (old, new);
    let mut hunks = Vec::new();
    let mut open: Option<Hunk> = None;
    loop {
        let goes_first = common.of(a.len().saturating_sub(1), b.len())
            >= common.of(a.len(), b.len().saturating_sub(1));
        let (gone, line) = match (a.split_first(), b.split_first()) {
            (Some((line, rest)), Some((same, others))) if line == same => {
                hunks.extend(open.take());
                (a, b) = (rest, others);
                continue;
            }
            (Some((line, rest)), other) if other.is_none() || goes_first => {
                a = rest;
                (true, line)
            }
            (_, Some((line, rest))) => {
                b = rest;
                (false, line)
            }
            (_, None) => break,
        };
        let hunk = open.get_or_insert_with(|| Hunk {
            line: head + new.len() - b.len() + usize::from(gone),
            gone: Vec::new(),
            new: Vec::new(),
        });
        let lines = if gone { &mut hunk.gone } else { &mut hunk.new };
        lines.push(line.clone());
    }
    hunks.extend(open);
    hunks
}

impl Hunk {
    fn text(&self) -> String {
        let mut text = format!("@@ line {} @@\n", self.line);
        let (gone, new) = match (&*self.gone, &*self.new) {
            ([gone], [new]) if gone.len().max(new.len()) > LONG => {
                let (gone, new) = narrowed(gone, new);
                (vec![gone], vec![new])
            }
            _ => (self.gone.clone(), self.new.clone()),
        };
        for (sign, lines) in [('-', gone), ('+', new)] {
            for line in lines {
                // Writing to a text cannot fail.
                let _ = writeln!(text, "{sign}{line}");
            }
        }
        text
    }
}

/// Two long lines, cut down to where they differ.
fn narrowed(gone: &str, new: &str) -> (String, String) {
    let (gone, new): (Vec<_>, Vec<_>) = (gone.chars().collect(), new.chars().collect());
    let same = |(a, b): &(&char, &char)| a == b;
    let head = gone.iter().zip(&new).take_while(same).count();
    let rest = gone.len().min(new.len()) - head;
    let backwards = gone.iter().rev().zip(new.iter().rev()).take(rest);
    let tail = backwards.take_while(same).count();
    let (head, tail) = (head.saturating_sub(AROUND), tail.saturating_sub(AROUND));
    let cut = |line: &[char]| -> String {
        let middle: String = line.iter().take(line.len() - tail).skip(head).collect();
        format!("…{middle}…")
    };
    (cut(&gone), cut(&new))
}

/// How many lines the ends of two texts have in common, by how long these ends are.
struct Common {
    counts: Vec<usize>,
    width: usize,
}

impl Common {
    fn new(old: &[String], new: &[String]) -> Self {
        let width = new.len() + 1;
        if old.len().saturating_mul(new.len()) > MOST {
            let counts = Vec::new();
            return Self { counts, width };
        }
        let mut counts = vec![0; width];
        for first in old.iter().rev() {
            let above = counts.len() - width;
            counts.push(0);
            for (position, second) in new.iter().rev().enumerate() {
                let at = |offset: usize| counts.get(above + offset).copied().unwrap_or(0);
                let count = if first == second {
                    at(position) + 1
                } else {
                    at(position + 1).max(at(width + position))
                };
                counts.push(count);
            }
        }
        Self { counts, width }
    }

    fn of(&self, old: usize, new: usize) -> usize {
        let index = old * self.width + new;
        self.counts.get(index).copied().unwrap_or(0)
    }
}

/// A line that a terminal shows, and does not obey. Indents stay as they are.
fn shown(line: &str) -> String {
    let words: Vec<_> = line.split('\t').map(one_line).collect();
    words.join("\t")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_lines_are_shown_where_they_are() {
        for (old, new, shown) in [
            ("", "a\n", "@@ line 1 @@\n+a\n"),
            ("a\nb\n", "a\nb\n", ""),
            ("a\nb\nc\n", "a\nx\nc\n", "@@ line 2 @@\n-b\n+x\n"),
            (
                "a\nb\nc\nd\n",
                "a\n1\nb\nc\nd\n2\n",
                "@@ line 2 @@\n+1\n@@ line 6 @@\n+2\n",
            ),
            ("a\nb\nc\n", "a\nc\n", "@@ line 2 @@\n-b\n"),
            ("a\n", "a\n\u{1b}[2J\n", "@@ line 2 @@\n+\\u{1b}[2J\n"),
        ] {
            assert_eq!(diff(old, new), shown, "{old:?} and {new:?}");
        }
    }

    #[test]
    fn a_whole_file_in_a_line_is_cut_down_to_the_change() {
        let (before, after) = ("b".repeat(500), "a".repeat(500));
        let said = diff(&format!("{before}{after}"), &format!("{before}new{after}"));
        let (around, behind) = ("b".repeat(AROUND), "a".repeat(AROUND));
        assert_eq!(
            said,
            format!("@@ line 1 @@\n-…{around}{behind}…\n+…{around}new{behind}…\n")
        );
    }
}
