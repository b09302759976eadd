//! Tests of the typed seam: ids, outboxes and what a crash between two commits leaves.

use std::fs;

use uuid::Uuid;

use super::*;
use crate::{
    domain::{
        Content, Description, Message, MessageId, Metadata, NewTask, Note, Stamp, Status,
        Submission, Task, Timestamp, Title, Work,
    },
    store::{Durability, testing::Desk},
};

fn name(words: &str) -> AgentName {
    AgentName::from_words(words).unwrap()
}

pub(in crate::store) fn stamp(actor: &str, second: i64) -> Stamp {
    Stamp {
        actor: name(actor),
        at: Timestamp::from_millis(second * 1_000),
    }
}

fn work() -> Work {
    Work {
        title: Title::try_from("sort".to_owned()).unwrap(),
        description: Description::try_from("stably".to_owned()).unwrap(),
        expected_output: None,
        after: Vec::new().try_into().unwrap(),
        tags: Vec::new().try_into().unwrap(),
        files: Vec::new().try_into().unwrap(),
        working_directory: None,
        metadata: Metadata::default(),
    }
}

pub(in crate::store) fn store(desk: &Desk) -> Store {
    Store::new(
        &desk.store(),
        Settings::default().durability(Durability::None),
    )
}

pub(in crate::store) fn create(store: &Store) -> TaskId {
    let make = |id| Task::create(NewTask { id, work: work() }, stamp("claude", 1)).into();
    store.create(make).unwrap().id()
}

pub(in crate::store) fn change(store: &Store, id: TaskId, go: impl Fn(AnyTask) -> AnyTask) {
    store
        .update(id, |task| {
            Ok::<_, StoreError>((Some(go(task.unwrap())), ()))
        })
        .unwrap();
}

pub(in crate::store) fn complete(store: &Store, id: TaskId) {
    change(store, id, |task| task.claim(stamp("opencode", 2)).unwrap());
    let submission = Submission {
        summary: None,
        files: Vec::new().try_into().unwrap(),
        commit: None,
        branch: None,
        directory: "/".to_owned().try_into().unwrap(),
    };
    change(store, id, |task| {
        task.complete(stamp("opencode", 3), submission.clone())
            .unwrap()
    });
}

pub(in crate::store) fn message(id: TaskId, number: u128, thread: &Thread) -> Message {
    Message {
        id: MessageId::from_uuid(Uuid::from_u128(number)),
        task_id: id,
        author: name("claude"),
        timestamp: thread.stamp(Timestamp::from_millis(4_000)),
        content: Content::try_from(format!("message {number}")).unwrap(),
    }
}

pub(in crate::store) fn post(store: &Store, id: TaskId, number: u128) {
    let posted = store.append(id, |_, thread: &Thread| {
        let entry = message(id, number, thread);
        Ok::<_, StoreError>(Appended {
            task: None,
            entry,
            answer: (),
        })
    });
    posted.unwrap();
}

pub(in crate::store) fn send_back(store: &Store, id: TaskId, number: u128) {
    let feedback = Note::try_from(format!("message {number}")).unwrap();
    let sent = store.append(id, |task, thread: &Thread| {
        let task = task
            .unwrap()
            .request_revision(stamp("claude", 4), feedback.clone())
            .unwrap();
        let entry = message(id, number, thread);
        Ok::<_, StoreError>(Appended {
            task: Some(task),
            entry,
            answer: (),
        })
    });
    sent.unwrap();
}

pub(in crate::store) fn found(store: &Store, id: TaskId) -> AnyTask {
    store.task(id).unwrap().unwrap().task
}

pub(in crate::store) fn numbers(thread: &Thread) -> Vec<String> {
    thread
        .messages()
        .iter()
        .map(|it| it.content.to_string())
        .collect()
}

pub(in crate::store) fn thread(store: &Store, id: TaskId) -> Thread {
    store.log(&found(store, id)).unwrap()
}

#[test]
fn ids_are_never_given_out_twice() {
    let desk = Desk::new();
    let store = store(&desk);
    assert_eq!(create(&store).number(), 1);
    assert_eq!(create(&store).number(), 2);
    fs::remove_file(desk.store().join("tasks/task-0002.json")).unwrap();
    assert_eq!(create(&store).number(), 3, "after a deletion by hand");
    fs::remove_file(desk.store().join("sequence.json")).unwrap();
    assert_eq!(create(&store).number(), 4, "after the sequence was lost");
    fs::write(desk.store().join("sequence.json"), r#"{"last":1}"#).unwrap();
    fs::create_dir_all(desk.store().join("archive/tasks")).unwrap();
    fs::write(desk.store().join("archive/tasks/task-0008.json"), "{}").unwrap();
    assert_eq!(
        create(&store).number(),
        2,
        "a free number of an old sequence"
    );
    assert_eq!(create(&store).number(), 9, "behind all that is in use");
}

#[test]
fn a_corrupt_sequence_stops_creation_and_nothing_else() {
    let desk = Desk::new();
    let store = store(&desk);
    create(&store);
    fs::write(desk.store().join("sequence.json"), "what").unwrap();
    let make = |id| Task::create(NewTask { id, work: work() }, stamp("claude", 1)).into();
    assert!(matches!(
        store.create(make),
        Err(StoreError::Corrupt { .. })
    ));
    assert_eq!(store.list().unwrap().tasks.len(), 1);
    assert_eq!(
        fs::read_to_string(desk.store().join("sequence.json")).unwrap(),
        "what"
    );
}

#[test]
fn a_file_that_is_another_task_is_refused_by_name() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    let tasks = desk.store().join("tasks");
    fs::copy(tasks.join("task-0001.json"), tasks.join("task-0007.json")).unwrap();
    let listing = store.list().unwrap();
    assert_eq!(
        listing.tasks.iter().map(AnyTask::id).collect::<Vec<_>>(),
        [id]
    );
    let [unreadable] = listing.unreadable.as_slice() else {
        panic!("one file is unreadable")
    };
    assert_eq!(unreadable.id.number(), 7);
    assert!(
        unreadable.error.to_string().contains("its id is task-0001"),
        "{}",
        unreadable.error
    );
}

