//! The lock protocol, step by step: each verdict right and wrong, each step interrupted.

mod intruders;
mod remains;
mod verdicts;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use uuid::Uuid;

use super::*;
use crate::store::durability::Durability;
use crate::store::engine::Settings;
use crate::store::place::Folder;
use crate::store::testing::{
    Counter, Desk, Role, eventually, increment, increment_times, names, place, quick,
};

/// Settings under which a living holder is given up soon.
fn hasty() -> Settings {
    quick().give_up_after(Duration::from_millis(200))
}

/// Settings under which waiting ends soon, long before anybody is given up.
fn impatient() -> Settings {
    quick().patience(Duration::from_millis(50))
}

fn hold(desk: &Desk) -> Lock {
    Lock::acquire(&desk.engine(quick()), &place()).unwrap()
}

fn commit(lock: Lock, count: u64) -> Commit {
    let bytes = document::encode(&lock.path(), &Counter::new(count)).unwrap();
    lock.commit(&bytes).unwrap()
}

/// A token that a crash left: nobody holds it.
fn leave_token(directory: &Path) {
    fs::create_dir_all(directory).unwrap();
    let name = format!("4194304-{}", Uuid::new_v4().simple());
    fs::write(directory.join(name), "{\"half\":").unwrap();
}

fn locks(desk: &Desk) -> Dir {
    let root = desk.engine(quick()).open_or_create().unwrap();
    root.locks().unwrap()
}

#[test]
fn a_commit_publishes_the_document_and_releases_the_lock() {
    for durability in [Durability::Full, Durability::Data, Durability::None] {
        let desk = Desk::new();
        let engine = desk.engine(quick().durability(durability));
        let lock = Lock::acquire(&engine, &place()).unwrap();
        assert_eq!(lock.read::<Counter>().unwrap(), None);
        assert_eq!(names(&desk.lock()).len(), 1, "held means: not empty");
        assert_eq!(commit(lock, 7), Commit::Done);
        let text = fs::read_to_string(desk.document()).unwrap();
        assert_eq!(text, "{\n  \"formatVersion\": 1,\n  \"count\": 7\n}\n");
        let mode = fs::metadata(desk.document()).unwrap().permissions().mode();
        assert_eq!(mode & 0o177, 0, "nobody else may read it");
        assert!(desk.left_in_locks().is_empty(), "nothing is left");
    }
}

#[test]
fn a_dropped_lock_is_released_with_nothing_changed() {
    let desk = Desk::new();
    increment(&desk.engine(quick())).unwrap();
    drop(hold(&desk));
    assert!(desk.left_in_locks().is_empty());
    assert_eq!(desk.count(), 1);
    assert_eq!(increment(&desk.engine(impatient())).unwrap(), 2);
}

#[test]
fn the_token_is_named_by_process_and_holds_nothing_until_the_commit() {
    let desk = Desk::new();
    let lock = hold(&desk);
    let [token] = &names(&desk.lock())[..] else {
        panic!("one token")
    };
    assert_eq!(token::pid_in(token), Some(std::process::id()));
    assert_eq!(fs::metadata(desk.lock().join(token)).unwrap().len(), 0);
    drop(lock);
}

#[test]
fn two_documents_are_locked_and_committed_one_after_the_other() {
    let desk = Desk::new();
    let engine = desk.engine(quick());
    let thread = Place::new(Folder::Messages, "counter");
    let first = Lock::acquire(&engine, &place()).unwrap();
    let second = Lock::acquire(&engine, &thread).unwrap();
    assert_eq!(commit(first, 1), Commit::Done);
    assert_eq!(increment(&engine).unwrap(), 2, "the first is free again");
    assert_eq!(second.read::<Counter>().unwrap(), None);
    assert_eq!(commit(second, 5), Commit::Done);
    assert_eq!(engine.read(&thread).unwrap(), Some(Counter::new(5)));
    assert!(engine.open().unwrap().unwrap().contains(&thread).unwrap());
}

#[test]
fn an_update_that_changes_nothing_writes_nothing() {
    let desk = Desk::new();
    let engine = desk.engine(quick());
    let answer: Result<_, StoreError> = engine.update(&place(), |_, counter: Option<Counter>| {
        assert_eq!(counter, None);
        Ok((None, "as it was"))
    });
    assert_eq!(answer.unwrap(), "as it was");
    assert!(!desk.document().exists());
    assert!(desk.left_in_locks().is_empty());
}

#[test]
fn no_update_of_many_threads_is_lost() {
    let desk = Desk::new();
    let shared = desk.engine(quick());
    thread::scope(|scope| {
        for number in 0..8 {
            // Half of them share one engine, the others are like processes of their own.
            let engine = match number % 2 {
                0 => shared.clone(),
                _ => desk.engine(quick()),
            };
            scope.spawn(move || increment_times(&engine, 40));
        }
    });
    assert_eq!(desk.count(), 320);
    assert!(desk.left_in_locks().is_empty());
}

#[test]
fn no_update_of_several_processes_is_lost() {
    let desk = Desk::new();
    let children: Vec<_> = (0..3).map(|_| desk.start(Role::Increment(60))).collect();
    increment_times(&desk.engine(quick()), 60);
    for child in children {
        child.succeed();
    }
    assert_eq!(desk.count(), 240);
    assert_eq!(desk.answered().len(), 180, "those of the others");
    assert!(desk.left_in_locks().is_empty());
}

#[test]
fn no_answered_update_of_killed_processes_is_lost_or_doubled() {
    const ROUNDS: usize = 6;
    let desk = Desk::new();
    for round in 1..=ROUNDS {
        let killed = desk.start(Role::Increment(u32::MAX));
        let other = desk.start(Role::Increment(20));
        eventually("some progress", || desk.answered().len() >= round * 30);
        killed.kill();
        other.succeed();
    }
    let answered = desk.answered();
    let different: BTreeSet<_> = answered.iter().collect();
    assert_eq!(different.len(), answered.len(), "no answer twice");
    let unanswered = usize::try_from(desk.count()).unwrap() - answered.len();
    assert!(
        unanswered <= ROUNDS,
        "at most the last one of each killed process"
    );
}

#[test]
fn no_update_is_lost_when_living_holders_are_robbed_all_the_time() {
    let desk = Desk::new();
    let robbing = quick().give_up_after(Duration::ZERO);
    let counted: u64 = thread::scope(|scope| {
        let count = || {
            let engine = desk.engine(robbing);
            (0..60)
                .map(|_| u64::from(increment(&engine).is_ok()))
                .sum::<u64>()
        };
        let counters: Vec<_> = (0..4).map(|_| scope.spawn(count)).collect();
        counters.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(
        desk.count(),
        counted,
        "what was answered is there, and nothing else"
    );
    assert!(counted > 0);
}
