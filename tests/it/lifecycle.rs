//! The lifecycle: which transition leads where, who may make it, and what the task carries along.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use ai_coord::domain::{AnyTask, Denial, Facts, NewTask, Note, Status, Task, TaskId, Transition};

use crate::{
    golden,
    tasks::{
        ASSIGNEE, CREATOR, OTHER, after, agent, at, attempt, in_status, note, pending, stamp,
        submission, work,
    },
};

use Transition::{Approve, Cancel, Claim, Complete, Reopen, RequestRevision, Start};

#[test]
fn the_lifecycle_is_as_written_down() {
    let text = matrix() + "\n" + &outcomes();
    golden::check("lifecycle.txt", &text);
}

/// All pairs of statuses, each with the transition between them.
fn matrix() -> String {
    let mut text = "The transition from one status (row) to another (column)\n\n".to_owned();
    let row = |text: &mut String, head: &str, cells: [&str; 7]| {
        let cells = cells.map(|it| format!("{it:<20}")).concat();
        writeln!(text, "{}", format!("{head:<20}{cells}").trim_end()).unwrap();
    };
    row(&mut text, "", Status::ALL.map(Status::as_str));
    for from in Status::ALL {
        let cells =
            Status::ALL.map(|to| Transition::between(from, to).map_or("-", Transition::name));
        row(&mut text, from.as_str(), cells);
    }
    text
}

/// What every tool does to a task in every status, for each who asks.
fn outcomes() -> String {
    let mut text = format!(
        "What a tool does to a task that {CREATOR} created and {ASSIGNEE} holds or held, if anybody\n"
    );
    for (transition, tool) in tools() {
        writeln!(text, "\n{tool}").unwrap();
        for status in Status::ALL {
            let mut said: BTreeMap<_, Vec<_>> = BTreeMap::new();
            for actor in [CREATOR, ASSIGNEE, OTHER] {
                said.entry(outcome(status, transition, tool, actor))
                    .or_default()
                    .push(actor);
            }
            for (outcome, actors) in &said {
                let who = if said.len() == 1 {
                    "anyone".to_owned()
                } else {
                    actors.join(", ")
                };
                writeln!(text, "  {status:<20}{who:<20}{outcome}").unwrap();
            }
        }
    }
    text
}

fn tools() -> impl Iterator<Item = (Transition, &'static str)> {
    let of = |it: &Transition| {
        it.tools()
            .iter()
            .map(|tool| (*it, *tool))
            .collect::<Vec<_>>()
    };
    Transition::ALL.iter().flat_map(of)
}

fn outcome(status: Status, transition: Transition, tool: &str, actor: &str) -> String {
    if Transition::taken_by(tool).contains(&status) && !transition.sources().contains(&status) {
        return "no transition".to_owned();
    }
    match attempt(in_status(status), transition, stamp(actor, 60_000)) {
        Ok(task) => format!("-> {}", task.status()),
        Err(refused) => format!("refused: {refused}"),
    }
}

#[test]
fn every_pair_of_statuses_is_joined_by_a_transition_or_by_none() {
    for (from, to) in pairs() {
        let joined: Vec<_> = Transition::ALL
            .iter()
            .copied()
            .filter(|it| {
                [CREATOR, ASSIGNEE]
                    .into_iter()
                    .filter_map(|actor| attempt(in_status(from), *it, stamp(actor, 60_000)).ok())
                    .any(|task| task.status() == to)
            })
            .collect();
        assert!(joined.len() <= 1, "{from} to {to}: {joined:?}");
        assert_eq!(
            joined.first().copied(),
            Transition::between(from, to),
            "{from} to {to}: what happens is what the table says"
        );
    }
}

fn pairs() -> impl Iterator<Item = (Status, Status)> {
    let from = |from| Status::ALL.into_iter().map(move |to| (from, to));
    Status::ALL.into_iter().flat_map(from)
}

#[test]
fn a_refused_task_is_as_it_was() {
    for (status, transition, actor) in Status::ALL.into_iter().flat_map(|status| {
        tools().flat_map(move |(it, _)| [CREATOR, ASSIGNEE, OTHER].map(|actor| (status, it, actor)))
    }) {
        let Err(refused) = attempt(in_status(status), transition, stamp(actor, 60_000)) else {
            continue;
        };
        assert_eq!(
            serde_json::to_string(&refused.task).unwrap(),
            serde_json::to_string(&in_status(status)).unwrap(),
            "{transition:?} of a {status} task by {actor} was refused and left a trace"
        );
    }
}

