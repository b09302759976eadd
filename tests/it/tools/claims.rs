//! Getting work: once, in order, by whoever waits for it, and back after a crash.

use std::collections::HashSet;

use serde_json::json;

use crate::agent::Place;

#[tokio::test]
async fn no_task_is_handed_out_twice() {
    let place = Place::new();
    let boss = place.agent("boss").await;
    for number in 0..30 {
        boss.ok(
            "create_task",
            json!({ "title": format!("{number}"), "description": "b" }),
        )
        .await;
    }
    let mut workers = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let worker = place.agent("worker").await;
        workers.spawn(async move {
            let mut ids = Vec::new();
            loop {
                let claim = worker.ok("claim_next_task", json!({})).await;
                match claim["task"]["id"].as_str() {
                    Some(id) => ids.push(id.to_owned()),
                    None => return (worker, ids),
                }
            }
        });
    }
    let results = workers.join_all().await;
    let all: Vec<_> = results.iter().flat_map(|(_, ids)| ids.clone()).collect();
    assert_eq!(all.len(), 30);
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), 30, "{all:?}");
}

#[tokio::test]
async fn a_waiting_worker_is_woken_by_new_and_by_unblocked_work() {
    let place = Place::new();
    let (boss, worker) = (place.agent("boss").await, place.agent("worker").await);
    let wait = || worker.ok("claim_next_task", json!({ "wait_seconds": 25 }));
    let create = boss.ok(
        "create_task",
        json!({ "title": "first", "description": "b" }),
    );
    let (claim, _) = tokio::join!(wait(), create);
    assert_eq!(
        (&claim["task"]["id"], &claim["why"]),
        (&json!("task-0001"), &json!("new"))
    );
    boss.ok(
        "create_task",
        json!({ "title": "second", "description": "b", "after": ["task-0001"] }),
    )
    .await;
    let blocked = worker
        .refused("blocked", "claim_task", json!({ "task_id": "task-0002" }))
        .await;
    assert!(blocked.contains("task-0001 (claimed)"), "{blocked}");
    worker
        .ok("complete_task", json!({ "task_id": "task-0001" }))
        .await;
    let approve = boss.ok("approve_task", json!({ "task_id": "task-0001" }));
    let (claim, _) = tokio::join!(wait(), approve);
    assert_eq!(claim["task"]["id"], "task-0002");
}

#[tokio::test]
async fn whoever_crashed_is_seen_to_be_gone_and_resumes() {
    let place = Place::new();
    let (boss, worker) = (place.agent("boss").await, place.agent("worker").await);
    boss.ok("create_task", json!({ "title": "a", "description": "b" }))
        .await;
    worker.ok("claim_next_task", json!({})).await;
    worker
        .ok(
            "update_progress",
            json!({ "task_id": "task-0001", "percent": 30 }),
        )
        .await;
    let (attention, ()) = tokio::join!(
        boss.ok("wait_for_task", json!({ "timeout_seconds": 25 })),
        worker.crash()
    );
    assert_eq!(attention["attention"][0]["why"], "holder_gone");
    assert_eq!(attention["attention"][0]["task"]["holderGone"], true);
    let other = place.agent("other").await;
    let advice = other
        .refused(
            "not_assignee",
            "complete_task",
            json!({ "task_id": "task-0001" }),
        )
        .await;
    assert!(advice.contains("is not running"), "{advice}");
    let worker = place.agent("worker").await;
    let resumed = worker.ok("claim_next_task", json!({})).await;
    assert_eq!(
        (&resumed["why"], &resumed["progress"]["percent"]),
        (&json!("resumed"), &json!(30))
    );
    let again = worker
        .ok("claim_task", json!({ "task_id": "task-0001" }))
        .await;
    assert_eq!(again["already"], true);
}

#[tokio::test]
async fn two_of_a_kind_have_two_names() {
    let place = Place::new();
    let (first, second) = (
        place.agent("claude-code").await,
        place.agent("claude-code").await,
    );
    let name = |page: serde_json::Value| page["you"].as_str().unwrap().to_owned();
    first.ok("list_tasks", json!({ "assignee": "me" })).await;
    second.ok("list_tasks", json!({ "assignee": "me" })).await;
    let one = name(first.ok("list_tasks", json!({})).await);
    let two = name(second.ok("list_tasks", json!({})).await);
    assert_eq!(two, format!("{one}#2"));
    first
        .ok(
            "create_task",
            json!({ "title": "a", "description": "b", "agent": "sub 1" }),
        )
        .await;
    let taken = second
        .refused("name_taken", "claim_next_task", json!({ "agent": "sub-1" }))
        .await;
    assert!(taken.contains("claude-code"), "{taken}");
}
