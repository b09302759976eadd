//! A fault at each single step of each operation, by injection.
//!
//! Responsibility: that an operation is there wholly or not at all, whichever of its steps fails, and that its answer
//! says which.
//!
//! Limits: the steps of taking a name are among them, but what is in a card is not looked at.

use std::{fs, path::Path};

use serde_json::Value;

use super::{
    operation::{Operation, prepared},
    site::{Caller, Documents, Site, leftovers},
};

/// Nobody decides by which of them it is.
const ERRNOS: [i32; 3] = [nix::libc::EIO, nix::libc::ENOSPC, nix::libc::EROFS];
/// More steps than any operation takes.
const MOST: usize = 200;

/// Whether the fault passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// One step fails.
    Once,
    /// All steps fail from one on.
    Lasting,
}

impl Kind {
    fn setting(self, number: usize, errno: i32) -> String {
        match self {
            Self::Once => format!("fail {number} {errno}"),
            Self::Lasting => format!("fail-from {number} {errno}"),
        }
    }
}

/// A step as the program has recorded it.
#[derive(Clone, Debug)]
struct Taken {
    step: String,
    is_failed: bool,
    path: String,
}

impl Taken {
    fn parse(line: &str) -> Self {
        let mut words = line.splitn(4, ' ').skip(1);
        let mut next = || {
            words
                .next()
                .expect("number, step, outcome, path")
                .to_owned()
        };
        Self {
            step: next(),
            is_failed: next() == "failed",
            path: next(),
        }
    }

    fn is_removal(&self) -> bool {
        ["Unlink", "RemoveDirectory"].contains(&self.step.as_str())
    }

    /// Whether the operation may be answered as done though this step failed: tidying is nobody's concern, and what
    /// follows the deciding commit is in the task's outbox.
    fn is_excused(&self, operation: &Operation) -> bool {
        let follows = operation
            .writes
            .get(1)
            .filter(|it| !it.starts_with("tasks/"));
        let is_following = follows
            .and_then(|it| it.split('/').next())
            .is_some_and(|folder| {
                self.path.contains(&format!("/{folder}"))
                    || self.path.contains(&format!("/.locks/{folder}-"))
            });
        self.is_removal() || is_following
    }
}

/// One operation with a fault at one of its steps.
struct Attempt<'a> {
    operation: &'a Operation,
    site: &'a Site,
    start: &'a Documents,
    what: String,
    errno: i32,
    steps: Vec<Taken>,
    answer: Result<Value, String>,
}

impl Attempt<'_> {
    fn failed(&self) -> impl Iterator<Item = &Taken> {
        self.steps.iter().filter(|it| it.is_failed)
    }

    /// Whether the operation is there, which the answer must have said.
    fn is_done(&self, before: &Value, after: &Value, seen: &Value) -> bool {
        let what = &self.what;
        match &self.answer {
            Ok(_) => {
                assert_eq!(seen, after, "{what}: answered as done");
                true
            }
            Err(error) => {
                let reason = std::io::Error::from_raw_os_error(self.errno).to_string();
                let path = self.site.outside().display().to_string();
                for named in ["storage: ", &reason, &path] {
                    assert!(error.contains(named), "{what}: {error}");
                }
                let is_done = error.contains("is in place but");
                assert_eq!(
                    seen,
                    if is_done { after } else { before },
                    "{what}: {error}"
                );
                is_done
            }
        }
    }

    fn assert_nothing_changed(&self) {
        assert_eq!(
            self.site.documents().lasting(),
            self.start.clone().lasting(),
            "{}: refused, so no document has changed",
            self.what
        );
    }

    fn assert_tidy(&self) {
        if !self.failed().any(Taken::is_removal) {
            assert!(leftovers(&self.site.path()).is_empty(), "{}", self.what);
        }
    }
}

fn attempt<'a>(
    operation: &'a Operation,
    site: &'a Site,
    start: &'a Documents,
    kind: Kind,
    number: usize,
) -> (Attempt<'a>, Caller) {
    let errno = ERRNOS[number % ERRNOS.len()];
    let setting = kind.setting(number, errno);
    let record = site.outside().join("steps");
    // Nothing was recorded yet.
    let _ = fs::remove_file(&record);
    start.write_to(&site.path());
    let mut command = site.command(operation.agent);
    command
        .env("COORDINATION_DURABILITY", "full")
        .env("AI_COORD_FAULT", &setting)
        .env("AI_COORD_STEPS", &record);
    let mut caller = Caller::start(&mut command);
    let answer = operation.run(&mut caller);
    let attempt = Attempt {
        operation,
        site,
        start,
        what: format!("{}, {setting}", operation.name),
        errno,
        steps: steps(&record),
        answer,
    };
    (attempt, caller)
}

