//! The commands with which a person looks after the queue: archive, restore, doctor.

use std::{fs, process::Output};

use serde_json::{Value, json};

use crate::agent::{Agent, Place};

/// Runs a command of the program: its exit code, what it says, and what it complains of.
async fn run(place: &Place, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = place.command();
    let Output {
        status,
        stdout,
        stderr,
    } = command.args(arguments).output().await.unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// Runs a command that has to work without complaint.
async fn said(place: &Place, arguments: &[&str]) -> String {
    let (code, said, complaint) = run(place, arguments).await;
    assert_eq!(
        (code, complaint.as_str()),
        (Some(0), ""),
        "{arguments:?}: {said}"
    );
    said
}

/// Somebody with an approved task, on which something was said, and with one that waits for it.
async fn with_an_approved_task(place: &Place) -> Agent {
    let agent = place.agent("claude-code").await;
    for arguments in [
        json!({"title": "first", "description": "d"}),
        json!({"title": "second", "description": "d", "after": ["task-0001"]}),
    ] {
        agent.ok("create_task", arguments).await;
    }
    let on = json!({"task_id": "task-0001"});
    agent.ok("claim_task", on.clone()).await;
    let half = json!({"task_id": "task-0001", "percent": 50});
    agent.ok("update_progress", half).await;
    let word = json!({"task_id": "task-0001", "content": "look here"});
    agent.ok("post_message", word).await;
    agent.ok("complete_task", on.clone()).await;
    agent.ok("approve_task", on).await;
    agent
}

fn ids(list: &Value) -> Vec<&str> {
    let tasks = list["tasks"].as_array().unwrap();
    tasks.iter().map(|it| it["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_archived_task_is_found_but_neither_listed_nor_changed() {
    let place = Place::new();
    let agent = with_an_approved_task(&place).await;
    assert_eq!(
        said(&place, &["archive"]).await,
        "archived nothing; 1 task changed too recently (see --older-than)\n"
    );
    assert_eq!(
        said(&place, &["archive", "--older-than", "0"]).await,
        "archived 1 task: task-0001\n"
    );

    let list = agent.ok("list_tasks", json!({"status": "all"})).await;
    assert_eq!(ids(&list), ["task-0002"]);
    assert_eq!(list["counts"], json!({"pending": 1, "archived": 1}));
    let found = agent.ok("search_tasks", json!({"query": "first"})).await;
    assert_eq!(ids(&found), Vec::<&str>::new());

    let on = json!({"task_id": "task-0001"});
    let whole = agent.ok("get_task", on.clone()).await;
    assert_eq!(whole["task"]["archived"], true);
    assert_eq!(whole["task"]["status"], "approved");
    let messages = agent.ok("get_messages", on.clone()).await;
    assert_eq!(messages["archived"], true);
    assert_eq!(messages["messages"][0]["content"], "look here");
    let progress = agent.ok("get_progress", on.clone()).await;
    assert_eq!(progress["archived"], true);
    assert_eq!(progress["latest"]["percent"], 50);
    let live = agent.ok("get_task", json!({"task_id": "task-0002"})).await;
    assert_eq!(live["task"]["archived"], Value::Null);

    let before = place.snapshot();
    for (tool, more) in [
        ("claim_task", json!({})),
        ("update_progress", json!({})),
        ("complete_task", json!({})),
        ("approve_task", json!({})),
        ("request_revision", json!({"feedback": "f"})),
        ("cancel_task", json!({})),
        ("reopen_task", json!({})),
        ("post_message", json!({"content": "c"})),
    ] {
        let mut arguments = more;
        arguments["task_id"] = json!("task-0001");
        let refusal = agent.refused("invalid_transition", tool, arguments).await;
        assert!(
            refusal.contains(" restore task-0001` brings it back")
                && refusal.contains("`ai-coord-mcp --dir /"),
            "{tool}: {refusal}"
        );
    }
    assert_eq!(place.snapshot(), before);
}

#[tokio::test]
async fn single_tasks_are_archived_by_name_and_all_are_listed() {
    let place = Place::new();
    let agent = with_an_approved_task(&place).await;
    assert_eq!(
        said(&place, &["archive", "--list"]).await,
        "the archive is empty\n"
    );
    let (code, out, complaint) = run(&place, &["archive", "task-0002", "task-0009"]).await;
    assert_eq!((code, out.as_str()), (Some(1), "archived nothing\n"));
    assert!(complaint.contains("task-0002 is pending"), "{complaint}");
    assert!(complaint.contains("not_found: "), "{complaint}");
    assert_eq!(
        said(&place, &["archive", "task-0001"]).await,
        "archived 1 task: task-0001\n"
    );
    assert_eq!(
        said(&place, &["archive", "--list"]).await,
        "task-0001  approved   first\n"
    );
    let on = json!({"task_id": "task-0001", "timeout_seconds": 3600});
    let waited = agent.ok("wait_for_task", on).await;
    assert_eq!(waited["task"]["archived"], true, "nobody can change it");
}

#[tokio::test]
async fn a_cancelled_task_that_others_wait_for_stays_in_sight() {
    let place = Place::new();
    let agent = place.agent("boss").await;
    agent
        .ok("create_task", json!({"title": "a", "description": "d"}))
        .await;
    agent
        .ok("cancel_task", json!({"task_id": "task-0001"}))
        .await;
    let after = json!({"title": "b", "description": "d", "after": ["task-0001"]});
    let created = agent.ok("create_task", after).await;
    let next = created["next"].as_str().unwrap();
    assert!(next.contains("task-0001 (cancelled"), "{next}");
    assert_eq!(
        said(&place, &["archive", "--older-than", "0"]).await,
        "archived nothing; others wait for task-0001, cancelled as they are\n"
    );
    agent
        .ok("cancel_task", json!({"task_id": "task-0002"}))
        .await;
    assert_eq!(
        said(&place, &["archive", "--older-than", "0"]).await,
        "archived 2 tasks: task-0001, task-0002\n"
    );
    let after = json!({"title": "c", "description": "d", "after": ["task-0002"]});
    agent.ok("create_task", after).await;
    let on = json!({"task_id": "task-0003"});
    let blocked = agent.refused("blocked", "claim_task", on).await;
    assert!(blocked.contains("restore task-0002`"), "{blocked}");
}

#[tokio::test]
async fn a_log_that_cannot_be_read_does_not_look_empty() {
    let place = Place::new();
    let agent = with_an_approved_task(&place).await;
    for folder in ["messages", "progress"] {
        fs::create_dir_all(place.path().join(folder)).unwrap();
        fs::write(place.path().join(folder).join("task-0002.json"), "{").unwrap();
    }
    let claimed = agent
        .ok("claim_task", json!({"task_id": "task-0002"}))
        .await;
    let unreadable = claimed["unreadable"].as_array().unwrap();
    assert_eq!(unreadable.len(), 2, "{claimed}");
    assert_eq!(unreadable[0]["code"], "corrupt");
}

#[tokio::test]
async fn restoring_makes_no_directory() {
    let place = Place::new();
    let (code, _, complaint) = run(&place, &["restore", "task-0001"]).await;
    assert_eq!(code, Some(1));
    assert!(complaint.contains("not_found: "), "{complaint}");
    assert!(!place.path().exists());
}

#[tokio::test]
async fn what_waits_for_an_archived_task_goes_by_its_status() {
    let place = Place::new();
    let agent = with_an_approved_task(&place).await;
    said(&place, &["archive", "--older-than", "0"]).await;
    let claimed = agent.ok("claim_next_task", json!({})).await;
    assert_eq!(
        claimed["task"]["id"], "task-0002",
        "its predecessor is approved"
    );
    let after = json!({"title": "third", "description": "d", "after": ["task-0001"]});
    agent.ok("create_task", after).await;
    let claimed = agent
        .ok("claim_task", json!({"task_id": "task-0003"}))
        .await;
    assert_eq!(claimed["task"]["status"], "claimed");
}

#[tokio::test]
async fn a_restored_task_is_back_with_all_that_was_said() {
    let place = Place::new();
    let agent = with_an_approved_task(&place).await;
    said(&place, &["archive", "--older-than", "0"]).await;
    assert_eq!(
        said(&place, &["restore", "task-0001"]).await,
        "task-0001 is back: approved, version 6\n"
    );
    let on = json!({"task_id": "task-0001"});
    let whole = agent.ok("get_task", on.clone()).await;
    let newest = whole["task"]["history"].as_array().unwrap().last().unwrap();
    assert_eq!(newest["action"], "restore");
    assert_eq!(newest["actor"], "person");
    assert_eq!(whole["task"]["archived"], Value::Null);
    let messages = agent.ok("get_messages", on.clone()).await;
    assert_eq!(messages["total"], 1);
    let stale = json!({"task_id": "task-0001", "expected_version": 5});
    agent.refused("conflict", "reopen_task", stale).await;
    agent.ok("reopen_task", on).await;

    let (code, out, complaint) = run(&place, &["restore", "task-0001", "task-0099"]).await;
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(
        complaint.contains("task-0001: invalid_transition: "),
        "{complaint}"
    );
    assert!(complaint.contains("task-0099: not_found: "), "{complaint}");
}

#[tokio::test]
async fn what_cannot_be_archived_keeps_no_other_from_it() {
    let place = Place::new();
    let agent = with_an_approved_task(&place).await;
    agent
        .ok("cancel_task", json!({"task_id": "task-0002"}))
        .await;
    fs::write(place.path().join("messages/task-0001.json"), "{").unwrap();
    let (code, out, complaint) = run(&place, &["archive", "--older-than", "0"]).await;
    assert_eq!(code, Some(1));
    assert_eq!(out, "archived 1 task: task-0002\n");
    assert!(complaint.contains("task-0001: corrupt: "), "{complaint}");
    assert!(complaint.contains("messages/task-0001.json"), "{complaint}");
    let whole = agent.ok("get_task", json!({"task_id": "task-0001"})).await;
    assert_eq!(whole["task"]["archived"], Value::Null, "it stays");
}

#[tokio::test]
async fn arguments_that_make_no_sense_are_refused() {
    let place = Place::new();
    for (arguments, expected) in [
        (
            ["archive", "--older-than", "soon"],
            "a number and s, m, h, d or w",
        ),
        (
            ["archive", "--status", "completed"],
            "approved or cancelled",
        ),
        (["restore", "task-1", "task-0001"], "task-0001"),
        (["doctor", "--quarantine", "7"], "task-0001"),
    ] {
        let (code, out, complaint) = run(&place, &arguments).await;
        assert_eq!((code, out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(complaint.contains(expected), "{arguments:?}: {complaint}");
    }
    assert!(!place.path().exists(), "nothing was made");
}

#[tokio::test]
async fn the_doctor_finds_nothing_wrong_with_a_queue_in_use() {
    let place = Place::new();
    let _agent = with_an_approved_task(&place).await;
    said(&place, &["archive", "--older-than", "0"]).await;
    let text = said(&place, &["doctor"]).await;
    for part in [
        "1 task, 1 archived, last number 2",
        "claude-code@",
        "Nothing is wrong.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for line in text.lines().filter(|it| !it.contains('/')) {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let report: Value = serde_json::from_str(&said(&place, &["doctor", "--json"]).await).unwrap();
    assert_eq!(report["ok"], true);
    assert_eq!(report["chosenBy"], "COORDINATION_DIR");
    let name = report["content"]["agents"][0]["name"].as_str().unwrap();
    assert!(name.starts_with("claude-code@"), "{name}");
}

#[tokio::test]
async fn the_doctor_names_what_is_wrong_and_moves_it_aside_when_told() {
    let place = Place::new();
    let agent = with_an_approved_task(&place).await;
    fs::write(place.path().join("tasks/task-0002.json"), "{\n\"id\": 5}").unwrap();
    let (code, text, complaint) = run(&place, &["doctor"]).await;
    assert_eq!((code, complaint.as_str()), (Some(1), ""));
    for part in [
        "1 problem:",
        "tasks/task-0002.json: line 2, id: ",
        "doctor --quarantine task-0002",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let text = said(&place, &["doctor", "--quarantine", "task-0002"]).await;
    assert!(text.contains("quarantine/tasks-task-0002.json"), "{text}");
    let list = agent.ok("list_tasks", json!({"status": "all"})).await;
    assert_eq!(list["unreadable"], Value::Null);
    let new = agent
        .ok("create_task", json!({"title": "t", "description": "d"}))
        .await;
    assert_eq!(new["task"]["id"], "task-0003");
}
