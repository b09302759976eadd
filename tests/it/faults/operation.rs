//! Every operation that changes files, and a directory in which each of them can be done.
//!
//! Responsibility: the table that faults, durability and crashes walk through, and what has to be seen when an operation
//! was done.
//!
//! Limits: one operation of each kind, on tasks of their own. What the lifecycle allows is tested elsewhere.

use std::sync::OnceLock;

use serde_json::{Value, json};

use super::site::{Caller, Documents, Site};

/// A call that changes something.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) agent: &'static str,
    pub(crate) tool: &'static str,
    pub(crate) arguments: Value,
    /// The documents that it writes, in this order.
    pub(crate) writes: &'static [&'static str],
}

impl Operation {
    fn new(
        name: &'static str,
        agent: &'static str,
        tool: &'static str,
        arguments: Value,
        writes: &'static [&'static str],
    ) -> Self {
        Self {
            name,
            agent,
            tool,
            arguments,
            writes,
        }
    }

    /// The one of this name.
    pub(crate) fn named(name: &str) -> Self {
        let mut all = Self::all().into_iter();
        all.find(|it| it.name == name).expect("it is in the table")
    }

    /// All, in the state of [`prepared`].
    pub(crate) fn all() -> Vec<Self> {
        let id = |number: u32| json!({ "task_id": format!("task-000{number}") });
        let with = |number: u32, key: &str, value: &str| {
            let mut arguments = id(number);
            arguments[key] = json!(value);
            arguments
        };
        let task = json!({"title": "new", "description": "to do"});
        let row = Self::new;
        vec![
            row(
                "create",
                "boss",
                "create_task",
                task,
                &["sequence.json", "tasks/task-0007.json"],
            ),
            row(
                "claim",
                "third",
                "claim_task",
                id(1),
                &["tasks/task-0001.json"],
            ),
            row(
                "claim next",
                "third",
                "claim_next_task",
                json!({}),
                &["tasks/task-0001.json"],
            ),
            row(
                "start",
                "worker",
                "update_progress",
                with(2, "current_step", "begun"),
                &["tasks/task-0002.json", "progress/task-0002.json"],
            ),
            row(
                "progress",
                "worker",
                "update_progress",
                with(3, "notes", "half of it"),
                &["progress/task-0003.json"],
            ),
            row(
                "complete",
                "worker",
                "complete_task",
                with(3, "summary", "done"),
                &["tasks/task-0003.json"],
            ),
            row(
                "approve",
                "boss",
                "approve_task",
                with(4, "note", "good"),
                &["tasks/task-0004.json"],
            ),
            row(
                "revision",
                "boss",
                "request_revision",
                with(4, "feedback", "not yet"),
                &["tasks/task-0004.json", "messages/task-0004.json"],
            ),
            row(
                "cancel",
                "boss",
                "cancel_task",
                id(1),
                &["tasks/task-0001.json"],
            ),
            row(
                "reopen",
                "boss",
                "reopen_task",
                with(5, "reason", "again"),
                &["tasks/task-0005.json"],
            ),
            row(
                "post",
                "boss",
                "post_message",
                with(3, "content", "hello"),
                &["messages/task-0003.json"],
            ),
        ]
    }

    pub(crate) fn run(&self, caller: &mut Caller) -> Result<Value, String> {
        caller.call(self.tool, &self.arguments)
    }

    /// What others see of that which this operation changes.
    pub(crate) fn seen(&self, observer: &mut Caller) -> Value {
        let total =
            observer.ok("list_tasks", &json!({"status": "all", "limit": 1}))["total"].take();
        // Which number a new task gets is open: one may have been used up.
        let Some(name) = self.writes.iter().find(|it| !it.contains("sequence")) else {
            unreachable!("every operation writes a document of a task")
        };
        if self.tool == "create_task" {
            return json!({ "tasks": total });
        }
        let task_id = name
            .split(['/', '.'])
            .nth(1)
            .expect("a folder, a name, an ending");
        let id = json!({ "task_id": task_id });
        let task = observer.ok("get_task", &id)["task"].take();
        json!({
            "tasks": total,
            "task": [task["status"], task["version"], task["assignee"]],
            "messages": observer.ok("get_messages", &id)["total"],
            "progress": observer.ok("get_progress", &id)["total"],
        })
    }
}

/// A directory in which every operation can be done.
pub(crate) fn prepared() -> &'static Documents {
    static PREPARED: OnceLock<Documents> = OnceLock::new();
    PREPARED.get_or_init(prepare)
}

fn prepare() -> Documents {
    let site = Site::new();
    let mut boss = site.caller("boss");
    let mut worker = site.caller("worker");
    for number in 1..=6 {
        let title = format!("task {number}");
        boss.ok(
            "create_task",
            &json!({"title": title, "description": "to do"}),
        );
    }
    let id = |number: u32| json!({ "task_id": format!("task-000{number}") });
    for number in 2..=6 {
        worker.ok("claim_task", &id(number));
    }
    for number in 3..=5 {
        worker.ok("update_progress", &id(number));
    }
    for number in 4..=5 {
        worker.ok("complete_task", &id(number));
    }
    boss.ok("approve_task", &id(5));
    boss.ok("cancel_task", &id(6));
    boss.ok(
        "post_message",
        &json!({"task_id": "task-0003", "content": "how is it going?"}),
    );
    site.documents()
}
