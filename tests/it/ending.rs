//! How the server's process ends: soon, whatever the reason, and whatever it is waiting for.

use std::{
    process::Command,
    time::{Duration, Instant},
};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::{
    child::{PATIENCE, Server, request},
    toy,
};

/// The aim is a tenth of a second. More than this would mean that something waits for a time-out.
const SOON: Duration = Duration::from_millis(1500);

/// A server with calls pending that would go on for hours.
fn busy() -> Server {
    let mut server = Server::spawn(&mut toy::command());
    server.initialize("2025-11-25");
    for id in 0..4 {
        let params = json!({"name": "wait", "arguments": {"milliseconds": 3_600_000}, "_meta": {"progressToken": id}});
        server.send(&request(&json!(id), "tools/call", &params));
    }
    // Progress tells that they are being waited for.
    for id in 0..4 {
        while server.message().expect("progress")["params"]["progressToken"] != id {}
    }
    server
}

fn answers(messages: &[Value]) -> Vec<&Value> {
    messages
        .iter()
        .filter(|message| message.get("id").is_some())
        .collect()
}

#[test]
fn at_the_end_of_input_waits_are_answered() {
    let mut server = busy();
    server.close_input();
    let (status, took) = server.ended();
    assert_eq!(status.code(), Some(0));
    assert!(took < SOON, "{took:?}");
    let rest = server.rest();
    let answers = answers(&rest);
    assert_eq!(answers.len(), 4, "{rest:?}");
    assert!(
        answers
            .iter()
            .all(|answer| answer["result"]["structuredContent"]["until"] == "shutdown"),
        "{rest:?}"
    );
}

#[test]
fn at_the_end_of_input_calls_are_finished() {
    let mut server = Server::spawn(&mut toy::command());
    server.initialize("2025-11-25");
    let params = json!({"name": "block", "arguments": {"milliseconds": 300}});
    server.send(&request(&json!(1), "tools/call", &params));
    server.close_input();
    assert_eq!(
        server.answer(&json!(1))["result"]["structuredContent"]["until"],
        "the end"
    );
    assert_eq!(server.ended().0.code(), Some(0));
}

#[test]
fn input_may_end_before_anything_was_said() {
    let mut server = Server::spawn(&mut toy::command());
    server.close_input();
    let (status, took) = server.ended();
    assert_eq!(status.code(), Some(0));
    assert!(took < SOON, "{took:?}");
}

#[test]
fn signals_end_it_soon() {
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut server = busy();
        server.signal(signal);
        let (status, took) = server.ended();
        assert_eq!(status.code(), Some(100 + signal as i32), "{signal}");
        assert!(took < SOON, "{signal}: {took:?}");
    }
}

#[test]
fn signals_end_it_soon_even_while_threads_are_blocked() {
    let mut server = Server::spawn(&mut toy::command());
    server.initialize("2025-11-25");
    let params = json!({"name": "block", "arguments": {"milliseconds": 3_600_000}});
    server.send(&request(&json!(1), "tools/call", &params));
    server.request(&json!(2), "ping", &json!({}));
    server.signal(Signal::SIGTERM);
    let (status, took) = server.ended();
    assert_eq!(status.code(), Some(100 + Signal::SIGTERM as i32));
    assert!(took < SOON, "{took:?}");
}

#[test]
fn a_signal_ends_it_soon_after_the_end_of_input_as_well() {
    let mut server = Server::spawn(&mut toy::command());
    server.initialize("2025-11-25");
    let params = json!({"name": "block", "arguments": {"milliseconds": 3_600_000}});
    server.send(&request(&json!(1), "tools/call", &params));
    server.request(&json!(2), "ping", &json!({}));
    server.close_input();
    server.signal(Signal::SIGTERM);
    let (status, took) = server.ended();
    assert_eq!(status.code(), Some(100 + Signal::SIGTERM as i32));
    assert!(took < SOON, "{took:?}");
}

#[test]
fn a_closed_output_ends_it() {
    let mut server = busy();
    server.close_output();
    // The input stays open: only what it fails to write tells the server that nobody listens.
    let start = Instant::now();
    let status = loop {
        assert!(start.elapsed() < PATIENCE, "the server does not end");
        server.try_send(&request(&json!("p"), "ping", &json!({})));
        std::thread::sleep(Duration::from_millis(1));
        if let Some(status) = server.status() {
            break status;
        }
    };
    assert_eq!(status.code(), Some(2));
}

#[test]
fn it_does_not_outlive_the_process_that_started_it() {
    // The shell starts the server on its own input and waits; killed, it leaves the server behind
    // with the input open.
    let toy = toy::command();
    let mut shell = Command::new("sh");
    shell
        .args(["-c", r#"exec 3<&0; "$@" <&3 & wait"#, "sh"])
        .arg(toy.get_program())
        .args(toy.get_args());
    shell.envs(
        toy.get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let mut server = Server::spawn(&mut shell);
    server.initialize("2025-11-25");
    server.signal(Signal::SIGKILL);
    assert_eq!(
        server.rest(),
        [] as [Value; 0],
        "the output ends, and so does the server"
    );
}
