//! What git's `HEAD` and the references behind it say, read without git.
//!
//! # Limits
//! The files backend only: a repository that keeps its references in a reftable says `refs/heads/.invalid` in `HEAD`,
//! and has neither branch nor commit here. Everything is read within bounds and believed only where it is well formed.

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::repository::{SMALL_FILE, read_bounded};

/// The most that is read of `packed-refs`: some 250,000 references.
const PACKED_REFS: u64 = 16 * 1024 * 1024;

/// How many symbolic references are followed, which is git's own bound.
const MAX_DEPTH: usize = 5;

/// What is checked out.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Head {
    branch: Option<String>,
    commit: Option<String>,
}

impl Head {
    /// The branch, without `refs/heads/`; none when detached.
    pub(crate) fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// The commit, as 40 or 64 hexadecimal digits; none on a branch that has no commit yet.
    pub(crate) fn commit(&self) -> Option<&str> {
        self.commit.as_deref()
    }

    /// Reads the head of the worktree whose git directory is `git_dir`.
    pub(super) fn read(git_dir: &Path, common_dir: &Path) -> Self {
        let mut head = Self::default();
        let mut target = Target::read(&git_dir.join("HEAD"));
        for _ in 0..MAX_DEPTH {
            match target {
                Some(Target::Reference(name)) if is_well_formed(&name) => {
                    head.branch = branch(&name);
                    target = look_up(&name, git_dir, common_dir);
                }
                Some(Target::Reference(_)) => return Self::default(),
                Some(Target::Commit(commit)) => {
                    head.commit = Some(commit);
                    break;
                }
                None => break,
            }
        }
        head
    }
}

/// What a reference leads to.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Target {
    /// Another reference, whose name begins with `refs/`.
    Reference(PathBuf),
    /// A commit.
    Commit(String),
}

impl Target {
    /// Reads a loose reference; none if it is not there or says something else.
    pub(super) fn read(file: &Path) -> Option<Self> {
        // The first versions of git made `HEAD` a symbolic link, and it is still taken.
        if let Ok(name) = fs::read_link(file)
            && name.starts_with("refs")
        {
            return Some(Self::Reference(name));
        }
        let content = read_bounded(file, SMALL_FILE).ok()?;
        let Some(name) = content.strip_prefix(b"ref:") else {
            let first = content.split(u8::is_ascii_whitespace).next()?;
            return object_id(first).map(Self::Commit);
        };
        let name = name.trim_ascii();
        let is_reference = name.starts_with(b"refs/");
        is_reference.then(|| Self::Reference(OsStr::from_bytes(name).into()))
    }
}

/// Looks a reference up: loose first, for git packs it before it deletes the loose one.
fn look_up(name: &Path, git_dir: &Path, common_dir: &Path) -> Option<Target> {
    let of_worktree = ["refs/bisect", "refs/worktree", "refs/rewritten"]
        .iter()
        .any(|space| name.starts_with(space));
    let loose = if of_worktree { git_dir } else { common_dir }.join(name);
    Target::read(&loose).or_else(|| packed(name, common_dir).map(Target::Commit))
}

/// The commit that `packed-refs` has for a reference.
fn packed(name: &Path, common_dir: &Path) -> Option<String> {
    let content = read_bounded(&common_dir.join("packed-refs"), PACKED_REFS).ok()?;
    content.split(|&byte| byte == b'\n').find_map(|line| {
        let id = line
            .strip_suffix(name.as_os_str().as_bytes())?
            .strip_suffix(b" ")?;
        object_id(id)
    })
}

/// `text` if it is an object's name, in SHA-1 or SHA-256.
fn object_id(text: &[u8]) -> Option<String> {
    let is_id = matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit);
    is_id.then(|| String::from_utf8_lossy(text).into_owned())
}

fn branch(name: &Path) -> Option<String> {
    let branch = name.strip_prefix("refs/heads").ok()?;
    Some(branch.to_string_lossy().into_owned())
}

/// Whether git could have made a reference of this name (`git-check-ref-format(1)`), which keeps a hostile one from
/// leading out of the repository.
fn is_well_formed(name: &Path) -> bool {
    let name = name.as_os_str().as_bytes();
    let is_forbidden = |byte: &u8| byte.is_ascii_control() || b" ~^:?*[\\".contains(byte);
    !name.iter().any(is_forbidden)
        && name
            .split(|&byte| byte == b'/')
            .all(|part| !part.is_empty() && !part.starts_with(b".") && !part.ends_with(b".lock"))
}
