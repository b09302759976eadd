//! Tests of the archive: there and back, at any moment, by anybody who was stopped in between.

use std::fs;

use super::*;
use crate::store::tasks::tests::{
    change, complete, create, found, numbers, post, send_back, stamp, store, thread,
};
use crate::store::testing::Desk;

fn approved(store: &Store) -> TaskId {
    let id = create(store);
    complete(store, id);
    change(store, id, |task| {
        task.approve(stamp("claude", 5), None).unwrap()
    });
    id
}

fn archive(store: &Store, id: TaskId) {
    let outcome = store.archive(id, &stamp("person", 6), |_| true).unwrap();
    assert_eq!(outcome, Archiving::Done);
}

/// Brings it back; at which version it is.
fn restore(store: &Store, id: TaskId) -> u64 {
    match store.restore(id, &stamp("person", 7)).unwrap() {
        Restoring::Done(task) => task.version(),
        other => panic!("{other:?}"),
    }
}

fn text(desk: &Desk, file: &str) -> String {
    fs::read_to_string(desk.store().join(file)).unwrap()
}

fn root(store: &Store) -> Root {
    store.engine().open().unwrap().unwrap()
}

#[test]
fn an_archived_task_is_out_of_the_way_and_can_be_read() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = approved(&store);
    post(&store, id, 1);
    let before = text(&desk, "tasks/task-0001.json");
    let messages = text(&desk, "messages/task-0001.json");
    archive(&store, id);

    assert_eq!(text(&desk, "archive/tasks/task-0001.json"), before);
    assert_eq!(text(&desk, "archive/messages/task-0001.json"), messages);
    assert_eq!(text(&desk, "messages/task-0001.json"), "[]\n");
    let tombstone = text(&desk, "tasks/task-0001.json");
    assert_eq!(
        tombstone,
        r#"{
  "formatVersion": 1,
  "archived": true,
  "id": "task-0001",
  "status": "approved",
  "version": 4,
  "archivedAt": "1970-01-01T00:00:06.000Z",
  "archivedBy": "person"
}
"#
    );
    let it = store.task(id).unwrap().unwrap();
    assert!(it.is_archived);
    assert_eq!(it.task.version(), 4);
    assert_eq!(numbers(&thread(&store, id)), ["message 1"]);
    let listing = store.list().unwrap();
    assert!(listing.tasks.is_empty() && listing.unreadable.is_empty());
    assert_eq!(listing.status(id), Some(Status::Approved));
    assert_eq!(create(&store).number(), 2, "its number stays its own");
    assert_eq!(desk.left_in_locks(), Vec::<String>::new());
}

#[test]
fn nothing_changes_an_archived_task() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = approved(&store);
    archive(&store, id);
    let updated = store.update(id, |_| -> Result<(Option<AnyTask>, ()), StoreError> {
        panic!("nobody gets to decide")
    });
    assert!(matches!(updated, Err(StoreError::Archived { id: it }) if it == id));
    let posted = store.append(id, |_, _: &Thread| -> Result<_, StoreError> {
        panic!("nobody gets to decide")
    });
    let posted: Result<(), _> = posted;
    assert!(matches!(posted, Err(StoreError::Archived { .. })));
}

#[test]
fn it_comes_back_whole_and_one_version_on() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = approved(&store);
    post(&store, id, 1);
    for round in 0..2 {
        archive(&store, id);
        assert_eq!(restore(&store, id), 5 + round);
        assert_eq!(found(&store, id).version(), 5 + round);
        assert!(!store.task(id).unwrap().unwrap().is_archived);
        assert_eq!(store.list().unwrap().tasks.len(), 1);
        post(&store, id, 2 + u128::from(round));
    }
    let all = ["message 1", "message 2", "message 3"];
    assert_eq!(numbers(&thread(&store, id)), all);
    assert!(matches!(
        store.restore(id, &stamp("person", 8)).unwrap(),
        Restoring::Live
    ));
}

#[test]
fn only_what_is_over_and_due_is_archived() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    let outcome = |is_due: bool| store.archive(id, &stamp("person", 6), |_| is_due).unwrap();
    assert_eq!(outcome(true), Archiving::Stays, "it is pending");
    change(&store, id, |task| {
        task.cancel(stamp("claude", 2), None).unwrap()
    });
    assert_eq!(outcome(false), Archiving::Stays, "it is not due");
    assert_eq!(outcome(true), Archiving::Done);
    assert_eq!(outcome(true), Archiving::Already);
    let missing = store.archive(TaskId::from_number(9), &stamp("person", 6), |_| true);
    assert_eq!(missing.unwrap(), Archiving::Missing);
    let missing = store.restore(TaskId::from_number(9), &stamp("person", 6));
    assert!(matches!(missing.unwrap(), Restoring::Missing));
}

