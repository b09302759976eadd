//! `archive` and `restore`: finished tasks put away, and brought back.
//!
//! What is done is on stdout, what could not be done on stderr, a task a line; then the exit code is not 0.

use std::{io, io::Write, process::ExitCode, time::Duration};

use super::{layout::wrap, print, refused};
use crate::{
    domain::{Status, TaskId},
    service::{Archived, Due, Failure, Moved, Service},
    store::one_line,
};

/// Archives what is due.
pub(super) fn archive(service: &Service, due: &Due) -> ExitCode {
    let moved = match service.archive(due) {
        Ok(moved) => moved,
        Err(failure) => return refused(&failure),
    };
    let printed = print(&report(&moved));
    match worst(&moved.failed) {
        Some(code) => code,
        None => printed,
    }
}

/// Prints what is in the archive.
pub(super) fn list(service: &Service) -> ExitCode {
    let archived = match service.archived() {
        Ok(archived) => archived,
        Err(failure) => return refused(&failure),
    };
    let line = |it: &Archived| {
        let title = match &it.title {
            Ok(title) => one_line(title),
            Err(failure) => failure.to_string(),
        };
        format!("{}  {:<9}  {title}\n", it.id, it.status.as_str())
    };
    match archived.as_slice() {
        [] => print("the archive is empty\n"),
        archived => print(&archived.iter().map(line).collect::<String>()),
    }
}

/// Brings these tasks back.
pub(super) fn restore(service: &Service, ids: &[TaskId]) -> ExitCode {
    let mut done = Vec::new();
    let mut undone = Vec::new();
    for id in ids {
        match service.restore(*id) {
            Ok(task) => done.push(format!(
                "{id} is back: {}, version {}\n",
                task.status, task.version
            )),
            Err(failure) => undone.push((*id, failure)),
        }
    }
    let printed = print(&done.concat());
    worst(&undone).unwrap_or(printed)
}

/// Says what could not be done; the exit code, if there is anything.
fn worst(undone: &[(TaskId, Failure)]) -> Option<ExitCode> {
    for (id, failure) in undone {
        // The reason is lost with the terminal; the exit code is not.
        let _ = writeln!(io::stderr(), "ai-coord-mcp: {id}: {failure}");
    }
    undone.first().map(|_| ExitCode::from(1))
}

fn report(moved: &Moved) -> String {
    let count = |number: usize| format!("{number} task{}", if number == 1 { "" } else { "s" });
    let named = |ids: &[TaskId]| {
        let names: Vec<_> = ids.iter().map(ToString::to_string).collect();
        names.join(", ")
    };
    let archived = match moved.archived.as_slice() {
        [] => "archived nothing".to_owned(),
        ids => format!("archived {}: {}", count(ids.len()), named(ids)),
    };
    let recent = match moved.recent {
        0 => String::new(),
        number => format!(
            "; {} changed too recently (see --older-than)",
            count(number)
        ),
    };
    let needed = match moved.needed.as_slice() {
        [] => String::new(),
        ids => format!("; others wait for {}, cancelled as they are", named(ids)),
    };
    wrap(&(archived + &recent + &needed), 0)
}

/// A length of time as people write it: a number and one of s, m, h, d, w.
pub(super) fn age(text: &str) -> Result<Duration, String> {
    let expected = || "expected a number and s, m, h, d or w, such as 12h or 7d".to_owned();
    let unit = text.trim_start_matches(|it: char| it.is_ascii_digit());
    let number = text.strip_suffix(unit).unwrap_or_default();
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 60 * 60,
        "d" => 24 * 60 * 60,
        "w" => 7 * 24 * 60 * 60,
        "" if number == "0" => 1,
        _ => return Err(expected()),
    };
    let number: u64 = number.parse().map_err(|_| expected())?;
    let seconds = number.checked_mul(seconds).ok_or_else(expected)?;
    Ok(Duration::from_secs(seconds))
}

/// A status in which a task can be archived.
pub(super) fn status(text: &str) -> Result<Status, String> {
    let mut known = Status::ARCHIVABLE.iter().copied();
    let names: Vec<_> = Status::ARCHIVABLE.iter().map(|it| it.as_str()).collect();
    known.find(|it| it.as_str() == text).ok_or_else(|| {
        format!(
            "expected {}: only what is over is archived",
            names.join(" or ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_read_as_people_write_them() {
        for (text, seconds) in [
            ("0", 0),
            ("0s", 0),
            ("45s", 45),
            ("30m", 1_800),
            ("12h", 43_200),
            ("7d", 604_800),
            ("2w", 1_209_600),
        ] {
            assert_eq!(age(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "7",
            "d",
            "-1d",
            "1.5d",
            "7 d",
            "7days",
            "99999999999999999999w",
        ] {
            assert!(age(text).is_err(), "{text}");
        }
        let many = format!("{}w", u64::MAX);
        assert!(age(&many).is_err(), "more seconds than can be counted");
    }

    #[test]
    fn only_what_is_over_can_be_asked_for() {
        assert_eq!(status("approved"), Ok(Status::Approved));
        assert_eq!(status("cancelled"), Ok(Status::Cancelled));
        for text in ["completed", "pending", "Approved", ""] {
            let error = status(text).unwrap_err();
            assert!(error.contains("approved or cancelled"), "{text}: {error}");
        }
    }

    #[test]
    fn a_report_counts_and_names() {
        let moved = |ids: &[u64], recent| Moved {
            archived: ids.iter().map(|it| TaskId::from_number(*it)).collect(),
            recent,
            needed: Vec::new(),
            failed: Vec::new(),
        };
        assert_eq!(report(&moved(&[], 0)), "archived nothing\n");
        assert_eq!(
            report(&moved(&[3], 2)),
            "archived 1 task: task-0003; 2 tasks changed too recently (see --older-than)\n"
        );
        let many: Vec<u64> = (1..=50).collect();
        for line in report(&moved(&many, 0)).lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
