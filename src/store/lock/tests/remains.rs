//! What crashes leave, and what people remove.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use super::{commit, hold, impatient, leave_token, locks};
use crate::store::durability::Durability;
use crate::store::error::StoreError;
use crate::store::lock::token::{Arrival, CANDIDATE_PREFIX, Token};
use crate::store::lock::{Commit, sweep};
use crate::store::place::Folder;
use crate::store::testing::{Desk, eventually, increment, increment_times, names, place, quick};

#[test]
fn an_empty_lock_directory_is_free() {
    let desk = Desk::new();
    let engine = desk.engine(impatient());
    increment(&engine).unwrap();
    fs::create_dir(desk.lock()).unwrap();
    assert_eq!(increment(&engine).unwrap(), 2);
    assert!(desk.left_in_locks().is_empty());
}

#[test]
fn a_lock_directory_that_comes_and_goes_is_in_nobodys_way() {
    let desk = Desk::new();
    let engine = desk.engine(quick());
    increment(&engine).unwrap();
    thread::scope(|scope| {
        let counting = scope.spawn(|| increment_times(&engine, 200));
        while !counting.is_finished() {
            let _ = fs::create_dir(desk.lock());
            let _ = fs::remove_dir(desk.lock());
        }
    });
    assert_eq!(desk.count(), 201);
}

#[test]
fn a_candidate_that_was_swept_is_built_again() {
    let desk = Desk::new();
    let mut token = Token::prepare(locks(&desk)).unwrap().unwrap();
    fs::remove_dir_all(desk.locks().join(&desk.left_in_locks()[0])).unwrap();
    assert_eq!(token.publish("tasks-counter.lock").unwrap(), Arrival::Swept);

    let holder = hold(&desk);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| increment(&desk.engine(quick())));
        for _ in 0..3 {
            remove_candidate(&desk, |candidate| fs::remove_dir_all(candidate).unwrap());
        }
        drop(holder);
        assert_eq!(waiting.join().unwrap().unwrap(), 1);
    });
}

#[test]
fn a_candidate_that_lost_its_token_commits_nothing() {
    let desk = Desk::new();
    let mut token = Token::prepare(locks(&desk)).unwrap().unwrap();
    remove_candidate(&desk, |candidate| {
        let name = &names(candidate)[0];
        fs::remove_file(candidate.join(name)).unwrap();
    });
    // The lock it gets is empty, so it is nobody's.
    assert_eq!(token.publish(&place().lock_name()).unwrap(), Arrival::First);
    assert_eq!(increment(&desk.engine(impatient())).unwrap(), 1);
    let folder = desk.engine(quick()).open().unwrap().unwrap();
    let folder = folder.folder(Folder::Tasks).unwrap().unwrap();
    token.fill(b"{}", Durability::None).unwrap();
    let moved = token.move_to(&folder, "counter.json").unwrap_err();
    assert_eq!(moved.kind(), Some(ErrorKind::NotFound));
    assert_eq!(desk.count(), 1);
}

fn remove_candidate(desk: &Desk, remove: impl Fn(&Path)) {
    let is_candidate = |name: &String| name.starts_with(CANDIDATE_PREFIX);
    let find = || desk.left_in_locks().into_iter().find(is_candidate);
    let is_complete = |name: &String| !names(&desk.locks().join(name)).is_empty();
    eventually("a candidate", || find().as_ref().is_some_and(is_complete));
    remove(&desk.locks().join(find().unwrap()));
}

#[test]
fn removing_the_locks_while_one_is_held_loses_it() {
    let desk = Desk::new();
    increment(&desk.engine(quick())).unwrap();
    let lock = hold(&desk);
    fs::remove_dir_all(desk.locks()).unwrap();
    assert_eq!(commit(lock, 9), Commit::Lost);
    assert_eq!(desk.count(), 1);
    assert_eq!(increment(&desk.engine(quick())).unwrap(), 2);
}

#[test]
fn moving_a_held_lock_away_by_hand_loses_it() {
    let desk = Desk::new();
    let lock = hold(&desk);
    fs::rename(desk.lock(), desk.locks().join("elsewhere.lock")).unwrap();
    assert_eq!(commit(lock, 9), Commit::Lost);
    assert!(!desk.document().exists());
}

