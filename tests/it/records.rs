//! Reading tasks back: what the program wrote comes back as it was, and what it cannot have written is refused.

mod forgeries;

use ai_coord::domain::{
    AnyTask, Bounded, FilePath, Message, MessageId, Metadata, NewTask, OutboxEntry, Percent,
    ProgressEntry, Reference, Report, Status, Submission, Task, TaskId, Transition,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::tasks::{
    ASSIGNEE, CREATOR, OTHER, after, agent, at, in_status, note, stamp, submission, work,
};

use Transition::{Approve, Cancel, Claim, Complete, Reopen, RequestRevision, Start};

fn read(json: &str) -> Result<AnyTask, String> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    // As the store does it: the error of a wrong value does not say where the value is.
    serde_path_to_error::deserialize(&mut deserializer)
        .map_err(|error| format!("{}: {}", error.path(), error.inner()))
}

fn write(task: &AnyTask) -> String {
    serde_json::to_string_pretty(task).expect("tasks have string keys and no foreign values")
}

#[track_caller]
fn assert_comes_back(task: &AnyTask) {
    let written = write(task);
    let back = read(&written).unwrap_or_else(|error| panic!("{error} in {written}"));
    assert_eq!(write(&back), written, "a task is written as it was read");
    assert_eq!(back.status(), task.status());
    assert_eq!(back.facts(), task.facts());
    assert_eq!(back.work(), task.work());
    assert_eq!(back.history(), task.history());
    assert_eq!(back.outbox(), task.outbox());
}

/// A task with every field that there is.
fn full() -> AnyTask {
    let text = |text: &str| text.to_owned();
    let mut work = work();
    work.expected_output = text("tests pass").try_into().ok();
    work.after = vec![TaskId::from_number(1), TaskId::from_number(10_000)]
        .try_into()
        .unwrap();
    work.tags = vec![text("bug").try_into().unwrap()].try_into().unwrap();
    work.files = vec![text("src/main.rs").try_into().unwrap()]
        .try_into()
        .unwrap();
    work.working_directory = text("/repo").try_into().ok();
    let metadata = json!({ "z": [1, -2, 19.144_025_191_862_358, 1e300, null, true], "a": { "nested": "ä\u{0}\n\"" } });
    work.metadata = Metadata::try_from(metadata.as_object().unwrap().clone()).unwrap();
    let new = NewTask {
        id: TaskId::from_number(10_001),
        work,
    };

    let submission = Submission {
        summary: Some(note("done")),
        files: Bounded::try_from(vec![FilePath::try_from(text("a.rs")).unwrap()]).unwrap(),
        commit: Reference::try_from(text("0f0f0f0")).ok(),
        branch: Reference::try_from(text("main")).ok(),
        ..submission(None)
    };
    let completed = Task::create(new, stamp(CREATOR, 0))
        .claim(stamp(ASSIGNEE, 1))
        .complete(at(2), submission);
    let revised = completed
        .request_revision(stamp(CREATOR, 3), note("more"))
        .unwrap();
    let mut task = AnyTask::from(revised.start(at(4)));
    task.enqueue(message(1));
    task.enqueue(report(2));
    task
}

fn message(number: u128) -> OutboxEntry {
    OutboxEntry::Message(Message {
        id: MessageId::from_uuid(Uuid::from_u128(number)),
        task_id: TaskId::from_number(10_001),
        author: agent(CREATOR),
        timestamp: at(5),
        content: note("more").into(),
    })
}

fn report(number: u128) -> OutboxEntry {
    let report = Report {
        percent: Percent::try_from(40).ok(),
        current_step: Some(note("reading")),
        notes: Some(note("slow")),
    };
    let id = MessageId::from_uuid(Uuid::from_u128(number));
    OutboxEntry::Progress(ProgressEntry::new(id, at(6), agent(ASSIGNEE), 2, report))
}

#[test]
fn every_status_comes_back_byte_for_byte() {
    for status in Status::ALL {
        assert_comes_back(&in_status(status));
    }
    for way in [
        &[Claim, Complete, RequestRevision, Start][..],
        &[Claim, Complete, RequestRevision, Complete, Approve],
        &[Claim, Start, Complete, RequestRevision, Cancel],
        &[Cancel],
        &[Cancel, Reopen, Claim, Start],
        &[Claim, Complete, Reopen],
    ] {
        assert_comes_back(&after(way));
    }
    assert_comes_back(&full());
}

#[test]
fn a_submission_without_summary_and_an_approval_with_note_come_back() {
    let completed = || {
        Task::create(
            NewTask {
                id: TaskId::from_number(1),
                work: work(),
            },
            stamp(ASSIGNEE, 0),
        )
        .claim(stamp(ASSIGNEE, 1))
        .complete(at(2), submission(None))
    };
    assert_comes_back(&completed().into());
    for actor in [ASSIGNEE, OTHER] {
        let approved = completed().approve(stamp(actor, 3), Some(note("good")));
        assert_comes_back(&approved.unwrap().into());
    }
}

#[test]
fn a_file_without_a_format_version_is_of_the_first() {
    let mut task = value(&full());
    task.as_object_mut()
        .unwrap()
        .shift_remove("formatVersion")
        .unwrap();
    let back = read(&task.to_string()).unwrap();
    assert_eq!(write(&back), write(&full()));
}

#[test]
fn the_order_of_the_keys_does_not_matter() {
    let Value::Object(fields) = value(&full()) else {
        panic!("a task is an object")
    };
    let reversed: serde_json::Map<_, _> = fields.into_iter().rev().collect();
    let back = read(&Value::Object(reversed).to_string()).unwrap();
    assert_eq!(write(&back), write(&full()));
}

fn value(task: &AnyTask) -> Value {
    serde_json::to_value(task).expect("a task is JSON")
}

/// A person may change what only they know: what the server can't tell from a task that was so from the start.
#[test]
fn an_edit_that_a_legal_task_could_say_is_taken() {
    for (task, path, to) in [
        (
            after(&[Claim]),
            "/description",
            json!("It is broken, see the log."),
        ),
        (after(&[Claim]), "/tags", json!(["bug"])),
        (after(&[Claim]), "/metadata", json!({ "color": "red" })),
        (
            after(&[Claim, Complete]),
            "/submission/branch",
            json!("main"),
        ),
        (
            after(&[Claim, Complete, Approve]),
            "/history/2/timestamp",
            json!(at(2_001)),
        ),
        (
            after(&[Claim, Complete, Approve]),
            "/history/3/actor",
            json!(OTHER),
        ),
        (
            after(&[Cancel, Reopen]),
            "/history/1/note",
            json!("by mistake"),
        ),
    ] {
        let edited = forgeries::edited(&task, &[(path, Some(to.clone()))]);
        let taken = read(&edited.to_string()).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(
            value(&taken).pointer(path),
            Some(&to),
            "{path} was not kept"
        );
    }
}
