//! Hostile files in the directory of a living server: named, never replaced, and nobody else's trouble.

use std::{
    cell::RefCell,
    fs,
    path::{Path, PathBuf},
};

use ai_coord::domain::{AnyTask, ProgressLog, TaskId, Thread};
use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{check, document::Document, edits, values, walks};
use crate::{
    agent::Place,
    child::{Server, request, text},
    tasks,
};

/// The number of the first task with a hostile file.
const FIRST: u64 = 5_001;

/// How many files are bad at once. Each costs the time in which its editor may be saving it.
const AT_ONCE: usize = 8;

/// A directory with a server at work in it.
struct Site {
    place: Place,
    server: Server,
    calls: u32,
}

impl Site {
    fn new() -> Self {
        let place = Place::new();
        let mut server = Server::spawn(place.command().as_std_mut());
        server.initialize("2025-11-25");
        let mut site = Self {
            place,
            server,
            calls: 0,
        };
        site.others_go_on();
        for folder in ["messages", "progress"] {
            assert!(site.path(folder).is_dir(), "{folder} is there");
        }
        site
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// Makes all calls at once: the result of each, or its error.
    fn call(&mut self, calls: &[(&str, Value)]) -> Vec<Result<Value, String>> {
        let first = self.calls;
        for (tool, arguments) in calls {
            let params = json!({ "name": tool, "arguments": arguments });
            self.server
                .send(&request(&json!(self.calls), "tools/call", &params));
            self.calls += 1;
        }
        let answers = (first..self.calls).map(|id| {
            let mut answer = self.server.answer(&json!(id));
            let result = answer["result"].take();
            let said = text(&result).to_owned();
            if result["isError"] == true {
                Err(said)
            } else {
                Ok(serde_json::from_str(&said).expect("a result is JSON"))
            }
        });
        answers.collect()
    }

    /// Makes a call that has to work.
    fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.call(&[(tool, arguments)]).pop();
        let answer = answer.expect("one call has one answer");
        answer.unwrap_or_else(|error| panic!("{tool}: {error}"))
    }

    /// A task of nobody else's makes its way from creation to approval, and is listed while it does.
    fn others_go_on(&mut self) {
        let new = json!({ "title": "healthy", "description": "as ever" });
        let id = self.ok("create_task", new)["task"]["id"].take();
        self.works(&id);
    }

    /// A pending task makes its way to approval.
    fn works(&mut self, id: &Value) {
        let task = json!({ "task_id": id });
        self.ok("claim_task", task.clone());
        self.ok("update_progress", json!({ "task_id": id, "percent": 40 }));
        self.ok("post_message", json!({ "task_id": id, "content": "hello" }));
        let listed = self.ok(
            "search_tasks",
            json!({ "query": "as ever", "status": "in_progress" }),
        );
        assert_eq!(listed["total"], 1, "{listed}");
        self.ok("complete_task", task.clone());
        self.ok("approve_task", task);
    }
}

/// The id of the task with a hostile file in this place.
fn id(place: usize) -> TaskId {
    TaskId::from_number(FIRST + u64::try_from(place).expect("there are few"))
}

/// A pending task that is as it should be, with any number.
fn sound(id: TaskId) -> Vec<u8> {
    let mut task = serde_json::to_value(tasks::pending()).expect("a task is JSON");
    task["id"] = json!(id);
    task.to_string().into_bytes()
}

/// Writes one file for each content. What stood there of the cases before is removed, in every folder.
fn write(site: &Site, folder: &str, contents: &[Vec<u8>]) -> Vec<PathBuf> {
    for place in 0..AT_ONCE {
        for folder in ["tasks", "messages", "progress"] {
            // Few of them are there.
            let _ = fs::remove_file(site.path(folder).join(format!("{}.json", id(place))));
        }
    }
    let files = contents.iter().enumerate().map(|(place, content)| {
        let file = format!("{}.json", id(place));
        if folder != "tasks" {
            fs::write(site.path("tasks").join(&file), sound(id(place)))
                .expect("it is our directory");
        }
        let path = site.path(folder).join(file);
        fs::write(&path, content).expect("it is our directory");
        path
    });
    files.collect()
}

fn parsed<T: DeserializeOwned>(content: &[u8]) -> Option<T> {
    serde_json::from_slice(content).ok()
}

