//! Conversations that nobody would have written: calls of both revisions among cancellations and garbage, in pieces.
//!
//! The cases are the same in every run, so that no change fails by chance. `PROPTEST_CASES=2560` looks at ten times as
//! many (256 are the default), at other ones each time.

use std::collections::BTreeSet;

use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
    test_runner::{Config, RngSeed, TestRunner},
};
use serde_json::json;

use super::{
    oracle::Oracle,
    script::{IdKind, Message, Mutation, Script, Step, Written},
    session::{Said, converse, stored},
};
use crate::agent::Place;

const CASES: u32 = 64;

fn id() -> impl Strategy<Value = IdKind> {
    let shared = [
        json!(0),
        json!("0"),
        json!(""),
        json!(-1),
        json!(9_007_199_254_740_993_u64),
    ];
    let once = [
        IdKind::Number,
        IdKind::Negative,
        IdKind::Fraction,
        IdKind::Huge,
        IdKind::Text,
        IdKind::Digits,
        IdKind::Strange,
        IdKind::Long,
    ];
    prop_oneof![
        5 => select(once.to_vec()),
        1 => select(shared.to_vec()).prop_map(IdKind::Shared),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let versions = [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "1999-01-01",
    ];
    let calls = [
        ("list_tasks", json!({})),
        ("get_task", json!({"task_id": "task-0001"})),
        ("get_task", json!({"task_id": 1, "nonsense": []})),
        ("search_tasks", json!({"query": "task"})),
        ("claim_next_task", json!({})),
        ("create_task", json!({"title": "no description"})),
        ("wait_for_task", json!({"timeout_seconds": 50})),
        (
            "claim_next_task",
            json!({"tag": "none", "wait_seconds": 50}),
        ),
        ("no_such_tool", json!({})),
    ];
    let methods = [
        ("ping", json!({})),
        ("tools/list", json!({})),
        ("server/discover", json!({})),
        ("tools/call", json!({"name": ["list_tasks"]})),
        (
            "tools/call",
            json!({"name": "list_tasks", "arguments": "none"}),
        ),
        ("tools/list", json!([])),
        ("initialize", json!({"protocolVersion": 1})),
        ("no/such/method", json!({})),
        ("notifications/cancelled", json!({"requestId": 0})),
    ];
    let notifications = [
        ("notifications/initialized", json!({})),
        (
            "notifications/progress",
            json!({"progressToken": 1, "progress": "some"}),
        ),
        ("notifications/cancelled", json!({})),
        ("no/such/notification", json!({})),
        ("ping", json!({})),
        (
            "tools/call",
            json!({"name": "create_task", "arguments": {"title": "silent", "description": "d"}}),
        ),
    ];
    prop_oneof![
        3 => select(versions.to_vec()).prop_map(Message::Initialize),
        4 => Just(Message::Create),
        1 => Just(Message::CreateCutText),
        6 => select(calls.to_vec()).prop_map(|(tool, arguments)| Message::Call(tool, arguments)),
        4 => select(methods.to_vec()).prop_map(|(method, params)| Message::Method(method, params)),
        1 => Just(Message::Deep),
        2 => select(notifications.to_vec()).prop_map(|(method, params)| Message::Notification(method, params)),
        4 => any::<Index>().prop_map(Message::Cancel),
        1 => Just(Message::CancelUnknown),
    ]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let keys = [
        r#""id":5,"#,
        r#""id":null,"#,
        r#""method":"ping","#,
        r#""jsonrpc":"2.0","#,
        r#""other":1,"other":2,"#,
    ];
    prop_oneof![
        (any::<Index>(), 1..=u8::MAX).prop_map(|(at, bits)| Mutation::Flip(at, bits)),
        any::<Index>().prop_map(Mutation::Cut),
        (any::<Index>(), 1..9_usize).prop_map(|(at, length)| Mutation::Remove(at, length)),
        (any::<Index>(), vec(any::<u8>(), 1..4))
            .prop_map(|(at, bytes)| Mutation::Insert(at, bytes)),
        any::<(Index, Index)>().prop_map(|(here, there)| Mutation::Splice(here, there)),
        select(keys.to_vec()).prop_map(Mutation::RepeatKey),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let written = (
        message(),
        id(),
        any::<bool>(),
        proptest::option::weighted(0.25, mutation()),
        select(vec!["", "", "", " \t", "\u{feff}", "\r"]),
        select(vec!["\n", "\n", "\r\n", " \n", "\n\n"]),
    );
    let written = written.prop_map(
        |(message, id, is_modern, mutation, before, after)| Written {
            message,
            id,
            is_modern,
            mutation,
            before,
            after,
        },
    );
    let garbage = [
        &b"{}"[..],
        b"[]",
        b"null",
        b"7",
        b"\"text\"",
        b"GET / HTTP/1.1\r",
        b"Content-Length: 10\r",
        b"\xff\xfe{\0}\0",
        br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
        br#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        br#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#,
        br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        br#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
        br#"{"id":"unversioned","method":"ping"}"#,
    ];
    prop_oneof![
        12 => written.prop_map(|written| Step::Written(Box::new(written))),
        1 => vec(any::<u8>(), 1..40).prop_map(Step::Garbage),
        2 => select(garbage.to_vec()).prop_map(|line| Step::Garbage(line.to_vec())),
        1 => select(vec!["", "\r", " ", "\u{feff}", "\t\r"]).prop_map(Step::Blank),
    ]
}

/// What was answered is in the store, once; what was cancelled is there as a whole or not at all.
fn assert_stored(place: &Place, oracle: &Oracle, said: &[Said]) {
    let stored = stored(place);
    let ids: BTreeSet<_> = stored.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(ids.len(), stored.len(), "ids are used once: {stored:?}");
    let mut answered = BTreeSet::new();
    for id in said.iter().filter_map(created) {
        assert!(answered.insert(id), "{id} was answered twice");
        assert!(
            ids.contains(id),
            "{id} was answered, but is not there: {stored:?}"
        );
    }
    for task in stored.iter().filter(|_| oracle.is_certain()) {
        let all = oracle.creations().iter();
        let calls = || all.clone().filter(|call| call.title == task.title);
        let alike = stored.iter().filter(|other| other.title == task.title);
        assert!(
            alike.count() <= calls().count(),
            "nobody asked for this: {task:?} of {stored:?}"
        );
        assert!(
            answered.contains(&*task.id) || calls().any(|call| oracle.is_cancelled(call)),
            "made, but neither answered nor cancelled: {task:?}"
        );
    }
}

/// The task that an answer says was made. Other tools tell more of a task.
fn created(said: &Said) -> Option<&str> {
    let Said::Answer {
        outcome: Ok(result),
        ..
    } = said
    else {
        return None;
    };
    let task = &result["structuredContent"]["task"];
    let is_new = task["version"] == 1 && task.as_object()?.len() == 3;
    is_new.then(|| task["id"].as_str())?
}

fn hold(steps: &[Step], cuts: &[Index], ends_with_newline: bool) {
    let place = Place::new();
    let script = Script::write(steps, ends_with_newline);
    let oracle = Oracle::read(&script.bytes);
    let said = converse(&place, &script.pieces(cuts));
    assert_stored(&place, &oracle, &said);
    let last = said
        .iter()
        .filter_map(|said| said.result_of(&json!("the last")));
    assert_eq!(last.count(), 1, "the last ping is answered: {said:?}");
    oracle.judge(&said);
}

#[test]
fn every_line_gets_what_is_due_to_it() {
    let mut config = Config {
        failure_persistence: None,
        max_shrink_time: 20_000,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        config.cases = (CASES * config.cases / 256).max(CASES);
    } else {
        config.cases = CASES;
        config.rng_seed = RngSeed::Fixed(0);
    }
    let conversations = (
        vec(step(), 1..40),
        vec(any::<Index>(), 0..12),
        any::<bool>(),
    );
    let outcome =
        TestRunner::new(config).run(&conversations, |(steps, cuts, ends_with_newline)| {
            hold(&steps, &cuts, ends_with_newline);
            Ok(())
        });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