#[test]
fn a_message_is_there_from_the_moment_its_task_is_and_once() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    complete(&store, id);
    post(&store, id, 1);
    let before = fs::read(desk.store().join("messages/task-0001.json")).unwrap();
    send_back(&store, id, 2);
    assert_eq!(numbers(&thread(&store, id)), ["message 1", "message 2"]);

    // What a crash between the two commits leaves: the task with the message, the thread without.
    fs::write(desk.store().join("messages/task-0001.json"), &before).unwrap();
    let read = thread(&store, id);
    assert_eq!(numbers(&read), ["message 1", "message 2"], "readers add it");
    post(&store, id, 3);
    assert_eq!(
        numbers(&thread(&store, id)),
        ["message 1", "message 2", "message 3"]
    );
    let written = fs::read_to_string(desk.store().join("messages/task-0001.json")).unwrap();
    assert_eq!(
        written.matches("message 2").count(),
        1,
        "the next writer adds it, once"
    );
    assert_eq!(
        read.messages()[1].timestamp,
        thread(&store, id).messages()[1].timestamp,
        "with the timestamp that readers were shown"
    );
}

#[test]
fn an_outbox_is_cleared_when_it_has_arrived_and_not_before() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    complete(&store, id);
    send_back(&store, id, 1);
    let outbox = |store: &Store| found(store, id).outbox().len();
    assert_eq!(outbox(&store), 1);
    fs::remove_file(desk.store().join("messages/task-0001.json")).unwrap();
    change(&store, id, |task| task.start(stamp("opencode", 5)).unwrap());
    assert_eq!(outbox(&store), 1, "nothing has arrived");
    post(&store, id, 2);
    change(&store, id, |task| {
        task.cancel(stamp("claude", 6), None).unwrap()
    });
    assert_eq!(outbox(&store), 0);
    assert_eq!(numbers(&thread(&store, id)), ["message 1", "message 2"]);
    assert_eq!(found(&store, id).status(), Status::Cancelled);
}

#[test]
fn a_refused_operation_changes_nothing_and_leaves_nothing() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    let refused: Result<(), StoreError> = store.append(id, |_, _: &Thread| {
        Err(StoreError::corrupt("x".into(), "refused"))
    });
    assert!(refused.is_err());
    let missing: Result<(), StoreError> =
        store.append(TaskId::from_number(5), |task, _: &Thread| {
            assert!(task.is_none());
            Err(StoreError::corrupt("x".into(), "there is none"))
        });
    assert!(missing.is_err());
    assert!(!desk.store().join("messages/task-0001.json").exists());
    assert!(!desk.store().join("messages/task-0005.json").exists());
    assert_eq!(desk.left_in_locks(), Vec::<String>::new());
}

#[test]
fn a_message_of_another_task_makes_a_thread_corrupt() {
    let desk = Desk::new();
    let store = store(&desk);
    let (first, second) = (create(&store), create(&store));
    post(&store, first, 1);
    let messages = desk.store().join("messages");
    fs::copy(
        messages.join("task-0001.json"),
        messages.join("task-0002.json"),
    )
    .unwrap();
    let task = found(&store, second);
    let read: Result<Thread, _> = store.log(&task);
    assert!(matches!(read, Err(StoreError::Corrupt { .. })));
}

#[test]
fn a_listing_that_leaves_a_task_out_does_not_hide_it() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    let root = store.engine.open().unwrap().unwrap();
    let all = listing::complete(&root, Folder::Tasks, std::collections::BTreeSet::new()).unwrap();
    assert!(all.contains(&id));
}

#[test]
fn a_huge_number_in_the_sequence_does_not_keep_anybody_waiting() {
    let desk = Desk::new();
    let store = store(&desk);
    create(&store);
    // Looking each of these numbers up would take until after the end of this test's patience, and the universe's.
    fs::write(
        desk.store().join("sequence.json"),
        format!(r#"{{"last":{}}}"#, u64::MAX - 7),
    )
    .unwrap();
    assert_eq!(store.list().unwrap().tasks.len(), 1);
    assert_eq!(create(&store).number(), u64::MAX - 6);
    assert_eq!(store.list().unwrap().tasks.len(), 2);
}
