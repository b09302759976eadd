//! Other things in and for a lock.
//!
//! Responsibility: that a lock which nobody can take away is reported with what is in it, and that a stray file does
//! not shut a task for ever.
//!
//! Limits: whoever waits for a lock does so for 15 seconds; all that waits here does so at the same time.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    thread,
};

use serde_json::{Value, json};

use super::{
    operation::prepared,
    site::{Caller, Site},
};
use crate::child::{request, text};

fn post(number: usize) -> Value {
    json!({"task_id": format!("task-000{number}"), "content": "hello"})
}

fn lock(site: &Site, number: usize) -> PathBuf {
    site.path()
        .join(format!(".locks/messages-task-000{number}.lock"))
}

/// The posting of a message to each of these tasks, all at once.
fn post_to_all(caller: &mut Caller, numbers: &[usize]) -> Vec<Value> {
    for number in numbers {
        let params = json!({"name": "post_message", "arguments": post(*number)});
        caller
            .server()
            .send(&request(&json!(number), "tools/call", &params));
    }
    let mut answer = |number: &usize| caller.server().answer(&json!(number))["result"].take();
    numbers.iter().map(&mut answer).collect()
}

/// Puts a directory, a file and a link into the locks of the first three tasks.
fn intrude(site: &Site) -> [PathBuf; 3] {
    let entries = [1, 2, 3].map(|number| lock(site, number).join("intruder"));
    let [directory, file, link] = &entries;
    for entry in &entries {
        fs::create_dir(entry.parent().unwrap()).unwrap();
    }
    fs::create_dir(directory).unwrap();
    fs::write(file, "of use to somebody").unwrap();
    symlink("/etc/hostname", link).unwrap();
    entries
}

fn remove(entry: &Path) {
    if entry.is_dir() && !entry.is_symlink() {
        fs::remove_dir(entry).unwrap();
    } else {
        fs::remove_file(entry).unwrap();
    }
}

/// Side by side: both wait until a caller's patience is used up.
#[test]
fn what_is_no_part_of_a_lock_is_named_and_only_a_file_is_given_up() {
    thread::scope(|scope| {
        scope.spawn(everything_stays_before_its_time);
        scope.spawn(a_directory_stays_for_ever);
    });
}

fn everything_stays_before_its_time() {
    let site = Site::with(prepared());
    let mut command = site.command("third");
    let mut caller = Caller::start(command.env("COORDINATION_STALE_LOCK_SECONDS", "3600"));
    let entries = intrude(&site);
    let before = site.documents();
    let results = post_to_all(&mut caller, &[1, 2, 3]);
    for (result, entry) in results.iter().zip(&entries) {
        let error = text(result);
        for named in [
            "busy: ",
            entry.to_str().unwrap(),
            "no part of a lock: remove it",
        ] {
            assert!(error.contains(named), "{error}");
        }
        assert!(entry.symlink_metadata().is_ok(), "left alone");
    }
    assert_eq!(site.documents().lasting(), before.lasting());
    for entry in &entries {
        remove(entry);
    }
    for number in 1..=3 {
        caller.ok("post_message", &post(number));
    }
    site.assert_no_leftovers();
}

fn a_directory_stays_for_ever() {
    let site = Site::with(prepared());
    let mut command = site.command("third");
    let mut caller = Caller::start(command.env("COORDINATION_STALE_LOCK_SECONDS", "0.2"));
    let [directory, file, link] = intrude(&site);
    let results = post_to_all(&mut caller, &[1, 2, 3]);
    assert!(text(&results[0]).starts_with("busy: "), "{}", results[0]);
    for result in &results[1..] {
        assert!(
            result.get("isError").is_none_or(|it| it == false),
            "{result}"
        );
    }
    assert!(directory.is_dir());
    assert!(file.symlink_metadata().is_err() && link.symlink_metadata().is_err());
    remove(&directory);
    caller.ok("post_message", &post(1));
    site.assert_no_leftovers();
}

#[test]
fn what_is_in_the_place_of_a_lock_is_named_and_left_alone() {
    let site = Site::with(prepared());
    let mut caller = site.caller("third");
    let [file, link] = [1, 2].map(|number| lock(&site, number));
    fs::write(&file, "of use to somebody").unwrap();
    symlink("/etc", &link).unwrap();
    let before = site.documents();
    for (number, path) in [(1, &file), (2, &link)] {
        caller.refused(
            "post_message",
            &post(number),
            &["storage: ", path.to_str().unwrap()],
        );
        assert!(path.symlink_metadata().is_ok(), "left alone");
    }
    assert_eq!(site.documents().lasting(), before.lasting());
    caller.ok("post_message", &post(3));
    for (number, path) in [(1, &file), (2, &link)] {
        fs::remove_file(path).unwrap();
        caller.ok("post_message", &post(number));
    }
    site.assert_no_leftovers();
}

#[test]
fn what_is_in_the_place_of_a_folder_is_named_and_left_alone() {
    for name in [".locks", "tasks", "messages", "agents"] {
        let site = Site::with(prepared());
        let mut caller = site.caller("third");
        let (path, away) = (site.path().join(name), site.outside().join("away"));
        fs::rename(&path, &away).unwrap();
        for is_link in [false, true] {
            if is_link {
                symlink(&away, &path).unwrap();
            } else {
                fs::write(&path, "a file").unwrap();
            }
            let before = site.documents();
            let expected = ["storage: ", path.to_str().unwrap(), "expected a directory"];
            caller.refused("post_message", &post(3), &expected);
            assert_eq!(site.documents(), before, "{name}: left alone");
            fs::remove_file(&path).unwrap();
        }
        fs::rename(&away, &path).unwrap();
        caller.ok("post_message", &post(3));
    }
}
