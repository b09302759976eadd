//! A coordination directory, the program on it, and what can be seen of it from outside.
//!
//! Responsibility: to start processes on a directory and to compare what is in it before and after.
//!
//! Limits: names of processes are chosen by the test (`COORDINATION_AGENT`), so that who holds a task does not depend
//! on the order in which processes start.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::{self, FileType},
    os::unix::{ffi::OsStrExt, fs::FileTypeExt},
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::child::{Server, text};

/// More than this is not read: it is no document.
const LARGE: u64 = 8 << 20;

/// A coordination directory of a test's own, not made yet.
pub(crate) struct Site {
    scratch: TempDir,
}

impl Site {
    pub(crate) fn new() -> Self {
        Self {
            scratch: tempfile::tempdir().unwrap(),
        }
    }

    /// One that holds these documents.
    pub(crate) fn with(documents: &Documents) -> Self {
        let site = Self::new();
        documents.write_to(&site.path());
        site
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.scratch.path().join("coordination")
    }

    pub(crate) fn outside(&self) -> &Path {
        self.scratch.path()
    }

    pub(crate) fn command(&self, agent: &str) -> Command {
        command(&self.path(), agent)
    }

    pub(crate) fn caller(&self, agent: &str) -> Caller {
        Caller::start(&mut self.command(agent))
    }

    pub(crate) fn documents(&self) -> Documents {
        Documents::in_directory(&self.path())
    }

    #[track_caller]
    pub(crate) fn assert_no_leftovers(&self) {
        assert_eq!(leftovers(&self.path()), Vec::<PathBuf>::new());
    }
}

/// The program on a directory, in surroundings that say nothing else.
pub(crate) fn command(directory: &Path, agent: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ai-coord-mcp"));
    surroundings(&mut command, directory, agent);
    command
}

pub(crate) fn surroundings(command: &mut Command, directory: &Path, agent: &str) {
    command
        .env_clear()
        .env("COORDINATION_DIR", directory)
        .env("COORDINATION_AGENT", agent)
        .env("COORDINATION_DURABILITY", "none")
        // Given-up locks and faults are what these tests are about: they need no warnings.
        .env("RUST_LOG", "off")
        .current_dir("/");
}

/// An assistant: a process of the program, introduced and ready.
pub(crate) struct Caller {
    server: Server,
}

impl Caller {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut server = Server::spawn(command);
        server.initialize("2025-11-25");
        Self { server }
    }

    /// Calls a tool: its result, or `code: text`.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let result = self.server.call(tool, arguments);
        let text = text(&result);
        if result["isError"] == true {
            return Err(text.to_owned());
        }
        Ok(serde_json::from_str(text).unwrap())
    }

    /// Calls a tool that has to work.
    #[track_caller]
    pub(crate) fn ok(&mut self, tool: &str, arguments: &Value) -> Value {
        match self.call(tool, arguments) {
            Ok(result) => result,
            Err(error) => panic!("{tool}({arguments}): {error}"),
        }
    }

    /// Calls a tool that has to refuse, naming all of these. The text.
    #[track_caller]
    pub(crate) fn refused(&mut self, tool: &str, arguments: &Value, named: &[&str]) -> String {
        match self.call(tool, arguments) {
            Err(error) if named.iter().all(|it| error.contains(it)) => error,
            other => panic!("{tool}({arguments}): expected {named:?}, got {other:?}"),
        }
    }

    /// The ids of the tasks that can be read, and of those that cannot.
    pub(crate) fn listed(&mut self) -> (Vec<String>, Vec<String>) {
        let page = self.ok("list_tasks", &json!({"status": "all"}));
        let ids = |key: &str| {
            let entries = page[key].as_array().into_iter().flatten();
            entries
                .map(|it| it["id"].as_str().unwrap().to_owned())
                .collect()
        };
        (ids("tasks"), ids("unreadable"))
    }

    /// Ends the process as a client does, and waits for it.
    pub(crate) fn end(mut self) {
        self.server.close_input();
        self.server.ended();
    }

    pub(crate) fn server(&mut self) -> &mut Server {
        &mut self.server
    }
}

/// Everything in a directory, by path, but locks and those who are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Documents(BTreeMap<PathBuf, Vec<u8>>);

impl Documents {
    pub(crate) fn in_directory(root: &Path) -> Self {
        let mut found = BTreeMap::new();
        let mut directories = vec![root.to_path_buf()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten() {
                let entry = entry.unwrap();
                let path = entry.path();
                let relative = path.strip_prefix(root).unwrap();
                if relative == Path::new(".locks") || relative == Path::new("agents") {
                    continue;
                }
                let kind = entry.file_type().unwrap();
                found.insert(relative.to_path_buf(), content(&path, kind));
                if kind.is_dir() {
                    directories.push(path);
                }
            }
        }
        Self(found)
    }

    /// What a refused call must not change. It may have used up a number, and made directories.
    pub(crate) fn lasting(self) -> Self {
        let is_lasting = |path: &Path, content: &[u8]| {
            content != b"directory"
                && ![Path::new("sequence.json"), Path::new(".gitignore")].contains(&path)
        };
        let all = self.0.into_iter();
        Self(all.filter(|(path, it)| is_lasting(path, it)).collect())
    }

    /// Puts the directory into this state, with nobody there and nothing locked. No documents: there is no directory.
    pub(crate) fn write_to(&self, root: &Path) {
        if root.exists() {
            fs::remove_dir_all(root).unwrap();
        }
        if self.0.is_empty() {
            return;
        }
        for directory in [root.to_path_buf(), root.join(".locks"), root.join("agents")] {
            fs::create_dir(directory).unwrap();
        }
        for (path, content) in &self.0 {
            match content.as_slice() {
                b"directory" => fs::create_dir(root.join(path)).unwrap(),
                content => fs::write(root.join(path), content).unwrap(),
            }
        }
    }
}

fn content(path: &Path, kind: FileType) -> Vec<u8> {
    if kind.is_dir() {
        b"directory".to_vec()
    } else if kind.is_symlink() {
        let target = fs::read_link(path).unwrap();
        [b"link to ", target.as_os_str().as_bytes()].concat()
    } else if kind.is_fifo() || kind.is_socket() {
        b"special".to_vec()
    } else {
        let size = path.metadata().unwrap().len();
        if size > LARGE {
            return format!("{size} bytes").into_bytes();
        }
        // Root reads everything; others see what they may.
        fs::read(path).unwrap_or_else(|error| error.to_string().into_bytes())
    }
}

/// What is left in `.locks`: candidates, and locks that are held or hold something.
pub(crate) fn leftovers(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join(".locks")).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_left = |path: &PathBuf| {
        let is_lock = path.extension() == Some(OsStr::new("lock"));
        !is_lock || fs::read_dir(path).is_ok_and(|mut inside| inside.next().is_some())
    };
    paths.filter(is_left).collect()
}
