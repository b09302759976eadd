//! Mounts that only the processes of one test see, and that end with it.
//!
//! Responsibility: a mount namespace of its own, kept by a shell that takes commands, and the program started in it.
//!
//! Limits: Linux and root. Elsewhere there is none, and the test is skipped visibly.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use tempfile::TempDir;

use super::{
    is_root,
    site::{Caller, Documents, surroundings},
    skip,
};

pub(super) struct Mounts {
    shell: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    scratch: TempDir,
}

impl Mounts {
    /// One with a small file system at [`disk`](Self::disk), of these options. `None` where it cannot be had.
    pub(super) fn with_disk(options: &str) -> Option<Self> {
        if !cfg!(target_os = "linux") || !is_root() {
            skip("mounting needs Linux and root");
            return None;
        }
        let mut mounts = Self::shell()?;
        let disk = mounts.disk();
        std::fs::create_dir(&disk).unwrap();
        if !mounts.try_run(&format!(
            "mount -t tmpfs -o {options} tmpfs '{}'",
            disk.display()
        )) {
            skip("mounting is not allowed here, although we are root");
            return None;
        }
        Some(mounts)
    }

    fn shell() -> Option<Self> {
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--propagation", "private", "sh"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let Ok(mut shell) = command.spawn() else {
            skip("there is no `unshare`");
            return None;
        };
        let mut mounts = Self {
            input: shell.stdin.take().expect("it is piped"),
            output: BufReader::new(shell.stdout.take().expect("it is piped")),
            shell,
            scratch: tempfile::tempdir().unwrap(),
        };
        if mounts.try_run("true") {
            return Some(mounts);
        }
        skip("a mount namespace of its own is not allowed here");
        None
    }

    /// Runs a command in the namespace; it has to work.
    #[track_caller]
    pub(super) fn run(&mut self, script: &str) {
        assert!(self.try_run(script), "{script}");
    }

    fn try_run(&mut self, script: &str) -> bool {
        let mut answer = String::new();
        let asked = writeln!(
            self.input,
            "if {script}; then echo done; else echo failed; fi"
        );
        asked.is_ok() && self.output.read_line(&mut answer).is_ok() && answer == "done\n"
    }

    /// Where the small file system is, for processes in the namespace.
    pub(super) fn disk(&self) -> PathBuf {
        self.scratch.path().join("disk")
    }

    /// The coordination directory, for processes in the namespace.
    pub(super) fn directory(&self) -> PathBuf {
        self.disk().join("coordination")
    }

    /// A path of the namespace, for this process.
    pub(super) fn seen(&self, path: &Path) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.shell.id()));
        root.join(path.strip_prefix("/").expect("paths are absolute"))
    }

    pub(super) fn documents(&self) -> Documents {
        Documents::in_directory(&self.seen(&self.directory()))
    }

    /// The program, in the namespace.
    pub(super) fn caller(&self, agent: &str) -> Caller {
        let mut command = Command::new("nsenter");
        surroundings(&mut command, &self.directory(), agent);
        command
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .arg(format!("--mount=/proc/{}/ns/mnt", self.shell.id()))
            .args(["--", env!("CARGO_BIN_EXE_ai-coord-mcp")]);
        Caller::start(&mut command)
    }
}

impl Drop for Mounts {
    fn drop(&mut self) {
        // With its last process the namespace ends, and all mounts in it.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}