fn steps(record: &Path) -> Vec<Taken> {
    let lines = fs::read_to_string(record).unwrap();
    lines.lines().map(Taken::parse).collect()
}

/// Walks through the steps of an operation; how many there are.
fn walk(operation: &Operation, start: &Documents, kind: Kind) -> usize {
    let site = Site::with(start);
    let mut observer = site.caller("observer");
    let before = operation.seen(&mut observer);
    operation.run(&mut site.caller(operation.agent)).unwrap();
    let after = operation.seen(&mut observer);
    assert_ne!(before, after, "{}: it can be seen", operation.name);
    for number in 1..MOST {
        let (attempt, mut caller) = attempt(operation, &site, start, kind, number);
        let seen = operation.seen(&mut observer);
        let what = &attempt.what;
        let is_done = attempt.is_done(&before, &after, &seen);
        let Some(failed) = attempt.steps.get(number - 1) else {
            assert!(attempt.answer.is_ok(), "{what}: {:?}", attempt.answer);
            return number - 1;
        };
        if attempt.answer.is_ok() {
            assert!(
                failed.is_excused(attempt.operation),
                "{what}: done, though {failed:?}"
            );
        }
        attempt.assert_tidy();
        if !is_done {
            attempt.assert_nothing_changed();
        }
        if kind == Kind::Lasting {
            // It serves on, whatever it can still do; another process is to find everything usable.
            caller.listed();
            drop(caller);
            caller = site.caller(operation.agent);
        }
        go_on(&attempt, &mut caller, is_done);
        if !is_done {
            assert_eq!(operation.seen(&mut observer), after, "{what}: done later");
        }
    }
    panic!("{}: no end of steps", operation.name)
}

/// The same call again if it was not done, another one on the same directory if it was.
fn go_on(attempt: &Attempt<'_>, caller: &mut Caller, is_done: bool) {
    let again = if is_done {
        Operation::named("create").run(caller)
    } else {
        attempt.operation.run(caller)
    };
    assert!(again.is_ok(), "{}, then again: {again:?}", attempt.what);
}

fn both(name: &str, start: &Documents) {
    let operation = Operation::named(name);
    for kind in [Kind::Once, Kind::Lasting] {
        let steps = walk(&operation, start, kind);
        assert!(steps > 5, "{name}: {steps} steps were all there were");
    }
}

#[test]
fn create_in_nothing_at_all_is_done_or_not_whichever_step_fails() {
    both("create", &Documents::default());
}

#[test]
fn a_directory_is_hidden_from_git_once_the_disk_has_room_again() {
    let (site, start, create) = (
        Site::new(),
        Documents::default(),
        Operation::named("create"),
    );
    for number in 1..=8 {
        let (attempt, mut caller) = attempt(&create, &site, &start, Kind::Once, number);
        go_on(&attempt, &mut caller, attempt.answer.is_ok());
        let ignore = fs::read_to_string(site.path().join(".gitignore")).unwrap();
        assert_eq!(ignore, "*\n", "{}", attempt.what);
    }
}

macro_rules! walks {
    ($($test:ident: $name:literal,)*) => {$(
        #[test]
        fn $test() {
            both($name, prepared());
        }
    )*};
}

// One test each, so that they run side by side.
walks! {
    create_is_done_or_not_whichever_step_fails: "create",
    claim_is_done_or_not_whichever_step_fails: "claim",
    claim_next_is_done_or_not_whichever_step_fails: "claim next",
    start_is_done_or_not_whichever_step_fails: "start",
    progress_is_done_or_not_whichever_step_fails: "progress",
    complete_is_done_or_not_whichever_step_fails: "complete",
    approve_is_done_or_not_whichever_step_fails: "approve",
    revision_is_done_or_not_whichever_step_fails: "revision",
    cancel_is_done_or_not_whichever_step_fails: "cancel",
    reopen_is_done_or_not_whichever_step_fails: "reopen",
    post_is_done_or_not_whichever_step_fails: "post",
}
