//! Random histories and random edits of their files.
//!
//! What is taken has to be what a legal task says. The judge knows nothing of how records are checked: it makes the
//! task that the file tells of once more, by the transitions, and compares.

use ai_coord::domain::{
    Action, AnyTask, NewTask, Note, Refused, Stamp, Status, Submission, Task, TaskId, Transition,
};
use proptest::{prelude::*, sample::Index};
use serde_json::{Value, json};

use super::{assert_comes_back, message, read, report, value, write};
use crate::tasks::{ASSIGNEE, CREATOR, OTHER, agent, at, note, submission, work};

/// One attempt at a transition: by whom, how much later, with or without a text.
#[derive(Clone, Copy, Debug)]
struct Step {
    transition: Transition,
    actor: &'static str,
    millis: i64,
    text: Option<&'static str>,
}

fn step() -> impl Strategy<Value = Step> {
    let text = prop::option::of(prop::sample::select(vec!["done", "why", "once more"]));
    let actor = prop::sample::select(vec![CREATOR, ASSIGNEE, OTHER]);
    let transition = prop::sample::select(Transition::ALL);
    (transition, actor, -5..50_i64, text).prop_map(|(transition, actor, millis, text)| Step {
        transition,
        actor,
        millis,
        text,
    })
}

/// A task after a random legal walk; what is refused is skipped.
fn walked() -> impl Strategy<Value = AnyTask> {
    let steps = prop::collection::vec(step(), 0..40);
    (steps, any::<bool>()).prop_map(|(steps, sends)| {
        let id = TaskId::from_number(10_001);
        let mut task = AnyTask::from(Task::create(NewTask { id, work: work() }, by(CREATOR, 0)));
        let mut millis = 0;
        for step in steps {
            millis += step.millis;
            let note = step.text.map(note);
            let submission = submission(step.text);
            let stamp = by(step.actor, millis);
            task = make(task, step.transition, stamp, note, submission)
                .unwrap_or_else(|refused| *refused.task);
        }
        if sends {
            task.enqueue(message(1));
            task.enqueue(report(2));
        }
        task
    })
}

fn by(name: &str, millis: i64) -> Stamp {
    Stamp {
        actor: agent(name),
        at: at(millis),
    }
}

fn make(
    task: AnyTask,
    transition: Transition,
    stamp: Stamp,
    text: Option<Note>,
    submission: Submission,
) -> Result<AnyTask, Refused> {
    match transition {
        Transition::Claim => task.claim(stamp),
        Transition::Start => task.start(stamp),
        Transition::Complete => task.complete(stamp, submission),
        Transition::Approve => task.approve(stamp, text),
        Transition::RequestRevision => {
            task.request_revision(stamp, text.unwrap_or_else(|| note("more")))
        }
        Transition::Cancel => task.cancel(stamp, text),
        Transition::Reopen => task.reopen(stamp, text),
    }
}

/// The task that a file tells of, made by the transitions. Panics where they do not make it.
fn retold(told: &AnyTask) -> AnyTask {
    let (creation, rest) = told.history().split_first().expect("a task was created");
    let new = NewTask {
        id: told.id(),
        work: told.work().clone(),
    };
    let stamp = Stamp {
        actor: creation.actor.clone(),
        at: creation.timestamp,
    };
    let mut task = AnyTask::from(Task::create(new, stamp));
    for entry in rest {
        let transition = match entry.action {
            Action::Create => panic!("created twice: {entry:?}"),
            Action::Move(transition) => transition,
            Action::Restore => {
                let stamp = Stamp {
                    actor: entry.actor.clone(),
                    at: entry.timestamp,
                };
                task = task
                    .restore(stamp)
                    .unwrap_or_else(|it| panic!("{} cannot be: {entry:?}", it.status()));
                continue;
            }
        };
        // A history keeps the summary; the rest of a submission is only in the task, and only of the last one.
        let handed_in = Submission {
            summary: entry.note.clone(),
            ..told
                .facts()
                .submission
                .cloned()
                .unwrap_or_else(|| submission(None))
        };
        let stamp = Stamp {
            actor: entry.actor.clone(),
            at: entry.timestamp,
        };
        task = make(task, transition, stamp, entry.note.clone(), handed_in)
            .unwrap_or_else(|refused| panic!("{refused}, but the history says {entry:?}"));
    }
    for entry in told.outbox() {
        task.enqueue(entry.clone());
    }
    task
}

