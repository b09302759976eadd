//! The lifecycle as a whole: every status against every other, every tool against every status.

use std::fmt::Write as _;

use ai_coord::domain::{
    Action, AgentName, AnyTask, Bounded, Denial, Description, DirectoryPath, Metadata, NewTask,
    Note, Refused, Stamp, Status, Submission, Task, TaskId, Timestamp, Title, Transition, Work,
};

use crate::golden;

fn name(words: &str) -> AgentName {
    AgentName::from_words(words).unwrap()
}

fn stamp(actor: &str, second: i64) -> Stamp {
    Stamp {
        actor: name(actor),
        at: Timestamp::from_millis(second * 1_000),
    }
}

fn note(text: &str) -> Note {
    Note::try_from(text.to_owned()).unwrap()
}

fn submission(summary: &str) -> Submission {
    Submission {
        summary: Some(note(summary)),
        files: Bounded::default(),
        commit: None,
        branch: None,
        directory: DirectoryPath::try_from("/home/somebody".to_owned()).unwrap(),
    }
}

/// A task of the boss's.
pub(crate) fn created() -> Task<ai_coord::domain::Pending> {
    let work = Work {
        title: Title::try_from("sort".to_owned()).unwrap(),
        description: Description::try_from("stably".to_owned()).unwrap(),
        expected_output: None,
        after: Bounded::default(),
        tags: Bounded::default(),
        files: Bounded::default(),
        working_directory: None,
        metadata: Metadata::default(),
    };
    Task::create(
        NewTask {
            id: TaskId::from_number(1),
            work,
        },
        stamp("boss", 0),
    )
}

/// The same task in any status, held by the worker where somebody holds it.
pub(crate) fn task_in(status: Status) -> AnyTask {
    let claimed = || created().claim(stamp("worker", 1));
    let at = |second: i64| Timestamp::from_millis(second * 1_000);
    let completed = || claimed().start(at(2)).complete(at(3), submission("done"));
    match status {
        Status::Pending => created().into(),
        Status::Claimed => claimed().into(),
        Status::InProgress => claimed().start(at(2)).into(),
        Status::Completed => completed().into(),
        Status::Approved => completed()
            .approve(stamp("boss", 4), Some(note("good")))
            .unwrap()
            .into(),
        Status::RevisionRequested => completed()
            .request_revision(stamp("boss", 4), note("again"))
            .unwrap()
            .into(),
        Status::Cancelled => claimed()
            .cancel(stamp("boss", 2), Some(note("no need")))
            .into(),
    }
}

fn apply(task: AnyTask, transition: Transition, by: Stamp) -> Result<AnyTask, Refused> {
    match transition {
        Transition::Claim => task.claim(by),
        Transition::Start => task.start(by),
        Transition::Complete => task.complete(by, submission("done again")),
        Transition::Approve => task.approve(by, None),
        Transition::RequestRevision => task.request_revision(by, note("more")),
        Transition::Cancel => task.cancel(by, None),
        Transition::Reopen => task.reopen(by, None),
    }
}

/// Somebody who may do it, whoever holds the task.
fn entitled(transition: Transition) -> &'static str {
    match transition {
        Transition::Start | Transition::Complete => "worker",
        _ => "boss",
    }
}

#[test]
fn every_pair_of_statuses_and_every_tool() {
    let mut text = "# from → to: the transition between them\n".to_owned();
    for from in Status::ALL {
        for to in Status::ALL {
            let between = Transition::between(from, to).map_or("–", Transition::name);
            writeln!(text, "{from:<18} → {to:<18} {between}").unwrap();
        }
    }
    text += "\n# status, transition: what becomes of it\n";
    for from in Status::ALL {
        for transition in Transition::ALL {
            let done = apply(task_in(from), *transition, stamp(entitled(*transition), 9));
            let outcome = done.map_or_else(|it| it.to_string(), |it| format!("→ {}", it.status()));
            writeln!(text, "{from:<18} {:<16} {outcome}", transition.name()).unwrap();
        }
    }
    golden::check("lifecycle.txt", &text);
}

