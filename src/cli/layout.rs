//! Text for people in a terminal: 80 columns where the paths in it allow, and paths that can be copied.

use std::path::Path;

use crate::store::location::printable;

pub(super) const COLUMNS: usize = 80;

/// The width of the labels.
pub(super) const MARGIN: usize = 10;

/// Stands for a space that no line may be broken at. Neither a path nor a branch can contain it.
pub(super) const UNBREAKABLE: &str = "\0";

/// The path as text that [`wrap`] keeps whole.
pub(super) fn unbreakable(path: &Path) -> String {
    printable(path).replace(' ', UNBREAKABLE)
}

/// A label and what belongs to it, in two columns.
pub(super) fn entry(label: &str, value: &str) -> String {
    let wrapped = wrap(value, MARGIN);
    format!("{label:<MARGIN$}{}", wrapped.trim_start())
}

/// Breaks `text` into lines that begin with `margin` spaces.
pub(super) fn wrap(text: &str, margin: usize) -> String {
    let mut lines = String::new();
    let mut column = COLUMNS;
    for word in text.split(' ') {
        let width = word.chars().count();
        if column + 1 + width > COLUMNS {
            if !lines.is_empty() {
                lines.push('\n');
            }
            lines += &" ".repeat(margin);
            column = margin;
        } else {
            lines.push(' ');
            column += 1;
        }
        lines += word;
        column += width;
    }
    lines.push('\n');
    lines.replace(UNBREAKABLE, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_to_the_next_line_when_they_would_pass_the_last_column() {
        let word = "x".repeat(34);
        let exact = format!("{word} {word}");
        assert_eq!(wrap(&exact, 11), format!("{:11}{exact}\n", ""));
        assert_eq!(
            wrap(&exact, 12),
            format!("{:12}{word}\n{:12}{word}\n", "", "")
        );
    }
}
