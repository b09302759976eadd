//! What is in `.locks/`: held locks, those of the dead, and what does not belong there.

use std::ffi::OsStr;

use super::Findings;
use crate::store::dir::Dir;
use crate::store::error::StoreError;
use crate::store::lock::{self, Remains};
use crate::store::place::Place;
use crate::store::root::Root;

pub(super) fn examine(root: &Root, findings: &mut Findings) {
    let path = root.dir().path_of(".locks");
    let examined = root.existing_locks().and_then(|locks| match locks {
        Some(locks) => each(&locks, findings),
        None => Ok(()),
    });
    if let Err(error) = examined {
        findings.failure(&path, &error);
    }
}

/// Whether a running process holds the lock of a document.
pub(super) fn is_held(root: &Root, place: &Place) -> bool {
    let name = place.lock_name();
    let locks = root.existing_locks().ok().flatten();
    locks.is_some_and(|locks| {
        matches!(
            lock::remains(&locks, OsStr::new(&name)),
            Ok(Remains::Held(_))
        )
    })
}

fn each(locks: &Dir, findings: &mut Findings) -> Result<(), StoreError> {
    for name in locks.names()? {
        let path = locks.path_of(&name);
        match lock::remains(locks, &name)? {
            Remains::Nothing => {}
            Remains::Foreign(Some(entry)) => findings.problem(
                "foreign",
                &path.join(entry),
                "it is no part of a lock",
                "remove it: whoever wants that lock waits for it in vain",
            ),
            Remains::Foreign(None) => findings.note(
                "foreign",
                &path,
                "it is no lock",
                "it is in nobody's way unless it has the name of one; remove it",
            ),
            Remains::Dead(token) => findings.note(
                "dead_holder",
                &path,
                format!("its holder has ended: {}", token.display()),
                "the next one who wants it takes it at once; --fix removes it now",
            ),
            Remains::Held(token) => findings.note(
                "held",
                &path,
                format!("a running process holds it: {}", token.display()),
                "it is given back in a moment, or taken away after some seconds",
            ),
            Remains::Candidate => findings.note(
                "candidate",
                &path,
                "it is left of a process that has ended",
                "the next server that starts sweeps it away; --fix does it now",
            ),
        }
    }
    Ok(())
}
