//! Files that belong to others, or that their owner may not use.
//!
//! Responsibility: that missing rights are an error which names the path, and that what was answered as done is done.
//!
//! Limits: root may do everything, so as root the program runs under the id of nobody.

use std::{
    fs::{self, Permissions},
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::Path,
};

use serde_json::json;

use super::{
    is_root,
    operation::{Operation, prepared},
    site::{Caller, Site},
    skip,
};

const NOBODY: u32 = 65_534;

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// A prepared directory that belongs to whoever the program will run as.
fn site() -> Site {
    let site = Site::with(prepared());
    if is_root() {
        set_mode(site.outside(), 0o777);
        give(&site.path(), NOBODY);
    }
    site
}

fn give(path: &Path, owner: u32) {
    chown(path, Some(owner), Some(owner)).unwrap();
    for entry in fs::read_dir(path).into_iter().flatten() {
        give(&entry.unwrap().path(), owner);
    }
}

/// The program as somebody without special rights. `None`: it cannot be reached by such a user.
fn ordinary(site: &Site, agent: &str) -> Option<Caller> {
    let mut command = site.command(agent);
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
        if !is_reachable() {
            skip("the built program cannot be run by other users");
            return None;
        }
    }
    Some(Caller::start(&mut command))
}

fn is_reachable() -> bool {
    let binary = Path::new(env!("CARGO_BIN_EXE_ai-coord-mcp"));
    let is_open = |path: &Path| {
        path.metadata()
            .is_ok_and(|it| it.permissions().mode() & 0o001 != 0)
    };
    binary.ancestors().all(is_open)
}

#[test]
fn a_directory_of_another_user_is_not_trusted() {
    if !is_root() {
        skip("another user's files need root");
        return;
    }
    let site = site();
    let Some(mut caller) = ordinary(&site, "boss") else {
        return;
    };
    let create = Operation::named("create");
    give(&site.path(), 0);
    let path = site.path().display().to_string();
    for (mode, reason) in [
        (0o755, "it belongs to user 0, expected 65534"),
        (0o700, "Permission denied"),
    ] {
        set_mode(&site.path(), mode);
        let before = site.documents();
        caller.refused(
            create.tool,
            &create.arguments,
            &["storage: ", &path, reason],
        );
        caller.refused("list_tasks", &json!({}), &["storage: ", &path, reason]);
        assert_eq!(site.documents(), before);
    }
    give(&site.path(), NOBODY);
    caller.ok(create.tool, &create.arguments);
}

#[test]
fn folders_without_rights_refuse_what_needs_them() {
    for (folder, mode, name) in [
        ("", 0o500, "create"),
        ("tasks", 0o500, "create"),
        ("tasks", 0o500, "claim"),
        ("tasks", 0o400, "claim"),
        ("tasks", 0, "start"),
        (".locks", 0o500, "claim"),
        (".locks", 0, "post"),
        ("messages", 0o500, "post"),
        ("progress", 0o500, "progress"),
        ("messages", 0, "post"),
        ("agents", 0, "create"),
    ] {
        let (site, operation) = (site(), Operation::named(name));
        let Some(mut caller) = ordinary(&site, operation.agent) else {
            return;
        };
        // A name is taken in `agents`: beforehand, unless that is what is looked at.
        if folder != "agents" {
            caller.ok(
                "post_message",
                &json!({"task_id": "task-0006", "content": "here"}),
            );
        }
        let (before, path) = (site.documents().lasting(), site.path().join(folder));
        set_mode(&path, mode);
        let named = path.display().to_string();
        let error = caller.refused(
            operation.tool,
            &operation.arguments,
            &["storage: ", &named, "Permission denied"],
        );
        set_mode(&path, 0o700);
        assert_eq!(
            site.documents().lasting(),
            before,
            "{folder} {mode:o} {name}: {error}"
        );
        site.assert_no_leftovers();
        caller.ok(operation.tool, &operation.arguments);
    }
}

/// The task's commit decides; what follows it waits in the task's outbox.
#[test]
fn a_log_that_cannot_be_written_after_its_task_waits_there() {
    for (folder, name) in [("progress", "start"), ("messages", "revision")] {
        let (site, operation) = (site(), Operation::named(name));
        let Some(mut caller) = ordinary(&site, operation.agent) else {
            return;
        };
        let before = operation.seen(&mut caller);
        set_mode(&site.path().join(folder), 0o500);
        caller.ok(operation.tool, &operation.arguments);
        let after = operation.seen(&mut caller);
        assert_ne!(before, after);
        set_mode(&site.path().join(folder), 0o700);
        assert_eq!(operation.seen(&mut caller), after);
        let id = &operation.arguments["task_id"];
        caller.ok("post_message", &json!({"task_id": id, "content": "more"}));
        let messages = caller.ok("get_messages", &json!({"task_id": id}));
        let expected = after["messages"].as_u64().map(|it| it + 1);
        assert_eq!(
            messages["total"].as_u64(),
            expected,
            "{name}: nothing twice, nothing lost"
        );
    }
}

#[test]
fn a_document_without_rights_is_named_and_others_go_on() {
    let site = site();
    let Some(mut caller) = ordinary(&site, "third") else {
        return;
    };
    for (file, tools) in [
        (
            "tasks/task-0003.json",
            ["get_task", "post_message", "cancel_task"],
        ),
        (
            "messages/task-0003.json",
            ["get_messages", "post_message", "get_messages"],
        ),
        (
            "progress/task-0003.json",
            ["get_progress", "get_progress", "get_progress"],
        ),
    ] {
        let path = site.path().join(file);
        set_mode(&path, 0);
        let before = site.documents();
        let named = path.display().to_string();
        for tool in tools {
            let mut arguments = json!({"task_id": "task-0003"});
            if tool == "post_message" {
                arguments["content"] = json!("hello");
            }
            caller.refused(
                tool,
                &arguments,
                &["storage: ", &named, "Permission denied"],
            );
        }
        let unreadable = caller.listed().1;
        assert_eq!(
            unreadable.len(),
            usize::from(file.starts_with("tasks")),
            "{unreadable:?}"
        );
        assert_eq!(site.documents(), before);
        site.assert_no_leftovers();
        caller.ok(
            "post_message",
            &json!({"task_id": "task-0002", "content": "goes on"}),
        );
        set_mode(&path, 0o600);
        caller.ok(tools[0], &json!({"task_id": "task-0003"}));
    }
}

#[test]
fn a_sequence_without_rights_stops_new_tasks_only() {
    let site = site();
    let Some(mut caller) = ordinary(&site, "third") else {
        return;
    };
    let path = site.path().join("sequence.json");
    set_mode(&path, 0);
    let create = Operation::named("create");
    let named = path.display().to_string();
    caller.refused(
        create.tool,
        &create.arguments,
        &["storage: ", &named, "Permission denied"],
    );
    assert_eq!(caller.listed().0.len(), 6);
    let claim = Operation::named("claim");
    caller.ok(claim.tool, &claim.arguments);
    set_mode(&path, 0o600);
    assert_eq!(
        caller.ok(create.tool, &create.arguments)["task"]["id"],
        "task-0007"
    );
}
