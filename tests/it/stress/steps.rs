//! Each step of an update in turn: the process ends or is stopped right there, and another one goes on with the task.
//!
//! Responsibility: a dead holder's lock is had at once, though the time limit is an hour; a stopped holder whose lock was
//! taken away does its work again on what others have made of the task. Both are shown to have held the lock.
//!
//! # Limits
//!
//! Steps are counted by `src/store/dir/fault.rs`, which debug builds have.

use std::{
    fs,
    os::unix::process::ExitStatusExt,
    path::PathBuf,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use nix::sys::{
    signal::Signal,
    wait::{WaitPidFlag, WaitStatus, waitpid},
};
use serde_json::{Value, json};

use super::{Limit, found::Found, settle::FAST};
use crate::{
    agent::Place,
    child::{PATIENCE, Server, modern, request, text},
};

/// More steps than any update takes.
const MANY: u64 = 100;

const TASK: &str = "task-0001";

/// A directory with one task, and servers on it.
struct Scene {
    place: Place,
    limit: Limit,
}

impl Scene {
    fn new(limit: Limit) -> Self {
        let place = Place::new();
        let scene = Self { place, limit };
        let task = json!({"title": "a", "description": "b"});
        scene.server("planner", None).ok("create_task", &task);
        scene
    }

    fn server(&self, name: &str, fault: Option<&str>) -> Peer {
        let mut command: Command = self.place.command().into_std();
        command
            .env("COORDINATION_AGENT", name)
            .env(
                "COORDINATION_STALE_LOCK_SECONDS",
                self.limit.seconds().to_string(),
            )
            // That locks are taken away is what happens here, and nothing to be warned of.
            .env("RUST_LOG", "off");
        if let Some(fault) = fault {
            command.env("AI_COORD_FAULT", fault);
        }
        Peer(Server::spawn(&mut command))
    }

    /// One that has handed the task in.
    fn worker_who_is_done(&self) -> Peer {
        let mut worker = self.server("worker", None);
        worker.ok("claim_task", &json!({"task_id": TASK}));
        worker.ok("complete_task", &json!({"task_id": TASK}));
        worker
    }

    /// Locks with a holder.
    fn held(&self) -> Vec<PathBuf> {
        let locks = fs::read_dir(self.place.path().join(".locks"));
        let locks = locks
            .expect("the directory is there")
            .map(|it| it.unwrap().path());
        let is_held = |lock: &PathBuf| {
            lock.extension().is_some_and(|it| it == "lock")
                && fs::read_dir(lock).unwrap().next().is_some()
        };
        locks.filter(is_held).collect()
    }

    fn found(&self) -> Found {
        Found::read(&self.place.path())
    }
}

/// A server that is called.
struct Peer(Server);

impl Peer {
    fn send(&mut self, tool: &str, arguments: &Value) {
        let params = modern(json!({"name": tool, "arguments": arguments}));
        self.0.send(&request(&json!(tool), "tools/call", &params));
    }

    fn ok(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        result.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        self.send(tool, arguments);
        self.take(tool)
    }

    fn say_hello(&mut self) -> Value {
        let hello = json!({"task_id": TASK, "content": "hello"});
        self.ok("post_message", &hello)
    }

    fn take(&mut self, tool: &str) -> Result<Value, String> {
        let answer = self.0.answer(&json!(tool));
        let result = &answer["result"];
        if result["isError"] == true {
            return Err(text(result).to_owned());
        }
        Ok(result["structuredContent"].clone())
    }

    /// Waits until it is stopped. `false`: it has answered.
    fn stops(&mut self) -> bool {
        let started = Instant::now();
        let flags = WaitPidFlag::WUNTRACED | WaitPidFlag::WNOHANG;
        loop {
            // It does not end by itself while its input is open, so nothing is reaped here.
            if let Ok(WaitStatus::Stopped(..)) = waitpid(self.0.pid(), Some(flags)) {
                return true;
            }
            if self.0.has_message() {
                return false;
            }
            assert!(started.elapsed() < PATIENCE, "it neither stops nor answers");
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// How many entries have this text there.
fn count(entries: &[Value], key: &str, text: &str) -> usize {
    entries.iter().filter(|it| it[key] == text).count()
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "release builds have no faults")]
fn the_dead_block_nobody_though_the_limit_is_an_hour() {
    let mut held = 0;
    for step in 1..MANY {
        let scene = Scene::new(Limit::Hour);
        let mut worker = scene.worker_who_is_done();
        let mut victim = scene.server("reviewer", Some(&format!("after {step}")));
        victim.send(
            "request_revision",
            &json!({"task_id": TASK, "feedback": "more"}),
        );
        if victim.0.message().is_some() {
            assert!(held >= 8, "only {held} of {step} steps left a lock");
            return;
        }
        assert_eq!(victim.0.ended().0.signal(), Some(Signal::SIGKILL as i32));
        let left = scene.held();
        held += left.len();

        // Reading takes no lock, and finds what the dead one did not get into the second document.
        let shown = worker.ok("get_messages", &json!({"task_id": TASK}));
        let shown = count(shown["messages"].as_array().unwrap(), "content", "more");
        let started = Instant::now();
        worker.say_hello();
        let took = started.elapsed();
        assert!(took < FAST, "step {step}: {took:?} after {left:?} was left");
        assert_eq!(scene.held(), [] as [PathBuf; 0], "step {step}");

        let found = scene.found();
        let messages = &found.messages[TASK];
        let sent_back = count(found.history(TASK), "note", "more");
        assert_eq!(
            [shown, count(messages, "content", "more")],
            [sent_back; 2],
            "step {step}: the thread, as shown and as written, agrees with the history: {found:?}"
        );
        assert_eq!(count(messages, "content", "hello"), 1, "step {step}");
    }
    panic!("the call goes on for {MANY} steps");
}

/// A call that is stopped before each of its steps in turn, while another one is made.
struct Stopped {
    step: u64,
    scene: Scene,
    victim: Peer,
    tool: &'static str,
    is_lock_held: bool,
}

impl Stopped {
    /// `None`: the call has no such step.
    fn at(step: u64, scene: Scene, tool: &'static str, arguments: &Value) -> Option<Self> {
        let mut victim = scene.server("victim", Some(&format!("stop {step}")));
        victim.send(tool, arguments);
        if !victim.stops() {
            victim.take(tool).expect("nobody is in its way");
            return None;
        }
        let lock = format!("tasks-{TASK}.lock");
        let is_lock_held = scene.held().iter().any(|it| it.ends_with(&lock));
        Some(Self {
            step,
            scene,
            victim,
            tool,
            is_lock_held,
        })
    }

    /// Lets it go on. Its answer, and what is found then.
    fn go_on(mut self) -> (Result<Value, String>, Found) {
        self.victim.0.signal(Signal::SIGCONT);
        let answer = self.victim.take(self.tool);
        assert_eq!(self.scene.held(), [] as [PathBuf; 0], "step {}", self.step);
        (answer, self.scene.found())
    }
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "release builds have no faults")]
fn a_stopped_transition_starts_over_from_what_others_have_made_of_the_task() {
    let mut robbed = 0;
    for step in 1..MANY {
        let scene = Scene::new(Limit::Short);
        let cancel = json!({"task_id": TASK, "reason": "no need"});
        let Some(stopped) = Stopped::at(step, scene, "cancel_task", &cancel) else {
            assert!(robbed >= 2, "the lock was held at {robbed} steps of {step}");
            return;
        };
        let is_lock_held = stopped.is_lock_held;
        robbed += u64::from(is_lock_held);
        let claim = stopped
            .scene
            .server("worker", None)
            .call("claim_task", &json!({"task_id": TASK}));
        let (answer, found) = stopped.go_on();

        let actions: Vec<_> = found.history(TASK).iter().map(|it| &it["action"]).collect();
        let answer = answer.unwrap_or_else(|error| panic!("step {step}: {error}"));
        let version = &answer["task"]["version"];
        match claim {
            Ok(claim) => {
                assert_eq!(claim["task"]["version"], 2, "step {step}");
                assert_eq!(actions, ["create", "claim", "cancel"], "step {step}");
                assert_eq!(
                    *version, 3,
                    "step {step}: what it is now, and not what it was"
                );
            }
            // It was stopped after its commit, which gave the lock back.
            Err(refusal) => {
                assert!(
                    !is_lock_held && refusal.starts_with("invalid_transition: "),
                    "step {step}: {refusal}"
                );
                assert_eq!(actions, ["create", "cancel"], "step {step}");
                assert_eq!(*version, 2, "step {step}");
            }
        }
    }
    panic!("the call goes on for {MANY} steps");
}

#[test]
#[cfg_attr(not(debug_assertions), ignore = "release builds have no faults")]
fn a_stopped_change_of_two_documents_keeps_what_others_have_written() {
    let mut robbed = 0;
    for step in 1..MANY {
        let scene = Scene::new(Limit::Short);
        let mut worker = scene.worker_who_is_done();
        let send_back = json!({"task_id": TASK, "feedback": "more"});
        let Some(stopped) = Stopped::at(step, scene, "request_revision", &send_back) else {
            assert!(robbed >= 5, "the lock was held at {robbed} steps of {step}");
            return;
        };
        robbed += u64::from(stopped.is_lock_held);
        let hello = worker.say_hello();
        let (answer, mut found) = stopped.go_on();
        let answer = answer.unwrap_or_else(|error| panic!("step {step}: {error}"));

        assert_eq!(answer["task"]["version"], 4, "step {step}");
        assert_eq!(found.history(TASK).len(), 4, "step {step}");
        let thread = found.messages.remove(TASK).unwrap_or_default();
        for (text, told) in [("hello", hello), ("more", answer)] {
            let kept: Vec<_> = thread.iter().filter(|it| it["content"] == text).collect();
            assert_eq!(kept.len(), 1, "step {step}: {text}: {thread:?}");
            assert_eq!(kept[0]["id"], told["message"]["id"], "step {step}: {text}");
        }
    }
    panic!("the call goes on for {MANY} steps");
}
