//! Finding the git repository that holds a directory, without git.
//!
//! Follows what git does (`gitrepository-layout(5)`): upwards from the directory, a `.git` directory, a `.git` file
//! that names one (`gitdir:`; linked worktrees, submodules), or a directory that is itself a git directory (bare
//! repositories). A linked worktree's git directory names the repository's common one in `commondir`.
//!
//! # Limits
//! No configuration is read, so `core.worktree` and `core.bare` are not known. Unlike git, a `.git` directory that was
//! a repository and is damaged ends the search with an error: git goes on to the parents, and an assistant started
//! one directory deeper than another would be sent somewhere else.

use std::{
    ffi::OsStr,
    fs,
    io::{self, Read},
    os::unix::{ffi::OsStrExt, fs::OpenOptionsExt},
    path::{Path, PathBuf},
};

use nix::fcntl::OFlag;
use thiserror::Error;

use super::{printable, refs::Target};

/// The most that is read of any of git's small files.
pub(super) const SMALL_FILE: u64 = 64 * 1024;

/// A git repository, seen from one of its directories.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    worktree: Option<PathBuf>,
    git_dir: PathBuf,
    common_dir: PathBuf,
}

impl Repository {
    /// The repository that holds `from`, if any does.
    pub(super) fn discover(from: &Path) -> Result<Option<Self>, BrokenRepository> {
        let Ok(from) = fs::canonicalize(from) else {
            return Ok(None);
        };
        for directory in from.ancestors() {
            if let Some(found) = Self::at(directory)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The top directory of the worktree; a bare repository, and the inside of a git directory, have none.
    pub(super) fn worktree(&self) -> Option<&Path> {
        self.worktree.as_deref()
    }

    /// The git directory of this worktree alone.
    pub(super) fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The git directory that all worktrees of the repository share.
    pub(super) fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// The directory that stands for the repository: the one that holds `.git`, else the common directory itself.
    pub(super) fn home(&self) -> &Path {
        match self.common_dir.parent() {
            Some(parent) if self.common_dir.ends_with(".git") => parent,
            _ => &self.common_dir,
        }
    }

    /// The repository whose worktree or git directory begins at `directory`.
    fn at(directory: &Path) -> Result<Option<Self>, BrokenRepository> {
        let dot_git = directory.join(".git");
        let broken = |problem| BrokenRepository {
            dot_git: dot_git.clone(),
            problem,
        };
        match fs::metadata(&dot_git) {
            Ok(entry) if entry.is_file() => {
                let git_dir = named_by(&dot_git, directory).map_err(broken)?;
                Self::open(&git_dir, Some(directory))
                    .map(Some)
                    .map_err(broken)
            }
            Ok(entry) if entry.is_dir() => match Self::open(&dot_git, Some(directory)) {
                Ok(found) => Ok(Some(found)),
                Err(problem) if was_repository(&dot_git) => Err(broken(problem)),
                Err(_) => Ok(Self::open(directory, None).ok()),
            },
            Err(_) if dot_git.is_symlink() => Err(broken(Problem::Missing(dot_git.clone()))),
            _ => Ok(Self::open(directory, None).ok()),
        }
    }

    /// Opens a git directory, by the tests that git itself applies.
    fn open(git_dir: &Path, worktree: Option<&Path>) -> Result<Self, Problem> {
        let missing = |_| Problem::Missing(git_dir.to_owned());
        let git_dir = fs::canonicalize(git_dir).map_err(missing)?;
        let common_dir = common_dir(&git_dir)?;
        if Target::read(&git_dir.join("HEAD")).is_none() {
            return Err(Problem::NoHead(git_dir));
        }
        for name in ["objects", "refs"] {
            if !common_dir.join(name).is_dir() {
                let within = common_dir;
                return Err(Problem::Lacks { within, name });
            }
        }
        let worktree = worktree.map(Path::to_owned);
        Ok(Self {
            worktree,
            git_dir,
            common_dir,
        })
    }
}

/// A `.git` that leads nowhere.
#[derive(Debug, Error)]
#[error("{} leads to no git repository: {problem}", printable(.dot_git))]
pub(crate) struct BrokenRepository {
    dot_git: PathBuf,
    problem: Problem,
}

/// What is wrong with it.
#[derive(Debug, Error)]
enum Problem {
    #[error("expected the one line `gitdir: PATH` in it")]
    NotALink,
    #[error("{} does not exist", printable(.0))]
    Missing(PathBuf),
    #[error("{} cannot be read ({reason})", printable(.file))]
    Unreadable { file: PathBuf, reason: io::Error },
    #[error("{} has no valid HEAD", printable(.0))]
    NoHead(PathBuf),
    #[error("{} has no directory {name}", printable(.within))]
    Lacks { within: PathBuf, name: &'static str },
}

/// Reads a regular file of at most `limit` bytes. A pipe or device in its place is refused and not waited for.
pub(super) fn read_bounded(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut content = Vec::new();
    let read = file.take(limit + 1).read_to_end(&mut content)?;
    if read as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(content)
}

/// The directory that a `.git` file in `directory` names.
fn named_by(dot_git: &Path, directory: &Path) -> Result<PathBuf, Problem> {
    let unreadable = |reason| Problem::Unreadable {
        file: dot_git.to_owned(),
        reason,
    };
    let content = read_bounded(dot_git, SMALL_FILE).map_err(unreadable)?;
    match content.strip_prefix(b"gitdir: ").map(one_line) {
        Some(target) if !target.is_empty() => Ok(directory.join(OsStr::from_bytes(target))),
        _ => Err(Problem::NotALink),
    }
}

/// The common directory of the repository that `git_dir` belongs to; itself unless it says otherwise.
fn common_dir(git_dir: &Path) -> Result<PathBuf, Problem> {
    let file = git_dir.join("commondir");
    let content = match read_bounded(&file, SMALL_FILE) {
        Ok(content) => content,
        Err(reason) if reason.kind() == io::ErrorKind::NotFound => return Ok(git_dir.to_owned()),
        Err(reason) => return Err(Problem::Unreadable { file, reason }),
    };
    let named = git_dir.join(OsStr::from_bytes(one_line(&content)));
    fs::canonicalize(&named).map_err(|_| Problem::Missing(named))
}

/// `content` without the line ends after it, which is all that git takes off.
fn one_line(mut content: &[u8]) -> &[u8] {
    while let [rest @ .., b'\n' | b'\r'] = content {
        content = rest;
    }
    content
}

/// Whether a `.git` directory has anything of a repository in it. Empty ones, and ones with a stray file, are left
/// behind by sandboxes and tools, and git passes them over.
fn was_repository(dot_git: &Path) -> bool {
    ["HEAD", "objects", "refs", "packed-refs"]
        .iter()
        .any(|name| dot_git.join(name).symlink_metadata().is_ok())
}
