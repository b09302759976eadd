//! The story that the README tells, acted out and checked step by step.

use std::{io::Write, path::Path, time::Instant};

use serde_json::{Value, json};

use super::{
    DemoError,
    assistant::{Answer, Assistant, Pending},
    script::Script,
};

#[cfg(test)]
mod tests;

const COORDINATOR: &str = "claude-code";
const IMPLEMENTER: &str = "opencode";

/// What the servers call the two, in a checkout of the name `shop`.
const COORDINATOR_NAME: &str = "claude-code@shop";
const IMPLEMENTER_NAME: &str = "opencode@shop";

/// How long a call waits, in seconds: less than the time for the whole, so that one which waits in vain is seen to.
const WAIT: u32 = 20;

/// What has become of the tasks when the story is told.
pub(super) const OUTCOME: [(&str, &str); 3] = [
    ("task-0001", "approved"),
    ("task-0002", "approved"),
    ("task-0003", "pending"),
];

/// Acts the whole story out.
pub(super) fn tell<W: Write>(place: Place<'_>, script: &mut Script<W>) -> Result<(), DemoError> {
    let coordinator = Assistant::start(COORDINATOR, place)?;
    let implementer = Assistant::start(IMPLEMENTER, place)?;
    let mut stage = Stage {
        coordinator,
        implementer,
        script,
    };
    stage.plan()?;
    stage.work_and_ask()?;
    stage.review()?;
    stage.revise()?;
    stage.go_on()?;
    stage.crash_and_return(place)
}

/// Where the story takes place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// The server.
    pub(super) program: &'a Path,
    /// What it is started with.
    pub(super) arguments: &'a [&'a str],
    /// The directory in which the assistants are started.
    pub(super) checkout: &'a Path,
    /// The directory that they share.
    pub(super) coordination: &'a Path,
    /// When it has to be over.
    pub(super) deadline: Instant,
}

/// The two assistants, and who writes down what they do.
struct Stage<'a, W> {
    coordinator: Assistant,
    implementer: Assistant,
    script: &'a mut Script<W>,
}

/// Who acts.
#[derive(Clone, Copy)]
enum Who {
    Coordinator,
    Implementer,
}
use Who::{Coordinator, Implementer};

