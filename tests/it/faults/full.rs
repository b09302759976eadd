//! Disks that are full, read-only or broken, for real.
//!
//! Responsibility: that every operation is refused with the path and the system's reason, changes nothing, leaves
//! nothing behind, and works again once there is room.
//!
//! Limits: small tmpfs mounts. Which step meets the fault is the system's choice; [`walk`](super::walk) takes each.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use super::{
    mount::Mounts,
    operation::{Operation, prepared},
    site::{Caller, leftovers},
};

/// Those that can be done one after the other.
const OPERATIONS: [&str; 7] = [
    "create", "claim", "start", "progress", "revision", "reopen", "post",
];

/// A prepared directory on a disk of its own, and everybody at work there.
struct Scene {
    mounts: Mounts,
    callers: HashMap<&'static str, Caller>,
}

impl Scene {
    fn new(options: &str) -> Option<Self> {
        let mounts = Mounts::with_disk(options)?;
        prepared().write_to(&mounts.seen(&mounts.directory()));
        let callers = ["boss", "worker", "third"].map(|agent| (agent, mounts.caller(agent)));
        let mut scene = Self {
            mounts,
            callers: callers.into(),
        };
        // So that everybody has a name, and what fails is the operation.
        for caller in scene.callers.values_mut() {
            caller.ok(
                "post_message",
                &json!({"task_id": "task-0006", "content": "here"}),
            );
        }
        Some(scene)
    }

    fn seen(&self) -> PathBuf {
        self.mounts.seen(&self.mounts.directory())
    }

    fn run(&mut self, name: &str) -> Result<Value, String> {
        let operation = Operation::named(name);
        let caller = self
            .callers
            .get_mut(operation.agent)
            .expect("everybody is there");
        operation.run(caller)
    }

    /// All operations are refused for this reason, and nothing changes.
    fn assert_all_refused(&mut self, reason: &str) {
        let directory = self.mounts.directory().display().to_string();
        for name in OPERATIONS {
            let before = self.mounts.documents();
            let error = self.run(name).expect_err(name);
            for named in ["storage: ", &directory, reason] {
                assert!(error.contains(named), "{name}: {error}");
            }
            assert_eq!(self.mounts.documents(), before, "{name}: {error}");
            assert_eq!(
                leftovers(&self.seen()),
                Vec::<PathBuf>::new(),
                "{name}: {error}"
            );
            self.assert_reads_work();
        }
    }

    fn assert_reads_work(&mut self) {
        let boss = self.callers.get_mut("boss").expect("everybody is there");
        let (tasks, unreadable) = boss.listed();
        assert_eq!((tasks.len(), unreadable.len()), (6, 0));
        for tool in ["get_task", "get_messages", "get_progress"] {
            boss.ok(tool, &json!({"task_id": "task-0003"}));
        }
    }

    fn assert_all_work(&mut self) {
        for name in OPERATIONS {
            let done = self.run(name);
            assert!(done.is_ok(), "{name}: {done:?}");
        }
        assert_eq!(leftovers(&self.seen()), Vec::<PathBuf>::new());
    }
}

#[test]
fn a_full_disk_refuses_every_change_until_there_is_room() {
    let Some(mut scene) = Scene::new("size=512k") else {
        return;
    };
    let filler = scene.mounts.seen(&scene.mounts.disk()).join("filler");
    fill(&filler);
    scene.assert_all_refused("No space left on device");
    fs::remove_file(filler).unwrap();
    scene.assert_all_work();
}

#[test]
fn a_full_disk_refuses_those_who_have_no_name_yet() {
    let Some(scene) = Scene::new("size=512k") else {
        return;
    };
    let filler = scene.mounts.seen(&scene.mounts.disk()).join("filler");
    let before = scene.mounts.documents();
    fill(&filler);
    let mut late = scene.mounts.caller("late");
    let create = Operation::named("create");
    late.refused(
        create.tool,
        &create.arguments,
        &["storage: ", "agents/late.json", "No space left"],
    );
    assert_eq!(late.listed().0.len(), 6, "whoever only reads needs no room");
    assert_eq!(scene.mounts.documents(), before);
    fs::remove_file(filler).unwrap();
    late.ok(create.tool, &create.arguments);
}