#[test]
fn what_a_task_carries_is_archived_with_it() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    complete(&store, id);
    send_back(&store, id, 1);
    // As a crash between the two commits leaves it.
    fs::remove_file(desk.store().join("messages/task-0001.json")).unwrap();
    change(&store, id, |task| {
        task.cancel(stamp("claude", 6), None).unwrap()
    });
    assert_eq!(found(&store, id).outbox().len(), 1);
    archive(&store, id);
    assert_eq!(numbers(&thread(&store, id)), ["message 1"]);
    assert!(text(&desk, "archive/messages/task-0001.json").contains("message 1"));
    restore(&store, id);
    assert_eq!(numbers(&thread(&store, id)), ["message 1"]);
}

#[test]
fn what_is_posted_by_somebody_who_was_stopped_before_the_archiving_is_kept() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = approved(&store);
    post(&store, id, 1);
    archive(&store, id);
    // Whoever had read the task before, lost its lock and goes on: it knows the thread's lock only.
    store
        .engine()
        .update(&place(Folder::Messages, id), |_, log: Option<Thread>| {
            let mut log = log.unwrap_or_default();
            let entry = crate::store::tasks::tests::message(id, 2, &log);
            log.post(entry);
            Ok::<_, StoreError>((Some(log), ()))
        })
        .unwrap();
    assert_eq!(numbers(&thread(&store, id)), ["message 1", "message 2"]);
    store.empty_logs(id).unwrap();
    assert!(
        text(&desk, "messages/task-0001.json").contains("message 2"),
        "the archive does not have it yet"
    );
    assert!(store.finish_archiving(id).unwrap());
    assert!(!store.finish_archiving(id).unwrap(), "nothing is left");
    assert_eq!(text(&desk, "messages/task-0001.json"), "[]\n");
    assert_eq!(numbers(&thread(&store, id)), ["message 1", "message 2"]);
    restore(&store, id);
    assert_eq!(numbers(&thread(&store, id)), ["message 1", "message 2"]);
}

#[test]
fn an_archiver_that_was_stopped_undoes_nothing_later() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = approved(&store);
    let old = found(&store, id);
    archive(&store, id);
    restore(&store, id);
    post(&store, id, 1);
    // Whatever step the stopped one takes now, having seen the task before it was restored.
    store.empty_logs(id).unwrap();
    assert_eq!(numbers(&thread(&store, id)), ["message 1"]);
    archive(&store, id);
    assert_eq!(store.copy_task(&old).unwrap(), Commit::Done);
    store.copy_log::<Thread>(&old).unwrap();
    store.empty_logs(id).unwrap();
    assert_eq!(found(&store, id).version(), 5, "not the older copy");
    assert_eq!(numbers(&thread(&store, id)), ["message 1"]);
    restore(&store, id);
    assert_eq!(numbers(&thread(&store, id)), ["message 1"]);
}

#[test]
fn a_restore_that_has_begun_ends_the_emptying() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = approved(&store);
    post(&store, id, 1);
    archive(&store, id);
    let file = desk.store().join("tasks/task-0001.json");
    let marked = text(&desk, "tasks/task-0001.json")
        .replace("\"person\"\n", "\"person\",\n  \"restoring\": true\n");
    fs::write(&file, marked).unwrap();
    store.join_log::<Thread>(id).unwrap();
    store.empty_logs(id).unwrap();
    assert!(text(&desk, "messages/task-0001.json").contains("message 1"));
    assert!(store.task(id).unwrap().unwrap().is_archived);
    restore(&store, id);
    assert_eq!(numbers(&thread(&store, id)), ["message 1"]);
}

#[test]
fn a_tombstone_that_lies_is_refused_and_kept() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = approved(&store);
    archive(&store, id);
    let genuine = text(&desk, "tasks/task-0001.json");
    for (from, to, said) in [
        ("true", "false", "line 3, archived: expected true"),
        (
            "\"version\": 4",
            "\"version\": 3",
            "expected task-0001 at version 3",
        ),
        ("task-0001", "task-0002", "its id is task-0002"),
        (
            "approved",
            "cancelled",
            "expected task-0001 at version 4 (cancelled)",
        ),
        ("  \"id\"", "  \"x\": 1,\n  \"id\"", "unknown field `x`"),
    ] {
        let forged = genuine.replacen(from, to, 1);
        assert_ne!(forged, genuine);
        fs::write(desk.store().join("tasks/task-0001.json"), &forged).unwrap();
        let error = store.task(id).unwrap_err();
        assert!(matches!(error, StoreError::Corrupt { .. }));
        assert!(error.to_string().contains(said), "{error}");
        assert!(store.restore(id, &stamp("person", 9)).is_err());
        assert_eq!(text(&desk, "tasks/task-0001.json"), forged);
    }
    fs::write(desk.store().join("tasks/task-0001.json"), &genuine).unwrap();
    fs::remove_file(desk.store().join("archive/tasks/task-0001.json")).unwrap();
    let error = store.task(id).unwrap_err().to_string();
    assert!(error.contains("it is missing"), "{error}");
    assert!(root(&store).contains(&place(Folder::Tasks, id)).unwrap());
}
