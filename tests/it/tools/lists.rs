//! Finding tasks and reading them.

use serde_json::json;

use crate::agent::Place;

#[tokio::test]
async fn a_list_is_paged_by_number_and_by_bytes() {
    let place = Place::new();
    let agent = place.agent("claude-code").await;
    for number in 1..=40 {
        let title = format!("{number} {}", "ä".repeat(190));
        agent
            .ok(
                "create_task",
                json!({ "title": title, "description": "b", "tags": ["even"] }),
            )
            .await;
    }
    let mut seen = Vec::new();
    let mut cursor = json!(null);
    loop {
        let page = agent
            .ok("list_tasks", json!({ "limit": 30, "cursor": cursor }))
            .await;
        assert_eq!(
            (&page["total"], &page["counts"]),
            (&json!(40), &json!({ "pending": 40 }))
        );
        let tasks = page["tasks"].as_array().unwrap();
        assert!(tasks.len() < 30, "a page ends before it is too long");
        seen.extend(
            tasks
                .iter()
                .map(|task| task["id"].as_str().unwrap().to_owned()),
        );
        match page.get("nextCursor") {
            Some(next) => cursor = next.clone(),
            None => break,
        }
    }
    let all: Vec<_> = (1..=40).map(|number| format!("task-{number:04}")).collect();
    assert_eq!(seen, all);
}

#[tokio::test]
async fn filters_and_search() {
    let place = Place::new();
    let (boss, worker) = (place.agent("boss").await, place.agent("worker").await);
    boss.ok(
        "create_task",
        json!({ "title": "Sort", "description": "by SKU", "tags": ["ui"] }),
    )
    .await;
    boss.ok(
        "create_task",
        json!({ "title": "Test", "description": "the sorting" }),
    )
    .await;
    worker
        .ok(
            "create_task",
            json!({ "title": "Drop", "description": "it" }),
        )
        .await;
    worker
        .ok("claim_task", json!({ "task_id": "task-0001" }))
        .await;
    boss.ok("cancel_task", json!({ "task_id": "task-0003" }))
        .await;
    let ids = |page: serde_json::Value| -> Vec<u64> {
        let tasks = page["tasks"].as_array().unwrap().clone();
        tasks
            .iter()
            .map(|it| it["id"].as_str().unwrap()[5..].parse().unwrap())
            .collect()
    };
    for (arguments, expected) in [
        (json!({}), vec![1, 2]),
        (json!({ "status": "all" }), vec![1, 2, 3]),
        (json!({ "status": "cancelled" }), vec![3]),
        (json!({ "creator": "me" }), vec![1, 2]),
        (
            json!({ "creator": "me", "status": "all", "tag": "ui" }),
            vec![1],
        ),
        (json!({ "assignee": "me" }), vec![]),
        (json!({ "status": "all", "cursor": "task-0002" }), vec![3]),
    ] {
        assert_eq!(
            ids(boss.ok("list_tasks", arguments.clone()).await),
            expected,
            "{arguments}"
        );
    }
    assert_eq!(
        ids(worker.ok("list_tasks", json!({ "assignee": "me" })).await),
        [1]
    );
    assert_eq!(
        ids(boss.ok("search_tasks", json!({ "query": "sORt" })).await),
        [1, 2]
    );
    assert_eq!(
        ids(boss.ok("search_tasks", json!({ "query": "it" })).await),
        [3],
        "finished ones, too"
    );
    assert_eq!(
        ids(boss
            .ok("search_tasks", json!({ "query": "it", "status": "active" }))
            .await),
        [] as [u64; 0]
    );
}

#[tokio::test]
async fn shapes_leave_out_what_is_empty() {
    let place = Place::new();
    let agent = place.agent("boss").await;
    agent
        .ok("create_task", json!({ "title": "a", "description": "b" }))
        .await;
    let page = agent.ok("list_tasks", json!({})).await;
    let keys = |value: &serde_json::Value| {
        value
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&page), ["tasks", "total", "counts", "you"]);
    let summary = [
        "id",
        "title",
        "status",
        "version",
        "creator",
        "tags",
        "createdAt",
        "updatedAt",
        "idleSeconds",
    ];
    assert_eq!(keys(&page["tasks"][0]), summary);
    let whole = agent
        .ok("get_task", json!({ "task_id": "task-0001" }))
        .await;
    assert_eq!(keys(&whole), ["task", "historyTotal"]);
    let order = ["files", "metadata", "after", "description", "history"];
    assert_eq!(keys(&whole["task"]), [&summary[..], &order[..]].concat());
    assert_eq!(
        keys(&whole["task"]["history"][0]),
        ["version", "timestamp", "actor", "action", "to"]
    );
}
