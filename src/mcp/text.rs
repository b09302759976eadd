//! Wording that error messages share: abbreviations, numbers, and the name somebody probably meant.

use std::borrow::Cow;

/// At most `longest` characters of `text`, with an ellipsis where something was cut.
pub(super) fn abbreviated(text: &str, longest: usize) -> Cow<'_, str> {
    match text
        .char_indices()
        .nth(longest)
        .and_then(|(cut, _)| text.get(..cut))
    {
        Some(head) => Cow::Owned(format!("{head}…")),
        None => Cow::Borrowed(text),
    }
}

/// `8000` as `8,000`.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The items as `a, b and c`.
pub(super) fn listed<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    match items.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((only, _)) => (*only).to_owned(),
        None => String::new(),
    }
}

/// The one of `known` that `given` probably stands for.
pub(super) fn meant<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let given = words(given);
    known
        .into_iter()
        .filter_map(|name| Some((likeness(&given, &words(name))?, name)))
        .min_by_key(|(likeness, _)| *likeness)
        .map(|(_, name)| name)
}

/// How far `given` is from a name; `None` if too far to stand for it.
///
/// Case and separators don't count (`taskId`), one slip is forgiven, two in a name of eight letters
/// or more, and a name may be called by its first or last words (`id` for `task_id`, `version` for
/// `expected_version`).
fn likeness(given: &[String], name: &[String]) -> Option<usize> {
    let (written, meant) = (given.concat(), name.concat());
    let forgiven = if meant.chars().count() >= 8 { 2 } else { 1 };
    let slips = slips(&written, &meant, forgiven);
    let is_part = !given.is_empty() && (name.starts_with(given) || name.ends_with(given));
    slips.or(is_part.then_some(forgiven + 1))
}

/// The lower-case words of a name in whatever convention.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            was_lower = false;
            words.push(String::new());
            continue;
        }
        if words.is_empty() || (was_lower && letter.is_uppercase()) {
            words.push(String::new());
        }
        was_lower = !letter.is_uppercase();
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The optimal string alignment distance: letters inserted, deleted, replaced, or swapped with
/// their neighbour. `None` if it is over `most`.
fn slips(a: &str, b: &str, most: usize) -> Option<usize> {
    let (a, b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    let mut two_before = Vec::new();
    let mut before: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let at =
                |row: &[usize], column: usize| row.get(column).copied().unwrap_or(usize::MAX - 1);
            let mut best = (at(&before, j) + usize::from(letter != other))
                .min(at(&before, j + 1) + 1)
                .min(at(&row, j) + 1);
            let swapped =
                i > 0 && j > 0 && a.get(i - 1) == Some(other) && b.get(j - 1) == Some(letter);
            if swapped {
                best = best.min(at(&two_before, j - 1) + 1);
            }
            row.push(best);
        }
        two_before = std::mem::replace(&mut before, row);
    }
    before.last().copied().filter(|slips| *slips <= most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviates_by_characters() {
        assert_eq!(abbreviated("short", 5), "short");
        assert_eq!(abbreviated("größer", 3), "grö…");
        assert_eq!(abbreviated("", 0), "");
    }

    #[test]
    fn groups_thousands() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (16_777_216, "16,777,216"),
        ] {
            assert_eq!(thousands(number), text);
        }
    }

    #[test]
    fn lists_items() {
        assert_eq!(listed([]), "");
        assert_eq!(listed(["a"]), "a");
        assert_eq!(listed(["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn recognises_what_was_meant() {
        let known = [
            "task_id",
            "percent",
            "current_step",
            "notes",
            "expected_version",
            "wait_seconds",
            "tag",
        ];
        for (given, name) in [
            ("taskId", "task_id"),
            ("task-id", "task_id"),
            ("TASK_ID", "task_id"),
            ("taskid", "task_id"),
            ("id", "task_id"),
            ("task", "task_id"),
            ("expectedVersion", "expected_version"),
            ("expectde_version", "expected_version"),
            ("exected_versoin", "expected_version"),
            ("version", "expected_version"),
            ("note", "notes"),
            ("tags", "tag"),
            ("percnt", "percent"),
            ("wait", "wait_seconds"),
            ("waitSeconds", "wait_seconds"),
        ] {
            assert_eq!(meant(given, known), Some(name), "{given}");
        }
    }

    #[test]
    fn leaves_other_names_alone() {
        let known = ["task_id", "percent", "notes", "expected_version", "tag"];
        for given in [
            "reasoning",
            "wait_for_previous",
            "title",
            "",
            "_",
            "pct",
            "gat",
            "percentages",
            &"x".repeat(1 << 20),
        ] {
            assert_eq!(meant(given, known), None, "{}", abbreviated(given, 20));
        }
    }

    #[test]
    fn prefers_the_nearest() {
        assert_eq!(meant("tagz", ["tags", "tag"]), Some("tags"));
        assert_eq!(meant("tag", ["tags", "tag"]), Some("tag"));
    }

    #[test]
    fn counts_a_swap_as_one_slip() {
        assert_eq!(slips("taks", "task", 2), Some(1));
        assert_eq!(slips("abcd", "acbd", 2), Some(1));
        assert_eq!(slips("", "ab", 2), Some(2));
        assert_eq!(slips("same", "same", 1), Some(0));
        assert_eq!(slips("ab", "cd", 1), None);
    }
}
