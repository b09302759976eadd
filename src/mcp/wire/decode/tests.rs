//! What lines mean.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// A decoded line in a form that can be compared.
fn meaning(line: impl AsRef<[u8]>) -> Value {
    match decode(line.as_ref()) {
        None => json!("nothing"),
        Some(Decoded::Request { id, request }) => json!({"id": id, "request": request}),
        Some(Decoded::Cancelled(id)) => json!({"cancelled": id}),
        Some(Decoded::Notification(notification)) => json!({"notification": notification}),
        Some(Decoded::Rejected { id, error }) => json!({"id": id, "code": error.code.0}),
    }
}

fn message(line: impl AsRef<[u8]>) -> String {
    match decode(line.as_ref()) {
        Some(Decoded::Rejected { error, .. }) => error.message.into_owned(),
        other => panic!("not rejected: {other:?}"),
    }
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[test]
fn a_request_is_taken_as_clients_write_it() {
    let ping = json!({"id": 1, "request": {"method": "ping"}});
    for line in [
        PING.to_owned(),
        format!("{PING}\r"),
        format!("  {PING}\t"),
        format!("\u{feff}{PING}"),
        r#"{"method":"ping","params":{},"jsonrpc":"2.0","id":1}"#.to_owned(),
        r#"{"method":"ping","params":null,"jsonrpc":"2.0","id":1,"extra":[1]}"#.to_owned(),
    ] {
        assert_eq!(meaning(&line), ping, "{line}");
    }
}

#[test]
fn every_legal_id_is_kept_as_written() {
    for id in [
        json!(0),
        json!(-7),
        json!(i64::MIN),
        json!(u64::MAX),
        json!(1.5),
        json!(""),
        json!("a\n\"b\""),
        json!("18446744073709551616"),
    ] {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": "ping"}).to_string();
        assert_eq!(meaning(&line)["id"], id);
    }
}

#[test]
fn a_request_that_no_method_knows_is_still_a_request() {
    for (method, params) in [
        ("no/such", json!({"a": 1})),
        ("tools/call", json!({})),
        ("tools/call", json!({"name": "x", "arguments": "no object"})),
        ("initialize", json!({"protocolVersion": 5})),
    ] {
        let line = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        assert_eq!(
            meaning(line.to_string())["request"]["method"],
            method,
            "{line}"
        );
    }
}

#[test]
fn params_that_are_no_object_are_invalid_params() {
    for params in [json!([1]), json!("x"), json!(5), json!({"_meta": 5})] {
        let line = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/list", "params": params});
        assert_eq!(
            meaning(line.to_string()),
            json!({"id": "a", "code": -32602}),
            "{line}"
        );
    }
}

#[test]
fn invalid_json_is_a_parse_error_without_id() {
    for line in [
        "{",
        "}",
        "hello",
        r#"{"jsonrpc":"2.0","id":1,"method":"ping""#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}{"#,
        r#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"pi\xng"}"#,
        "[1,",
        "\0",
    ] {
        assert_eq!(meaning(line), json!({"id": null, "code": -32700}), "{line}");
    }
}

#[test]
fn what_is_no_message_is_an_invalid_request_with_its_id() {
    for (line, id) in [
        (r#"{"id":1,"method":"ping"}"#, json!(1)),
        (r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#, json!("x")),
        (r#"{"jsonrpc":"2.0","id":2}"#, json!(2)),
        (r#"{"jsonrpc":"2.0","method":5,"id":3}"#, json!(3)),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"ping","method":"ping"}"#,
            json!(4),
        ),
        (
            r#"{"jsonrpc":"2.0","params":{"x":1e999},"method":"ping","id":5}"#,
            json!(5),
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            json!(null),
        ),
        (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, json!(null)),
        (
            r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            json!(null),
        ),
        ("{}", json!(null)),
        ("1", json!(null)),
        (r#""text""#, json!(null)),
        ("null", json!(null)),
    ] {
        assert_eq!(meaning(line), json!({"id": id, "code": -32600}), "{line}");
    }
}

#[test]
fn batches_are_refused() {
    for line in [
        "[]".to_owned(),
        format!("[{PING}]"),
        format!(" [{PING},{PING}]"),
        r#"["2.0",1,"ping"]"#.to_owned(),
    ] {
        assert_eq!(
            meaning(&line),
            json!({"id": null, "code": -32600}),
            "{line}"
        );
        assert!(message(&line).contains("batches"), "{line}");
    }
}

#[test]
fn deep_nesting_is_refused_with_its_id() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let line = format!(r#"{{"jsonrpc":"2.0","method":"ping","params":{{"a":{deep}}},"id":9}}"#);
    assert_eq!(meaning(&line), json!({"id": 9, "code": -32600}));
}

#[test]
fn what_needs_no_answer_gets_none() {
    for line in [
        "",
        "   \r",
        "\u{feff}",
        r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":[1]}"#,
        r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":5}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
    ] {
        assert_eq!(meaning(line), json!("nothing"), "{line}");
    }
}

#[test]
fn notifications_are_passed_on() {
    for line in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{"a":1}}"#,
    ] {
        assert!(meaning(line).get("notification").is_some(), "{line}");
    }
}

#[test]
fn a_cancellation_names_any_legal_id() {
    for id in [json!(1), json!("x"), json!(u64::MAX)] {
        let line = json!({"jsonrpc": "2.0", "method": CANCELLED, "params": {"requestId": id, "reason": "why"}});
        assert_eq!(meaning(line.to_string()), json!({"cancelled": id}));
    }
}

#[test]
fn unpaired_surrogates_are_replaced() {
    let argument = |text: &str| {
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":"\ud800","method":"m","params":{{"a":"{text}"}}}}"#);
        let meaning = meaning(&line);
        assert_eq!(meaning["id"], "\u{fffd}");
        meaning["request"]["params"]["a"]
            .as_str()
            .map(str::to_owned)
    };
    for (written, read) in [
        (r"\ud800", "\u{fffd}"),
        (r"a\udc00b", "a\u{fffd}b"),
        (r"\ud83d\ude00", "😀"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
        (r"\\ud800", r"\ud800"),
        (r"\\\ud800", "\\\u{fffd}"),
        (r"\uD83Dx", "\u{fffd}x"),
        (r"\ud83d\n", "\u{fffd}\n"),
        (r"ü\ud800ü", "ü\u{fffd}ü"),
    ] {
        assert_eq!(argument(written).as_deref(), Some(read), "{written}");
    }
}

#[test]
fn invalid_utf8_is_replaced() {
    let line = b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}";
    assert_eq!(
        meaning(line),
        json!({"id": "\u{fffd}", "request": {"method": "ping"}})
    );
}

#[test]
fn errors_repeat_little_of_a_line() {
    let line = format!("\"{}\"", "x".repeat(1 << 20));
    assert!(message(line).len() < 400);
}

/// Lines that are nearly messages.
fn near_messages() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just(r#""jsonrpc":"2.0""#.to_owned()),
        Just(r#""method":"ping""#.to_owned()),
        Just(r#""method":"tools/call""#.to_owned()),
        Just(r#""method":"notifications/cancelled""#.to_owned()),
        Just(r#""params":{"name":"x","arguments":{}}"#.to_owned()),
        Just(r#""params":{"requestId":1}"#.to_owned()),
        Just(r#""result":{}"#.to_owned()),
        Just(r#""id":"\ud800""#.to_owned()),
        any::<i64>().prop_map(|id| format!(r#""id":{id}"#)),
        "\"[a-z]{0,4}\":[0-9]{0,3}",
        "\\PC{0,8}",
    ];
    prop::collection::vec(word, 0..6).prop_map(|words| format!("{{{}}}", words.join(",")))
}

proptest! {
    #[test]
    fn no_line_whatsoever_is_too_much(line in prop::collection::vec(any::<u8>(), 0..200)) {
        decode(&line);
    }

    #[test]
    fn a_request_with_a_readable_id_is_never_ignored(line in near_messages()) {
        let Ok(Value::Object(object)) = serde_json::from_str(&line) else { return Ok(()) };
        let is_request = object.contains_key("method") && object.get("id").is_some_and(|id| !id.is_null());
        if is_request {
            let answered = meaning(&line);
            prop_assert_eq!(&answered["id"], &object["id"], "{}", line);
        }
    }

    #[test]
    fn pairing_surrogates_leaves_everything_else_alone(text in "\\PC*") {
        let encoded = json!(text).to_string();
        prop_assert_eq!(pair_surrogates(&encoded), encoded.as_str());
    }
}
