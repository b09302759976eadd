//! Directories and repositories for tests, written by hand, file by file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;

/// A directory that is in no repository, and goes away with the test.
pub(crate) struct Scene {
    _directory: TempDir,
    root: PathBuf,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let root = fs::canonicalize(directory.path()).unwrap();
        Self {
            _directory: directory,
            root,
        }
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn directory(&self, relative: &str) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(&path).unwrap();
        path
    }

    pub(crate) fn file(&self, relative: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// The least that git takes for a git directory, on branch `main` without a commit.
    pub(crate) fn git_directory(&self, relative: &str) -> PathBuf {
        self.file(&format!("{relative}/HEAD"), "ref: refs/heads/main\n");
        self.directory(&format!("{relative}/objects"));
        self.directory(&format!("{relative}/refs/heads"));
        self.path(relative)
    }

    /// A linked worktree of the git directory `common`, as `git worktree add` leaves it.
    pub(crate) fn linked_worktree(&self, common: &str, name: &str, at: &str) -> PathBuf {
        let git_dir = format!("{common}/worktrees/{name}");
        self.file(&format!("{git_dir}/HEAD"), "ref: refs/heads/side\n");
        self.file(&format!("{git_dir}/commondir"), "../..\n");
        let link = format!("gitdir: {}\n", self.path(&git_dir).display());
        self.file(&format!("{at}/.git"), link);
        self.path(at)
    }
}
