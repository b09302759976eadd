//! What the directory lies on: whose it is, who else can get at it, and whether the file system does what the locks
//! rest on.
//!
//! The preconditions are tried and not looked up: in candidates of locks, which every server sweeps away should this
//! process die in between. So this part writes a little, and takes away what it wrote.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

use serde::Serialize;
use uuid::Uuid;

use super::Findings;
use crate::store::dir::{Dir, FileSystem};
use crate::store::error::StoreError;
use crate::store::lock::CANDIDATE_PREFIX;
use crate::store::root::Root;

/// What the directory lies on.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ground {
    /// The owner's user id: this user's, or the directory would not have been opened.
    pub(crate) owner: u32,
    /// The permission bits, in octal.
    pub(crate) mode: String,
    /// The kind of file system.
    pub(crate) file_system: String,
    /// Whether that kind is known to belong to one kernel, so that names are exclusive and the dead are seen at once.
    pub(crate) is_local: bool,
    /// What the locks rest on, and whether it holds here.
    pub(crate) preconditions: Vec<Precondition>,
}

/// Something that the locks rest on.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Precondition {
    /// What has to be so.
    pub(crate) what: &'static str,
    /// Whether it is.
    pub(crate) holds: bool,
}

pub(super) fn examine(root: &Root, findings: &mut Findings) -> Ground {
    let dir = root.dir();
    let path = dir.path();
    let FileSystem { name, is_local } = dir.file_system();
    if !is_local {
        findings.note(
            "file_system",
            path,
            format!("{name} is not known to belong to one kernel alone"),
            "names are not exclusive here and nobody is reported gone; a dead holder's lock is given up by time",
        );
    }
    let preconditions = try_out(root).unwrap_or_else(|error| {
        let next = "mend that, or choose another directory";
        findings.problem("storage", path, error.to_string(), next);
        Vec::new()
    });
    for failing in preconditions.iter().filter(|it| !it.holds) {
        findings.problem(
            "precondition",
            path,
            format!(
                "it does not hold on this file system ({name}): {}",
                failing.what
            ),
            "choose a directory on another file system: locks cannot be relied on here",
        );
    }
    let (owner, mode) = whose(dir, path, findings);
    Ground {
        owner,
        mode,
        file_system: name.into_owned(),
        is_local,
        preconditions,
    }
}

fn try_out(root: &Root) -> Result<Vec<Precondition>, StoreError> {
    let was_there = root.existing_locks()?.is_some();
    let preconditions = Trial::new(&root.locks()?)?.run();
    if !was_there {
        root.remove_locks();
    }
    Ok(preconditions)
}

/// The owner and the mode.
fn whose(dir: &Dir, path: &Path, findings: &mut Findings) -> (u32, String) {
    match dir.own_stat() {
        Ok(stat) => {
            if stat.mode() & 0o077 != 0 {
                findings.note(
                    "mode",
                    path,
                    format!("others may look into it (mode {:03o})", stat.mode()),
                    "`chmod 700` on it keeps them out",
                );
            }
            (stat.owner().as_raw(), format!("{:04o}", stat.mode()))
        }
        Err(error) => {
            findings.failure(path, &error);
            (0, String::new())
        }
    }
}

/// Two candidates to try things with: one with a file in it, one empty.
struct Trial<'a> {
    locks: &'a Dir,
    held: String,
    empty: String,
    file: File,
}

const TOKEN: &str = "token";

impl<'a> Trial<'a> {
    fn new(locks: &'a Dir) -> Result<Self, StoreError> {
        let name = |part| format!("{CANDIDATE_PREFIX}{}-{part}", Uuid::new_v4().simple());
        let (held, empty) = (name("held"), name("empty"));
        locks.create_child(&held)?;
        locks.create_child(&empty)?;
        let file = locks.create_file(format!("{held}/{TOKEN}"))?;
        Ok(Self {
            locks,
            held,
            empty,
            file,
        })
    }

    fn run(mut self) -> Vec<Precondition> {
        [
            (
                "a lock that one process holds is refused to others",
                self.excludes(),
            ),
            (
                "a directory is not renamed onto one with something in it",
                self.refuses(),
            ),
            ("a file can be written", self.is_written()),
            (
                "a file is not created where there is one",
                self.is_exclusive(),
            ),
            (
                "a directory can be renamed onto an empty one",
                self.replaces_empty(),
            ),
            (
                "a file can be renamed out of it, onto another one",
                self.publishes(),
            ),
            ("a file that is gone is not renamed", self.fences()),
            ("a directory can be flushed", self.locks.sync().is_ok()),
        ]
        .map(|(what, holds)| Precondition { what, holds })
        .into()
    }

    fn token(&self) -> String {
        format!("{}/{TOKEN}", self.held)
    }

    fn is_written(&self) -> bool {
        self.locks
            .write(self.token(), &self.file, b"something\n")
            .is_ok()
    }

    fn excludes(&self) -> bool {
        let other = self.locks.open_file(self.token()).ok().flatten();
        self.file.try_lock().is_ok()
            && other.is_some_and(|(other, _)| other.try_lock_shared().is_err())
    }

    fn refuses(&self) -> bool {
        let refused = [ErrorKind::DirectoryNotEmpty, ErrorKind::AlreadyExists];
        let renamed = self.locks.rename(&self.empty, self.locks, &self.held);
        renamed.is_err_and(|error| error.kind().is_some_and(|it| refused.contains(&it)))
    }

    fn is_exclusive(&self) -> bool {
        let created = self.locks.create_file(self.token());
        created.is_err_and(|error| error.kind() == Some(ErrorKind::AlreadyExists))
    }

    fn replaces_empty(&mut self) -> bool {
        let renamed = self.locks.rename(&self.held, self.locks, &self.empty);
        if renamed.is_ok() {
            self.held.clone_from(&self.empty);
        }
        renamed.is_ok() && matches!(self.locks.stat(self.token()), Ok(Some(_)))
    }

    fn publishes(&self) -> bool {
        let target = format!("{}/published", self.held);
        self.locks.create_file(&target).is_ok()
            && self.locks.rename(self.token(), self.locks, &target).is_ok()
            && self.locks.unlink(&target).is_ok()
    }

    fn fences(&self) -> bool {
        let target = format!("{}/published", self.held);
        let renamed = self.locks.rename(self.token(), self.locks, target);
        renamed.is_err_and(|error| error.is_not_found())
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        // What is left is swept by the next server that writes, after a minute.
        for name in [TOKEN, "published"] {
            let _ = self.locks.unlink(format!("{}/{name}", self.held));
        }
        for name in [&self.held, &self.empty] {
            let _ = self.locks.remove_child(name);
        }
    }
}