/// Calls `visit` with every value in a document and the JSON pointer to it.
pub(super) fn walk(root: &Value, visit: &mut impl FnMut(&str, &Value)) {
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

/// One edit of a document. The indices choose among what is there.
#[derive(Clone, Debug)]
enum Edit {
    /// Puts a value in the place of another one.
    Replace(Index, Value),
    /// Copies a value of the document over another one: the likeliest to be taken wrongly.
    Copy(Index, Index),
    /// Removes a field or entry.
    Remove(Index),
    /// Adds a field to an object.
    Add(Index, &'static str, Value),
    /// Adds an entry to a list once more.
    Repeat(Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    let statuses = Status::ALL.map(|it| json!(it));
    let actions = Transition::ALL.iter().map(|it| json!(it.name()));
    let rest = [
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(2),
        json!(7),
        json!(-1),
        json!(2.5),
        json!(""),
        json!("some text"),
        json!("task-0002"),
        json!(OTHER),
        json!(at(7)),
        json!(at(-1)),
        json!([]),
        json!({}),
        json!(["some text"]),
        json!({ "directory": "/elsewhere" }),
    ];
    let values: Vec<_> = statuses.into_iter().chain(actions).chain(rest).collect();
    let value = prop::sample::select(values);
    let key = prop::sample::select(vec![
        "formatVersion",
        "assignee",
        "reason",
        "feedback",
        "submission",
        "summary",
        "note",
        "from",
        "selfApproved",
        "outbox",
        "tags",
        "metadata",
        "color",
    ]);
    prop_oneof![
        (any::<Index>(), value.clone()).prop_map(|(at, value)| Edit::Replace(at, value)),
        (any::<Index>(), any::<Index>()).prop_map(|(from, to)| Edit::Copy(from, to)),
        any::<Index>().prop_map(Edit::Remove),
        (any::<Index>(), key, value).prop_map(|(at, key, value)| Edit::Add(at, key, value)),
        any::<Index>().prop_map(Edit::Repeat),
    ]
}

impl Edit {
    /// The edited document, where there is something that this edit can change.
    fn apply(&self, genuine: &Value) -> Value {
        let mut edited = genuine.clone();
        match self {
            Self::Replace(at, value) => {
                put(&mut edited, &choose(genuine, *at, |_| true), value.clone());
            }
            Self::Copy(from, to) => {
                let from = choose(genuine, *from, |it| !it.is_object());
                let to = choose(genuine, *to, |it| !it.is_object());
                let value = genuine.pointer(&from).cloned().unwrap_or_default();
                put(&mut edited, &to, value);
            }
            Self::Remove(at) => remove(&mut edited, &choose(genuine, *at, |_| true)),
            Self::Add(at, key, value) => {
                let object = choose(genuine, *at, Value::is_object);
                put(&mut edited, &object, {
                    let mut fields = genuine.pointer(&object).cloned().unwrap_or_default();
                    fields[*key] = value.clone();
                    fields
                });
            }
            Self::Repeat(at) => {
                let list = choose(genuine, *at, Value::is_array);
                let Some(Value::Array(entries)) = edited.pointer_mut(&list) else {
                    return edited;
                };
                entries.extend(entries.last().cloned());
            }
        }
        edited
    }
}

fn choose(document: &Value, index: Index, suits: impl Fn(&Value) -> bool) -> String {
    let mut paths = Vec::new();
    walk(document, &mut |path, value| {
        if suits(value) {
            paths.push(path.to_owned());
        }
    });
    index.get(&paths).clone()
}

fn put(document: &mut Value, path: &str, value: Value) {
    *document
        .pointer_mut(path)
        .expect("the path was found in it") = value;
}

fn remove(document: &mut Value, path: &str) {
    let Some((parent, key)) = path.rsplit_once('/') else {
        return;
    };
    match document.pointer_mut(parent) {
        Some(Value::Object(fields)) => {
            fields.shift_remove(key);
        }
        Some(Value::Array(entries)) => {
            entries.remove(key.parse().expect("entries have numbers"));
        }
        _ => {}
    }
}

/// The document without what is the same as nothing: empty lists and objects, `false`, the only format version.
fn meaning(document: &Value) -> Value {
    let empty = [json!([]), json!({}), json!(false)];
    match document {
        Value::Array(entries) => entries.iter().map(meaning).collect(),
        Value::Object(fields) => fields
            .iter()
            .filter(|(key, value)| {
                !empty.contains(value) && (*key, *value) != (&"formatVersion".to_owned(), &json!(1))
            })
            .map(|(key, value)| (key.clone(), meaning(value)))
            .collect(),
        other => other.clone(),
    }
}

proptest! {
    // A walk that fails is printed in full; a file of seeds would only be another thing to keep.
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_legal_walk_comes_back(task in walked()) {
        assert_comes_back(&task);
        prop_assert_eq!(write(&retold(&task)), write(&task), "the judge tells the same story");
    }

    #[test]
    fn an_edit_is_refused_or_is_what_a_legal_task_says(task in walked(), edits in prop::collection::vec(edit(), 16)) {
        let genuine = value(&task);
        for edit in edits {
            let edited = edit.apply(&genuine);
            let Ok(taken) = read(&edited.to_string()) else {
                prop_assert_ne!(&edited, &genuine, "refused, though nothing was edited");
                continue;
            };
            prop_assert_eq!(meaning(&value(&taken)), meaning(&edited), "something was dropped or made up");
            prop_assert_eq!(write(&retold(&taken)), write(&taken), "no legal task says this: {:?}", edit);
        }
    }
}

#[test]
fn the_judge_sees_what_is_the_same() {
    let same = |a: Value, b: Value| meaning(&a) == meaning(&b);
    assert!(same(json!({ "tags": [], "formatVersion": 1 }), json!({})));
    assert!(same(
        json!({ "h": [{ "selfApproved": false }] }),
        json!({ "h": [{}] })
    ));
    assert!(!same(
        json!({ "h": [{ "selfApproved": true }] }),
        json!({ "h": [{}] })
    ));
    assert!(!same(json!({ "assignee": null }), json!({})));
    assert!(!same(json!({ "version": 1 }), json!({ "version": 2 })));
}
