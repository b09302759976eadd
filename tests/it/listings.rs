//! Listings that leave out what is there: nothing is missed, and no number is given out twice.
//!
//! Some file systems do that beside renames (measured on btrfs: 340 of 1,943 listings of 10,000 files). A debug build of
//! the program can be told to, every time.

use std::fs;

use serde_json::{Value, json};

use crate::agent::{Agent, Place};

/// Somebody whose listings lack these files.
async fn short_sighted(place: &Place, unlisted: &str) -> Agent {
    let mut command = place.command();
    command.env("AI_COORD_UNLISTED", unlisted);
    Agent::start("short-sighted", command).await
}

async fn create(agent: &Agent) -> String {
    let new = json!({"title": "t", "description": "d"});
    let created = agent.ok("create_task", new).await;
    created["task"]["id"].as_str().unwrap().to_owned()
}

fn ids(list: &Value) -> Vec<&str> {
    let tasks = list["tasks"].as_array().unwrap();
    tasks.iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_live_task_that_is_not_listed_is_not_missed() {
    let place = Place::new();
    let maker = place.agent("maker").await;
    for _ in 0..3 {
        create(&maker).await;
    }
    let agent = short_sighted(&place, "task-0001.json,task-0003.json").await;
    let list = agent.ok("list_tasks", json!({})).await;
    assert_eq!(ids(&list), ["task-0001", "task-0002", "task-0003"]);
    for id in ["task-0001", "task-0002", "task-0003"] {
        let claimed = agent.ok("claim_next_task", json!({})).await;
        assert_eq!(claimed["task"]["id"], id);
    }
    let claimed = agent.ok("claim_next_task", json!({})).await;
    assert_eq!(claimed["task"], Value::Null);
}

#[tokio::test]
async fn what_waits_for_a_task_that_is_not_listed_is_not_given_out() {
    let place = Place::new();
    let maker = place.agent("maker").await;
    create(&maker).await;
    let new = json!({"title": "t", "description": "d", "after": ["task-0001"]});
    maker.ok("create_task", new).await;
    maker
        .ok("claim_task", json!({"task_id": "task-0001"}))
        .await;
    let agent = short_sighted(&place, "task-0001.json").await;
    let claimed = agent.ok("claim_next_task", json!({})).await;
    assert_eq!(claimed["task"], Value::Null, "{claimed}");
    assert!(claimed["next"].as_str().unwrap().contains("task-0001"));
}

#[tokio::test]
async fn no_number_is_given_out_twice_though_the_sequence_is_lost_too() {
    let place = Place::new();
    let maker = place.agent("maker").await;
    for _ in 0..5 {
        create(&maker).await;
    }
    let text = |id: &str| fs::read(place.path().join(format!("tasks/{id}.json"))).unwrap();
    let before = [text("task-0004"), text("task-0005")];
    let agent = short_sighted(&place, "task-0004.json,task-0005.json").await;
    fs::remove_file(place.path().join("sequence.json")).unwrap();
    assert_eq!(create(&agent).await, "task-0006");
    assert_eq!([text("task-0004"), text("task-0005")], before);
    let list = agent.ok("list_tasks", json!({})).await;
    assert_eq!(ids(&list).len(), 6, "the new sequence tells of them again");
}
