//! Other things where a document should be.
//!
//! Responsibility: that each is named and left alone, that other tasks go on, and that all is well once it is gone.
//!
//! Limits: things that are no document at all. Documents with wrong content are in [`tools`](crate::tools).

use std::{
    fs::{self, File},
    os::unix::{fs::symlink, net::UnixListener},
    path::Path,
};

use nix::{sys::stat::Mode, unistd::mkfifo};
use serde_json::{Value, json};

use super::{
    operation::{Operation, prepared},
    site::{Caller, Site},
};

/// What may be found where a document should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thing {
    Directory,
    Fifo,
    Link,
    DanglingLink,
    Socket,
    Huge,
    Empty,
}

impl Thing {
    const ALL: [Self; 7] = [
        Self::Directory,
        Self::Fifo,
        Self::Link,
        Self::DanglingLink,
        Self::Socket,
        Self::Huge,
        Self::Empty,
    ];

    /// `elsewhere`: a document as good as any.
    fn put(self, path: &Path, elsewhere: &Path) {
        match self {
            Self::Directory => fs::create_dir(path).unwrap(),
            Self::Fifo => mkfifo(path, Mode::S_IRWXU).unwrap(),
            Self::Link => symlink(elsewhere, path).unwrap(),
            Self::DanglingLink => symlink("nowhere", path).unwrap(),
            Self::Socket => drop(UnixListener::bind(path).unwrap()),
            Self::Huge => File::create(path).unwrap().set_len(5 << 30).unwrap(),
            Self::Empty => drop(File::create(path).unwrap()),
        }
    }

    fn remove(self, path: &Path) {
        match self {
            Self::Directory => fs::remove_dir(path).unwrap(),
            _ => fs::remove_file(path).unwrap(),
        }
    }
}

/// A call that has to be refused, or to work, while the thing is there.
type Call = (&'static str, Value);

fn id(number: u32) -> Value {
    json!({ "task_id": format!("task-000{number}") })
}

fn post(number: u32) -> Call {
    (
        "post_message",
        json!({"task_id": format!("task-000{number}"), "content": "hello"}),
    )
}

/// Puts each thing in a document's place, and takes it away again.
///
/// `refused`: what cannot be done then, and can be done afterwards. `working`: what can be done all the time.
fn each_in_place_of(
    document: &str,
    agent: &str,
    refused: &[Call],
    working: &[Call],
    unreadable: &[&str],
) {
    for thing in Thing::ALL {
        let site = Site::with(prepared());
        let mut caller = site.caller(agent);
        let (path, away) = (site.path().join(document), site.outside().join("away"));
        fs::rename(&path, &away).unwrap();
        thing.put(&path, &away);
        let before = site.documents();
        let named = path.display().to_string();
        for (tool, arguments) in refused {
            let error = caller.refused(tool, arguments, &[&named]);
            let is_clear = ["corrupt: ", "storage: "]
                .iter()
                .any(|it| error.starts_with(it));
            assert!(is_clear, "{thing:?}: {error}");
            site.assert_no_leftovers();
        }
        assert_eq!(site.documents(), before, "{thing:?}: left alone");
        assert_eq!(caller.listed().1, unreadable, "{thing:?}");
        run_all(&mut caller, working);
        thing.remove(&path);
        fs::rename(&away, &path).unwrap();
        run_all(&mut caller, refused);
        assert_eq!(caller.listed().1, [""; 0], "{thing:?}");
        site.assert_no_leftovers();
    }
}

fn run_all(caller: &mut Caller, calls: &[Call]) {
    for (tool, arguments) in calls {
        caller.ok(tool, arguments);
    }
}

#[test]
fn of_a_task() {
    each_in_place_of(
        "tasks/task-0001.json",
        "third",
        &[
            ("get_task", id(1)),
            ("get_messages", id(1)),
            ("claim_task", id(1)),
            post(1),
            ("update_progress", id(1)),
            ("cancel_task", id(1)),
        ],
        &[post(3), ("get_task", id(2)), ("reopen_task", id(5))],
        &["task-0001"],
    );
}

#[test]
fn of_a_thread() {
    each_in_place_of(
        "messages/task-0003.json",
        "worker",
        &[("get_messages", id(3)), post(3)],
        &[post(2), ("get_task", id(3)), ("update_progress", id(2))],
        &[],
    );
}

#[test]
fn of_a_report() {
    each_in_place_of(
        "progress/task-0003.json",
        "worker",
        &[("get_progress", id(3)), ("update_progress", id(3))],
        &[post(3), ("get_task", id(3)), ("update_progress", id(2))],
        &[],
    );
}

#[test]
fn of_the_sequence() {
    let create = Operation::named("create");
    each_in_place_of(
        "sequence.json",
        "third",
        &[(create.tool, create.arguments)],
        &[post(3), ("claim_task", id(1))],
        &[],
    );
}

/// A regular file is what a card is, whatever it holds: it is for people, and written anew.
#[test]
fn of_a_card() {
    for thing in Thing::ALL {
        let site = Site::with(prepared());
        let (path, away) = (
            site.path().join("agents/third.json"),
            site.outside().join("away"),
        );
        fs::write(&away, "kept").unwrap();
        thing.put(&path, &away);
        let mut caller = site.caller("third");
        let claim = Operation::named("claim");
        if ![Thing::Huge, Thing::Empty].contains(&thing) {
            let before = site.documents();
            caller.refused(
                claim.tool,
                &claim.arguments,
                &["corrupt: ", &path.display().to_string()],
            );
            assert_eq!(caller.listed().0.len(), 6);
            assert_eq!(site.documents(), before, "{thing:?}");
            assert!(path.symlink_metadata().is_ok(), "{thing:?}: left alone");
            thing.remove(&path);
        }
        caller.ok(claim.tool, &claim.arguments);
        assert_eq!(
            fs::read_to_string(&away).unwrap(),
            "kept",
            "never through a link"
        );
        let card: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        assert_eq!(card["name"], "third", "{thing:?}");
    }
}
