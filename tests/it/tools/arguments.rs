//! Lenient in, strict out: what is put right, what is refused, and that a refusal changes nothing.

use serde_json::{Value, json};

use crate::agent::Place;

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table")]
async fn what_is_wrong_is_named_and_changes_nothing() {
    let place = Place::new();
    let agent = place.agent("claude-code").await;
    agent
        .ok("create_task", json!({ "title": "a", "description": "b" }))
        .await;
    let before = place.snapshot();
    let long = |length: usize| "x".repeat(length);
    let create = |field: &str, value: Value| {
        let mut task = json!({ "title": "a", "description": "b" });
        task[field] = value;
        task
    };
    let cases: Vec<(&str, &str, Value, &str)> = vec![
        (
            "invalid_arguments",
            "get_task",
            json!({ "task_id": "../task-0001" }),
            "task-0001",
        ),
        (
            "invalid_arguments",
            "get_task",
            json!({ "task_id": "task-1" }),
            "task_id",
        ),
        (
            "invalid_arguments",
            "get_task",
            json!({ "task_id": 1 }),
            "task_id",
        ),
        ("invalid_arguments", "get_task", json!({}), "task_id"),
        (
            "invalid_arguments",
            "get_task",
            json!({ "taskId": "task-0001" }),
            "task_id",
        ),
        (
            "invalid_arguments",
            "get_task",
            json!({ "id": "task-0001" }),
            "task_id",
        ),
        (
            "invalid_arguments",
            "create_task",
            json!({ "title": " ", "description": "b" }),
            "title",
        ),
        (
            "invalid_arguments",
            "create_task",
            create("tags", json!("x")),
            "tags",
        ),
        (
            "invalid_arguments",
            "create_task",
            create("tags", json!([1])),
            "tags",
        ),
        (
            "invalid_arguments",
            "create_task",
            create("after", json!(["task-1"])),
            "after",
        ),
        (
            "invalid_arguments",
            "create_task",
            create("metadata", json!([1])),
            "metadata",
        ),
        (
            "invalid_arguments",
            "create_task",
            create("agent", json!("me")),
            "agent",
        ),
        (
            "not_found",
            "create_task",
            create("after", json!(["task-0099"])),
            "task-0099",
        ),
        (
            "too_large",
            "create_task",
            create("title", json!(long(201))),
            "title",
        ),
        (
            "too_large",
            "create_task",
            create("description", json!(long(8_001))),
            "files",
        ),
        (
            "too_large",
            "create_task",
            create("tags", json!(vec!["x"; 33])),
            "tags",
        ),
        (
            "too_large",
            "create_task",
            create("tags", json!([long(65)])),
            "tags",
        ),
        (
            "too_large",
            "create_task",
            create("files", json!(vec!["x"; 257])),
            "files",
        ),
        (
            "too_large",
            "create_task",
            create("after", json!(vec!["task-0001"; 65])),
            "after",
        ),
        (
            "too_large",
            "create_task",
            create("metadata", json!({ "k": long(4_096) })),
            "metadata",
        ),
        (
            "too_large",
            "post_message",
            json!({ "task_id": "task-0001", "content": long(8_001) }),
            "content",
        ),
        (
            "invalid_arguments",
            "post_message",
            json!({ "task_id": "task-0001", "content": "" }),
            "content",
        ),
        (
            "invalid_arguments",
            "list_tasks",
            json!({ "status": "open" }),
            "revision_requested",
        ),
        (
            "invalid_arguments",
            "list_tasks",
            json!({ "limit": 0 }),
            "limit",
        ),
        (
            "invalid_arguments",
            "list_tasks",
            json!({ "limit": 201 }),
            "200",
        ),
        (
            "invalid_arguments",
            "list_tasks",
            json!({ "cursor": "next" }),
            "cursor",
        ),
        (
            "invalid_arguments",
            "get_messages",
            json!({ "task_id": "task-0001", "since": "yesterday" }),
            "since",
        ),
        (
            "invalid_arguments",
            "update_progress",
            json!({ "task_id": "task-0001", "percent": 101 }),
            "percent",
        ),
        (
            "invalid_arguments",
            "update_progress",
            json!({ "task_id": "task-0001", "percent": "lots" }),
            "percent",
        ),
        (
            "invalid_arguments",
            "cancel_task",
            json!({ "task_id": "task-0001", "expectedVersion": 1 }),
            "expected_version",
        ),
        (
            "invalid_arguments",
            "cancel_task",
            json!({ "task_id": "task-0001", "expected_version": 1.5 }),
            "expected_version",
        ),
        (
            "not_found",
            "get_task",
            json!({ "task_id": "task-0099" }),
            "task-0099",
        ),
        (
            "conflict",
            "cancel_task",
            json!({ "task_id": "task-0001", "expected_version": 9 }),
            "version 1",
        ),
    ];
    for (code, tool, arguments, named) in cases {
        let error = agent
            .refused(code, tool_name(tool), arguments.clone())
            .await;
        assert!(error.contains(named), "{tool}({arguments}): {error}");
        assert!(error.chars().count() < 500, "{tool}: {error}");
        assert_eq!(
            place.snapshot(),
            before,
            "{tool}({arguments}) has changed something"
        );
    }
    agent
        .ok("get_task", json!({ "task_id": "task-0001" }))
        .await;
}

/// The client wants names that live as long as the program.
fn tool_name(tool: &str) -> &'static str {
    let known = [
        "get_task",
        "create_task",
        "post_message",
        "list_tasks",
        "get_messages",
        "update_progress",
        "cancel_task",
    ];
    known.into_iter().find(|it| *it == tool).unwrap()
}

#[tokio::test]
async fn what_models_write_is_put_right() {
    let place = Place::new();
    let agent = place.agent("gemini-cli-mcp-client").await;
    let created = agent
        .ok(
            "create_task",
            json!({
                "title": "a", "description": "b", "tags": "[\"x\", \"x\"]", "files": null, "expected_output": "",
                "metadata": "{\"branch\": \"main\"}", "wait_for_previous": true, "reasoning": "because",
            }),
        )
        .await;
    assert_eq!(
        created,
        json!({ "ignored": ["reasoning"], "task": { "id": "task-0001", "status": "pending", "version": 1 } })
    );
    let task = agent
        .ok(
            "get_task",
            json!({ "task_id": "task-0001", "history_limit": "1" }),
        )
        .await;
    assert_eq!(task["task"]["tags"], json!(["x"]));
    assert_eq!(task["task"]["metadata"], json!({ "branch": "main" }));
    assert!(task["task"].get("expectedOutput").is_none(), "{task}");
    agent
        .ok(
            "claim_task",
            json!({ "task_id": "task-0001", "expected_version": 1.0 }),
        )
        .await;
    let report = agent
        .ok(
            "update_progress",
            json!({ "task_id": "task-0001", "percent": "40" }),
        )
        .await;
    assert_eq!(report["progress"]["percent"], 40);
}
