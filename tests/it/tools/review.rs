//! Working, asking, handing in, reviewing.

use serde_json::json;

use crate::agent::Place;

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one story, told in its order")]
async fn a_task_from_beginning_to_end() {
    let place = Place::new();
    let (boss, worker) = (place.agent("boss").await, place.agent("worker").await);
    boss.ok("create_task", json!({ "title": "a", "description": "b" }))
        .await;
    worker.ok("claim_next_task", json!({})).await;
    let started = worker
        .ok(
            "update_progress",
            json!({ "task_id": "task-0001", "percent": 10 }),
        )
        .await;
    assert_eq!(
        started["task"],
        json!({ "id": "task-0001", "status": "in_progress", "version": 3 })
    );
    let beat = worker
        .ok("update_progress", json!({ "task_id": "task-0001" }))
        .await;
    assert_eq!(beat["task"]["version"], 3, "a report changes no version");

    boss.refused(
        "not_assignee",
        "complete_task",
        json!({ "task_id": "task-0001" }),
    )
    .await;
    boss.refused(
        "invalid_transition",
        "approve_task",
        json!({ "task_id": "task-0001" }),
    )
    .await;
    let done = worker
        .ok(
            "complete_task",
            json!({ "task_id": "task-0001", "summary": "done", "commit": "abc" }),
        )
        .await;
    assert!(done["next"].as_str().unwrap().contains("claim_next_task"));
    worker
        .refused(
            "not_reviewer",
            "approve_task",
            json!({ "task_id": "task-0001" }),
        )
        .await;

    let review = boss.ok("wait_for_task", json!({})).await;
    assert_eq!(review["attention"][0]["why"], "review");
    let told = boss
        .ok(
            "wait_for_task",
            json!({ "since": review["now"], "timeout_seconds": 0 }),
        )
        .await;
    assert_eq!(
        (&told["timed_out"], &told["attention"]),
        (&json!(true), &json!([]))
    );

    let back = boss
        .ok(
            "request_revision",
            json!({ "task_id": "task-0001", "feedback": "more" }),
        )
        .await;
    assert_eq!(back["task"]["status"], "revision_requested");
    let thread = worker
        .ok("get_messages", json!({ "task_id": "task-0001" }))
        .await;
    assert_eq!(
        thread["messages"][0]["content"], "more",
        "feedback is a message, too"
    );
    assert_eq!(back["message"]["id"], thread["messages"][0]["id"]);
    let revision = worker.ok("claim_next_task", json!({})).await;
    assert_eq!(
        (&revision["why"], &revision["task"]["feedback"]),
        (&json!("revision"), &json!("more"))
    );
    assert_eq!(revision["task"]["submission"]["commit"], "abc");
    worker
        .ok("complete_task", json!({ "task_id": "task-0001" }))
        .await;
    boss.ok(
        "approve_task",
        json!({ "task_id": "task-0001", "note": "good" }),
    )
    .await;

    let whole = boss
        .ok(
            "get_task",
            json!({ "task_id": "task-0001", "history_limit": 2 }),
        )
        .await;
    assert_eq!(whole["historyTotal"], 8);
    assert_eq!(whole["task"]["history"][1]["action"], "approve");
    assert_eq!(whole["task"]["history"][1]["note"], "good");
    boss.ok("reopen_task", json!({ "task_id": "task-0001" }))
        .await;
    assert!(
        boss.ok("list_tasks", json!({})).await["tasks"][0]
            .get("assignee")
            .is_none()
    );
}

