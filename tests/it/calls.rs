//! Calls of tools, whatever the tools do: arguments, failures, progress, cancellation, several at once.

use serde_json::{Value, json};

use crate::{
    child::{modern, request, text},
    wire::{initialized, start},
};

#[test]
fn malformed_calls_say_what_is_wrong() {
    let mut server = initialized();
    for (params, message) in [
        (
            json!({}),
            "tools/call: name must be a string, the name of a tool",
        ),
        (
            json!({"name": 5}),
            "tools/call: name must be a string, the name of a tool",
        ),
        (
            json!({"name": "echo", "arguments": []}),
            "tools/call: arguments must be an object",
        ),
        (
            json!({"name": "echo", "arguments": "{}"}),
            "tools/call: arguments must be an object",
        ),
        (
            json!({"name": "ecco"}),
            "unknown tool \"ecco\": did you mean echo?",
        ),
        (
            json!({"name": "mcp__ai-coord__echo"}),
            "unknown tool \"mcp__ai-coord__echo\": did you mean echo?",
        ),
        (
            json!({"name": "nothing"}),
            "unknown tool \"nothing\": tools/list names those there are",
        ),
    ] {
        let answer = server.request(&json!("x"), "tools/call", &params);
        assert_eq!(
            answer["error"],
            json!({"code": -32602, "message": message}),
            "{params}"
        );
    }
    let answer = server.request(&json!("i"), "initialize", &json!({"protocolVersion": 5}));
    assert_eq!(
        answer["error"],
        json!({"code": -32602, "message": "malformed params for initialize"})
    );
    for method in [
        "no/such",
        "resources/list",
        "prompts/list",
        "logging/setLevel",
        "subscriptions/listen",
    ] {
        let answer = server.request(&json!(method), method, &json!({}));
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
    }
}

#[test]
fn arguments_are_checked_in_front_of_the_tool() {
    let mut server = initialized();
    for (arguments, message) in [
        (
            json!({}),
            "invalid_arguments: task_id: required, but missing; echo needs task_id",
        ),
        (
            json!({"task_id": "1"}),
            r#"invalid_arguments: task_id: expected an id like task-0001, got "1""#,
        ),
        (
            json!({"task_id": "task-0001", "percent": "lots"}),
            r#"invalid_arguments: percent: expected an integer from 0 to 100, got the string "lots""#,
        ),
        (
            json!({"task_id": "task-0001", "expectedVersion": 1}),
            "invalid_arguments: expectedVersion: echo has no such argument: use expected_version",
        ),
        (
            json!({"task_id": "task-0001", "expected_version": 13}),
            "invalid_arguments: expected_version: versions skip 13",
        ),
        (
            json!({"task_id": "task-0001", "files": ["a", "b", "c", "d"]}),
            "too_large: files: 4 entries, at most 3: leave some out",
        ),
    ] {
        let result = server.call("echo", &arguments);
        let expected = json!({"content": [{"type": "text", "text": message}], "isError": true});
        assert_eq!(result, expected, "{arguments}");
    }
    let sloppy = json!({
        "task_id": "task-0001", "percent": "40", "color": "dark_blue", "files": "[\"a\"]", "metadata": "{\"b\": 1}",
        "expected_version": 3.0, "text": "", "wait_for_previous": true, "reasoning": "why not",
    });
    let result = server.call("echo", &sloppy);
    let expected = r#"{"ignored":["reasoning"],"task_id":"task-0001","percent":40,"color":"dark_blue","files":["a"],"metadata":{"b":1},"expected_version":3}"#;
    assert_eq!(text(&result), expected);
    assert_eq!(
        result["structuredContent"].to_string(),
        expected,
        "in the same order"
    );
}

#[test]
fn a_tool_without_arguments_takes_any_notation_for_none() {
    let mut server = initialized();
    for params in [
        json!({"name": "whoami"}),
        json!({"name": "whoami", "arguments": null}),
        json!({"name": "whoami", "arguments": {}}),
    ] {
        let answer = server.request(&json!(1), "tools/call", &params);
        assert_eq!(
            answer["result"]["structuredContent"]["name"], "a-client",
            "{params}"
        );
    }
}

#[test]
fn failures_are_results_with_text_only() {
    let mut server = initialized();
    let result = server.call("fail", &json!({}));
    let message = "conflict: the version is 3: read it again";
    assert_eq!(
        result,
        json!({"content": [{"type": "text", "text": message}], "isError": true})
    );

    let result = server.call("panic", &json!({}));
    assert_eq!(
        (&result["isError"], result.get("structuredContent")),
        (&json!(true), None)
    );
    assert!(text(&result).starts_with("internal: "), "{result}");
    assert!(text(&result).contains("a toy broke"), "{result}");
    let result = server.call("fail", &json!({}));
    assert_eq!(text(&result), message, "the server goes on");
}

#[test]
fn the_caller_is_known_in_both_revisions() {
    let mut server = start();
    let who = |answer: &Value| answer["result"]["structuredContent"].clone();
    let answer = server.request(&json!(1), "tools/call", &modern(json!({"name": "whoami"})));
    assert_eq!(
        who(&answer),
        json!({"name": "a-modern-client", "version": "3", "wants_progress": false})
    );
    server.initialize("2025-06-18");
    let params = json!({"name": "whoami", "_meta": {"progressToken": 5}});
    let answer = server.request(&json!(2), "tools/call", &params);
    assert_eq!(
        who(&answer),
        json!({"name": "a-client", "version": "1.2", "wants_progress": true})
    );
}

