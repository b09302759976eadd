//! What the clients do while the storm rages: an implementer's and a coordinator's work, without reading what they get.

use std::{
    sync::{Mutex, PoisonError},
    time::Instant,
};

use serde_json::{Value, json};

use super::{
    client::Client,
    journal::{Fate, Tool},
    rng::Rng,
};

/// How many tasks the coordinator keeps open: few, so that they are fought over.
const OPEN: u64 = 5;

/// How many tasks they talk about.
const NEWEST: usize = 5;

/// The tasks that were acknowledged so far.
#[derive(Debug, Default)]
pub(super) struct Board(Mutex<Vec<String>>);

impl Board {
    /// One of the newest, so that they meet there.
    pub(super) fn any(&self, rng: &mut Rng) -> Option<String> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = known.len().saturating_sub(NEWEST);
        rng.pick(&known[newest..]).cloned()
    }

    fn add(&self, created: &Value) {
        let id = created["task"]["id"].as_str().expect("a task has an id");
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.push(id.to_owned());
    }
}

/// Claims, reports, talks and hands in, until the time is up.
pub(super) fn implement(client: &mut Client<'_>, board: &Board, rng: &mut Rng, until: Instant) {
    while Instant::now() < until {
        let claimed = client.act(Tool::ClaimNext, None);
        let task = claimed.answer().and_then(|it| it["task"]["id"].as_str());
        if let Some(task) = task {
            work(client, task, rng);
        }
        if rng.chance(60) {
            act_on_any(client, Tool::Post, board, rng);
        }
    }
}

fn work(client: &mut Client<'_>, task: &str, rng: &mut Rng) {
    for _ in 0..rng.below(4) {
        if !matches!(client.act(Tool::Report, Some(task)), Fate::Answered(_)) {
            return;
        }
    }
    if rng.chance(50) {
        client.act(Tool::Post, Some(task));
    }
    client.act(Tool::Complete, Some(task));
}

/// Creates, reviews, withdraws and talks, until the time is up.
pub(super) fn coordinate(client: &mut Client<'_>, board: &Board, rng: &mut Rng, until: Instant) {
    while Instant::now() < until {
        let listed = client.call("list_tasks", &json!({"status": "completed", "limit": 4}));
        let Fate::Answered(listed) = listed else {
            continue;
        };
        if open(&listed["counts"]) < OPEN {
            let created = client.act(Tool::Create, None);
            created.answer().inspect(|it| board.add(it));
        }
        for task in listed["tasks"].as_array().into_iter().flatten() {
            review(client, task["id"].as_str().expect("a task has an id"), rng);
        }
        for (tool, percent) in [(Tool::Cancel, 15), (Tool::Reopen, 30), (Tool::Post, 50)] {
            if rng.chance(percent) {
                act_on_any(client, tool, board, rng);
            }
        }
    }
}

fn review(client: &mut Client<'_>, task: &str, rng: &mut Rng) {
    let tool = match rng.below(10) {
        0..4 => Tool::Approve,
        4..9 => Tool::RequestRevision,
        _ => Tool::Reopen,
    };
    client.act(tool, Some(task));
}

fn act_on_any(client: &mut Client<'_>, tool: Tool, board: &Board, rng: &mut Rng) {
    if let Some(task) = board.any(rng) {
        client.act(tool, Some(&task));
    }
}

fn open(counts: &Value) -> u64 {
    let counts = counts.as_object().into_iter().flatten();
    counts
        .filter(|(status, _)| !matches!(status.as_str(), "approved" | "cancelled"))
        .filter_map(|(_, count)| count.as_u64())
        .sum()
}