#[test]
fn who_may_do_what() {
    const MAY: Option<Denial> = None;
    const NOT_ASSIGNEE: Option<Denial> = Some(Denial::NotAssignee);
    const NOT_REVIEWER: Option<Denial> = Some(Denial::NotReviewer);
    for (transition, assignee, creator, other) in [
        (Start, MAY, NOT_ASSIGNEE, NOT_ASSIGNEE),
        (Complete, MAY, NOT_ASSIGNEE, NOT_ASSIGNEE),
        (Approve, NOT_REVIEWER, MAY, MAY),
        (RequestRevision, NOT_REVIEWER, MAY, MAY),
        (Claim, MAY, MAY, MAY),
        (Cancel, MAY, MAY, MAY),
        (Reopen, MAY, MAY, MAY),
    ] {
        for status in transition.sources() {
            for (actor, denial) in [(ASSIGNEE, assignee), (CREATOR, creator), (OTHER, other)] {
                let outcome = attempt(in_status(*status), transition, stamp(actor, 60_000));
                assert_eq!(
                    outcome.err().map(|it| it.denial),
                    denial,
                    "{transition:?} of a {status} task by {actor}"
                );
            }
        }
    }
}

/// A completed task that `ASSIGNEE` created itself.
fn own_work() -> AnyTask {
    let new = NewTask {
        id: TaskId::from_number(1),
        work: work(),
    };
    let created = Task::create(new, stamp(ASSIGNEE, 0));
    let claimed = created.claim(stamp(ASSIGNEE, 1));
    claimed.complete(at(2), submission(None)).into()
}

#[test]
fn a_creator_may_approve_its_own_work_but_not_send_it_back() {
    let approved = own_work().approve(stamp(ASSIGNEE, 3), None).unwrap();
    assert!(
        approved.last_change().self_approved,
        "the history has to tell"
    );

    let refused = own_work()
        .request_revision(stamp(ASSIGNEE, 3), note("hm"))
        .unwrap_err();
    assert_eq!(refused.denial, Denial::NotReviewer);

    let reviewed = own_work().approve(stamp(OTHER, 3), None).unwrap();
    assert!(
        !reviewed.last_change().self_approved,
        "somebody else's approval is no approval of one's own"
    );
}

#[test]
fn what_the_state_carries_along() {
    let worker = agent(ASSIGNEE);
    let feedback = note("tests are missing");
    let reason = note("no longer needed");
    let handed_in = submission(Some("done"));
    let held = Facts {
        assignee: Some(&worker),
        ..Facts::default()
    };
    let submitted = Facts {
        submission: Some(&handed_in),
        ..held
    };
    let sent_back = Facts {
        feedback: Some(&feedback),
        ..submitted
    };
    let withdrawn = Facts {
        reason: Some(&reason),
        ..held
    };
    for (way, facts) in [
        (vec![], Facts::default()),
        (vec![Claim], held),
        (vec![Claim, Start], held),
        (vec![Claim, Complete], submitted),
        (vec![Claim, Complete, Approve], submitted),
        (vec![Claim, Complete, RequestRevision], sent_back),
        (vec![Claim, Complete, RequestRevision, Start], sent_back),
        (
            vec![Claim, Complete, RequestRevision, Start, Complete],
            submitted,
        ),
        (vec![Claim, Complete, RequestRevision, Complete], submitted),
        (vec![Claim, Complete, RequestRevision, Cancel], withdrawn),
        (
            vec![Claim, Complete, RequestRevision, Start, Cancel],
            withdrawn,
        ),
        (
            vec![Cancel],
            Facts {
                assignee: None,
                ..withdrawn
            },
        ),
        (vec![Claim, Cancel, Reopen], Facts::default()),
        (vec![Claim, Complete, Reopen], Facts::default()),
        (vec![Claim, Complete, Approve, Reopen], Facts::default()),
        (vec![Claim, Complete, Reopen, Claim, Start], held),
    ] {
        assert_eq!(after(&way).facts(), facts, "after {way:?}");
    }
}

#[test]
fn the_history_tells_what_was_said() {
    let task = after(&[Claim, Start, Complete, RequestRevision, Cancel, Reopen]);
    let notes: Vec<_> = task
        .history()
        .iter()
        .map(|it| it.note.as_ref().map(Note::as_str))
        .collect();
    assert_eq!(
        notes,
        [
            None,
            None,
            None,
            Some("done"),
            Some("tests are missing"),
            Some("no longer needed"),
            None
        ]
    );
}