/// One inode is the candidate's directory, the second its token.
#[test]
fn a_disk_without_inodes_refuses_every_change_until_there_are_some() {
    for spare in [0, 1] {
        let Some(mut scene) = Scene::new("nr_inodes=128") else {
            return;
        };
        let disk = scene.mounts.seen(&scene.mounts.disk());
        let fillers: Vec<_> = (0..1000)
            .map(|number| disk.join(format!("filler-{number}")))
            .take_while(|path| File::create(path).is_ok())
            .collect();
        for filler in fillers.iter().take(spare) {
            fs::remove_file(filler).unwrap();
        }
        scene.assert_all_refused("No space left on device");
        for filler in &fillers[spare..] {
            fs::remove_file(filler).unwrap();
        }
        scene.assert_all_work();
    }
}

#[test]
fn a_read_only_disk_is_read_and_refuses_every_change() {
    let Some(mut scene) = Scene::new("size=4m") else {
        return;
    };
    let directory = scene.mounts.directory().display().to_string();
    scene
        .mounts
        .run(&format!("mount --bind '{directory}' '{directory}'"));
    scene
        .mounts
        .run(&format!("mount -o remount,bind,ro '{directory}'"));
    scene.assert_all_refused("Read-only file system");
    let mut late = scene.mounts.caller("late");
    let create = Operation::named("create");
    late.refused(
        create.tool,
        &create.arguments,
        &["storage: ", "Read-only file system", &directory],
    );
    assert_eq!(late.listed().0.len(), 6);
    scene.mounts.run(&format!("umount '{directory}'"));
    scene.assert_all_work();
    late.ok(create.tool, &create.arguments);
}

/// Reading a process's memory from its beginning fails with an I/O error, as a broken disk does.
#[test]
fn a_document_that_cannot_be_read_is_named_and_others_go_on() {
    let Some(mut scene) = Scene::new("size=4m") else {
        return;
    };
    let path = scene
        .mounts
        .directory()
        .join("tasks/task-0001.json")
        .display()
        .to_string();
    scene
        .mounts
        .run(&format!("mount --bind /proc/$$/mem '{path}'"));
    let third = scene.callers.get_mut("third").expect("everybody is there");
    for tool in ["get_task", "claim_task", "cancel_task"] {
        third.refused(
            tool,
            &json!({"task_id": "task-0001"}),
            &["storage: ", &path, "Input/output error"],
        );
    }
    let (readable, unreadable) = third.listed();
    assert_eq!(
        (readable.len(), unreadable),
        (5, vec!["task-0001".to_owned()])
    );
    scene.run("post").unwrap();
    scene.mounts.run(&format!("umount '{path}'"));
    scene.run("claim").unwrap();
}

/// What is mounted on cannot be renamed onto.
#[test]
fn a_document_that_cannot_be_replaced_is_named_and_kept() {
    let Some(mut scene) = Scene::new("size=4m") else {
        return;
    };
    let path = scene
        .mounts
        .directory()
        .join("tasks/task-0001.json")
        .display()
        .to_string();
    let before = scene.mounts.documents();
    scene.mounts.run(&format!("mount --bind '{path}' '{path}'"));
    let error = scene.run("claim").unwrap_err();
    for named in ["storage: ", &path, "Device or resource busy"] {
        assert!(error.contains(named), "{error}");
    }
    assert_eq!(scene.mounts.documents(), before);
    assert_eq!(leftovers(&scene.seen()), Vec::<PathBuf>::new());
    scene.mounts.run(&format!("umount '{path}'"));
    scene.run("claim").unwrap();
}

fn fill(path: &Path) {
    let mut filler = File::create(path).unwrap();
    // In the end by single bytes: the last page may be a part of one.
    for size in [4096, 1] {
        while filler.write_all(&[b'x'; 4096][..size]).is_ok() {}
    }
}
