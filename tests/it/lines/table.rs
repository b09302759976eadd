//! Single lines, each with what is due to it.

use serde_json::{Value, json};

use super::{
    create, handshake, initialize, lines,
    oracle::deep,
    session::{Said, converse, stored},
};
use crate::{
    agent::Place,
    child::{modern, request},
};

/// As the README promises.
const LONGEST_LINE: usize = 16 << 20;

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Says this after a handshake, to a place that has tasks of these titles then.
#[track_caller]
fn assert_made(text: &[u8], titles: &[&str]) -> Vec<Said> {
    let place = Place::new();
    let said = converse(&place, &[handshake().as_bytes(), text]);
    let made: Vec<_> = stored(&place).into_iter().map(|task| task.title).collect();
    assert_eq!(made, titles, "{said:?}");
    said
}

/// Ids and error codes of what was answered after the handshake, by id. A result has no code.
fn answers(said: &[Said]) -> Vec<(Value, Option<i64>)> {
    let answers = said.iter().filter_map(|said| match said {
        Said::Answer { id, outcome } => Some((id.clone(), outcome.as_ref().err().copied())),
        Said::Notification => None,
    });
    let mut answers: Vec<_> = answers.filter(|(id, _)| id != "handshake").collect();
    answers.sort_by_key(|(id, _)| id.to_string());
    answers
}

