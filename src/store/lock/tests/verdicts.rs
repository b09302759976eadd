//! Holders that are dead, slow, or wrongly taken for one of these.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::{commit, hasty, hold, impatient, leave_token, locks};
use crate::store::error::StoreError;
use crate::store::lock::{Commit, Lock, Sightings, token};
use crate::store::testing::{Counter, Desk, Role, eventually, increment, names, place, quick};

#[test]
fn a_dead_holder_is_recognised_without_waiting() {
    let desk = Desk::new();
    let child = desk.start(Role::Hold);
    desk.wait_for("held");
    child.kill();
    assert_eq!(names(&desk.lock()).len(), 1, "the lock outlives its holder");
    // Under these settings time alone frees no lock before the test fails.
    assert_eq!(increment(&desk.engine(quick())).unwrap(), 1);
    assert!(desk.left_in_locks().is_empty());
}

#[test]
fn those_who_probe_one_dead_holder_do_not_see_each_other() {
    let desk = Desk::new();
    leave_token(&desk.lock());
    let token = names(&desk.lock()).remove(0);
    let lock = locks(&desk).open_child(place().lock_name());
    let lock = lock.unwrap().unwrap();
    let (other, _) = lock.open_file(&token).unwrap().unwrap();
    other.try_lock_shared().unwrap();
    assert!(token::is_abandoned(&lock, &token));
    other.unlock().unwrap();
    other.try_lock().unwrap();
    assert!(!token::is_abandoned(&lock, &token));
}

#[test]
fn racing_reclaimers_of_one_dead_holder_do_not_hurt_each_other() {
    let desk = Desk::new();
    let engine = desk.engine(quick());
    for round in 1..=30 {
        leave_token(&desk.lock());
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| increment(&engine).unwrap());
            }
        });
        assert_eq!(desk.count(), round * 3);
    }
    assert!(desk.left_in_locks().is_empty());
}

#[test]
fn the_living_are_not_taken_for_dead() {
    let desk = Desk::new();
    let child = desk.start(Role::Hold);
    desk.wait_for("held");
    let error = increment(&desk.engine(impatient())).unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    let expected = format!(
        "{} is locked by process {}, seen holding it for ",
        desk.document().display(),
        child.pid()
    );
    assert!(error.to_string().starts_with(&expected), "{error}");
    desk.mark("go");
    assert_eq!(desk.wait_for("outcome"), "Done");
    assert_eq!(desk.count(), 1000);
}

#[test]
fn a_stopped_holder_loses_its_lock_and_its_late_commit_changes_nothing() {
    let desk = Desk::new();
    let child = desk.start(Role::Hold);
    desk.wait_for("held");
    child.signal(Signal::SIGSTOP);
    assert_eq!(increment(&desk.engine(hasty())).unwrap(), 1);
    desk.mark("go");
    child.signal(Signal::SIGCONT);
    assert_eq!(desk.wait_for("outcome"), "Lost");
    child.succeed();
    assert_eq!(desk.count(), 1);
    assert!(desk.left_in_locks().is_empty());
}

#[test]
fn a_robbed_holder_hurts_no_successor_by_committing_or_releasing() {
    let desk = Desk::new();
    let (first, second) = (hold(&desk), hold_by_giving_up(&desk));
    let third = hold_by_giving_up(&desk);
    assert_eq!(commit(first, 1), Commit::Lost);
    drop(second);
    assert_eq!(names(&desk.lock()).len(), 1, "the third still holds it");
    assert_eq!(commit(third, 3), Commit::Done);
    assert_eq!(desk.count(), 3);
    assert!(desk.left_in_locks().is_empty());
}

fn hold_by_giving_up(desk: &Desk) -> Lock {
    Lock::acquire(&desk.engine(hasty()), &place()).unwrap()
}

#[test]
fn short_waits_for_one_holder_add_up() {
    let desk = Desk::new();
    let holder = hold(&desk);
    let settings = quick().give_up_after(Duration::from_secs(1));
    let engine = desk.engine(settings.patience(Duration::from_millis(20)));
    let first = increment(&engine);
    assert!(matches!(first, Err(StoreError::Busy { .. })), "{first:?}");
    eventually("the holder is given up", || increment(&engine).is_ok());
    assert_eq!(commit(holder, 9), Commit::Lost);
    assert_eq!(desk.count(), 1);
}

#[test]
fn successive_holders_are_each_seen_anew() {
    let sightings = Sightings::default();
    let see = |names: &[&str]| (Instant::now(), sightings.ages("a.lock", names));
    let is_new = |(asked, ages): (Instant, Vec<Duration>)| ages[0] <= asked.elapsed();
    see(&["1-x"]);
    let first = Instant::now();
    thread::sleep(Duration::from_millis(5));
    let (second, ages) = see(&["1-x", "2-y"]);
    assert!(ages[0] >= second - first, "the first is remembered");
    assert!(ages[1] <= second.elapsed(), "the second is new");
    see(&["2-y"]);
    assert!(is_new(see(&["1-x"])), "it was gone between");
    sightings.forget("a.lock");
    assert!(is_new(see(&["1-x"])), "it was forgotten");
}

#[test]
fn an_update_whose_lock_is_lost_decides_again_on_what_is_there_now() {
    let desk = Desk::new();
    let mut runs = 0;
    let answer = desk
        .engine(quick())
        .update(&place(), |_, counter: Option<Counter>| {
            runs += 1;
            let count = counter.map_or(0, |counter| counter.count);
            if runs == 1 {
                increment(&desk.engine(hasty()))?;
            }
            Ok::<_, StoreError>((Some(Counter::new(count + 10)), count))
        });
    assert_eq!((answer.unwrap(), runs), (1, 2));
    assert_eq!(desk.count(), 11);
}

#[test]
fn an_update_that_loses_its_lock_three_times_is_busy() {
    let desk = Desk::new();
    let mut runs = 0;
    let answer = desk
        .engine(quick())
        .update(&place(), |_, _: Option<Counter>| {
            runs += 1;
            fs::remove_dir_all(desk.locks()).unwrap();
            Ok::<_, StoreError>((Some(Counter::new(1)), ()))
        });
    let error = answer.unwrap_err();
    assert!(error.to_string().contains("took the lock away"), "{error}");
    assert_eq!(runs, 3);
    assert!(!desk.document().exists());
}
