//! Files that no sequence of transitions can have made: each is refused, and the error names what is wrong.
//!
//! The tables have a line for each forgery: the genuine task, as the transitions after its creation or `full`; the
//! edits, `/pointer = value` to set and `-/pointer` to remove; what the error has to say.

use ai_coord::domain::{AnyTask, NewTask, Note, Task, TaskId, Transition};
use serde_json::{Value, json};

use super::{full, read, value, write};
use crate::tasks::{ASSIGNEE, after, at, stamp, submission, work};

#[test]
fn a_field_that_the_history_contradicts() {
    assert_refused(
        r#"
        claim complete                       | /status = "approved"            | status "approved", but its history ends at completed: undo the edit, then approve_task
        claim                                | /status = "approved"            | status "approved", but its history ends at claimed: undo the edit
        claim                                | /version = 3                    | `version`
        claim                                | /version = 1                    | `version`
        claim                                | /creator = "stranger"           | `creator`
        claim                                | /assignee = "stranger"          | `assignee`
        claim                                | -/assignee                      | `assignee`
                                             | /assignee = "stranger"          | `assignee`
        claim cancel                         | -/assignee                      | `assignee`
        cancel                               | /assignee = "stranger"          | `assignee`
        claim cancel reopen                  | /assignee = "worker"            | `assignee`
        claim                                | /createdAt = "2099-01-01T00:00:00Z" | `createdAt`
        claim                                | /updatedAt = "2099-01-01T00:00:00Z" | `updatedAt`
        claim complete request_revision      | /feedback = "fine"              | `feedback`
        claim complete request_revision      | -/feedback                      | `feedback`
        claim complete request_revision start| -/feedback                      | `feedback`
        claim complete                       | /feedback = "hm"                | `feedback`
        claim complete                       | /submission/summary = "more"    | `submission`
        claim complete                       | -/submission/summary            | `submission`
        claim complete                       | -/submission                    | `submission`
        claim complete request_revision      | -/submission                    | `submission`
        claim complete request_revision start| -/submission                    | `submission`
        claim                                | /submission = {"directory": "/repo"} | `submission`
        claim complete request_revision cancel | /submission = {"directory": "/repo", "summary": "done"} | `submission`
        claim cancel                         | /reason = "fun"                 | `reason`
        claim cancel                         | -/reason                        | `reason`
        claim cancel reopen                  | /reason = "no longer needed"    | `reason`
        "#,
    );
}

#[test]
fn a_history_that_no_transitions_make() {
    assert_refused(
        r#"
        claim complete approve | -/history/1                      | history entry 3: versions count up by one
        claim complete approve | -/history/3                      | its history ends at completed
        claim complete approve | -/history/0                      | history entry 2: versions begin at 1
        claim          | /history = []                            | history is empty
        claim          | /history/0/version = 0                   | history entry 0: versions begin at 1
        claim          | /history/1/version = 1                   | history entry 1: versions count up by one
        claim          | /history/1/version = 3, /version = 3     | history entry 3: versions count up by one
        claim          | /history/0/action = "reopen"             | history entry 1: a history begins with create
        claim          | /history/0/from = "cancelled"            | history entry 1: a history begins with create
        claim          | /history/0/to = "claimed"                | history entry 1: a history begins with create
        claim          | /history/0/note = "hello"                | history entry 1: a creation has neither note nor selfApproved
        claim          | /history/0/selfApproved = true           | history entry 1: a creation has neither note nor selfApproved
        claim          | /history/1/action = "create"             | history entry 2: only the first entry
        claim          | /history/1/action = "steal"              | history[1].action: "steal" is no action
        claim          | /history/1/action = "complete", /history/1/to = "completed", /status = "completed" | history entry 2: no transition leads
        claim          | /history/1/to = "in_progress", /status = "in_progress" | history entry 2: no transition leads
        claim          | -/history/1/from                         | history entry 2: no transition leads
        claim complete | /history/2/from = "in_progress"          | history entry 3: no transition leads
        claim start    | /history/2/actor = "planner"             | history entry 3: its actor may not
        claim complete | /history/2/actor = "stranger"            | history entry 3: its actor may not
        claim complete approve          | /history/3/actor = "worker", /history/3/selfApproved = true | history entry 4: its actor may not
        claim complete request_revision | /history/3/actor = "worker" | history entry 4: its actor may not
        claim complete request_revision | -/history/3/note        | history entry 4: a request for revision has its feedback as note
        claim complete request_revision | /history/3/note = "x"   | `feedback`
        claim          | /history/1/note = "mine"                 | history entry 2: a claim or start has no note
        claim start    | /history/2/note = "go"                   | history entry 3: a claim or start has no note
        claim complete approve | /history/3/selfApproved = true   | history entry 4: selfApproved
        claim          | /history/1/selfApproved = true           | history entry 2: selfApproved
        claim complete | /history/1/timestamp = "2027-01-15T08:00:00Z" | history entry 2: timestamps increase
        claim complete | /history/1/timestamp = "2026-01-15T08:00:00Z" | history entry 2: timestamps increase
        claim complete | /history/1/timestamp = "2027-01-15T08:00:02Z" | history entry 3: timestamps increase
        claim complete         | /history/2/action = "restore"    | history entry 3: only an approved or cancelled task comes back
        claim cancel           | /history/2/action = "restore"    | history entry 3: only an approved or cancelled task comes back
        cancel reopen          | /history/2/action = "restore"    | history entry 3: only an approved or cancelled task comes back
        "#,
    );
    assert_eq!(
        at(0).to_string(),
        "2027-01-15T08:00:00.000Z",
        "where the table starts"
    );
}