/// Whether an error names a bad file. That is the only thing to say of one.
fn names_file(error: &str, file: &Path) -> bool {
    let coded = ["corrupt: ", "unsupported_format: "];
    let name = file.file_name().and_then(|it| it.to_str());
    coded.iter().any(|it| error.starts_with(it)) && error.contains(name.expect("its name is ASCII"))
}

/// A call for each of the files.
struct Probe {
    tool: &'static str,
    arguments: Value,
    /// Whether it cannot do without the file.
    bound: bool,
}

impl Probe {
    fn bound(tool: &'static str, arguments: Value) -> Self {
        Self {
            tool,
            arguments,
            bound: true,
        }
    }

    fn free(tool: &'static str) -> Self {
        Self {
            tool,
            arguments: json!({}),
            bound: false,
        }
    }
}

/// Makes these calls for each of the files, those of a round all at once. For a bad file, the bound ones have to name it,
/// and it is afterwards what it was.
fn assert_left_alone(
    site: &mut Site,
    files: &[PathBuf],
    contents: &[Vec<u8>],
    rounds: &[&[Probe]],
    is_sound: impl Fn(usize, &[u8]) -> bool,
) {
    for probes in rounds {
        let answers = probed(site, probes, files.len());
        for (place, file) in files.iter().enumerate() {
            if is_sound(place, &contents[place]) {
                continue;
            }
            let now = fs::read(file).expect("a bad file stays where it is");
            assert!(now == contents[place], "{} was replaced", file.display());
            let answers = &answers[place * probes.len()..];
            for (Probe { tool, bound, .. }, answer) in probes.iter().zip(answers) {
                match answer {
                    Err(error) => assert!(names_file(error, file), "{tool}: {error}"),
                    Ok(result) => assert!(!bound, "{tool} made this of a bad file: {result}"),
                }
            }
        }
    }
    site.others_go_on();
    assert_eq!(site.server.status(), None, "the server lives on");
}

/// The answers of each probe, file by file; the list has to work meanwhile.
fn probed(site: &mut Site, probes: &[Probe], files: usize) -> Vec<Result<Value, String>> {
    let mut calls = Vec::new();
    for place in 0..files {
        for probe in probes {
            let mut arguments = probe.arguments.clone();
            arguments["task_id"] = json!(id(place));
            calls.push((probe.tool, arguments));
        }
    }
    calls.push(("list_tasks", json!({ "status": "all" })));
    let mut answers = site.call(&calls);
    let list = answers.pop().expect("the last call was the list");
    assert!(list.is_ok(), "{list:?}");
    answers
}

/// Contents of which most are none: bytes, JSON, and edited files that one of the walks wrote.
fn contents(legal: impl Strategy<Value = String>) -> impl Strategy<Value = Vec<Vec<u8>>> {
    let splices = prop::collection::vec(edits::splice(), 0..2);
    let edited = (legal, edits::edits(), splices)
        .prop_map(|(file, edits, splices)| edits::edited(&file, &edits, &splices));
    prop::collection::vec(prop_oneof![values::bytes(), edited], 1..=AT_ONCE)
}

#[test]
fn a_task_file_that_is_none_is_never_replaced() {
    let site = RefCell::new(Site::new());
    // One of them has the number of its place now and then, and is sound if nothing else was edited.
    let legal = walks::task().prop_map(|file| file.replace("task-0007", &id(0).to_string()));
    check(8, &contents(legal), |contents| {
        let site = &mut *site.borrow_mut();
        let files = write(site, "tasks", &contents);
        let probes = [
            Probe::bound("get_task", json!({})),
            Probe::bound("claim_task", json!({})),
            Probe::bound("post_message", json!({ "content": "hello" })),
            Probe::bound("update_progress", json!({ "percent": 10 })),
            Probe::bound("cancel_task", json!({})),
        ];
        assert_left_alone(site, &files, &contents, &[&probes], |place, content| {
            parsed::<AnyTask>(content).is_some_and(|it| it.id() == id(place))
        });
    });
}

#[test]
fn a_thread_that_is_none_is_never_replaced() {
    let site = RefCell::new(Site::new());
    check(8, &contents(thread()), |contents| {
        let site = &mut *site.borrow_mut();
        let files = write(site, "messages", &contents);
        let first = [
            Probe::bound("get_messages", json!({})),
            Probe::bound("post_message", json!({ "content": "hello" })),
            Probe::free("get_task"),
            Probe::free("claim_task"),
        ];
        let then = [Probe::free("update_progress"), Probe::free("get_progress")];
        assert_left_alone(
            site,
            &files,
            &contents,
            &[&first, &then],
            |place, content| {
                parsed::<Thread>(content).is_some_and(|it| it.stranger(id(place)).is_none())
            },
        );
    });
}

