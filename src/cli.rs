//! The program: what it was started as, from its arguments to its exit code.

mod archive;
mod arguments;
mod config;
mod demo;
mod doctor;
mod layout;
mod schema;
mod serve;
mod settings;
mod where_;

use std::{
    ffi::OsString,
    fmt,
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;

use arguments::{Arguments, Command};
use settings::Settings;

use crate::{
    service::{Due, Failure},
    store::Treatment,
};

/// Exit code for arguments and settings that cannot be used, as clap has it.
const USAGE: u8 = 2;

/// Runs the program with these arguments, the first of which is its own name.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(help_or_error) => {
            // Nothing is left to do about a terminal that is gone.
            let _ = help_or_error.print();
            return ExitCode::from(u8::try_from(help_or_error.exit_code()).unwrap_or(USAGE));
        }
    };
    if let Some(Command::Demo { keep }) = arguments.command {
        if arguments.dir.is_some() {
            let error = "demo makes a directory of its own: leave --dir out, --keep leaves it for you to look at";
            return failed(&error, USAGE);
        }
        return demo::run(keep);
    }
    let has_tools = arguments.tools.is_some();
    let settings = match Settings::from_env(arguments.dir, arguments.tools) {
        Ok(settings) => settings,
        Err(error) => return failed(&error, USAGE),
    };
    match arguments.command {
        None | Some(Command::Demo { .. }) => serve::run(settings),
        Some(Command::Where) => {
            let worktree = settings.worktree();
            print(&where_::report(settings.location(), worktree.as_ref()))
        }
        Some(Command::Config(options)) => config::run(&options, &settings, has_tools),
        Some(Command::Archive { list: true, .. }) => archive::list(&settings.service()),
        Some(Command::Archive {
            tasks,
            older_than,
            status,
            ..
        }) => {
            let due = if tasks.is_empty() {
                Due::Old {
                    statuses: status,
                    older_than,
                }
            } else {
                Due::Named(tasks)
            };
            archive::archive(&settings.service(), &due)
        }
        Some(Command::Doctor {
            json,
            fix,
            quarantine,
        }) => {
            let treatment = Treatment { fix, quarantine };
            doctor::run(&settings.store(), settings.location(), &treatment, json)
        }
        Some(Command::Schema(options)) => schema::run(&options, settings.profile()),
        Some(Command::Restore { tasks }) => archive::restore(&settings.service(), &tasks),
    }
}

/// Something that was asked for is not done.
fn refused(failure: &Failure) -> ExitCode {
    failed(failure, 1)
}

fn print(text: &str) -> ExitCode {
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has seen enough (`| head -1`).
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => failed(&error, 1),
    }
}

fn failed(error: &dyn fmt::Display, code: u8) -> ExitCode {
    // The reason is lost with the terminal; the exit code is not.
    let _ = writeln!(io::stderr(), "ai-coord-mcp: {error}");
    ExitCode::from(code)
}
