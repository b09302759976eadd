//! Golden files: what the program says, written down, so that a change of it shows up in review.

use std::{env, fs, path::PathBuf};

/// The environment variable that makes the tests write the files instead of comparing them.
const UPDATE: &str = "UPDATE_GOLDEN";

/// Compares `text` with `tests/golden/<name>`, or writes it there if `UPDATE_GOLDEN` is set.
#[track_caller]
pub(crate) fn check(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(name);
    if env::var_os(UPDATE).is_some() {
        fs::create_dir_all(path.parent().expect("a golden file is in a directory"))
            .and_then(|()| fs::write(&path, text))
            .unwrap_or_else(|error| panic!("cannot write tests/golden/{name}: {error}"));
        return;
    }
    let golden = fs::read_to_string(&path).unwrap_or_else(|error| {
        panic!("cannot read tests/golden/{name}: {error}; {UPDATE}=1 cargo test writes it")
    });
    if let Some(difference) = difference(&golden, text) {
        panic!(
            "tests/golden/{name} differs. {difference}\n\
             If the change is meant, {UPDATE}=1 cargo test writes the file; read the diff."
        );
    }
}

/// The first line that differs. The whole of two long texts would hide it.
fn difference(golden: &str, text: &str) -> Option<String> {
    if golden == text {
        return None;
    }
    let (mut old, mut new) = (golden.split('\n'), text.split('\n'));
    let mut number = 0;
    loop {
        number += 1;
        let (old, new) = (old.next(), new.next());
        if old != new {
            let show =
                |line: Option<&str>| line.map_or("nothing".to_owned(), |it| format!("{it:?}"));
            return Some(format!(
                "Line {number}:\n  golden: {}\n     now: {}",
                show(old),
                show(new)
            ));
        }
    }
}

#[test]
fn texts_that_differ_are_told_apart() {
    assert_eq!(difference("a\nb\n", "a\nb\n"), None);
    for (golden, text, line) in [
        ("a\nb\n", "a\nc\n", "Line 2"),
        ("a\nb\n", "a\nb", "Line 3"),
        ("a\n", "a\nb\n", "Line 2"),
        ("", "a", "Line 1"),
    ] {
        let said = difference(golden, text).expect("the texts differ");
        assert!(said.starts_with(line), "{golden:?} and {text:?}: {said}");
    }
}