#[test]
fn a_progress_file_that_is_none_is_never_replaced() {
    let site = RefCell::new(Site::new());
    check(8, &contents(progress()), |contents| {
        let site = &mut *site.borrow_mut();
        let files = write(site, "progress", &contents);
        let first = [
            Probe::bound("get_progress", json!({})),
            Probe::free("get_task"),
            Probe::free("claim_task"),
            Probe::free("get_messages"),
        ];
        let then = [
            Probe::bound("update_progress", json!({ "percent": 10 })),
            Probe::bound("get_progress", json!({})),
        ];
        assert_left_alone(site, &files, &contents, &[&first, &then], |_, content| {
            parsed::<ProgressLog>(content).is_some()
        });
    });
}

#[test]
fn a_sequence_that_is_none_gives_no_number_out_and_is_never_replaced() {
    let site = RefCell::new(Site::new());
    let splices = prop::collection::vec(edits::splice(), 0..2);
    let last = prop_oneof![3 => 0_u64..99, 1 => Just(u64::MAX), 1 => any::<u64>()];
    let legal = last.prop_map(|last| json!({ "formatVersion": 1, "last": last }).to_string());
    let edited = (legal, edits::edits(), splices)
        .prop_map(|(file, edits, splices)| edits::edited(&file, &edits, &splices));
    check(24, &prop_oneof![values::bytes(), edited], |content| {
        let site = &mut *site.borrow_mut();
        let mended = fs::read(site.path("sequence.json")).expect("numbers were given out");
        // One that was made before, for whoever cannot make one now.
        let other = site.ok(
            "create_task",
            json!({ "title": "healthy", "description": "as ever" }),
        );
        let file = site.path("sequence.json");
        fs::write(&file, &content).expect("it is our directory");
        let new = json!({ "title": "new", "description": "to be refused" });
        let created = site.call(&[("create_task", new)]).pop().expect("one call");
        if is_sequence(&content) {
            assert!(created.is_ok(), "{created:?}");
        } else {
            let error = created.expect_err("a number out of nowhere");
            assert!(names_file(&error, &file), "{error}");
            let now = fs::read(&file).expect("a bad file stays where it is");
            assert!(now == content, "the sequence was replaced");
        }
        site.works(&other["task"]["id"]);
        fs::write(&file, mended).expect("it is our directory");
    });
}

/// Whether a next number follows from this.
fn is_sequence(content: &[u8]) -> bool {
    let Some(Document::Object(mut fields)) = parsed(content) else {
        return false;
    };
    fields.sort_by(|(a, _), (b, _)| a.cmp(b));
    let keys: Vec<_> = fields.iter().map(|(key, _)| key.clone()).collect();
    let value = Document::Object(fields).value();
    let counts = value["last"].as_u64().is_some_and(|it| it < u64::MAX);
    match keys.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["last"] => counts,
        ["formatVersion", "last"] => counts && value["formatVersion"] == 1,
        _ => false,
    }
}

/// The file of a thread of the first task's.
fn thread() -> impl Strategy<Value = String> {
    let contents = prop::collection::vec("[a-z]{1,5}", 0..4);
    contents.prop_map(|contents| {
        let messages = (1..).zip(contents).map(|(number, content)| {
            json!({
                "id": uuid::Uuid::from_u128(number),
                "taskId": id(0),
                "author": tasks::OTHER,
                "timestamp": tasks::at(i64::try_from(number).expect("there are few")),
                "content": content,
            })
        });
        messages.collect::<Value>().to_string()
    })
}

/// The file of some reports.
fn progress() -> impl Strategy<Value = String> {
    let steps = prop::collection::vec("[a-z]{1,5}", 1..4);
    steps.prop_map(|steps| {
        let reports = (1..).zip(steps).map(|(number, step)| {
            json!({
                "id": uuid::Uuid::from_u128(number),
                "timestamp": tasks::at(i64::try_from(number).expect("there are few")),
                "author": tasks::ASSIGNEE,
                "claimVersion": 2,
                "currentStep": step,
            })
        });
        let history: Value = reports.collect();
        let latest = history.as_array().and_then(|it| it.last());
        json!({ "formatVersion": 1, "latest": latest, "history": history }).to_string()
    })
}
