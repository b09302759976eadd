//! Tests of the doctor: what it finds, what it leaves alone, and what it mends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use super::*;
use crate::store::listing::place;
use crate::store::place::Folder;
use crate::store::tasks::tests::{
    change, complete, create, found, numbers, post, send_back, stamp, store, thread,
};
use crate::store::testing::Desk;

const TOKEN: &str = "77-0123456789abcdef0123456789abcdef";

fn look(store: &Store) -> Report {
    store.examine(&Treatment::default())
}

fn fix(store: &Store) -> Report {
    store.examine(&Treatment {
        fix: true,
        quarantine: Vec::new(),
    })
}

fn kinds(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|it| it.kind).collect()
}

/// All files, so that it shows if any was touched.
fn snapshot(desk: &Desk) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    let mut directories = vec![desk.store()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                files.push((path.clone(), Vec::new()));
                directories.push(path);
            } else {
                files.push((path.clone(), fs::read(&path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

fn put(desk: &Desk, file: &str, text: &str) {
    let path = desk.store().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[test]
fn a_directory_that_is_not_there_is_no_problem_and_is_not_made() {
    let desk = Desk::new();
    let report = look(&store(&desk));
    assert!(report.ok && !report.exists);
    let report = fix(&store(&desk));
    assert!(report.ok && report.mended.is_empty());
    assert!(!desk.store().exists());
}

#[test]
fn a_sound_directory_is_found_sound_and_left_as_it_is() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    complete(&store, id);
    let before = snapshot(&desk);
    let report = look(&store);
    assert!(report.ok, "{report:?}");
    assert!(report.notes.is_empty(), "{report:?}");
    let ground = report.ground.unwrap();
    assert_eq!(ground.preconditions.len(), 8);
    assert!(ground.preconditions.iter().all(|it| it.holds), "{ground:?}");
    let content = report.content.unwrap();
    assert_eq!((content.tasks, content.last_number), (1, Some(1)));
    assert_eq!(snapshot(&desk), before, "a look leaves nothing");
}

#[test]
fn each_thing_that_is_wrong_is_named() {
    for (file, text, kind, reason) in [
        ("tasks/task-0001.json", "{", "unreadable", "line 1"),
        ("messages/task-0001.json", "{}", "unreadable", "line 1"),
        ("progress/task-0001.json", "[", "unreadable", "line 1"),
        (
            "archive/messages/task-0001.json",
            "x",
            "unreadable",
            "line 1",
        ),
        (
            "messages/task-0009.json",
            "[]",
            "orphan",
            "there is no task-0009",
        ),
        (
            "archive/tasks/task-0009.json",
            "{}",
            "orphan",
            "there is no task-0009",
        ),
        ("sequence.json", r#"{"last": 0}"#, "sequence", "it says 0"),
        ("sequence.json", "1", "unreadable", "line 1"),
        (
            "sequence.json",
            r#"{"last": 18446744073709551615}"#,
            "sequence",
            "it is used up",
        ),
        (".locks/x.lock/note", "", "foreign", "no part of a lock"),
    ] {
        let desk = Desk::new();
        let store = store(&desk);
        create(&store);
        put(&desk, file, text);
        let before = snapshot(&desk);
        let report = look(&store);
        assert!(!report.ok, "{file}");
        let named = report.problems.iter().any(|it| {
            it.kind == kind
                && desk.store().join(file).ends_with(&it.path)
                && it.reason.contains(reason)
        });
        assert!(named, "{file}: {:?}", report.problems);
        assert_eq!(snapshot(&desk), before, "{file}: a look changes nothing");
    }
}

#[test]
fn what_heals_by_itself_is_a_note() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    complete(&store, id);
    send_back(&store, id, 1);
    fs::remove_file(desk.store().join("messages/task-0001.json")).unwrap();
    put(&desk, &format!(".locks/tasks-task-0001.lock/{TOKEN}"), "");
    put(&desk, "tasks/notes.txt", "mine");
    let report = look(&store);
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(kinds(&report.notes), ["dead_holder", "stranger", "outbox"]);
}

#[test]
fn what_can_be_mended_is_mended_and_told() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    complete(&store, id);
    send_back(&store, id, 1);
    fs::remove_file(desk.store().join("messages/task-0001.json")).unwrap();
    fs::remove_file(desk.store().join("sequence.json")).unwrap();
    put(&desk, &format!(".locks/tasks-task-0005.lock/{TOKEN}"), "");
    put(&desk, "messages/task-0007.json", "[]");
    assert_eq!(kinds(&look(&store).problems), ["orphan", "sequence"]);

    let report = fix(&store);
    assert_eq!(
        report.mended,
        [
            "removed 1 leftover from .locks",
            "set the number last given out to 7",
            "delivered the message that task-0001 had in its outbox"
        ]
    );
    assert_eq!(
        kinds(&report.problems),
        ["orphan"],
        "only a person can tell"
    );
    assert!(report.notes.is_empty(), "{:?}", report.notes);
    let text = fs::read_to_string(desk.store().join("messages/task-0001.json")).unwrap();
    assert!(text.contains("message 1"));
    assert_eq!(numbers(&thread(&store, id)), ["message 1"]);
    assert_eq!(create(&store).number(), 8);
    assert!(fix(&store).mended.is_empty(), "nothing is left to do");
}

#[test]
fn an_interrupted_archiving_is_ended() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    complete(&store, id);
    send_back(&store, id, 1);
    change(&store, id, |task| {
        task.cancel(stamp("claude", 6), None).unwrap()
    });
    let thread_file = desk.store().join("messages/task-0001.json");
    let messages = fs::read(&thread_file).unwrap();
    let _ = store.archive(id, &stamp("person", 7), |_| true).unwrap();
    fs::write(&thread_file, messages).unwrap();
    assert_eq!(kinds(&look(&store).notes), ["archiving"]);
    assert_eq!(fix(&store).mended, ["ended the archiving of task-0001"]);
    assert_eq!(fs::read_to_string(&thread_file).unwrap(), "[]\n");

    let file = desk.store().join("tasks/task-0001.json");
    let text = fs::read_to_string(&file).unwrap();
    let marked = text.replace("\"person\"\n", "\"person\",\n  \"restoring\": true\n");
    fs::write(&file, marked).unwrap();
    assert_eq!(kinds(&look(&store).problems), ["restoring"]);
    fs::remove_file(desk.store().join("archive/tasks/task-0001.json")).unwrap();
    assert_eq!(kinds(&look(&store).problems), ["unreadable"]);
}

#[test]
fn a_task_that_waits_for_what_is_not_there_is_blocked() {
    let desk = Desk::new();
    let store = store(&desk);
    create(&store);
    create(&store);
    let file = desk.store().join("tasks/task-0002.json");
    let text = fs::read_to_string(&file).unwrap();
    let text = text.replace(
        "  \"description\"",
        "  \"after\": [\"task-0001\"],\n  \"description\"",
    );
    fs::write(file, text).unwrap();
    assert!(look(&store).ok);
    fs::remove_file(desk.store().join("tasks/task-0001.json")).unwrap();
    let report = look(&store);
    assert_eq!(kinds(&report.problems), ["blocked"]);
    assert!(report.problems[0].reason.contains("task-0001"));
}

#[test]
fn only_a_corrupt_file_whose_task_is_named_is_moved_aside() {
    let desk = Desk::new();
    let store = store(&desk);
    let (sound, corrupt) = (create(&store), create(&store));
    put(&desk, "tasks/task-0002.json", "{");
    put(&desk, "messages/task-0002.json", "[]");
    put(&desk, "progress/task-0001.json", "what");
    let quarantine = |ids: &[TaskId]| {
        store.examine(&Treatment {
            fix: true,
            quarantine: ids.to_vec(),
        })
    };
    assert_eq!(quarantine(&[]).problems.len(), 2, "--fix touches none");
    let report = quarantine(&[corrupt]);
    assert_eq!(
        report.mended,
        ["moved tasks/task-0002.json to quarantine/tasks-task-0002.json"]
    );
    let moved = desk.store().join("quarantine/tasks-task-0002.json");
    assert_eq!(fs::read_to_string(moved).unwrap(), "{");
    assert!(store.task(corrupt).unwrap().is_none());
    assert_eq!(kinds(&report.notes), ["quarantine"]);
    let next = "mend it and move it back to tasks/task-0002.json, or remove it";
    assert_eq!(report.notes[0].next, next);

    let report = quarantine(&[sound]);
    assert_eq!(
        report.mended,
        ["moved progress/task-0001.json to quarantine/progress-task-0001.json"]
    );
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(
        found(&store, sound).version(),
        1,
        "the task is in nobody's way"
    );
    let report = quarantine(&[sound]);
    assert_eq!(
        report.mended,
        ["moved nothing aside: no file of task-0001 is corrupt"]
    );

    put(&desk, "progress/task-0001.json", "again");
    let report = quarantine(&[sound]);
    assert_eq!(
        report.mended,
        ["moved progress/task-0001.json to quarantine/progress-task-0001.1.json"],
        "nothing in there is replaced"
    );
    fs::remove_file(desk.store().join("sequence.json")).unwrap();
    fs::remove_file(desk.store().join("messages/task-0002.json")).unwrap();
    assert_eq!(create(&store).number(), 3, "the number stays used");
}

#[test]
fn what_is_sound_but_another_tasks_can_be_moved_aside_too() {
    let desk = Desk::new();
    let store = store(&desk);
    let (first, second) = (create(&store), create(&store));
    post(&store, first, 1);
    for folder in ["tasks", "messages"] {
        let [from, to] =
            ["task-0001.json", "task-0002.json"].map(|it| desk.store().join(folder).join(it));
        fs::copy(from, to).unwrap();
    }
    assert_eq!(kinds(&look(&store).problems), ["unreadable", "unreadable"]);
    let report = store.examine(&Treatment {
        fix: false,
        quarantine: vec![second],
    });
    assert_eq!(report.mended.len(), 2, "{:?}", report.mended);
    assert!(report.ok, "{:?}", report.problems);
    assert_eq!(numbers(&thread(&store, first)), ["message 1"]);
}

#[test]
fn one_that_cannot_be_mended_keeps_no_other_from_it() {
    let desk = Desk::new();
    let store = store(&desk);
    let ids = [1, 2].map(|number| {
        let id = create(&store);
        complete(&store, id);
        send_back(&store, id, number);
        id
    });
    put(&desk, "messages/task-0001.json", "spoilt");
    fs::remove_file(desk.store().join("messages/task-0002.json")).unwrap();
    let report = fix(&store);
    assert_eq!(
        report.mended,
        ["delivered the message that task-0002 had in its outbox"]
    );
    assert_eq!(kinds(&report.problems), ["unreadable"], "told once");
    assert_eq!(numbers(&thread(&store, ids[1])), ["message 2"]);
}

#[test]
fn a_copy_that_would_keep_a_task_from_the_archive_is_a_problem() {
    let desk = Desk::new();
    let store = store(&desk);
    let id = create(&store);
    change(&store, id, |task| {
        task.cancel(stamp("claude", 2), None).unwrap()
    });
    let _ = store.archive(id, &stamp("person", 3), |_| true).unwrap();
    let _ = store.restore(id, &stamp("person", 4)).unwrap();
    assert!(look(&store).ok, "the copy of before is in nobody's way");
    let text = fs::read_to_string(desk.store().join("archive/tasks/task-0001.json")).unwrap();
    let other = text.replace(
        "\"actor\": \"claude\",\n      \"action\": \"cancel\"",
        "\"actor\": \"x\",\n      \"action\": \"cancel\"",
    );
    assert_ne!(other, text);
    put(&desk, "archive/tasks/task-0001.json", &other);
    assert_eq!(kinds(&look(&store).problems), ["conflict"]);
}

#[test]
fn nothing_that_a_terminal_would_obey_is_told() {
    let desk = Desk::new();
    let store = store(&desk);
    put(
        &desk,
        "tasks/task-0001.json",
        "{\"\\u001b[31m\\nNothing is wrong.\": 1}",
    );
    let report = look(&store);
    let reason = &report.problems[0].reason;
    assert!(reason.contains(r"\u{1b}[31m\nNothing"), "{reason}");
}

#[test]
fn what_was_mended_before_it_is_moved_stays_where_it_is() {
    let desk = Desk::new();
    let store = store(&desk);
    create(&store);
    let file = desk.store().join("tasks/task-0001.json");
    let sound = fs::read_to_string(&file).unwrap();
    fs::write(&file, "{").unwrap();
    let root = store.engine().open().unwrap().unwrap();
    let folder = root.folder(Folder::Tasks).unwrap().unwrap();
    let place = place(Folder::Tasks, TaskId::from_number(1));
    let judged = folder.stat(place.file_name()).unwrap().unwrap();
    // A person mends it while the doctor is stopped.
    fs::write(&file, &sound).unwrap();
    let error = mend::move_aside(&root, &folder, &place, judged).unwrap_err();
    assert!(error.to_string().contains("just been changed"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), sound);
    let left = fs::read_dir(desk.store().join("quarantine")).unwrap();
    assert_eq!(left.count(), 0);
}

#[test]
fn a_directory_that_cannot_be_trusted_is_a_problem() {
    let desk = Desk::new();
    let store = store(&desk);
    create(&store);
    let mode = |mode| fs::set_permissions(desk.store(), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o755);
    let report = look(&store);
    assert!(report.ok, "others can only look");
    assert_eq!(kinds(&report.notes), ["mode"]);
    mode(0o777);
    let report = look(&store);
    assert!(report.exists && !report.ok);
    assert!(
        report.problems[0]
            .reason
            .contains("everybody can write to it")
    );
    mode(0o700);
    assert!(look(&store).ok);
}

#[test]
fn a_file_in_place_of_a_folder_is_a_problem() {
    for folder in ["tasks", ".locks", "agents", "archive", "messages"] {
        let desk = Desk::new();
        put(&desk, folder, "");
        let report = look(&store(&desk));
        assert!(!report.ok, "{folder}");
        let said = format!("{:?}", report.problems);
        assert!(said.contains("expected a directory"), "{folder}: {said}");
    }
}
