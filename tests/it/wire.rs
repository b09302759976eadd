//! The protocol, line by line, against a server in a process of its own.

use serde_json::{Value, json};

use crate::{
    child::{Server, modern, request, text},
    toy,
};

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

pub(crate) fn start() -> Server {
    Server::spawn(&mut toy::command())
}

pub(crate) fn initialized() -> Server {
    let mut server = start();
    server.initialize("2025-11-25");
    server
}

fn echo() -> Value {
    json!({"name": "echo", "arguments": {"task_id": "task-0001"}})
}

#[test]
fn every_legacy_revision_is_spoken_as_asked() {
    for version in LEGACY {
        let mut server = start();
        let answer = server.initialize(version);
        assert_eq!(answer["result"]["protocolVersion"], version);
        assert_eq!(answer["result"]["serverInfo"]["name"], "ai-coord");
        assert_eq!(
            answer["result"]["serverInfo"]["version"],
            env!("CARGO_PKG_VERSION")
        );
        assert_eq!(answer["result"]["instructions"], "Toys for tests.");
        assert_eq!(answer["result"]["capabilities"], json!({"tools": {}}));
        let result = server.call("echo", &json!({"task_id": "task-0001"}));
        assert_eq!(result["structuredContent"], json!({"task_id": "task-0001"}));
        assert_eq!(text(&result), r#"{"task_id":"task-0001"}"#);
        assert_eq!(
            result.get("resultType"),
            None,
            "{version} knows no resultType"
        );
        assert_eq!(result.get("_meta"), None);
    }
}

#[test]
fn an_unknown_revision_is_answered_with_the_newest_that_has_a_handshake() {
    for version in ["1999-01-01", "2026-07-28", "2099-01-01"] {
        let mut server = start();
        let answer = server.initialize(version);
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-11-25",
            "{version}"
        );
        let result = server.call("echo", &json!({"task_id": "task-0001"}));
        assert_eq!(
            result.get("resultType"),
            None,
            "{version}: what was agreed on counts"
        );
        assert_eq!(
            server.request(&json!(1), "ping", &json!({}))["result"],
            json!({}),
            "{version}"
        );
    }
}

#[test]
fn the_modern_revision_needs_no_handshake() {
    let mut server = start();
    let answer = server.request(&json!(1), "tools/call", &modern(echo()));
    let result = &answer["result"];
    assert_eq!(text(result), r#"{"task_id":"task-0001"}"#);
    assert_eq!(result["resultType"], "complete");
    assert_eq!(
        result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "ai-coord"
    );

    let list = server.request(&json!(2), "tools/list", &modern(json!({})));
    assert_eq!(list["result"]["ttlMs"], 300_000);
    assert_eq!(list["result"]["cacheScope"], "public");
    assert_eq!(
        list["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"],
        "ai-coord"
    );

    let discovered = server.request(&json!(3), "server/discover", &modern(json!({})));
    let versions = json!([
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28"
    ]);
    assert_eq!(discovered["result"]["supportedVersions"], versions);
    assert_eq!(discovered["result"]["instructions"], "Toys for tests.");
}

#[test]
fn a_modern_request_must_be_complete() {
    let mut server = start();
    let mut params = modern(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2030-01-01");
    let answer = server.request(&json!(1), "tools/list", &params);
    assert_eq!(answer["error"]["code"], -32022, "{answer}");
    let mut params = modern(json!({}));
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"].take();
    let answer = server.request(&json!(2), "tools/list", &params);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[test]
fn a_request_without_any_version_is_refused() {
    let mut server = start();
    for (method, params) in [
        ("tools/list", json!({})),
        ("tools/call", echo()),
        ("tools/call", json!({"name": 1})),
    ] {
        let answer = server.request(&json!(method), method, &params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(
            answer["error"]["message"]
                .as_str()
                .is_some_and(|text| text.contains("initialize")),
            "{answer}"
        );
    }
    let answer = server.request(&json!(1), "ping", &json!({}));
    assert_eq!(answer["result"], json!({}), "ping may come first");
}

#[test]
fn revisions_may_be_mixed_on_one_connection() {
    let mut server = start();
    for round in 0..2 {
        let answer = server.request(
            &json!(format!("modern {round}")),
            "tools/call",
            &modern(echo()),
        );
        assert_eq!(answer["result"]["resultType"], "complete");
        for version in LEGACY {
            assert_eq!(
                server.initialize(version)["result"]["protocolVersion"],
                version
            );
            let result = server.call("echo", &json!({"task_id": "task-0001"}));
            assert_eq!(result.get("resultType"), None);
            let answer = server.request(&json!("modern"), "tools/list", &modern(json!({})));
            assert_eq!(answer["result"]["resultType"], "complete");
        }
    }
}

#[test]
fn a_whole_session_may_be_written_at_once() {
    let mut server = start();
    let client = json!({"name": "a", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let mut session = request(&json!(0), "initialize", &params).to_string();
    for id in 1..=100 {
        session.push('\n');
        session.push_str(&request(&json!(id), "tools/call", &echo()).to_string());
    }
    server.send_bytes(session.as_bytes());
    server.close_input();
    for id in 0..=100 {
        assert!(server.answer(&json!(id)).get("result").is_some(), "{id}");
    }
    assert!(server.rest().is_empty());
    assert!(server.ended().0.success());
}

#[test]
fn lines_that_are_no_messages_are_answered() {
    let mut server = initialized();
    for (line, id, code) in [
        (&b"{\n"[..], json!(null), -32700),
        (b"\xff\xfe\n", json!(null), -32700),
        (b"[]\n", json!(null), -32600),
        (b"{\"id\":\"a\",\"method\":\"ping\"}\n", json!("a"), -32600),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\",\"params\":[]}\n",
            json!(3),
            -32602,
        ),
    ] {
        server.send_bytes(line);
        let answer = server.answer(&id);
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    server.send_bytes(b"\n\r\n\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\"}\r\n");
    assert_eq!(server.answer(&json!(4))["result"], json!({}));
    server.close_input();
    assert!(server.rest().is_empty(), "blank lines are not answered");
}
