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
    assert!(matches!(updated, Err(StoreError::Archived { id: it, .. }) if it == id));
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
    assert_eq!(store.copy_task(&old).unwrap(), Commit::Lost);
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
        ("\"version\": 4", "\"version\": 3", "expected 3 (approved)"),
        ("task-0001", "task-0002", "its id is task-0002"),
        ("approved", "cancelled", "expected 4 (cancelled)"),
        ("  \"id\"", "  \"x\": 1,\n  \"id\"", "unknown field `x`"),
        ("approved", "pending", "no pending task is archived"),
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

#[test]
fn a_task_that_was_put_back_by_hand_has_its_log_again() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = approved(&store);
    post(&store, id, 1);
    archive(&store, id);
    let [live, copy] =
        ["tasks", "archive/tasks"].map(|it| desk.store().join(it).join("task-0001.json"));
    fs::copy(copy, live).unwrap();
    assert_eq!(numbers(&thread(&store, id)), ["message 1"]);
    change(&store, id, |task| {
        task.reopen(stamp("claude", 8), None).unwrap()
    });
    assert_eq!(numbers(&thread(&store, id)), ["message 1"]);
    post(&store, id, 2);
    assert_eq!(numbers(&thread(&store, id)), ["message 1", "message 2"]);
    assert!(text(&desk, "messages/task-0001.json").contains("message 1"));
}

#[test]
fn who_has_read_a_task_before_it_was_archived_reads_its_log_afterwards() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    complete(&store, id);
    post(&store, id, 1);
    let read_before = found(&store, id);
    change(&store, id, |task| {
        task.approve(stamp("claude", 5), None).unwrap()
    });
    archive(&store, id);
    let log: Thread = store.log(&read_before).unwrap();
    assert_eq!(numbers(&log), ["message 1"]);
}

#[test]
fn a_task_whose_tombstone_was_removed_comes_back_all_the_same() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = approved(&store);
    post(&store, id, 1);
    archive(&store, id);
    fs::remove_file(desk.store().join("tasks/task-0001.json")).unwrap();
    assert_eq!(restore(&store, id), 5);
    assert_eq!(numbers(&thread(&store, id)), ["message 1"]);
}

#[test]
fn a_copy_that_tells_another_story_is_never_replaced_and_costs_no_task() {
    let desk = Desk::new();
    let store = store(&desk);
    let (id, other) = (approved(&store), approved(&store));
    let old = text(&desk, "tasks/task-0001.json");
    archive(&store, id);
    restore(&store, id);
    change(&store, id, |task| {
        task.reopen(stamp("claude", 8), None).unwrap()
    });
    change(&store, id, |task| {
        task.cancel(stamp("claude", 9), None).unwrap()
    });
    archive(&store, id);
    let copy = text(&desk, "archive/tasks/task-0001.json");
    let refused = |said: &str| {
        let before = text(&desk, "tasks/task-0001.json");
        let error = store
            .archive(id, &stamp("person", 9), |_| true)
            .unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert!(error.to_string().contains("archive/tasks/task-0001.json"));
        assert_eq!(text(&desk, "tasks/task-0001.json"), before);
    };
    // An older backup of the task.
    fs::write(desk.store().join("tasks/task-0001.json"), &old).unwrap();
    refused("is not the rest of its own");
    assert_eq!(text(&desk, "archive/tasks/task-0001.json"), copy);
    // The copy of another task.
    archive(&store, other);
    let [from, to] =
        ["task-0002.json", "task-0001.json"].map(|it| desk.store().join("archive/tasks").join(it));
    fs::copy(from, to).unwrap();
    refused("its id is task-0002");
}

#[test]
fn what_a_person_has_changed_in_a_log_is_what_is_archived() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = approved(&store);
    post(&store, id, 1);
    post(&store, id, 2);
    archive(&store, id);
    restore(&store, id);
    let file = desk.store().join("messages/task-0001.json");
    let edited = text(&desk, "messages/task-0001.json").replace("message 1", "put right");
    fs::write(&file, edited).unwrap();
    let expected = ["put right", "message 2"];
    assert_eq!(numbers(&thread(&store, id)), expected);
    archive(&store, id);
    assert_eq!(numbers(&thread(&store, id)), expected);
    restore(&store, id);
    assert_eq!(numbers(&thread(&store, id)), expected);
}

#[test]
fn a_restore_that_cannot_be_ended_leaves_no_mark() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = approved(&store);
    post(&store, id, 1);
    archive(&store, id);
    let copy = desk.store().join("archive/messages/task-0001.json");
    let messages = fs::read(&copy).unwrap();
    fs::write(&copy, "spoilt").unwrap();
    let tombstone = text(&desk, "tasks/task-0001.json");
    assert!(store.restore(id, &stamp("person", 7)).is_err());
    assert_eq!(text(&desk, "tasks/task-0001.json"), tombstone);
    fs::write(&copy, messages).unwrap();
    assert_eq!(restore(&store, id), 5);
}