#[test]
fn a_value_that_no_caller_could_send() {
    assert_refused(
        r#"
        claim | /formatVersion = 2              | formatVersion: format version 2 is not known
        claim | /formatVersion = "1"            | formatVersion: invalid type: string "1"
        claim | /id = "task-00001"              | id: "task-00001" is not a task id
        claim | /title = " "                    | title: the title is blank
        claim | /description = ""               | description: the description is blank
        claim | /creator = "a/b"                | creator: an agent's name
        claim | /assignee = "me"                | assignee: no agent can be called "me"
        claim | /status = "done"                | status: unknown variant `done`
        claim | /version = "2"                  | version: invalid type: string "2"
        claim | /version = -2                   | version: invalid value: integer `-2`
        claim | /version = 2.0                  | version: invalid type: floating point `2.0`
        claim | /createdAt = "yesterday"        | createdAt: "yesterday" is not a time
        full  | /tags = [""]                    | tags[0]: the tag is blank
        full  | /after = ["task-1"]             | after[0]: "task-1" is not a task id
        full  | /metadata = []                  | metadata: invalid type: sequence
        full  | /submission/files = "a.rs"      | submission.files: invalid type: string "a.rs"
        full  | /outbox = {}                    | outbox: invalid type: map
        full  | /outbox/0 = {"letter": {}}      | outbox[0]: unknown variant `letter`
        full  | /outbox/0/progress = {}         | outbox[0]
        full  | /outbox/0/message/taskId = "task-0002" | outbox entry 00000000-0000-0000-0000-000000000001: its taskId is another task's
        full  | /outbox/1/progress/id = "00000000-0000-0000-0000-000000000001" | outbox entry 00000000-0000-0000-0000-000000000001: another one
        full  | /outbox/1/progress/percent = 101 | outbox[1].progress.percent: 101 is no percentage
        "#,
    );
}

#[test]
fn a_field_that_is_unknown_or_missing() {
    assert_refused(
        r#"
        full | /color = "red"                   | unknown field `color`
        full | /submission/color = "red"        | unknown field `color`
        full | /history/0/color = "red"         | unknown field `color`
        full | /outbox/0/message/color = "red"  | unknown field `color`
        full | /outbox/1/progress/color = "red" | unknown field `color`
        full | -/id                             | missing field `id`
        full | -/title                          | missing field `title`
        full | -/status                         | missing field `status`
        full | -/version                        | missing field `version`
        full | -/creator                        | missing field `creator`
        full | -/createdAt                      | missing field `createdAt`
        full | -/updatedAt                      | missing field `updatedAt`
        full | -/description                    | missing field `description`
        full | -/history                        | missing field `history`
        full | -/submission/directory           | missing field `directory`
        full | -/history/0/version              | missing field `version`
        full | -/history/0/timestamp            | missing field `timestamp`
        full | -/history/0/actor                | missing field `actor`
        full | -/history/0/action               | missing field `action`
        full | -/history/0/to                   | missing field `to`
        full | -/outbox/0/message/id            | missing field `id`
        full | -/outbox/1/progress/claimVersion | missing field `claimVersion`
        "#,
    );
}

#[test]
fn more_than_a_caller_could_send() {
    for (path, too_much, said) in [
        (
            "/title",
            json!("x".repeat(201)),
            "title: the title has 201 characters",
        ),
        (
            "/feedback",
            json!("x".repeat(Note::LIMIT + 1)),
            "feedback: the text has 4001 characters",
        ),
        ("/tags", json!(vec!["t"; 33]), "tags: 33 entries"),
        (
            "/metadata",
            json!({ "k": "x".repeat(4_096) }),
            "metadata: the metadata has 4104 bytes",
        ),
    ] {
        assert_says(&edited(&full(), &[(path, Some(too_much))]), said, path);
    }
}