#[test]
fn progress_comes_before_the_answer_and_not_after() {
    let mut server = initialized();
    let params = json!({"name": "wait", "arguments": {"milliseconds": 100}, "_meta": {"progressToken": "t"}});
    server.send(&request(&json!(1), "tools/call", &params));
    let mut progress = Vec::new();
    loop {
        let message = server.message().expect("the answer");
        if message["id"] == 1 {
            break;
        }
        assert_eq!(message["method"], "notifications/progress");
        assert_eq!(message["params"]["progressToken"], "t");
        progress.push(message["params"]["progress"].as_f64().expect("a number"));
    }
    assert!(!progress.is_empty());
    assert!(progress.is_sorted_by(|a, b| a < b), "{progress:?}");
    server.close_input();
    assert_eq!(server.rest(), [] as [Value; 0]);
}

#[test]
fn a_cancelled_call_is_silent() {
    for version in ["legacy", "modern"] {
        let mut server = initialized();
        let params = json!({"name": "wait", "arguments": {"milliseconds": 3_600_000}});
        let mut params = if version == "modern" {
            modern(params)
        } else {
            params
        };
        params["_meta"]["progressToken"] = json!("t");
        server.send(&request(&json!("w"), "tools/call", &params));
        assert_eq!(
            server.message().expect("progress")["method"],
            "notifications/progress"
        );
        let params = json!({"requestId": "w", "reason": "enough"});
        server.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
        // Answered after the cancellation has been read: what comes from here on comes too late.
        server.request(&json!(2), "ping", &json!({}));
        server.forget_progress();
        for id in 3..20 {
            server.request(&json!(id), "tools/call", &modern(json!({"name": "whoami"})));
        }
        server.close_input();
        assert_eq!(server.rest(), [] as [Value; 0], "{version}");
    }
}

#[test]
fn cancelling_finished_and_unknown_requests_changes_nothing() {
    let mut server = initialized();
    for id in [
        json!(1),
        json!("1"),
        json!(u64::MAX),
        json!(null),
        json!({}),
    ] {
        let result = server.call("echo", &json!({"task_id": "task-0001"}));
        assert!(text(&result).contains("task-0001"));
        let params = json!({"requestId": id});
        server.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}),
        );
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "call echo"}}));
    }
    assert_eq!(
        server.request(&json!(1), "ping", &json!({}))["result"],
        json!({})
    );
}

#[test]
fn one_id_in_flight_twice_is_answered_twice() {
    let mut server = initialized();
    for (milliseconds, tool) in [(300, "wait"), (1, "wait")] {
        let params = json!({"name": tool, "arguments": {"milliseconds": milliseconds}});
        server.send(&request(&json!(7), "tools/call", &params));
    }
    for _ in 0..2 {
        assert_eq!(
            server.answer(&json!(7))["result"]["structuredContent"]["until"],
            "the end"
        );
    }
}

#[test]
fn calls_run_side_by_side() {
    let mut server = initialized();
    for id in 0..8 {
        let params = json!({"name": "block", "arguments": {"milliseconds": 3_600_000}});
        server.send(&request(
            &json!(format!("blocked {id}")),
            "tools/call",
            &params,
        ));
    }
    let result = server.call("whoami", &json!({}));
    assert_eq!(result["structuredContent"]["name"], "a-client");
}

#[test]
fn large_results_and_arguments_pass() {
    let mut server = initialized();
    let text = "ü\u{1F600}\n".repeat(2000);
    let arguments = json!({"task_id": "task-0001", "text": text});
    let result = server.call("echo", &arguments);
    assert_eq!(result["structuredContent"]["text"], text);
}

#[test]
fn the_list_shows_what_clients_need() {
    let mut server = initialized();
    let list = server.request(&json!(1), "tools/list", &json!({}));
    let tools = list["result"]["tools"].as_array().expect("a list");
    let names: Vec<_> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["block", "echo", "fail", "panic", "wait", "whoami"]);
    assert_eq!(
        list["result"].get("ttlMs"),
        None,
        "legacy results carry no hints"
    );
    let echo = json!({
        "name": "echo",
        "title": "Echo",
        "description": "Answer with the arguments.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "task_id": {"type": "string", "description": "Which task.", "pattern": "^task-[0-9]{4,}$"},
                "percent": {"type": "integer", "description": "A percentage from 0 to 100.", "minimum": 0, "maximum": 100},
                "color": {"type": "string", "description": "Which color.", "enum": ["red", "dark_blue"]},
                "files": {"type": "array", "description": "Names of files.", "items": {"type": "string"}},
                "metadata": {"type": "object", "description": "Anything."},
                "expected_version": {"type": "integer", "description": "The version that the caller has seen.", "minimum": 0},
                "text": {"type": "string", "description": "A long text."},
            },
            "required": ["task_id"],
        },
        "annotations": {"readOnlyHint": true, "openWorldHint": false},
        "_meta": {"anthropic/alwaysLoad": true},
    });
    assert_eq!(
        tools[1].to_string(),
        echo.to_string(),
        "order is part of it"
    );
    assert_eq!(
        tools[5]["inputSchema"],
        json!({"type": "object", "properties": {}})
    );
}
