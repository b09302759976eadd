//! `demo`: the main job on real input without any assistant.
//!
//! Two copies of this program play the servers of two assistants, on a directory of their own, and are called as
//! assistants would call them, through the protocol. Every answer is checked; one that is not as it has to be ends the
//! demonstration as a failure.

mod assistant;
mod script;
mod story;

use std::{
    env, io,
    io::{IsTerminal, Write},
    path::Path,
    process::ExitCode,
};

use thiserror::Error;

use script::Script;

use super::failed;
use crate::store::scratch::Scratch;

/// How much of the first task's file is shown.
const HEAD: usize = 11;

/// The demonstration has not gone as it has to.
#[derive(Debug, Error)]
pub(super) enum DemoError {
    /// Something in its surroundings failed.
    #[error("{what}: {source}")]
    Surroundings {
        /// What was attempted.
        what: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// No answer came in time, or none at all.
    #[error("{who}: {tool} was not answered ({why})")]
    Silence {
        /// Whose server.
        who: &'static str,
        /// What was called.
        tool: String,
        /// What happened instead.
        why: &'static str,
    },
    /// An answer is not as it has to be.
    #[error("{who}: {tool}: expected {at} to be {expected}, got {got}")]
    Unexpected {
        /// Whose server.
        who: &'static str,
        /// What was called.
        tool: String,
        /// The place in the answer.
        at: String,
        /// What has to be there.
        expected: String,
        /// What is.
        got: String,
    },
}

impl DemoError {
    fn surroundings(what: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Surroundings { what, source }
    }
}

/// Runs the demonstration; `keep` leaves its directory.
pub(super) fn run(keep: bool) -> ExitCode {
    let colours =
        io::stdout().is_terminal() && env::var_os("NO_COLOR").is_none_or(|it| it.is_empty());
    match perform(keep, Script::new(io::stdout(), colours)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error, 1),
    }
}

fn perform<W: Write>(keep: bool, mut script: Script<W>) -> Result<(), DemoError> {
    let mut scratch = Scratch::new().map_err(DemoError::surroundings("no temporary directory"))?;
    if keep {
        scratch.keep();
    }
    let program = env::current_exe().map_err(DemoError::surroundings("where this program is"))?;
    // As if in a checkout of that name, wherever the person is.
    let checkout = scratch
        .folder("shop")
        .map_err(DemoError::surroundings("no directory to work in"))?;
    let stage = story::Place {
        program: &program,
        checkout: &checkout,
        coordination: &scratch.path().join("coordination"),
    };
    story::tell(stage, &mut script)?;
    show_files(&scratch, &mut script)
        .map_err(DemoError::surroundings("the files that were written"))?;
    script.say("\nEvery step went as expected.");
    if keep {
        script.say(&format!("Kept: {}", scratch.path().display()));
    }
    Ok(())
}

fn show_files<W: Write>(scratch: &Scratch, script: &mut Script<W>) -> io::Result<()> {
    script.chapter("What is on disk: one file per document, for `cat` and `jq`");
    for (path, size) in scratch.files()? {
        let path = path.strip_prefix(scratch.path()).unwrap_or(&path);
        script.say(&format!("{size:>7} bytes  {}", path.display()));
    }
    let first = Path::new("coordination/tasks/task-0001.json");
    script.say(&format!("\n$ head -{HEAD} {}", first.display()));
    for line in scratch.read(first)?.lines().take(HEAD) {
        script.say(line);
    }
    Ok(())
}