/// `null` is neither a value nor left out, in whichever field it stands.
#[test]
fn a_null() {
    let genuine = value(&full());
    let mut seen = 0;
    walk(&genuine, &mut |path, _| {
        if path.is_empty() || path.starts_with("/metadata/") {
            return;
        }
        seen += 1;
        let mut forged = genuine.clone();
        *forged.pointer_mut(path).expect("it was found there") = Value::Null;
        let field = path.split('/').rfind(|it| it.parse::<usize>().is_err());
        assert_says(&forged, field.expect("entries are in fields"), path);
    });
    assert!(seen > 80, "only {seen} values were looked at");
    assert_refused(
        r"
        full  | /reason = null                 | reason: invalid type: null
              | /assignee = null               | assignee: invalid type: null
              | /feedback = null               | feedback: invalid type: null
              | /submission = null             | submission: invalid type: null
              | /history/0/from = null         | history[0].from: invalid type: null
              | /history/0/note = null         | history[0].note: invalid type: null
              | /history/0/selfApproved = null | history[0].selfApproved: invalid type: null
        ",
    );
}

#[test]
fn an_approval_of_ones_own_that_does_not_say_so() {
    let new = NewTask {
        id: TaskId::from_number(1),
        work: work(),
    };
    let own = Task::create(new, stamp(ASSIGNEE, 0))
        .claim(stamp(ASSIGNEE, 1))
        .complete(at(2), submission(None))
        .approve(stamp(ASSIGNEE, 3), None)
        .expect("a creator may approve its own work");
    let forged = edited(&own.into(), &[("/history/3/selfApproved", None)]);
    assert_says(&forged, "history entry 4: selfApproved", "selfApproved");
}

#[test]
fn a_field_twice() {
    let twice = write(&full()).replacen('{', "{\"title\": \"other\",", 1);
    let error = read(&twice).expect_err("which of them would count?");
    assert!(error.contains("duplicate field `title`"), "{error}");
}

#[track_caller]
fn assert_refused(table: &str) {
    let lines = table.lines().filter(|it| !it.trim().is_empty());
    for line in lines {
        let [task, edits, said] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("not three columns: {line}")
        };
        let edits: Vec<_> = edits.split(", /").map(parse).collect();
        let edits: Vec<_> = edits
            .iter()
            .map(|(path, to)| (path.as_str(), to.clone()))
            .collect();
        let genuine = genuine(task);
        let forged = edited(&genuine, &edits);
        assert_ne!(forged, value(&genuine), "nothing is forged: {line}");
        assert_says(&forged, said, line);
    }
}

#[track_caller]
fn assert_says(forged: &Value, said: &str, context: &str) {
    match read(&forged.to_string()) {
        Ok(_) => panic!("taken: {context}"),
        Err(error) => assert!(error.contains(said), "{context}\nis refused with: {error}"),
    }
}

fn genuine(task: &str) -> AnyTask {
    if task == "full" {
        return full();
    }
    let transition = |name| {
        let found = Transition::ALL.iter().find(|it| it.name() == name);
        *found.unwrap_or_else(|| panic!("{name:?} is no transition"))
    };
    after(&task.split_whitespace().map(transition).collect::<Vec<_>>())
}

/// Reads `-/path` or `/path = value`; the first slash of all but the first edit went with the comma.
fn parse(edit: &str) -> (String, Option<Value>) {
    if let Some(path) = edit.strip_prefix('-') {
        return (path.to_owned(), None);
    }
    let (path, to) = edit.split_once(" = ").expect("an edit sets or removes");
    let to = serde_json::from_str(to).unwrap_or_else(|error| panic!("{edit}: {error}"));
    (format!("/{}", path.trim_start_matches('/')), Some(to))
}

/// The task's file after some edits. What is set is added where it is not there.
pub(super) fn edited(task: &AnyTask, edits: &[(&str, Option<Value>)]) -> Value {
    let mut document = value(task);
    for (path, to) in edits {
        let (parent, key) = path
            .rsplit_once('/')
            .expect("a pointer begins with a slash");
        let parent = document.pointer_mut(parent);
        match (parent.unwrap_or_else(|| panic!("{path} has no parent")), to) {
            (Value::Object(fields), Some(to)) => drop(fields.insert(key.to_owned(), to.clone())),
            (Value::Object(fields), None) => {
                assert!(fields.shift_remove(key).is_some(), "{path} is not there");
            }
            (Value::Array(entries), to) => {
                let index: usize = key.parse().expect("entries have numbers");
                entries.splice(index..=index, to.clone());
            }
            (other, _) => panic!("{path} is in {other}"),
        }
    }
    document
}

/// Calls `visit` with every value in a document and the JSON pointer to it.
fn walk(root: &Value, visit: &mut impl FnMut(&str, &Value)) {
    fn descend(path: &str, value: &Value, visit: &mut impl FnMut(&str, &Value)) {
        visit(path, value);
        match value {
            Value::Array(entries) => {
                for (index, entry) in entries.iter().enumerate() {
                    descend(&format!("{path}/{index}"), entry, visit);
                }
            }
            Value::Object(fields) => {
                for (key, field) in fields {
                    descend(&format!("{path}/{key}"), field, visit);
                }
            }
            _ => {}
        }
    }
    descend("", root, visit);
}
