//! Which directory the assistants share.
//!
//! Every client starts its own server, in a directory and an environment of its own choosing, and all of them have to
//! arrive at the same place: two of them quietly on different directories is the worst that can happen here. So what
//! is ambiguous is refused rather than guessed at, and git is asked for its *common* directory, in which every
//! worktree and subdirectory of a repository agrees.
//!
//! # Limits
//! `GIT_DIR` and git's other variables are not read: a client that sets one would look elsewhere than its neighbours.
//! For the same reason the search upwards does not end at a mount point, where git's does. The directory itself is
//! neither made nor opened.

mod refs;
mod repository;
#[cfg(test)]
pub(crate) mod scene;
#[cfg(test)]
mod tests;
mod worktree;

use std::{
    env,
    ffi::{OsStr, OsString},
    fmt, fs, io,
    os::unix::ffi::OsStrExt,
    path::{Component, Path, PathBuf},
};

use thiserror::Error;

use repository::{BrokenRepository, Repository};

pub(crate) use refs::Head;
pub(crate) use worktree::Worktree;

/// Where the coordination directory lies below a repository or a working directory.
const BELOW: &str = ".ai/coordination";

/// Everything the choice of a directory depends on.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    dir_flag: Option<PathBuf>,
    coordination_dir: Option<OsString>,
    claude_project_dir: Option<OsString>,
    working_directory: PathBuf,
}

impl Inputs {
    /// Inputs of a process in `working_directory` with no flag and nothing in its environment.
    pub(crate) fn new(working_directory: PathBuf) -> Self {
        Self {
            dir_flag: None,
            coordination_dir: None,
            claude_project_dir: None,
            working_directory,
        }
    }

    /// The inputs of this process.
    pub(crate) fn from_env(dir_flag: Option<PathBuf>) -> Result<Self, LocationError> {
        let working_directory = env::current_dir().map_err(LocationError::WorkingDirectory)?;
        Ok(Self::new(working_directory)
            .with_dir_flag(dir_flag)
            .with_coordination_dir(env::var_os("COORDINATION_DIR"))
            .with_claude_project_dir(env::var_os("CLAUDE_PROJECT_DIR")))
    }

    /// Sets the value of `--dir`.
    pub(crate) fn with_dir_flag(self, dir_flag: Option<PathBuf>) -> Self {
        Self { dir_flag, ..self }
    }

    /// Sets the value of `COORDINATION_DIR`; an empty one is as good as none.
    pub(crate) fn with_coordination_dir(self, value: Option<OsString>) -> Self {
        let coordination_dir = value.filter(|value| !value.is_empty());
        Self {
            coordination_dir,
            ..self
        }
    }

    /// Sets the value of `CLAUDE_PROJECT_DIR`; an empty one is as good as none.
    pub(crate) fn with_claude_project_dir(self, value: Option<OsString>) -> Self {
        let claude_project_dir = value.filter(|value| !value.is_empty());
        Self {
            claude_project_dir,
            ..self
        }
    }

    /// The directory this process was started in.
    pub(crate) fn working_directory(&self) -> &Path {
        &self.working_directory
    }

    /// The worktree this process works in, which is the one its name and its commits come from.
    pub(crate) fn worktree(&self) -> Option<Worktree> {
        self.starts().find_map(|(_, start)| Worktree::find(&start))
    }

    /// Where to look for a repository, best first. A project directory that does not exist is in none, and so is passed
    /// over: some clients hand on the text of a variable that nobody set.
    fn starts(&self) -> impl Iterator<Item = (Start, PathBuf)> {
        let project = self
            .claude_project_dir
            .as_ref()
            .map(|directory| self.working_directory.join(directory));
        let working_directory = (Start::WorkingDirectory, self.working_directory.clone());
        project
            .map(|directory| (Start::ClaudeProjectDir, directory))
            .into_iter()
            .chain([working_directory])
    }
}

/// The coordination directory, and what decided on it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Location {
    directory: PathBuf,
    reason: Reason,
}

impl Location {
    /// Decides on the directory. Reads the file system, changes nothing in it.
    pub(crate) fn resolve(inputs: &Inputs) -> Result<Self, LocationError> {
        let (directory, reason) = if let Some(flag) = &inputs.dir_flag {
            (from_flag(flag)?, Reason::DirFlag)
        } else if let Some(value) = &inputs.coordination_dir {
            (from_variable(value)?, Reason::CoordinationDir)
        } else if let Some((directory, reason)) = from_repository(inputs)? {
            (directory, reason)
        } else {
            (PathBuf::from(BELOW), Reason::WorkingDirectory)
        };
        let directory = canonical(&inputs.working_directory.join(directory));
        Ok(Self { directory, reason })
    }

    /// The directory: absolute, without `.` and `..`, and without symbolic links in the part of it that exists.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// What decided on it.
    pub(crate) fn reason(&self) -> &Reason {
        &self.reason
    }

    /// Whether the directory is there by now.
    pub(crate) fn is_there(&self) -> bool {
        self.directory.is_dir()
    }
}

