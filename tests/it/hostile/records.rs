//! Task files that walks wrote and somebody edited: taken exactly if legal moves could have written them.

use std::{cell::Cell, collections::BTreeSet};

use ai_coord::domain::{AnyTask, ProgressLog, Status, Thread};
use proptest::prelude::*;
use serde_json::Value;

use super::{
    check,
    edits::{edited, edits, respelling, splice},
    oracle, values, walks,
};

fn read(file: &[u8]) -> Result<AnyTask, String> {
    serde_json::from_slice(file).map_err(|error| error.to_string())
}

fn write(task: &AnyTask) -> String {
    serde_json::to_string_pretty(task).expect("tasks have string keys and no foreign values")
}

/// Holds the program's verdict on a file against the oracle's. Whether the file was taken.
fn assert_agreed(file: &[u8]) -> bool {
    let shown = || String::from_utf8_lossy(file);
    match (read(file), oracle::judged(file)) {
        (Ok(task), Ok(legal)) => {
            let value: Value = serde_json::to_value(&task).expect("a task is JSON");
            assert_eq!(value, legal, "taken for something else: {}", shown());
            let written = write(&task);
            let again =
                read(written.as_bytes()).unwrap_or_else(|error| panic!("{error}: {written}"));
            assert_eq!(write(&again), written, "a task is written as it was read");
            true
        }
        (Err(_), Err(_)) => false,
        (Ok(_), Err(wrong)) => panic!("taken, though illegal ({wrong}): {}", shown()),
        (Err(error), Ok(_)) => panic!("legal, but refused ({error}): {}", shown()),
    }
}

#[test]
fn whatever_way_a_task_took_it_comes_back_letter_for_letter() {
    let seen = Cell::new(BTreeSet::new());
    check(300, &walks::task(), |file| {
        let task = read(file.as_bytes()).unwrap_or_else(|error| panic!("{error}: {file}"));
        assert_eq!(write(&task), file);
        assert!(assert_agreed(file.as_bytes()));
        let mut statuses = seen.take();
        statuses.insert(task.status().as_str());
        seen.set(statuses);
    });
    assert_eq!(
        seen.take().len(),
        Status::ALL.len(),
        "walks end in every status"
    );
}

#[test]
fn an_edited_task_is_taken_if_and_only_if_legal_moves_could_have_written_it() {
    let splices = prop_oneof![
        3 => Just(Vec::new()),
        1 => prop::collection::vec(splice(), 1..3),
    ];
    let cases = (walks::task(), edits(), splices);
    let (taken, all) = (Cell::new(0), Cell::new(0));
    check(3_000, &cases, |(file, edits, splices)| {
        let forged = edited(&file, &edits, &splices);
        if forged == file.as_bytes() {
            return;
        }
        all.set(all.get() + 1);
        taken.set(taken.get() + u32::from(assert_agreed(&forged)));
    });
    let (taken, all) = (taken.get(), all.get());
    assert!(
        taken * 20 > all && taken * 2 < all,
        "both verdicts are frequent: {taken} of {all} were taken"
    );
}

#[test]
fn a_value_in_a_spelling_that_the_server_does_not_write_is_no_other_value() {
    check(500, &(walks::task(), respelling()), |(file, edit)| {
        assert_agreed(&edited(&file, &[edit], &[]));
    });
}

#[test]
fn no_bytes_whatsoever_are_too_much_for_the_records() {
    check(1_000, &values::bytes(), |bytes| {
        assert!(!assert_agreed(&bytes), "a task by chance");
        // Whether it is one does not matter here: that it is said, does.
        let _ = serde_json::from_slice::<Thread>(&bytes);
        let _ = serde_json::from_slice::<ProgressLog>(&bytes);
    });
}