#[test]
fn dispatch_follows_the_table_and_a_refusal_gives_the_task_back() {
    for from in Status::ALL {
        for transition in Transition::ALL {
            let done = apply(task_in(from), *transition, stamp(entitled(*transition), 9));
            if transition.sources().contains(&from) {
                let task = done.unwrap();
                assert_eq!(task.status(), transition.target(), "{from} {transition:?}");
                let last = task.last_change();
                assert_eq!(
                    (last.action, last.from),
                    (Action::Move(*transition), Some(from))
                );
                assert_eq!(
                    last.version,
                    task_in(from).version() + 1,
                    "versions have no gaps"
                );
            } else {
                let refused = done.unwrap_err();
                assert_eq!(refused.denial, Denial::Status);
                assert_eq!(
                    refused.task.version(),
                    task_in(from).version(),
                    "nothing has changed"
                );
            }
        }
    }
}

#[test]
fn who_may() {
    use Transition::{Approve, Cancel, Claim, Complete, Reopen, RequestRevision, Start};
    for (transition, from, worker, boss, other) in [
        (Claim, Status::Pending, None, None, None),
        (
            Start,
            Status::Claimed,
            None,
            Some(Denial::NotAssignee),
            Some(Denial::NotAssignee),
        ),
        (
            Complete,
            Status::InProgress,
            None,
            Some(Denial::NotAssignee),
            Some(Denial::NotAssignee),
        ),
        (
            Approve,
            Status::Completed,
            Some(Denial::NotReviewer),
            None,
            None,
        ),
        (
            RequestRevision,
            Status::Completed,
            Some(Denial::NotReviewer),
            None,
            None,
        ),
        (Cancel, Status::InProgress, None, None, None),
        (Reopen, Status::Completed, None, None, None),
    ] {
        for (actor, expected) in [("worker", worker), ("boss", boss), ("other", other)] {
            let denial = apply(task_in(from), transition, stamp(actor, 9))
                .err()
                .map(|it| it.denial);
            assert_eq!(denial, expected, "{transition:?} by {actor}");
        }
    }
}

#[test]
fn a_creator_who_works_alone_may_approve_and_not_send_back() {
    let own = || {
        created()
            .claim(stamp("boss", 1))
            .complete(Timestamp::from_millis(2_000), submission("done"))
    };
    let approved = AnyTask::from(own())
        .approve(stamp("boss", 3), None)
        .unwrap();
    assert!(approved.last_change().self_approved);
    let by_another = AnyTask::from(own())
        .approve(stamp("other", 3), None)
        .unwrap();
    assert!(!by_another.last_change().self_approved);
    let refused = AnyTask::from(own())
        .request_revision(stamp("boss", 3), note("hm"))
        .unwrap_err();
    assert_eq!(refused.denial, Denial::NotReviewer);
}

#[test]
fn what_was_sent_back_stays_until_it_is_handed_in_again() {
    let back = task_in(Status::RevisionRequested);
    assert_eq!(back.facts().feedback, Some(&note("again")));
    let started = back.start(stamp("worker", 9)).unwrap();
    assert_eq!(started.facts().feedback, Some(&note("again")));
    assert_eq!(started.facts().submission, Some(&submission("done")));
    let again = started
        .complete(stamp("worker", 10), submission("better"))
        .unwrap();
    assert_eq!(again.facts().feedback, None);
    assert_eq!(again.facts().submission, Some(&submission("better")));
    let reopened = again.reopen(stamp("boss", 11), None).unwrap();
    assert_eq!(
        (reopened.assignee(), reopened.facts().submission),
        (None, None)
    );
    assert!(
        reopened.claimed().is_none(),
        "a claim ends when the task is put back"
    );
}

#[test]
fn whoever_held_a_cancelled_task_is_remembered() {
    assert_eq!(task_in(Status::Cancelled).assignee(), Some(&name("worker")));
    let never_held = AnyTask::from(created())
        .cancel(stamp("boss", 1), None)
        .unwrap();
    assert_eq!(never_held.assignee(), None);
}

#[test]
fn the_history_increases_though_the_clock_is_set_back() {
    let task = AnyTask::from(created()).claim(stamp("worker", 50)).unwrap();
    let task = task.start(stamp("worker", 3)).unwrap();
    let task = task
        .complete(stamp("worker", 3), submission("done"))
        .unwrap();
    let millis: Vec<_> = task
        .history()
        .iter()
        .map(|it| it.timestamp.millis())
        .collect();
    assert_eq!(millis, [0, 50_000, 50_001, 50_002]);
}

#[test]
fn the_readme_shows_the_table() {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme
        .split_once("<!-- lifecycle -->\n")
        .expect("README.md marks its lifecycle table");
    let (table, _) = rest
        .split_once("<!-- /lifecycle -->")
        .expect("README.md ends its lifecycle table");
    assert_eq!(table.trim(), Transition::markdown().trim());
}
