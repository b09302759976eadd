//! The git worktree a process works in: its place, and what is checked out there.

use std::path::{Path, PathBuf};

use super::{Head, repository::Repository};

/// A worktree, main or linked.
#[derive(Clone, Debug)]
pub(crate) struct Worktree {
    root: PathBuf,
    repository: Repository,
}

impl Worktree {
    /// The worktree that holds `from`; none outside of repositories, inside of a git directory, and where the
    /// repository is broken.
    pub(crate) fn find(from: &Path) -> Option<Self> {
        let repository = Repository::discover(from).ok()??;
        let root = repository.worktree()?.to_owned();
        Some(Self { root, repository })
    }

    /// Its top directory, without symbolic links.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// What is checked out at this moment.
    pub(crate) fn head(&self) -> Head {
        Head::read(self.repository.git_dir(), self.repository.common_dir())
    }
}
