//! The demonstration, run as a person runs it.

use std::{
    fs::{self, File},
    io::Read,
    os::unix::process::CommandExt,
    process::{Command, Output, Stdio},
};

use nix::{errno::Errno, pty::openpty, sys::signal::killpg, unistd::Pid};
use serde_json::Value;
use tempfile::TempDir;

/// The demonstration, with its temporary files in `room`.
fn demo(room: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ai-coord-mcp"));
    command.arg("demo").env("TMPDIR", room.path());
    command
}

fn stdout(output: &Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn it_tells_the_whole_story_within_eighty_columns() {
    let room = TempDir::new().unwrap();
    let text = stdout(&demo(&room).output().unwrap());
    let reasons = [
        "new",
        "message",
        "review",
        "revision",
        "holder_gone",
        "resumed",
    ];
    let mut rest = text.as_str();
    for reason in reasons {
        let said = format!("why: \"{reason}\"");
        (_, rest) = rest
            .split_once(&said)
            .unwrap_or_else(|| panic!("{said} is missing, or not in its turn:\n{text}"));
    }
    assert!(rest.contains("coordination/tasks/task-0001.json"), "{rest}");
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(
        !text.contains('\u{1b}'),
        "colours are for terminals:\n{text}"
    );
}

#[test]
fn it_leaves_neither_files_nor_processes() {
    let room = TempDir::new().unwrap();
    let child = demo(&room)
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let group = Pid::from_raw(i32::try_from(child.id()).unwrap());
    stdout(&child.wait_with_output().unwrap());
    assert_eq!(
        killpg(group, None),
        Err(Errno::ESRCH),
        "a server outlived the demonstration"
    );
    assert_eq!(fs::read_dir(room.path()).unwrap().count(), 0);
}

#[test]
fn it_heeds_no_setting_that_is_meant_for_a_server() {
    let room = TempDir::new().unwrap();
    let elsewhere = room.path().join("elsewhere");
    let text = stdout(
        &demo(&room)
            .env("COORDINATION_DIR", &elsewhere)
            .env("COORDINATION_AGENT", "somebody")
            .output()
            .unwrap(),
    );
    assert!(!text.contains("somebody"), "{text}");
    assert!(!elsewhere.exists());
}

#[test]
fn it_keeps_its_files_on_request_and_says_where() {
    let room = TempDir::new().unwrap();
    let text = stdout(&demo(&room).arg("--keep").output().unwrap());
    let (_, kept) = text.trim_end().rsplit_once("Kept: ").unwrap();
    let kept = std::path::Path::new(kept);
    assert!(kept.starts_with(room.path()), "{}", kept.display());
    let task = fs::read_to_string(kept.join("coordination/tasks/task-0001.json")).unwrap();
    let task: Value = serde_json::from_str(&task).unwrap();
    assert_eq!(task["status"], "approved");
}

#[test]
fn it_fails_with_a_sentence_where_it_cannot_be_run() {
    let room = TempDir::new().unwrap();
    let output = demo(&room)
        .env("TMPDIR", room.path().join("missing"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("ai-coord-mcp: no temporary directory: "),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
}

#[test]
fn a_terminal_gets_colours_unless_told_not_to() {
    assert!(on_a_terminal("").contains("\u{1b}[36m"));
    let plain = on_a_terminal("1");
    assert!(!plain.contains('\u{1b}'), "{plain}");
    assert!(plain.contains("Every step went as expected."), "{plain}");
}

fn on_a_terminal(no_color: &str) -> String {
    let room = TempDir::new().unwrap();
    let terminal = openpty(None, None).unwrap();
    let mut child = demo(&room)
        .env("NO_COLOR", no_color)
        .stdout(Stdio::from(terminal.slave))
        .spawn()
        .unwrap();
    let mut shown = Vec::new();
    match File::from(terminal.master).read_to_end(&mut shown) {
        Ok(_) => {}
        // So a terminal ends on Linux.
        Err(error) => assert_eq!(error.raw_os_error(), Some(nix::libc::EIO)),
    }
    assert!(child.wait().unwrap().success());
    String::from_utf8_lossy(&shown).into_owned()
}
