//! Names, and the living and dead processes that go by them.

use std::fs;
use std::os::unix::fs::symlink;
use std::thread;

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;

use super::*;
use crate::store::testing::{Desk, Role, eventually, quick};

fn card() -> Card {
    let card = Card::new("worker", "/home/me/tree", "2026-01-01T00:00:00.000Z");
    card.with_client(Some("opencode".to_owned()), Some("1.2".to_owned()))
}

fn root(desk: &Desk) -> Root {
    desk.engine(quick()).open_or_create().unwrap()
}

fn take(root: &Root) -> Taken {
    Presence::take(root, "worker", &card()).unwrap()
}

fn have(root: &Root) -> Presence {
    match take(root) {
        Taken::Held(presence) => presence,
        Taken::InUse(card) => panic!("the name is in use: {card:?}"),
    }
}

/// The card of whoever has the name.
fn owner(root: &Root) -> Option<Card> {
    match take(root) {
        Taken::Held(_) => panic!("the name is free"),
        Taken::InUse(card) => card,
    }
}

#[test]
fn a_name_is_held_until_it_is_dropped() {
    let desk = Desk::new();
    let root = root(&desk);
    assert_eq!(
        holder(&root, "worker").unwrap(),
        Holder::Gone(None),
        "nobody was ever here"
    );
    let presence = have(&root);
    assert_eq!(
        holder(&root, "worker").unwrap(),
        Holder::Alive(Some(card()))
    );
    assert_eq!(owner(&root), Some(card()), "also for this process");
    assert_eq!(holder(&root, "other").unwrap(), Holder::Gone(None));
    drop(presence);
    eventually("the name is given back", || {
        matches!(holder(&root, "worker").unwrap(), Holder::Gone(_))
    });
    assert!(have(&root).is_current(&root).unwrap());
}

#[test]
fn a_name_dies_with_its_process_and_can_be_had_again() {
    let desk = Desk::new();
    let root = root(&desk);
    let child = desk.start(Role::BePresent);
    desk.wait_for("present");
    let Holder::Alive(Some(seen)) = holder(&root, "worker").unwrap() else {
        panic!("the process is alive and its card written")
    };
    assert_eq!(seen.pid(), child.pid());
    assert_eq!(owner(&root), Some(seen));
    child.kill();
    assert!(matches!(holder(&root, "worker").unwrap(), Holder::Gone(_)));
    let _presence = have(&root);
    let Holder::Alive(Some(seen)) = holder(&root, "worker").unwrap() else {
        panic!("this process is alive and its card written")
    };
    assert_eq!(seen, card(), "nothing of the longer card is left");
}

#[test]
fn the_card_is_for_people() {
    let desk = Desk::new();
    let _presence = have(&root(&desk));
    let text = fs::read_to_string(desk.store().join("agents/worker.json")).unwrap();
    let expected = format!(
        "{{\n  \"formatVersion\": 1,\n  \"name\": \"worker\",\n  \"client\": \"opencode\",\n  \
         \"version\": \"1.2\",\n  \"pid\": {},\n  \"directory\": \"/home/me/tree\",\n  \
         \"since\": \"2026-01-01T00:00:00.000Z\"\n}}\n",
        std::process::id()
    );
    assert_eq!(text, expected);
    let read: Card = serde_json::from_str(&text).unwrap();
    assert_eq!((read.name(), read.client()), ("worker", Some("opencode")));
    assert_eq!(
        (read.version(), read.directory()),
        (Some("1.2"), "/home/me/tree")
    );
    assert_eq!(read.since(), "2026-01-01T00:00:00.000Z");
}

#[test]
fn an_unreadable_card_takes_nothing_from_its_holder() {
    let desk = Desk::new();
    let root = root(&desk);
    let presence = have(&root);
    fs::write(desk.store().join("agents/worker.json"), "{").unwrap();
    assert_eq!(holder(&root, "worker").unwrap(), Holder::Alive(None));
    assert_eq!(owner(&root), None);
    assert!(
        presence.is_current(&root).unwrap(),
        "written in place, not replaced"
    );
}

#[test]
fn a_deleted_card_is_noticed_and_the_name_can_be_taken_anew() {
    let desk = Desk::new();
    let first_root = root(&desk);
    let first = have(&first_root);
    assert!(first.is_current(&first_root).unwrap());
    fs::remove_file(desk.store().join("agents/worker.json")).unwrap();
    assert!(!first.is_current(&first_root).unwrap());
    let second = have(&first_root);
    assert!(second.is_current(&first_root).unwrap());
    assert!(!first.is_current(&first_root).unwrap(), "another inode");

    fs::remove_dir_all(desk.store()).unwrap();
    let new_root = root(&desk);
    assert!(!second.is_current(&new_root).unwrap());
    assert!(have(&new_root).is_current(&new_root).unwrap());
}

#[test]
fn those_who_look_do_not_see_each_other() {
    let desk = Desk::new();
    let root = root(&desk);
    drop(have(&root));
    let agents = root.agents().unwrap().unwrap();
    let (other, _) = agents.open_file("worker.json").unwrap().unwrap();
    eventually("the name is given back", || other.try_lock_shared().is_ok());
    assert!(matches!(holder(&root, "worker").unwrap(), Holder::Gone(_)));
}

#[test]
fn those_who_look_do_not_keep_the_owner_from_its_name() {
    let desk = Desk::new();
    let root = root(&desk);
    drop(have(&root));
    let agents = root.agents().unwrap().unwrap();
    let (probe, _) = agents.open_file("worker.json").unwrap().unwrap();
    // Repeated, because this thread may be kept from letting go in time.
    let had = (0..20).any(|_| {
        let looking = probe.try_lock_shared();
        let taken = thread::scope(|scope| {
            let taking = scope.spawn(|| take(&root));
            thread::sleep(Duration::from_millis(10));
            probe.unlock().unwrap();
            taking.join().unwrap()
        });
        looking.is_ok() && matches!(taken, Taken::Held(_))
    });
    assert!(had, "a moment's look is never taken for a holder");
}

#[test]
fn one_of_many_gets_the_name() {
    let desk = Desk::new();
    let root = root(&desk);
    let winners: Vec<_> = thread::scope(|scope| {
        let takers: Vec<_> = (0..6).map(|_| scope.spawn(|| take(&root))).collect();
        let taken = takers.into_iter().map(|taker| taker.join().unwrap());
        taken
            .filter(|taken| matches!(taken, Taken::Held(_)))
            .collect()
    });
    assert_eq!(winners.len(), 1);
}

#[test]
fn anything_but_a_regular_file_in_place_of_the_card_is_named() {
    for kind in ["a symbolic link", "a FIFO", "a directory"] {
        let desk = Desk::new();
        let root = root(&desk);
        fs::create_dir(desk.store().join("agents")).unwrap();
        let path = desk.store().join("agents/worker.json");
        match kind {
            "a FIFO" => mkfifo(&path, Mode::S_IRWXU).unwrap(),
            "a directory" => fs::create_dir(&path).unwrap(),
            _ => symlink("/nowhere/target", &path).unwrap(),
        }
        let taken = Presence::take(&root, "worker", &card()).map(|_| ());
        let looked = holder(&root, "worker").map(|_| ());
        for error in [taken.unwrap_err(), looked.unwrap_err()] {
            let text = error.to_string();
            assert!(text.contains("agents/worker.json is not"), "{text}");
            assert!(text.contains(&format!("found {kind}")), "{text}");
        }
    }
}
