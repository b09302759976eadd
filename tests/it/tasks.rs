//! Tasks to test with: their parts, and one in each status.

use ai_coord::domain::{
    AgentName, AnyTask, Bounded, Description, DirectoryPath, Metadata, NewTask, Note, Refused,
    Stamp, Status, Submission, Task, TaskId, Timestamp, Title, Transition, Work,
};

/// Who creates the tasks.
pub(crate) const CREATOR: &str = "planner";
/// Who holds them.
pub(crate) const ASSIGNEE: &str = "worker";
/// Who does neither.
pub(crate) const OTHER: &str = "stranger";

pub(crate) fn agent(name: &str) -> AgentName {
    AgentName::try_from(name.to_owned()).expect("tests name agents correctly")
}

pub(crate) fn note(text: &str) -> Note {
    Note::try_from(text.to_owned()).expect("tests write short notes")
}

/// A moment, in milliseconds after the first one of every test.
pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + millis)
}

pub(crate) fn stamp(name: &str, millis: i64) -> Stamp {
    Stamp {
        actor: agent(name),
        at: at(millis),
    }
}

pub(crate) fn submission(summary: Option<&str>) -> Submission {
    Submission {
        summary: summary.map(note),
        files: Bounded::default(),
        commit: None,
        branch: None,
        directory: DirectoryPath::try_from("/repo".to_owned()).expect("a path is no blank"),
    }
}

pub(crate) fn work() -> Work {
    Work {
        title: Title::try_from("Fix it".to_owned()).expect("a title is no blank"),
        description: Description::try_from("It is broken.".to_owned()).expect("no blank either"),
        expected_output: None,
        after: Bounded::default(),
        tags: Bounded::default(),
        files: Bounded::default(),
        working_directory: None,
        metadata: Metadata::default(),
    }
}

/// A new task of `CREATOR`'s.
pub(crate) fn pending() -> AnyTask {
    let new = NewTask {
        id: TaskId::from_number(1),
        work: work(),
    };
    Task::create(new, stamp(CREATOR, 0)).into()
}

/// Asks for a transition, with everything that it takes.
pub(crate) fn attempt(
    task: AnyTask,
    transition: Transition,
    stamp: Stamp,
) -> Result<AnyTask, Refused> {
    match transition {
        Transition::Claim => task.claim(stamp),
        Transition::Start => task.start(stamp),
        Transition::Complete => task.complete(stamp, submission(Some("done"))),
        Transition::Approve => task.approve(stamp, None),
        Transition::RequestRevision => task.request_revision(stamp, note("tests are missing")),
        Transition::Cancel => task.cancel(stamp, Some(note("no longer needed"))),
        Transition::Reopen => task.reopen(stamp, None),
    }
}

/// The task after these transitions: `ASSIGNEE` works on it, `CREATOR` does the rest.
pub(crate) fn after(transitions: &[Transition]) -> AnyTask {
    let mut task = pending();
    for (number, transition) in (1..).zip(transitions) {
        let actor = match transition {
            Transition::Claim | Transition::Start | Transition::Complete => ASSIGNEE,
            _ => CREATOR,
        };
        task = attempt(task, *transition, stamp(actor, number * 1_000))
            .expect("tests walk legal ways");
    }
    task
}

/// A task in a status, by the shortest way there.
pub(crate) fn in_status(status: Status) -> AnyTask {
    use Transition::{Approve, Cancel, Claim, Complete, RequestRevision, Start};
    let way: &[Transition] = match status {
        Status::Pending => &[],
        Status::Claimed => &[Claim],
        Status::InProgress => &[Claim, Start],
        Status::Completed => &[Claim, Complete],
        Status::Approved => &[Claim, Complete, Approve],
        Status::RevisionRequested => &[Claim, Complete, RequestRevision],
        Status::Cancelled => &[Claim, Cancel],
    };
    after(way)
}
