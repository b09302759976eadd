//! Files that somebody else has been at, and directories that cannot be used.

use std::{fs, os::unix::fs::symlink};

use serde_json::json;

use crate::agent::Place;

#[tokio::test]
async fn a_bad_file_is_named_and_left_alone_and_all_others_go_on() {
    let place = Place::new();
    let agent = place.agent("boss").await;
    for title in ["a", "b", "c", "d", "good"] {
        agent
            .ok("create_task", json!({ "title": title, "description": "b" }))
            .await;
    }
    let tasks = place.path().join("tasks");
    let file = |number: u32| tasks.join(format!("task-000{number}.json"));
    let edit = |number: u32, from: &str, to: &str| {
        let text = fs::read_to_string(file(number)).unwrap();
        fs::write(file(number), text.replace(from, to)).unwrap();
    };
    edit(1, "\"status\": \"pending\"", "\"status\": \"approved\"");
    edit(2, "\"formatVersion\": 1", "\"formatVersion\": 2");
    edit(3, "\"title\"", "\"priority\": 1, \"title\"");
    fs::remove_file(file(4)).unwrap();
    symlink("/etc/hostname", file(4)).unwrap();
    let before = place.snapshot();

    for (number, code, named) in [
        (1, "corrupt", "its history ends at pending"),
        (2, "unsupported_format", "newer version"),
        (3, "corrupt", "belongs under `metadata`"),
        (4, "corrupt", "task-0004.json"),
    ] {
        let id = json!({ "task_id": format!("task-000{number}") });
        for tool in ["get_task", "claim_task", "cancel_task", "get_messages"] {
            let error = agent.refused(code, tool, id.clone()).await;
            assert!(error.contains(named), "{tool}: {error}");
        }
    }
    let page = agent.ok("list_tasks", json!({})).await;
    assert_eq!(page["total"], 1);
    let unreadable = page["unreadable"].as_array().unwrap();
    assert_eq!(unreadable.len(), 4, "{page}");
    assert_eq!(
        (&unreadable[1]["id"], &unreadable[1]["code"]),
        (&json!("task-0002"), &json!("unsupported_format"))
    );
    assert_eq!(place.snapshot(), before, "nothing was replaced");
    assert_eq!(
        agent.ok("claim_next_task", json!({})).await["task"]["title"],
        "good"
    );
    assert_eq!(
        agent
            .ok("create_task", json!({ "title": "e", "description": "b" }))
            .await["task"]["id"],
        "task-0006"
    );
}

#[tokio::test]
async fn a_file_where_the_directory_should_be_is_an_error_that_names_it() {
    let place = Place::new();
    fs::write(place.path(), "not a directory").unwrap();
    let agent = place.agent("boss").await;
    for (tool, arguments) in [
        ("create_task", json!({ "title": "a", "description": "b" })),
        ("list_tasks", json!({})),
        ("claim_next_task", json!({})),
    ] {
        let error = agent.refused("storage", tool, arguments).await;
        assert!(error.contains(place.path().to_str().unwrap()), "{error}");
    }
    fs::remove_file(place.path()).unwrap();
    agent
        .ok("create_task", json!({ "title": "a", "description": "b" }))
        .await;
}

#[tokio::test]
async fn a_directory_that_everybody_may_write_is_not_trusted() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    fs::create_dir(place.path()).unwrap();
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let error = place
        .agent("boss")
        .await
        .refused("storage", "list_tasks", json!({}))
        .await;
    assert!(error.contains("chmod o-w"), "{error}");
}

#[tokio::test]
async fn the_files_are_for_people_and_for_nobody_else() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let agent = place.agent("boss").await;
    agent
        .ok("create_task", json!({ "title": "a", "description": "b" }))
        .await;
    let text = fs::read_to_string(place.path().join("tasks/task-0001.json")).unwrap();
    assert!(
        text.starts_with("{\n  \"formatVersion\": 1,\n  \"id\": \"task-0001\",\n")
            && text.ends_with("}\n")
    );
    assert_eq!(
        fs::read_to_string(place.path().join(".gitignore")).unwrap(),
        "*\n"
    );
    let mode = |name: &str| {
        fs::metadata(place.path().join(name))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(
        (mode(""), mode("tasks"), mode("tasks/task-0001.json")),
        (0o700, 0o700, 0o600)
    );
    let locks: Vec<_> = fs::read_dir(place.path().join(".locks")).unwrap().collect();
    assert!(locks.is_empty(), "{locks:?}");
}

#[tokio::test]
async fn settings_that_cannot_be_used_end_the_program_with_a_reason() {
    let place = Place::new();
    for (name, value, named) in [
        (
            "COORDINATION_DIR",
            "relative/path",
            "expected an absolute path",
        ),
        ("COORDINATION_DIR", "~/queue", "written out in full"),
        (
            "COORDINATION_DURABILITY",
            "fast",
            "`full`, `data` or `none`",
        ),
        (
            "COORDINATION_MAX_WAIT_SECONDS",
            "soon",
            "a whole number of seconds",
        ),
    ] {
        let output = place.command().env(name, value).output().await.unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}={value}: {error}");
        assert!(error.contains(name) && error.contains(named), "{error}");
        assert!(output.stdout.is_empty(), "stdout carries protocol only");
    }
}

#[tokio::test]
async fn where_says_which_directory_and_why_and_demo_is_as_it_has_to_be() {
    let place = Place::new();
    let output = place.command().arg("where").output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.starts_with(
            place
                .path()
                .canonicalize()
                .unwrap_or(place.path())
                .to_str()
                .unwrap()
        ),
        "{text}"
    );
    assert!(text.contains("COORDINATION_DIR"), "{text}");
    let demo = place
        .command()
        .arg("demo")
        .env("TMPDIR", place.outside())
        .output()
        .await
        .unwrap();
    let text = String::from_utf8(demo.stdout).unwrap();
    assert!(
        demo.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&demo.stderr)
    );
    assert!(
        text.contains("why: \"holder_gone\"") && text.contains("why: \"resumed\""),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let left: Vec<_> = fs::read_dir(place.outside()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_message_that_stands_is_answered_though_the_wait_for_a_reply_fails() {
    let place = Place::new();
    let agent = place.agent("boss").await;
    let new = json!({"title": "t", "description": "d"});
    agent.ok("create_task", new).await;
    let thread = place.path().join("messages/task-0001.json");
    let spoil = async {
        while !thread.exists() {
            tokio::task::yield_now().await;
        }
        let posted = fs::read_to_string(&thread).unwrap();
        fs::write(&thread, "spoilt").unwrap();
        posted
    };
    let question = json!({"task_id": "task-0001", "content": "hm?", "wait_seconds": 3600});
    let (answer, posted) = tokio::join!(agent.ok("post_message", question), spoil);
    assert_eq!(answer["timed_out"], true);
    assert!(posted.contains(answer["message"]["id"].as_str().unwrap()));
}