/// What decided on a [`Location`]. Its `Display` is for people, and goes on after "chosen by".
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Reason {
    /// The command line.
    DirFlag,
    /// The environment.
    CoordinationDir,
    /// The git repository that holds a directory.
    Repository {
        /// The directory that holds `.git`, else the common git directory itself.
        repository: PathBuf,
        /// Which directory the search began in.
        start: Start,
        /// Its path.
        from: PathBuf,
    },
    /// There was nothing else to go by.
    WorkingDirectory,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DirFlag => f.write_str("--dir"),
            Self::CoordinationDir => f.write_str("COORDINATION_DIR"),
            Self::Repository {
                repository,
                start,
                from,
            } => {
                let (repository, from) = (printable(repository), printable(from));
                write!(f, "the git repository at {repository}, found from {start}")?;
                if repository == from {
                    return Ok(());
                }
                write!(f, " {from}")
            }
            Self::WorkingDirectory => {
                f.write_str("the working directory, which is in no git repository")
            }
        }
    }
}

/// Where the search for a repository began.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Start {
    /// In the directory that Claude Code names.
    ClaudeProjectDir,
    /// In the directory the process was started in.
    WorkingDirectory,
}

impl fmt::Display for Start {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ClaudeProjectDir => "CLAUDE_PROJECT_DIR",
            Self::WorkingDirectory => "the working directory",
        })
    }
}

/// Why there is no telling which directory is meant.
#[derive(Debug, Error)]
pub(crate) enum LocationError {
    /// `--dir ""`.
    #[error("--dir is empty, expected a directory: name one, or leave --dir out")]
    EmptyFlag,
    /// A relative path in the environment means something else in every client.
    #[error(
        "COORDINATION_DIR is {0:?}, expected an absolute path (a relative one would be another directory for every \
         client): write it out in full, or unset it to share the repository's own directory"
    )]
    Relative(OsString),
    /// `~` and `$NAME` are the shell's, and no shell was asked.
    #[error(
        "{setting} is {given:?}, expected a path written out in full: nothing expands {expansion} in a client's \
         configuration, so put the directory it stands for in its place"
    )]
    Unexpanded {
        /// The flag or variable.
        setting: &'static str,
        /// Its value.
        given: OsString,
        /// What a shell would have expanded.
        expansion: &'static str,
    },
    /// There is a repository, but not which one.
    #[error(
        "{0}, so there is no telling which directory the assistants in this repository share: mend it (for a \
         worktree: `git worktree repair` in the main checkout), or set COORDINATION_DIR to an absolute path"
    )]
    BrokenRepository(#[from] BrokenRepository),
    /// The working directory was deleted, or may not be seen.
    #[error(
        "the working directory cannot be found ({0}): start this program in a directory that exists"
    )]
    WorkingDirectory(#[source] io::Error),
}

/// `path` for people to read: not UTF-8 is replaced, and control characters, which could rewrite a terminal or pass
/// for a line of our own, are escaped.
pub(crate) fn printable(path: &Path) -> String {
    let mut text = String::new();
    for character in path.to_string_lossy().chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

/// `--dir`, which may be relative: a person typed it, and knows where.
fn from_flag(flag: &Path) -> Result<PathBuf, LocationError> {
    if flag.as_os_str().is_empty() {
        return Err(LocationError::EmptyFlag);
    }
    refuse_unexpanded("--dir", flag.as_os_str())?;
    Ok(flag.to_owned())
}

fn from_variable(value: &OsStr) -> Result<PathBuf, LocationError> {
    refuse_unexpanded("COORDINATION_DIR", value)?;
    let path = Path::new(value);
    if path.is_relative() {
        return Err(LocationError::Relative(value.to_owned()));
    }
    Ok(path.to_owned())
}

/// Refuses what only a shell would have expanded. Somebody whose directory is named so can still write `./~`.
fn refuse_unexpanded(setting: &'static str, value: &OsStr) -> Result<(), LocationError> {
    let expansion = match value.as_bytes().first() {
        Some(b'~') => "~",
        Some(b'$') => "$",
        _ => return Ok(()),
    };
    Err(LocationError::Unexpanded {
        setting,
        given: value.to_owned(),
        expansion,
    })
}

fn from_repository(inputs: &Inputs) -> Result<Option<(PathBuf, Reason)>, LocationError> {
    for (start, from) in inputs.starts() {
        if let Some(repository) = Repository::discover(&from)? {
            let repository = repository.home().to_owned();
            let directory = repository.join(BELOW);
            let from = canonical(&from);
            let reason = Reason::Repository {
                repository,
                start,
                from,
            };
            return Ok(Some((directory, reason)));
        }
    }
    Ok(None)
}

/// The one spelling of `path`, which is absolute: links are followed as far as it exists, as the kernel would follow
/// them, and the rest, where there is nothing to follow, is tidied as text.
fn canonical(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    let mut missing = 0_usize;
    for component in path.components() {
        match component {
            Component::ParentDir => {
                resolved.pop();
                missing = missing.saturating_sub(1);
            }
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => {
                resolved.push(component);
                let real = (missing == 0).then(|| fs::canonicalize(&resolved).ok());
                match real.flatten() {
                    Some(real) => resolved = real,
                    None => missing += 1,
                }
            }
        }
    }
    resolved
}