#[test]
fn removing_the_whole_directory_while_a_lock_is_held_loses_it() {
    let desk = Desk::new();
    let lock = hold(&desk);
    fs::remove_dir_all(desk.store()).unwrap();
    assert_eq!(commit(lock, 9), Commit::Lost);
    assert!(!desk.store().exists(), "a lost commit brings nothing back");
    assert_eq!(increment(&desk.engine(quick())).unwrap(), 1);
}

#[test]
fn removing_the_folder_of_the_document_loses_the_lock() {
    let desk = Desk::new();
    let lock = hold(&desk);
    fs::remove_dir_all(desk.store().join("tasks")).unwrap();
    assert_eq!(commit(lock, 9), Commit::Lost);
    assert!(desk.left_in_locks().is_empty(), "the token is removed");
}

#[test]
fn removing_the_whole_directory_sets_free_who_waits() {
    let desk = Desk::new();
    let lock = hold(&desk);
    let token = desk.lock().join(&names(&desk.lock())[0]);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| increment(&desk.engine(quick())));
        eventually("a candidate", || desk.left_in_locks().len() == 2);
        eventually("the end of the held lock", || {
            // Fails when a new candidate comes meanwhile, which is fine.
            let _ = fs::remove_dir_all(desk.store());
            !token.exists()
        });
        assert_eq!(waiting.join().unwrap().unwrap(), 1);
    });
    drop(lock);
}

#[test]
fn a_directory_that_is_removed_all_the_time_is_built_again_all_the_time() {
    let desk = Desk::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = fs::remove_dir_all(desk.store());
            }
        });
        let engine = desk.engine(quick());
        let outcomes: Vec<_> = (0..300).map(|_| increment(&engine)).collect();
        done.store(true, Ordering::Relaxed);
        for outcome in outcomes {
            // Three times lost is possible here; anything else is an error.
            let is_fine = matches!(outcome, Ok(_) | Err(StoreError::Busy { .. }));
            assert!(is_fine, "{outcome:?}");
        }
    });
}

#[test]
fn a_sweep_removes_what_is_old_and_nobodys() {
    let desk = Desk::new();
    let locks = locks(&desk);
    let old = SystemTime::now() - Duration::from_secs(90);
    let candidate = |name: &str| desk.locks().join(format!("{CANDIDATE_PREFIX}{name}"));

    leave_token(&candidate("old"));
    age(&candidate("old"), old);
    fs::create_dir(candidate("old-and-empty")).unwrap();
    age(&candidate("old-and-empty"), old);
    leave_token(&candidate("young"));
    fs::create_dir(desk.locks().join("empty.lock")).unwrap();
    leave_token(&desk.locks().join("tasks-never-made.lock"));
    fs::create_dir(desk.locks().join("strange.lock")).unwrap();
    fs::write(desk.locks().join("strange.lock/note"), "a person's").unwrap();
    let lock = hold(&desk);
    let living = Token::prepare(locks.try_clone().unwrap()).unwrap().unwrap();
    let living_name = desk
        .left_in_locks()
        .into_iter()
        .find(|name| name.len() > 30)
        .unwrap();
    age(&desk.locks().join(&living_name), old);

    sweep::sweep(&locks);

    let mut expected = [
        ".new-young".to_owned(),
        living_name,
        place().lock_name(),
        "strange.lock".to_owned(),
    ];
    expected.sort();
    assert_eq!(desk.left_in_locks(), expected);
    assert_eq!(commit(lock, 1), Commit::Done);
    drop(living);
}

fn age(path: &Path, time: SystemTime) {
    File::open(path).unwrap().set_modified(time).unwrap();
}

#[test]
fn the_first_lock_of_an_engine_sweeps_and_the_next_does_not() {
    let desk = Desk::new();
    let engine = desk.engine(quick());
    let left_over = desk.locks().join("left-over.lock");
    fs::create_dir_all(&left_over).unwrap();
    increment(&engine).unwrap();
    assert!(!left_over.exists(), "the first one sweeps");
    fs::create_dir(&left_over).unwrap();
    increment(&engine).unwrap();
    assert!(left_over.exists(), "the next sweep is due in a minute");
}