#[test]
fn only_what_is_over_comes_back_from_the_archive_and_as_it_was() {
    for status in Status::ALL {
        let task = in_status(status);
        let (version, before) = (task.version(), task.last_change().clone());
        let facts = format!("{:?}", task.facts());
        let restored = match task.restore(stamp(OTHER, 60_000)) {
            Ok(restored) => restored,
            Err(same) => {
                assert!(!Status::ARCHIVABLE.contains(&status), "{status}");
                assert_eq!(same.version(), version, "{status} left a trace");
                continue;
            }
        };
        assert!([Status::Approved, Status::Cancelled].contains(&status));
        assert_eq!(restored.version(), version + 1);
        assert_eq!(
            (restored.status(), restored.last_change()),
            (status, &before)
        );
        assert_eq!(format!("{:?}", restored.facts()), facts);
        let json = serde_json::to_string(&restored).unwrap();
        let read: AnyTask = serde_json::from_str(&json).expect("legal moves made it");
        assert_eq!(serde_json::to_string(&read).unwrap(), json);
        let entry = read.history().last().unwrap();
        assert_eq!(entry.action.as_str(), "restore");
        assert_eq!((entry.from, entry.to), (Some(status), status));
        assert!(read.reopen(stamp(OTHER, 60_001), None).is_ok());
    }
}

#[test]
fn versions_have_no_gaps_and_each_entry_follows_from_the_one_before() {
    let task = after(&[
        Claim,
        Start,
        Complete,
        RequestRevision,
        Start,
        Cancel,
        Reopen,
        Claim,
    ]);
    for (number, entry) in (1..).zip(task.history()) {
        assert_eq!(entry.version, number, "{entry:?}");
    }
    for pair in task.history().windows(2) {
        let [before, entry] = pair else {
            unreachable!("windows of two")
        };
        assert_eq!(entry.from, Some(before.to), "{entry:?}");
    }
    assert_eq!(task.version(), task.history().len() as u64);
    assert_eq!(task.status(), task.last_change().to);
}

#[test]
fn timestamps_increase_though_the_clock_does_not() {
    for (clock, readings) in [
        ("stands still", [0, 0, 0]),
        ("steps back", [-1, -3_600_000, 0]),
    ] {
        let [claimed, started, completed] = readings;
        let task = pending()
            .claim(stamp(ASSIGNEE, claimed))
            .and_then(|it| it.start(stamp(ASSIGNEE, started)))
            .and_then(|it| it.complete(stamp(ASSIGNEE, completed), submission(None)))
            .unwrap();
        let stamps: Vec<_> = task.history().iter().map(|it| it.timestamp).collect();
        assert_eq!(stamps, [at(0), at(1), at(2), at(3)], "a clock that {clock}");
        assert_eq!((task.created_at(), task.updated_at()), (at(0), at(3)));
    }
}

#[test]
fn the_claim_under_which_a_task_is_worked_on() {
    for (way, version) in [
        (vec![], None),
        (vec![Cancel], None),
        (vec![Claim], Some(2)),
        (
            vec![Claim, Start, Complete, RequestRevision, Start],
            Some(2),
        ),
        (vec![Claim, Complete, Approve], Some(2)),
        (vec![Claim, Cancel], Some(2)),
        (vec![Claim, Cancel, Reopen], None),
        (vec![Claim, Cancel, Reopen, Cancel], None),
        (vec![Claim, Complete, Reopen, Claim, Start], Some(5)),
    ] {
        let task = after(&way);
        assert_eq!(
            task.claimed().map(|it| it.version),
            version,
            "after {way:?}"
        );
    }
}

#[test]
fn the_readme_shows_the_table() {
    const MARKERS: (&str, &str) = ("<!-- lifecycle -->\n", "<!-- /lifecycle -->");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(path).expect("README.md shows the lifecycle");
    let after_start = readme.split_once(MARKERS.0).map(|(_, rest)| rest);
    let Some((shown, _)) = after_start.and_then(|it| it.split_once(MARKERS.1)) else {
        panic!("README.md lacks the lifecycle table between {MARKERS:?}")
    };
    let table = Transition::markdown();
    assert_eq!(
        shown.trim(),
        table.trim(),
        "README.md should show this table:\n\n{table}"
    );
}
