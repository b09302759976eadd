//! `config`: what a client's own file has to say so that the client starts this program, printed or put there.
//!
//! Responsibility: the command, its options and what it says. What clients want is in `client` and `shape`, how files
//! are changed in `setting`, `document` and `file`.
//! Limits: it never starts a client, and takes nothing out of a file.

mod client;
mod diff;
mod document;
mod file;
mod setting;
mod shape;

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use thiserror::Error;

use client::{Client, ClientFile, Directories, Role, Scope};
use document::Broken;
use file::{FileError, Found};
use setting::Setting;
use shape::Wanted;

use super::{USAGE, failed, print, settings::Settings};
use crate::store::location::{Reason, printable};

pub(super) const AFTER_HELP: &str = "\
Without --write it prints what belongs in the client's file, and names that
file on standard error. With --write it puts it there: the rest of the file
stays as it is, the old file is kept as FILE.ai-coord-backup, and what the file
says already is not written again. It ends with 1 if a file cannot be changed.

Examples:
  ai-coord-mcp config claude
  ai-coord-mcp config claude --write
  ai-coord-mcp config codex --role implementer --write
  ai-coord-mcp --dir /srv/queue config gemini --pin --write";

/// What to tell to whom.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// claude, codex, gemini, copilot, opencode, cline, vscode, cursor, zed
    // The lists that clap makes are wider than a terminal.
    #[arg(hide_possible_values = true)]
    client: Client,
    /// implementer or coordinator: only its tools, allowed
    #[arg(long, hide_possible_values = true)]
    role: Option<Role>,
    /// Whose file, user or project
    #[arg(long, default_value = "user", hide_possible_values = true)]
    scope: Scope,
    /// Say which shared directory, for all projects
    #[arg(long)]
    pin: bool,
    /// Put it into the file
    #[arg(long)]
    write: bool,
}

/// A client cannot be told.
#[derive(Debug, Error)]
enum ConfigError {
    #[error("Cline has no file for a project: leave --scope out")]
    NoProjectFile,
    #[error("config uses --dir only with --pin, which puts the directory into the entry")]
    DirectoryUnused,
    #[error("config takes --role and not --tools: roles come with the rules to allow their tools")]
    ToolsUnused,
    #[error("nobody knows your home directory: set HOME to an absolute path")]
    NoHome,
    #[error("where this program is cannot be told: {0}")]
    Program(#[source] io::Error),
    #[error("{}: configuration files hold text, and this path is none", printable(.0))]
    NotText(PathBuf),
    #[error("{}: {reason}", printable(.path))]
    Broken { path: PathBuf, reason: Broken },
    #[error("{}: {reason}", printable(.path))]
    File { path: PathBuf, reason: FileError },
}

/// A file, and what it has to say.
struct Part {
    file: ClientFile,
    setting: Setting,
}

/// A file that does not say it yet.
struct Change {
    path: PathBuf,
    found: Found,
    text: String,
}

/// Runs the command.
pub(super) fn run(options: &Options, settings: &Settings, has_tools: bool) -> ExitCode {
    let told = if has_tools {
        Err(ConfigError::ToolsUnused)
    } else {
        told(options, settings)
    };
    match told {
        Ok(code) => code,
        Err(
            error @ (ConfigError::NoProjectFile
            | ConfigError::DirectoryUnused
            | ConfigError::ToolsUnused),
        ) => failed(&error, USAGE),
        Err(error) => failed(&error, 1),
    }
}

fn told(options: &Options, settings: &Settings) -> Result<ExitCode, ConfigError> {
    let location = settings.location();
    if matches!(location.reason(), Reason::DirFlag) && !options.pin {
        return Err(ConfigError::DirectoryUnused);
    }
    let worktree = settings.worktree();
    let project = match &worktree {
        Some(worktree) => worktree.root().to_owned(),
        None => env::current_dir().map_err(ConfigError::Program)?,
    };
    let directories = Directories::new(&project).ok_or(ConfigError::NoHome)?;
    let program = env::current_exe().and_then(fs::canonicalize);
    let pinned = options.pin.then(|| location.directory());
    let wanted = Wanted {
        client: options.client,
        program: text(&program.map_err(ConfigError::Program)?)?,
        role: options.role,
        scope: options.scope,
        directory: pinned.map(text).transpose()?,
    };
    let parts = parts(&wanted, &directories, options.scope)?;
    let code = if options.write {
        write(&parts)?
    } else {
        show(&parts)
    };
    for note in wanted.notes(options.scope) {
        remark(&format!("note: {note}"));
    }
    Ok(code)
}

fn parts(
    wanted: &Wanted,
    directories: &Directories,
    scope: Scope,
) -> Result<Vec<Part>, ConfigError> {
    let servers = directories.servers(wanted.client, scope);
    let servers = servers.ok_or(ConfigError::NoProjectFile)?;
    let Some((rules, file)) = wanted.rules().zip(directories.rules(wanted.client, scope)) else {
        return Ok(vec![Part {
            file: servers,
            setting: wanted.servers(),
        }]);
    };
    if file == servers {
        let setting = wanted.servers().and(rules);
        return Ok(vec![Part { file, setting }]);
    }
    Ok(vec![
        Part {
            file: servers,
            setting: wanted.servers(),
        },
        Part {
            file,
            setting: rules,
        },
    ])
}

/// Prints what belongs into the files, and nothing else, on standard output.
fn show(parts: &[Part]) -> ExitCode {
    for Part { file, setting } in parts {
        remark(&format!(
            "this belongs in {} (--write puts it there):",
            printable(&file.path)
        ));
        let code = print(&file.format.fragment(setting));
        if code != ExitCode::SUCCESS {
            return code;
        }
    }
    ExitCode::SUCCESS
}

/// Puts it into the files; into none of them, if it is seen beforehand that one cannot be changed.
fn write(parts: &[Part]) -> Result<ExitCode, ConfigError> {
    let changes: Vec<_> = parts.iter().map(change).collect::<Result<_, _>>()?;
    for (part, change) in parts.iter().zip(changes) {
        let Some(Change { path, found, text }) = change else {
            print(&format!("{}: nothing to do\n", printable(&part.file.path)));
            continue;
        };
        let difference = diff::diff(found.text(), &text);
        print(&format!("{}:\n{difference}", printable(&path)));
        match found.replace(&text) {
            Ok(Some(backup)) => print(&format!("written; before: {}\n", printable(&backup))),
            Ok(None) => print("written\n"),
            Err(reason) => return Err(ConfigError::File { path, reason }),
        };
    }
    Ok(ExitCode::SUCCESS)
}

fn change(Part { file, setting }: &Part) -> Result<Option<Change>, ConfigError> {
    let path = file.path.clone();
    let found = match Found::read(&path) {
        Ok(found) => found,
        Err(reason) => return Err(ConfigError::File { path, reason }),
    };
    match file.format.merged(found.text(), setting) {
        Ok(text) => Ok(text.map(|text| Change { path, found, text })),
        Err(reason) => Err(ConfigError::Broken { path, reason }),
    }
}

fn text(path: &Path) -> Result<String, ConfigError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| ConfigError::NotText(path.to_owned()))
}

fn remark(text: &str) {
    // Whoever closed standard error does not want to know.
    let _ = writeln!(io::stderr(), "ai-coord-mcp: {text}");
}
