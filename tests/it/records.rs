//! Reading a task back: what the transitions made is taken, whatever else is refused with the place that is wrong.

use ai_coord::domain::{AgentName, AnyTask, Bounded, Note, Stamp, Status, Submission, Timestamp};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::lifecycle::{created, task_in};

fn read(value: &Value) -> Result<AnyTask, String> {
    serde_json::from_value(value.clone()).map_err(|error| error.to_string())
}

fn written(task: &AnyTask) -> Value {
    serde_json::to_value(task).unwrap()
}

#[test]
fn every_status_reads_back_as_it_was_written() {
    for status in Status::ALL {
        let value = written(&task_in(status));
        assert_eq!(written(&read(&value).unwrap()), value, "{status}");
    }
}

/// Sets the value at a pointer (`null`: removes the key) in what a task in that status says.
fn forged(status: Status, pointer: &str, to: Value) -> Value {
    let mut value = written(&task_in(status));
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap();
    match (parent, to) {
        (Value::Object(object), Value::Null) => drop(object.shift_remove(key)),
        (Value::Object(object), to) => drop(object.insert(key.to_owned(), to)),
        (Value::Array(list), Value::Null) => drop(list.remove(key.parse().unwrap())),
        (parent, _) => panic!("{parent} has no keys"),
    }
    value
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn what_no_transition_made_is_refused_by_name() {
    use Status::{Approved, Cancelled, Claimed, Completed, InProgress, Pending, RevisionRequested};
    let cases = [
        (
            Completed,
            "/status",
            json!("approved"),
            "its history ends at completed: undo the edit, then approve_task",
        ),
        (
            Pending,
            "/status",
            json!("approved"),
            "its history ends at pending: undo the edit",
        ),
        (Pending, "/status", json!("done"), "unknown variant"),
        (Claimed, "/version", json!(3), "`version`"),
        (Claimed, "/creator", json!("mallory"), "`creator`"),
        (Claimed, "/assignee", json!("mallory"), "`assignee`"),
        (Claimed, "/assignee", Value::Null, "`assignee`"),
        (Pending, "/assignee", json!("mallory"), "`assignee`"),
        (
            Claimed,
            "/createdAt",
            json!("2026-01-01T00:00:00.000Z"),
            "`createdAt`",
        ),
        (
            Claimed,
            "/updatedAt",
            json!("2026-01-01T00:00:00.000Z"),
            "`updatedAt`",
        ),
        (RevisionRequested, "/feedback", json!("fine"), "`feedback`"),
        (RevisionRequested, "/feedback", Value::Null, "`feedback`"),
        (Completed, "/feedback", json!("fine"), "`feedback`"),
        (Completed, "/submission", Value::Null, "`submission`"),
        (
            Completed,
            "/submission/summary",
            json!("better"),
            "`submission`",
        ),
        (Cancelled, "/reason", json!("other"), "`reason`"),
        (Claimed, "/reason", json!("other"), "`reason`"),
        (Pending, "/priority", json!(1), "unknown field `priority`"),
        (Pending, "/title", Value::Null, "missing field `title`"),
        (Pending, "/title", json!(" "), "the title is blank"),
        (Pending, "/title", json!("x".repeat(201)), "201 characters"),
        (Pending, "/formatVersion", json!(2), "format version 2"),
        (Pending, "/id", json!("task-1"), "is not a task id"),
        (Pending, "/creator", json!("me"), "\"me\""),
        (Pending, "/history", json!([]), "history is empty"),
        (Claimed, "/history/0", Value::Null, "begin"),
        (
            Completed,
            "/history/1",
            Value::Null,
            "versions count up by one",
        ),
        (
            Completed,
            "/history/2/to",
            json!("approved"),
            "no transition leads",
        ),
        (
            Completed,
            "/history/2/action",
            json!("approve"),
            "no transition leads",
        ),
        (
            Completed,
            "/history/2/action",
            json!("create"),
            "only the first entry",
        ),
        (
            Completed,
            "/history/2/action",
            json!("finish"),
            "no action of the lifecycle",
        ),
        (
            Completed,
            "/history/3/actor",
            json!("mallory"),
            "its actor may not do this",
        ),
        (
            Approved,
            "/history/4/actor",
            json!("worker"),
            "its actor may not do this",
        ),
        (
            Approved,
            "/history/4/selfApproved",
            json!(true),
            "selfApproved",
        ),
        (
            RevisionRequested,
            "/history/4/note",
            Value::Null,
            "has its feedback as note",
        ),
        (InProgress, "/history/1/note", json!("mine"), "has no note"),
        (
            Claimed,
            "/history/1/timestamp",
            json!("1970-01-01T00:00:00.000Z"),
            "timestamps increase",
        ),
        (
            Claimed,
            "/history/1/version",
            json!(5),
            "versions count up by one",
        ),
        (
            Claimed,
            "/history/0/note",
            json!("hello"),
            "a creation has neither",
        ),
    ];
    for (status, pointer, to, expected) in cases {
        let refused = read(&forged(status, pointer, to.clone()));
        let error = refused
            .err()
            .unwrap_or_else(|| panic!("{status}: {pointer} = {to} was taken"));
        assert!(
            error.contains(expected),
            "{status}: {pointer} = {to}: {error}"
        );
    }
}

#[test]
fn an_outbox_that_would_spoil_the_thread_is_refused() {
    let message = |task: &str| {
        json!({ "message": {
            "id": "00000000-0000-0000-0000-000000000001", "taskId": task, "author": "boss",
            "timestamp": "2026-01-01T00:00:00.000Z", "content": "hello",
        } })
    };
    let with = |outbox: Value| read(&forged(Status::Claimed, "/outbox", outbox));
    assert!(with(json!([message("task-0001")])).is_ok());
    for (outbox, expected) in [
        (json!([message("task-0002")]), "another task's"),
        (
            json!([message("task-0001"), message("task-0001")]),
            "the same id",
        ),
        (json!([{ "letter": {} }]), "unknown variant"),
    ] {
        let error = with(outbox).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn what_a_legal_task_could_say_is_taken() {
    for (status, pointer, to) in [
        (Status::Claimed, "/description", json!("mended by hand")),
        (Status::Claimed, "/formatVersion", Value::Null),
        (Status::Pending, "/metadata", json!({"branch": "main"})),
        (Status::Completed, "/submission/commit", json!("abc")),
    ] {
        assert!(read(&forged(status, pointer, to)).is_ok(), "{pointer}");
    }
}

/// What somebody tries to do to a task.
fn attempt(task: AnyTask, what: u8, by: Stamp) -> AnyTask {
    let note = || Note::try_from("words".to_owned()).unwrap();
    let submission = Submission {
        summary: (what.is_multiple_of(2)).then(note),
        files: Bounded::default(),
        commit: None,
        branch: None,
        directory: "/".to_owned().try_into().unwrap(),
    };
    let done = match what % 7 {
        0 => task.claim(by),
        1 => task.start(by),
        2 => task.complete(by, submission),
        3 => task.approve(by, None),
        4 => task.request_revision(by, note()),
        5 => task.cancel(by, None),
        _ => task.reopen(by, Some(note())),
    };
    done.unwrap_or_else(|refused| *refused.task)
}

proptest! {
    #[test]
    fn any_walk_reads_back(steps in prop::collection::vec((any::<u8>(), 0..3_u8, any::<i16>()), 0..40)) {
        let mut task = AnyTask::from(created());
        for (what, who, when) in steps {
            let actor = AgentName::from_words(["boss", "worker", "other"][usize::from(who)]).unwrap();
            task = attempt(task, what, Stamp { actor, at: Timestamp::from_millis(when.into()) });
        }
        let value = written(&task);
        prop_assert_eq!(written(&read(&value).unwrap()), value);
    }

    #[test]
    fn any_bytes_are_taken_or_refused_and_never_more(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(serde_json::from_slice::<AnyTask>(&bytes).is_err());
    }
}