#[test]
fn ids_come_back_as_they_were_written() {
    let params = json!({"name": "get_task", "arguments": {"task_id": "task-0001"}});
    for id in [
        "0",
        "-1",
        "1",
        r#""1""#,
        r#""""#,
        "9007199254740993",
        "18446744073709551615",
        "-9223372036854775808",
        "1.5",
        r#""é😀""#,
        r#""\u0000\n\"\\""#,
        r#""null""#,
    ] {
        let lines = [
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#),
            format!(r#"{{"id":{id},"method":"ping","jsonrpc":"2.0"}}"#),
            format!(r#"{{"jsonrpc":"2.0","method":"no/such","id":{id}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#),
            format!(r#"{{"jsonrpc":"1.0","id":{id},"method":"ping"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":["ping"]}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","method":"ping"}}"#),
        ];
        let said = assert_made(lines.join("\n").as_bytes(), &[]);
        let written: Vec<_> = answers(&said)
            .iter()
            .map(|(id, _)| id.to_string())
            .collect();
        assert_eq!(written, vec![id; lines.len()], "as many answers as lines");
    }
}

#[test]
fn methods_that_are_not_offered_are_unknown_in_every_revision() {
    let methods = [
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": "b"}}),
        ),
        ("logging/setLevel", json!({"level": "debug"})),
        ("tasks/get", json!({"taskId": "x"})),
        ("tasks/list", json!({})),
        ("sampling/createMessage", json!({})),
        ("notifications/initialized", json!({})),
        (
            "notifications/progress",
            json!({"progressToken": 1, "progress": 1}),
        ),
        ("tools/call/", json!({})),
        ("PING", json!({})),
        ("", json!({})),
    ];
    for version in LEGACY {
        let asked = methods.iter().flat_map(|(method, params)| {
            let modern = modern(params.clone());
            [params, &modern].map(|params| request(&json!(1), method, params))
        });
        let start = [initialize(&json!("handshake"), version)];
        let end = [request(&json!(1), "ping", &modern(json!({})))];
        let text = lines(start.into_iter().chain(asked).chain(end));
        let answers = answers(&converse(&Place::new(), &[text.as_bytes()]));
        assert_eq!(
            answers,
            vec![(json!(1), Some(-32601)); 2 * methods.len() + 1],
            "{version}"
        );
    }
}

#[test]
fn notifications_are_neither_answered_nor_calls() {
    let mut call = create(&json!(1), "silent");
    call.as_object_mut().unwrap().remove("id");
    let mut messages = vec![
        call,
        json!({"jsonrpc": "2.0", "id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "m"}}),
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": 1, "message": "m"}}),
    ];
    for method in [
        "notifications/initialized",
        "notifications/cancelled",
        "notifications/roots/list_changed",
        "ping",
        "x",
        "",
    ] {
        for params in [
            json!(null),
            json!({}),
            json!([]),
            json!("x"),
            modern(json!({})),
            json!({"requestId": {}}),
            json!({"_meta": 1}),
        ] {
            messages.push(json!({"jsonrpc": "2.0", "method": method, "params": params}));
        }
    }
    let said = assert_made(lines(messages).as_bytes(), &[]);
    assert_eq!(answers(&said), []);
}

#[test]
fn batches_are_refused_as_a_whole() {
    let batch = json!([create(&json!(1), "first"), create(&json!(2), "second")]);
    let said = assert_made(format!("{batch}\n [ ] \n[1,\n").as_bytes(), &[]);
    let null = |code| (Value::Null, Some(code));
    assert_eq!(answers(&said), [null(-32600), null(-32600), null(-32700)]);
}

#[test]
fn sloppy_lines_are_calls_all_the_same() {
    let line = |title: &str| create(&json!(title), title).to_string();
    let text = format!(
        "\u{feff}{}\r\n\r\n \t\n\u{feff}\n{}\n\t {} \r\n{}\r\n\u{feff}{}",
        line("1 mark"),
        line("2 plain"),
        line("3 blanks"),
        line("4 line\u{2028}end"),
        line("5 last"),
    );
    let said = assert_made(
        text.as_bytes(),
        &[
            "1 mark",
            "2 plain",
            "3 blanks",
            "4 line\u{2028}end",
            "5 last",
        ],
    );
    assert_eq!(answers(&said).len(), 5);
}

#[test]
fn text_that_is_no_unicode_is_taken_with_replacements() {
    let with = |title: &[u8]| {
        let line = create(&json!(1), "TITLE").to_string();
        let (before, after) = line.split_once("TITLE").unwrap();
        [before.as_bytes(), title, after.as_bytes(), b"\n"].concat()
    };
    for (written, stored) in [
        (&br"cut \ud83d"[..], "cut \u{fffd}"),
        (br"\ude00 rest", "\u{fffd} rest"),
        (br"\ude00\ud83d", "\u{fffd}\u{fffd}"),
        (br"\ud83d\ud83d\ude00", "\u{fffd}\u{1F600}"),
        (br"whole \uD83D\uDE00", "whole \u{1F600}"),
        (br"told \\ud83d", r"told \ud83d"),
        (br"\ud83d\u0041", "\u{fffd}A"),
        (b"latin \xe9.", "latin \u{fffd}."),
        (b"cut \xf0\x9f\x98", "cut \u{fffd}"),
    ] {
        let said = assert_made(&with(written), &[stored]);
        assert_eq!(answers(&said), [(json!(1), None)]);
    }
}

#[test]
fn nesting_without_end_is_refused_by_its_id() {
    let deep = deep();
    let abyss = deep
        .replace('[', &"[".repeat(500))
        .replace(']', &"]".repeat(500));
    for nested in [deep, abyss] {
        let lines = [
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"a":{nested}}}}}"#),
            format!(r#"{{"params":{{"id":{nested}}},"method":"ping","jsonrpc":"2.0","id":"2"}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{nested},"method":"ping"}}"#),
            nested,
        ];
        let said = assert_made(lines.join("\n").as_bytes(), &[]);
        let ids = [json!("2"), json!(1), Value::Null, Value::Null];
        assert_eq!(answers(&said), ids.map(|id| (id, Some(-32600))));
    }
}

#[test]
fn the_limit_of_a_line_is_answered_and_not_the_end() {
    let long = |id: &str, length: usize| {
        let filled = |fill: &str| {
            format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{{"a":"{fill}"}},"id":{id}}}"#)
        };
        filled(&"x".repeat(length - filled("").len()))
    };
    let text = format!(
        "{}\n{}\n{}",
        long("1", LONGEST_LINE),
        create(&json!(2), "between"),
        long("3", LONGEST_LINE + 1)
    );
    let said = assert_made(text.as_bytes(), &["between"]);
    assert_eq!(
        answers(&said),
        [(json!(1), None), (json!(2), None), (json!(3), Some(-32600))]
    );
}

#[test]
fn revisions_follow_each_other_in_any_order() {
    let call = json!({"name": "list_tasks", "arguments": {}});
    let speak = |version: Option<&str>| match version {
        Some(version) => vec![
            initialize(&json!("handshake"), version),
            request(&json!("legacy"), "tools/call", &call),
        ],
        None => vec![request(
            &json!("modern"),
            "tools/call",
            &modern(call.clone()),
        )],
    };
    let all = || LEGACY.into_iter().map(Some).chain([None]);
    let pairs = all().flat_map(|first| all().map(move |second| [first, second]));
    // Nothing has been agreed on before the first of them.
    let spoken = [None].into_iter().chain(pairs.flatten());
    let said = converse(&Place::new(), &[lines(spoken.flat_map(speak)).as_bytes()]);
    let results = |id: &str| {
        let results = said.iter().filter_map(|said| said.result_of(&json!(id)));
        results
            .map(|result| result["resultType"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(results("modern"), vec![json!("complete"); 11], "{said:?}");
    assert_eq!(results("legacy"), vec![json!(null); 40], "{said:?}");
}