impl<W: Write> Stage<'_, W> {
    fn plan(&mut self) -> Result<(), DemoError> {
        self.script
            .chapter("1. The implementer waits for work; the coordinator plans it, in an order");
        let wait = json!({ "wait_seconds": WAIT });
        let waiting = self.begin(Implementer, "claim_next_task", &wait)?;
        let tasks = [
            json!({ "title": "Sort the inventory", "description": "Stable sort by SKU, filters kept." }),
            json!({
                "title": "Document sorting", "after": ["task-0001"], "description": "A section in the README.",
            }),
            json!({ "title": "Drop the old filter", "after": ["task-0002"], "description": "Nothing uses it." }),
        ];
        for (number, task) in (1..).zip(tasks) {
            let created = self.call(Coordinator, "create_task", &task)?;
            created
                .expect("/task/id", format!("task-000{number}"))?
                .expect("/task/status", "pending")?;
        }
        let claimed = self.finish(Implementer, waiting)?;
        claimed
            .expect("/why", "new")?
            .expect("/task/id", "task-0001")?
            .expect("/task/status", "claimed")?
            .expect("/task/creator", COORDINATOR_NAME)?
            .expect("/task/assignee", IMPLEMENTER_NAME)?;
        Ok(())
    }

    fn work_and_ask(&mut self) -> Result<(), DemoError> {
        self.script
            .chapter("2. Nothing else is ready; the implementer reports, and asks");
        let nothing = self.call(Implementer, "claim_next_task", &json!({}))?;
        nothing
            .expect("/task", Value::Null)?
            .expect("/held/0/id", "task-0001")?;
        let report = json!({ "task_id": "task-0001", "percent": 40, "current_step": "comparator" });
        let started = self.call(Implementer, "update_progress", &report)?;
        started
            .expect("/task/status", "in_progress")?
            .expect("/progress/percent", 40)?;

        let question =
            json!({ "task_id": "task-0001", "content": "Upper case first?", "wait_seconds": WAIT });
        let asked = self.begin(Implementer, "post_message", &question)?;
        let waiting = self.begin(Coordinator, "wait_for_task", &attention_wait())?;
        let attention = self.finish(Coordinator, waiting)?;
        attention
            .expect("/attention/0/why", "message")?
            .expect("/attention/0/message/content", "Upper case first?")?
            .expect("/attention/0/message/author", IMPLEMENTER_NAME)?;
        let reply = json!({ "task_id": "task-0001", "content": "No, ignore case." });
        self.call(Coordinator, "post_message", &reply)?
            .expect("/message/author", COORDINATOR_NAME)?;
        let answered = self.finish(Implementer, asked)?;
        answered
            .expect("/reply/content", "No, ignore case.")?
            .expect("/reply/author", COORDINATOR_NAME)?
            .expect("/timed_out", false)?;
        Ok(())
    }

    fn review(&mut self) -> Result<(), DemoError> {
        self.script
            .chapter("3. Handed in: the coordinator's wait returns, and it sends the work back");
        let waiting = self.begin(Coordinator, "wait_for_task", &attention_wait())?;
        let done = json!({ "task_id": "task-0001", "summary": "Sorted, ignoring case." });
        self.call(Implementer, "complete_task", &done)?
            .expect("/task/status", "completed")?;
        let attention = self.finish(Coordinator, waiting)?;
        attention
            .expect("/attention/0/why", "review")?
            .expect("/attention/0/task/id", "task-0001")?;
        let feedback =
            json!({ "task_id": "task-0001", "feedback": "An empty list is not tested." });
        let back = self.call(Coordinator, "request_revision", &feedback)?;
        back.expect("/task/status", "revision_requested")?
            .expect("/message/author", COORDINATOR_NAME)?;
        Ok(())
    }

    fn revise(&mut self) -> Result<(), DemoError> {
        self.script
            .chapter("4. The revision comes by the same call as new work");
        let revision = self.call(Implementer, "claim_next_task", &json!({}))?;
        revision
            .expect("/why", "revision")?
            .expect("/task/id", "task-0001")?
            .expect("/task/status", "in_progress")?
            .expect("/task/feedback", "An empty list is not tested.")?;
        let done = json!({ "task_id": "task-0001", "summary": "Tested." });
        self.call(Implementer, "complete_task", &done)?
            .expect("/task/status", "completed")?;
        Ok(())
    }

    fn go_on(&mut self) -> Result<(), DemoError> {
        self.script
            .chapter("5. The implementer waits; the approval unblocks the next task");
        let wait = json!({ "wait_seconds": WAIT });
        let waiting = self.begin(Implementer, "claim_next_task", &wait)?;
        let approved = self.call(
            Coordinator,
            "approve_task",
            &json!({ "task_id": "task-0001" }),
        )?;
        approved.expect("/task/status", "approved")?;
        let next = self.finish(Implementer, waiting)?;
        next.expect("/task/id", "task-0002")?
            .expect("/why", "new")?
            .expect("/task/assignee", IMPLEMENTER_NAME)?;
        Ok(())
    }

    fn crash_and_return(mut self, place: Place<'_>) -> Result<(), DemoError> {
        self.script
            .chapter("6. The implementer is killed; it is seen to be gone, returns, and goes on");
        let report = json!({ "task_id": "task-0002", "percent": 10 });
        self.call(Implementer, "update_progress", &report)?
            .expect("/task/status", "in_progress")?;
        let waiting = self.begin(Coordinator, "wait_for_task", &attention_wait())?;
        self.script.event(
            IMPLEMENTER,
            "killed, as by kill -9, in the middle of its task",
        );
        self.implementer.crash();
        let gone = self.finish(Coordinator, waiting)?;
        gone.expect("/attention/0/why", "holder_gone")?
            .expect("/attention/0/task/id", "task-0002")?
            .expect("/attention/0/task/assignee", IMPLEMENTER_NAME)?
            .expect("/attention/0/task/holderGone", true)?;

        self.script.event(
            IMPLEMENTER,
            "started again: its name is free, and it regains it",
        );
        self.implementer = Assistant::start(IMPLEMENTER, place)?;
        let resumed = self.call(Implementer, "claim_next_task", &json!({}))?;
        resumed
            .expect("/why", "resumed")?
            .expect("/task/id", "task-0002")?
            .expect("/task/assignee", IMPLEMENTER_NAME)?
            .expect("/progress/percent", 10)?;
        let done = json!({ "task_id": "task-0002", "summary": "Documented." });
        self.call(Implementer, "complete_task", &done)?
            .expect("/task/status", "completed")?;
        self.call(
            Coordinator,
            "approve_task",
            &json!({ "task_id": "task-0002" }),
        )?
        .expect("/task/status", "approved")?;
        let rest = self.call(Coordinator, "list_tasks", &json!({}))?;
        rest.expect("/tasks/0/id", "task-0003")?
            .expect("/total", 1)?
            .expect("/counts/approved", 2)?
            .expect("/counts/pending", 1)?;
        Ok(())
    }

    /// Calls a tool and shows both the call and its answer.
    fn call(&mut self, who: Who, tool: &str, arguments: &Value) -> Result<Answer, DemoError> {
        let pending = self.begin(who, tool, arguments)?;
        self.finish(who, pending)
    }

    fn begin(&mut self, who: Who, tool: &str, arguments: &Value) -> Result<Pending, DemoError> {
        self.script.call(who.name(), tool, arguments);
        self.actor(who).begin(tool, arguments)
    }

    fn finish(&mut self, who: Who, pending: Pending) -> Result<Answer, DemoError> {
        let answer = self.actor(who).finish(pending)?;
        self.script.answer(who.name(), answer.value());
        Ok(answer)
    }

    fn actor(&mut self, who: Who) -> &mut Assistant {
        match who {
            Coordinator => &mut self.coordinator,
            Implementer => &mut self.implementer,
        }
    }
}

/// The arguments of a wait for whatever needs the caller.
fn attention_wait() -> Value {
    json!({ "timeout_seconds": WAIT })
}

impl Who {
    const fn name(self) -> &'static str {
        match self {
            Coordinator => COORDINATOR,
            Implementer => IMPLEMENTER,
        }
    }
}
