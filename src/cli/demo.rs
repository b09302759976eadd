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
    process::ExitCode,
    time::{Duration, Instant},
};

use thiserror::Error;

use assistant::Answer;
use script::Script;

use super::failed;
use crate::store::scratch::Scratch;

/// For the whole of it: it takes a fraction of a second, and more only on a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(30);

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
    let acted = act(&scratch, &mut script);
    if keep {
        // Most of all after a failure.
        script.say(&format!("\nKept: {}", scratch.path().display()));
    }
    acted
}

fn act<W: Write>(scratch: &Scratch, script: &mut Script<W>) -> Result<(), DemoError> {
    let program = env::current_exe().map_err(DemoError::surroundings("where this program is"))?;
    // As if in a checkout of that name, wherever the person is.
    let checkout = scratch
        .folder("shop")
        .map_err(DemoError::surroundings("no directory to work in"))?;
    let stage = story::Place {
        program: &program,
        arguments: &[],
        checkout: &checkout,
        coordination: &scratch.path().join("coordination"),
        deadline: Instant::now() + TIME_LIMIT,
    };
    story::tell(stage, script)?;
    let unread = "the files that were written cannot be read";
    show_files(scratch, script).map_err(DemoError::surroundings(unread))?;
    for (id, status) in story::OUTCOME {
        let name = document(id);
        let text = scratch
            .read(&name)
            .map_err(DemoError::surroundings(unread))?;
        Answer::parse("on disk", name, &text).expect("/status", status)?;
    }
    script.say("\nEvery step went as expected.");
    Ok(())
}

fn show_files<W: Write>(scratch: &Scratch, script: &mut Script<W>) -> io::Result<()> {
    script.chapter("What is on disk: one file per document, for `cat` and `jq`");
    for (path, size) in scratch.files()? {
        let path = path.strip_prefix(scratch.path()).unwrap_or(&path);
        script.say(&format!("{size:>7} bytes  {}", path.display()));
    }
    let first = document("task-0001");
    script.say(&format!("\n$ head -{HEAD} {first}"));
    for line in scratch.read(first)?.lines().take(HEAD) {
        script.say(line);
    }
    Ok(())
}

/// Where a task lies in the demonstration's directory.
fn document(id: &str) -> String {
    format!("coordination/tasks/{id}.json")
}
