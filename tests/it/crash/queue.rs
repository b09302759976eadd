//! A queue with a task in every status, to begin each run with.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::child::{Server, text};

/// The tasks that the queue begins with, 1 to 8: pending, claimed, in progress, completed, sent back, approved,
/// cancelled, and an approved one in the archive.
const TASKS: u32 = 8;

/// The folders of the documents of a task.
pub(super) const DOCUMENTS: [&str; 6] = [
    "tasks",
    "messages",
    "progress",
    "archive/tasks",
    "archive/messages",
    "archive/progress",
];

/// A queue that can be put back to its beginning.
pub(super) struct Queue {
    scratch: TempDir,
}

impl Queue {
    pub(super) fn new() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let queue = Self { scratch };
        queue.fill();
        copy(&queue.path(), &queue.template());
        queue
    }

    /// Puts everything back as it was.
    pub(super) fn reset(&self) {
        // The auditor may be renewing its card in there at this moment.
        while fs::remove_dir_all(self.path()).is_err() {}
        copy(&self.template(), &self.path());
    }

    /// The tasks of which any file is not as it was.
    pub(super) fn changed(&self) -> BTreeSet<String> {
        let stem = |file: &PathBuf| file.file_stem().unwrap().to_str().unwrap().to_owned();
        let in_folder = |folder: &str| {
            let now = files(&self.path().join(folder)).into_iter();
            let differs = |file: &PathBuf| {
                let old = self.template().join(folder).join(file.file_name().unwrap());
                fs::read(old).ok() != fs::read(file).ok()
            };
            now.filter(differs).map(|it| stem(&it)).collect::<Vec<_>>()
        };
        DOCUMENTS.into_iter().flat_map(in_folder).collect()
    }

    pub(super) fn path(&self) -> PathBuf {
        self.scratch.path().join("coordination")
    }

    fn template(&self) -> PathBuf {
        self.scratch.path().join("template")
    }

    /// The program as this agent starts it. A lock that is not freed by the death of its holder stays for good.
    pub(super) fn command(&self, agent: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ai-coord-mcp"));
        command
            .env_clear()
            .env("COORDINATION_DIR", self.path())
            .env("COORDINATION_AGENT", agent)
            .env("COORDINATION_STALE_LOCK_SECONDS", "3600")
            .current_dir(self.scratch.path());
        command
    }

    /// A server that looks at the queue all the time.
    pub(super) fn auditor(&self) -> Server {
        let mut server = Server::spawn(&mut self.command("auditor"));
        server.initialize("2025-11-25");
        server
    }

    fn fill(&self) {
        let [mut boss, mut worker] = ["boss", "worker"].map(|agent| {
            let mut server = Server::spawn(&mut self.command(agent));
            server.initialize("2025-11-25");
            server
        });
        for number in 1..=TASKS {
            let title = format!("number {number}");
            ok(
                &mut boss,
                "create_task",
                &json!({"title": title, "description": "d"}),
            );
        }
        let on = |number: u32| json!({"task_id": id(number)});
        for number in [2, 3, 4, 5, 6, 8] {
            ok(&mut worker, "claim_task", &on(number));
        }
        ok(&mut worker, "update_progress", &on(3));
        for number in [4, 5, 6, 8] {
            ok(&mut worker, "update_progress", &on(number));
            ok(
                &mut worker,
                "post_message",
                &with(on(number), "content", "what I did"),
            );
            ok(&mut worker, "complete_task", &on(number));
        }
        ok(
            &mut boss,
            "request_revision",
            &with(on(5), "feedback", "not yet"),
        );
        ok(&mut boss, "approve_task", &on(8));
        let archive = ["archive", "--older-than", "0"];
        let archived = self.command("person").args(archive).output().unwrap();
        assert_eq!(
            archived.stdout,
            b"archived 1 task: task-0008
"
        );
        ok(&mut boss, "approve_task", &on(6));
        ok(&mut boss, "cancel_task", &on(7));
    }

    /// Puts these tasks back in the queue and posts on them, as far as that works; claims and reports. What was said
    /// before stays.
    pub(super) fn touch(&self, ids: &BTreeSet<String>, auditor: &mut Server, fault: &str) {
        for id in ids.iter().filter(|it| self.has(it)) {
            let said_before = said(auditor, id);
            // In whichever status it is; refusals are no matter here.
            call(auditor, "reopen_task", &json!({"task_id": id}));
            let post = json!({"task_id": id, "content": "next"});
            let posted = call(auditor, "post_message", &post);
            let answer = text(&posted);
            let is_archived = answer.contains("is in the archive");
            assert!(
                posted["isError"] != true || is_archived,
                "{fault}: {id}: {answer}"
            );
            let said_after = said(auditor, id);
            assert!(
                said_after.starts_with(&said_before),
                "{fault}: {said_after:?}"
            );
        }
        let mine = ok(auditor, "claim_next_task", &json!({}));
        ok(
            auditor,
            "update_progress",
            &json!({"task_id": mine["task"]["id"]}),
        );
    }

    /// Whether there is such a task.
    pub(super) fn has(&self, id: &str) -> bool {
        self.path().join(format!("tasks/{id}.json")).exists()
    }

    /// What died holds no lock.
    pub(super) fn assert_nothing_is_held(&self, fault: &str) {
        for lock in fs::read_dir(self.path().join(".locks")).unwrap() {
            let lock = lock.unwrap().path();
            if lock.extension().is_some_and(|it| it == "lock") {
                let name = lock.display();
                let left: Vec<_> = fs::read_dir(&lock).unwrap().collect();
                assert!(left.is_empty(), "{fault}: {name} is held: {left:?}");
            }
        }
    }

    /// Each entry is in its file once, also one that a crash had left in an outbox.
    pub(super) fn assert_nothing_is_there_twice(&self, fault: &str) {
        for folder in ["messages", "archive/messages"] {
            for file in files(&self.path().join(folder)) {
                let text = fs::read_to_string(&file).unwrap();
                for said in ["\"again\"", "\"hello\"", "\"not yet\"", "\"what I did\""] {
                    let times = text.matches(said).count();
                    assert!(
                        times <= 1 || said == "\"hello\"" && times == 2,
                        "{fault}: {text}"
                    );
                }
            }
        }
    }
}

pub(super) fn id(number: u32) -> String {
    format!("task-{number:04}")
}

/// Calls a tool: its result.
pub(super) fn call(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    server.call(tool, arguments)
}

/// Calls a tool that has to work.
pub(super) fn ok(server: &mut Server, tool: &str, arguments: &Value) -> Value {
    let mut result = call(server, tool, arguments);
    assert!(
        result["isError"] != true,
        "{tool}({arguments}): {}",
        text(&result)
    );
    result["structuredContent"].take()
}

/// What has been said on a task, oldest first.
fn said(server: &mut Server, id: &str) -> Vec<Value> {
    let page = ok(server, "get_messages", &json!({"task_id": id}));
    let messages = page["messages"].as_array().unwrap();
    messages.iter().map(|it| it["content"].clone()).collect()
}

fn with(mut arguments: Value, name: &str, value: &str) -> Value {
    arguments[name] = json!(value);
    arguments
}

pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.map(|it| it.unwrap().path());
    paths.filter(|it| it.is_file()).collect()
}

fn copy(from: &Path, to: &Path) {
    // The auditor may have made it again in the meantime.
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