#[tokio::test]
async fn a_question_gets_its_answer() {
    let place = Place::new();
    let (boss, worker) = (place.agent("boss").await, place.agent("worker").await);
    boss.ok("create_task", json!({ "title": "a", "description": "b" }))
        .await;
    worker.ok("claim_next_task", json!({})).await;
    let ask = worker.ok(
        "post_message",
        json!({ "task_id": "task-0001", "content": "which?", "wait_seconds": 25 }),
    );
    let answer = async {
        let asked = boss
            .ok("wait_for_task", json!({ "timeout_seconds": 25 }))
            .await;
        assert_eq!(asked["attention"][0]["message"]["content"], "which?");
        boss.ok(
            "post_message",
            json!({ "task_id": "task-0001", "content": "this" }),
        )
        .await
    };
    let (asked, _) = tokio::join!(ask, answer);
    assert_eq!(
        (&asked["reply"]["content"], &asked["timed_out"]),
        (&json!("this"), &json!(false))
    );
    assert!(
        asked["message"].get("content").is_none(),
        "nothing is echoed"
    );
}

#[tokio::test]
async fn a_watcher_is_woken_by_status_and_by_messages() {
    let place = Place::new();
    let (boss, worker) = (place.agent("boss").await, place.agent("worker").await);
    boss.ok("create_task", json!({ "title": "a", "description": "b" }))
        .await;
    // The wait may come in after the claim: only what it knows makes it return either way.
    let known = json!({ "task_id": "task-0001", "known_status": "pending", "timeout_seconds": 25 });
    let watch = boss.ok("wait_for_task", known.clone());
    let (seen, _) = tokio::join!(watch, worker.ok("claim_next_task", json!({})));
    assert_eq!(seen["timed_out"], false);
    let post = worker.ok(
        "post_message",
        json!({ "task_id": "task-0001", "content": "hello" }),
    );
    let since =
        json!({ "task_id": "task-0001", "since": "2020-01-01T00:00:00Z", "timeout_seconds": 25 });
    let (seen, _) = tokio::join!(boss.ok("wait_for_task", since), post);
    assert_eq!(seen["messages"][0]["content"], "hello");
    assert_eq!(
        boss.ok("wait_for_task", known).await["task"]["status"],
        "claimed"
    );
}

#[tokio::test]
async fn whoever_works_on_a_cancelled_task_is_told_to_stop() {
    let place = Place::new();
    let (boss, worker) = (place.agent("boss").await, place.agent("worker").await);
    boss.ok("create_task", json!({ "title": "a", "description": "b" }))
        .await;
    worker.ok("claim_next_task", json!({})).await;
    boss.ok(
        "cancel_task",
        json!({ "task_id": "task-0001", "reason": "no need" }),
    )
    .await;
    let stop = worker
        .refused(
            "invalid_transition",
            "update_progress",
            json!({ "task_id": "task-0001" }),
        )
        .await;
    assert!(
        stop.contains("no need") && stop.contains("call claim_next_task"),
        "{stop}"
    );
    assert!(!stop.contains("reopen_task"), "{stop}");
    assert_eq!(
        worker.ok("wait_for_task", json!({})).await["attention"][0]["why"],
        "cancelled"
    );
}

#[tokio::test]
async fn timestamps_of_a_thread_increase_whoever_posts() {
    let place = Place::new();
    let boss = place.agent("boss").await;
    boss.ok("create_task", json!({ "title": "a", "description": "b" }))
        .await;
    let mut posters = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let poster = place.agent("poster").await;
        posters.spawn(async move {
            for number in 0..5 {
                poster
                    .ok(
                        "post_message",
                        json!({ "task_id": "task-0001", "content": format!("{number}") }),
                    )
                    .await;
            }
        });
    }
    posters.join_all().await;
    let mut stamps = Vec::new();
    let mut since = json!("1970-01-01T00:00:00Z");
    loop {
        let page = boss
            .ok(
                "get_messages",
                json!({ "task_id": "task-0001", "since": since, "limit": 3 }),
            )
            .await;
        let messages = page["messages"].as_array().unwrap();
        stamps.extend(
            messages
                .iter()
                .map(|it| it["timestamp"].as_str().unwrap().to_owned()),
        );
        since = json!(stamps.last());
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(stamps.len(), 20);
    assert!(
        stamps.is_sorted() && stamps.windows(2).all(|it| it[0] != it[1]),
        "{stamps:?}"
    );
}
