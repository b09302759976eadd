//! A home directory of a test's own, and the program run in it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_ai-coord-mcp");

/// A person's home, with a project in it.
pub(crate) struct Home {
    scratch: TempDir,
}

/// What the program said, with the paths of this machine taken out.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self {
            scratch: tempfile::tempdir().unwrap(),
        };
        for directory in ["src", ".git/objects", ".git/refs"] {
            fs::create_dir_all(home.path("project").join(directory)).unwrap();
        }
        home.write("project/.git/HEAD", "ref: refs/heads/main\n");
        home
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.scratch.path().canonicalize().unwrap()
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.root().join(below)
    }

    pub(crate) fn run_with(&self, arguments: &str, environment: &[(&str, &Path)]) -> Said {
        let output = Command::new(PROGRAM)
            .args(arguments.split_whitespace())
            .env_clear()
            .env("HOME", self.root())
            .envs(environment.iter().copied())
            .current_dir(self.path("project/src"))
            .output()
            .unwrap();
        let program = fs::canonicalize(PROGRAM).unwrap();
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes)
                .unwrap()
                .replace(program.to_str().unwrap(), "/bin/ai-coord-mcp")
                .replace(self.root().to_str().unwrap(), "~")
        };
        Said {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }

    pub(crate) fn run(&self, arguments: &str) -> Said {
        self.run_with(arguments, &[])
    }

    /// Runs what has to work: what it says on standard output.
    #[track_caller]
    pub(crate) fn said(&self, arguments: &str) -> String {
        let Said {
            code,
            stdout,
            stderr,
        } = self.run(arguments);
        assert_eq!(code, Some(0), "{arguments}: {stdout}{stderr}");
        stdout
    }

    /// Runs what has to be refused: the reason.
    #[track_caller]
    pub(crate) fn refused(&self, arguments: &str) -> String {
        let Said {
            code,
            stdout,
            stderr,
        } = self.run(arguments);
        assert_eq!(code, Some(1), "{arguments}: {stdout}{stderr}");
        stderr
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A file's text, with the program's path taken out.
    #[track_caller]
    pub(crate) fn read(&self, path: &str) -> String {
        let text = fs::read_to_string(self.path(path)).unwrap();
        let program = fs::canonicalize(PROGRAM).unwrap();
        text.replace(program.to_str().unwrap(), "/bin/ai-coord-mcp")
    }

    /// All files but the repository's, by name, with their texts.
    pub(crate) fn files(&self) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        let mut directories = vec![self.root()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).unwrap() {
                let path = entry.unwrap().path();
                if path.ends_with(".git") {
                    continue;
                }
                if path.is_dir() {
                    directories.push(path);
                } else {
                    let text = fs::read_to_string(&path).unwrap();
                    files.push((path, text));
                }
            }
        }
        files.sort();
        files
    }
}
