//! What full and broken disks, missing rights and other people's files do to the running program.
//!
//! Responsibility: for each fault, that the call is refused with the path and the system's reason, that no document has
//! changed, that nothing is left behind, that the server goes on, and that the same call works once the cause is gone.
//!
//! Limits: faults that need a mount or another user need root and Linux; where those are missing, the test says
//! `skipped: <reason>` and passes. The walk with injected faults needs neither and runs everywhere.

mod access;
mod descriptors;
mod entries;
mod full;
mod locks;
mod mount;
pub(crate) mod operation;
pub(crate) mod site;
mod vanishing;
mod walk;

use std::io::Write;

use nix::unistd::Uid;

/// Says that a test could not be run here, where the harness does not swallow it.
pub(crate) fn skip(reason: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {reason}");
}

fn is_root() -> bool {
    Uid::effective().is_root()
}
