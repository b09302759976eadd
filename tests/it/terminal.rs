//! What a person sees who starts the server by hand, in a terminal.

use std::{
    fs::File,
    io::{Read, Write},
    process::{Command, Stdio},
};

use nix::pty::openpty;

#[test]
fn a_person_is_told_what_this_is_and_it_goes_on_serving() {
    let terminal = openpty(None, None).unwrap();
    let mut server = Command::new(env!("CARGO_BIN_EXE_ai-coord-mcp"))
        .env("COORDINATION_DIR", "/nowhere/coordination")
        .env("RUST_LOG", "debug")
        .stdin(Stdio::from(terminal.slave.try_clone().unwrap()))
        .stderr(Stdio::from(terminal.slave))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut screen = File::from(terminal.master);
    // A line of its own, then the end of input.
    screen
        .write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\x04")
        .unwrap();
    let mut answer = String::new();
    server
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut answer)
        .unwrap();
    let mut shown = Vec::new();
    match screen.read_to_end(&mut shown) {
        Ok(_) => {}
        // So a terminal ends on Linux.
        Err(error) => assert_eq!(error.raw_os_error(), Some(nix::libc::EIO)),
    }
    assert!(server.wait().unwrap().success());
    assert!(answer.contains("\"id\":1"), "{answer}");
    let shown = String::from_utf8_lossy(&shown).into_owned();
    assert!(shown.contains("claude mcp add"), "{shown}");
    assert!(!shown.contains("panicked"), "{shown}");
    let logged = |line: &&str| !line.starts_with("20");
    for line in shown.lines().filter(logged) {
        assert!(line.trim_end().chars().count() <= 80, "{line}");
    }
}
