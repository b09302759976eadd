//! Every operation, ended at each of its file-system steps in turn: it is wholly there or wholly absent, everything can
//! be read, and the next operation works at once.
//!
//! A debug build of the program has a fault layer that ends its process, as SIGKILL does, before or after its Nth step.
//! Each operation is walked from the first step on until it gets through. Stopping at a step of its own choice is what
//! killing at random moments does not do.

mod picture;
mod queue;

use std::{collections::BTreeSet, process::Command};

use serde_json::{Value, json};

use crate::child::{Server, text};
use queue::Queue;

/// No operation takes as many steps. Whoever gets here runs in circles.
const MOST_STEPS: u32 = 200;

/// What is done, by whom.
struct Operation {
    agent: &'static str,
    action: Action,
}

enum Action {
    /// A call of a tool.
    Call(&'static str, Value),
    /// A command for people, with its arguments.
    Command(&'static [&'static str]),
}

/// How an operation ended for whoever asked for it.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The process ended without an answer.
    Killed,
    /// It was answered.
    Answered,
}

impl Operation {
    fn call(agent: &'static str, tool: &'static str, arguments: Value) -> Self {
        let action = Action::Call(tool, arguments);
        Self { agent, action }
    }

    fn command(arguments: &'static [&'static str]) -> Self {
        let action = Action::Command(arguments);
        let agent = "person";
        Self { agent, action }
    }

    /// Runs it. An answer has to say that it is done.
    fn run(&self, queue: &Queue, fault: Option<&str>) -> End {
        match self.attempt(queue, fault) {
            None => End::Killed,
            Some(Ok(())) => End::Answered,
            Some(Err(refusal)) => panic!("{fault:?}: refused: {refusal}"),
        }
    }

    /// Runs it. `None`: no answer; else whether it is done.
    fn attempt(&self, queue: &Queue, fault: Option<&str>) -> Option<Result<(), String>> {
        let mut command = queue.command(self.agent);
        command.envs(fault.map(|it| ("AI_COORD_FAULT", it)));
        match &self.action {
            Action::Call(tool, arguments) => call(&mut command, tool, arguments),
            Action::Command(arguments) => {
                let output = command.args(*arguments).output().unwrap();
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                let done = output.status.code()? == 0;
                Some(if done { Ok(()) } else { Err(said) })
            }
        }
    }
}

fn call(command: &mut Command, tool: &str, arguments: &Value) -> Option<Result<(), String>> {
    let mut server = Server::spawn(command);
    server.initialize("2025-11-25");
    let params = json!({"name": tool, "arguments": arguments});
    server.try_send(&crate::child::request(&json!(7), "tools/call", &params));
    let answer = server.message()?;
    assert_eq!(answer["id"], 7, "{answer}");
    let result = &answer["result"];
    let failed = result["isError"] == true;
    Some(if failed {
        Err(text(result).to_owned())
    } else {
        Ok(())
    })
}

/// Ends the operation at each of its steps.
fn walk(operation: &Operation) {
    let queue = Queue::new();
    let mut auditor = queue.auditor();
    assert_eq!(operation.run(&queue, None), End::Answered);
    let ids = queue.changed();
    let after = picture::take(&mut auditor, &queue, &ids);
    queue.reset();
    let before = picture::take(&mut auditor, &queue, &ids);
    assert_ne!(before, after, "the operation does something");

    let (mut seen_absent, mut seen_there) = (0, 0);
    for number in 1..MOST_STEPS {
        let mut got_through = 0;
        for when in ["before", "after"] {
            queue.reset();
            let fault = format!("{when} {number}");
            let end = operation.run(&queue, Some(&fault));
            assert!(queue.changed().is_subset(&ids), "{fault}: others changed");
            let found = picture::take(&mut auditor, &queue, &ids);
            if found == after {
                seen_there += 1;
            } else {
                assert_eq!(found, before, "{fault}: neither there nor absent");
                assert_eq!(end, End::Killed, "{fault}: answered, and not there");
                seen_absent += 1;
            }
            let again = operation.attempt(&queue, None);
            if found != after {
                assert_eq!(again, Some(Ok(())), "{fault}: it cannot be repeated");
            }
            go_on(&queue, &ids, &mut auditor, &fault);
            got_through += u32::from(end == End::Answered);
        }
        if got_through == 2 {
            assert!(number > 8, "the faults were not reached: {number} steps");
            assert!(seen_absent > 2 && seen_there > 2, "both ways were seen");
            return;
        }
    }
    panic!("the operation never got through");
}

/// After a crash the next operation works at once, and leaves nothing of the crash.
fn go_on(queue: &Queue, ids: &BTreeSet<String>, auditor: &mut Server, fault: &str) {
    // Each process tidies up with its first change.
    let create = Operation::call(
        "next",
        "create_task",
        json!({"title": "t", "description": "d"}),
    );
    create.run(queue, None);
    queue.touch(ids, auditor, fault);
    queue.assert_nothing_is_held(fault);
    queue.assert_nothing_is_there_twice(fault);
}

macro_rules! walks {
    ($($name:ident: $operation:expr;)*) => {$(
        #[test]
        fn $name() {
            walk(&$operation);
        }
    )*};
}

walks! {
    create_task: Operation::call("boss", "create_task", json!({"title": "new", "description": "d"}));
    claim_task: Operation::call("other", "claim_task", json!({"task_id": "task-0001"}));
    claim_next_task: Operation::call("other", "claim_next_task", json!({}));
    claim_of_a_revision: Operation::call("worker", "claim_next_task", json!({}));
    first_progress: Operation::call("worker", "update_progress", json!({"task_id": "task-0002", "percent": 5}));
    further_progress: Operation::call("worker", "update_progress", json!({"task_id": "task-0003", "notes": "more"}));
    complete_task: Operation::call("worker", "complete_task", json!({"task_id": "task-0003", "summary": "s"}));
    approve_task: Operation::call("boss", "approve_task", json!({"task_id": "task-0004"}));
    request_revision: Operation::call("boss", "request_revision", json!({"task_id": "task-0004", "feedback": "again"}));
    cancel_task: Operation::call("boss", "cancel_task", json!({"task_id": "task-0002", "reason": "r"}));
    reopen_task: Operation::call("boss", "reopen_task", json!({"task_id": "task-0006"}));
    post_message: Operation::call("boss", "post_message", json!({"task_id": "task-0001", "content": "hello"}));
    archive: Operation::command(&["archive", "--older-than", "0", "--status", "approved"]);
    restore: Operation::command(&["restore", "task-0008"]);
}
