//! Requests in flight: several of one id, cancellations of some of them, and nobody who listens.

use serde_json::{Value, json};

use super::{
    create, handshake, lines,
    session::{Said, converse, said_to_nobody, stored},
};
use crate::{
    agent::Place,
    child::{modern, request},
};

fn cancel(id: &Value) -> Value {
    let params = json!({"requestId": id, "reason": "enough"});
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
}

/// Says these lines after a handshake and takes the ids that were answered, sorted by their text.
fn answered(place: &Place, messages: &[Value]) -> Vec<Value> {
    let pieces = [handshake(), lines(messages)];
    let mut ids: Vec<_> = converse(place, &pieces.each_ref().map(String::as_bytes))
        .into_iter()
        .filter_map(|said| match said {
            Said::Answer { id, .. } if id != "handshake" => Some(id),
            _ => None,
        })
        .collect();
    ids.sort_by_key(Value::to_string);
    ids
}

/// Calls that wait for far longer than a test takes. Only the end of input ends them.
fn waits(place: &Place) -> Vec<Value> {
    converse(
        place,
        &[
            handshake().as_bytes(),
            create(&json!(1), "t").to_string().as_bytes(),
        ],
    );
    let message = json!({"task_id": "task-0001", "content": "?", "wait_seconds": 50});
    vec![
        json!({"name": "wait_for_task", "arguments": {"task_id": "task-0001", "known_status": "pending", "timeout_seconds": 50}}),
        json!({"name": "claim_next_task", "arguments": {"tag": "none", "wait_seconds": 50}}),
        json!({"name": "post_message", "arguments": message}),
    ]
}

#[test]
fn a_wait_that_was_cancelled_is_silent_even_at_the_end() {
    let place = Place::new();
    for wait in waits(&place) {
        for params in [wait.clone(), modern(wait)] {
            for id in [
                json!(0),
                json!("0"),
                json!(u64::MAX),
                json!("\u{0}é\u{1F600}"),
            ] {
                let ask = |id| request(id, "tools/call", &params);
                let messages = [ask(&id), ask(&json!("kept")), cancel(&id)];
                assert_eq!(
                    answered(&place, &messages),
                    [json!("kept")],
                    "{id}: {params}"
                );
            }
        }
    }
}

#[test]
fn a_cancellation_is_for_ids_of_its_type_that_were_sent_before() {
    let place = Place::new();
    let params = waits(&place).remove(0);
    let ask = |id| request(&id, "tools/call", &params);
    for (sent, cancelled) in [
        (json!(0), json!("0")),
        (json!("0"), json!(0)),
        (json!(1), json!(-1)),
        (json!(u64::MAX), json!(u64::MAX - 1)),
        (json!("e\u{301}"), json!("é")),
        (json!(""), json!(null)),
    ] {
        assert_eq!(
            answered(&place, &[ask(sent.clone()), cancel(&cancelled)]),
            [sent]
        );
    }
    let early = [cancel(&json!(1)), ask(json!(1))];
    assert_eq!(
        answered(&place, &early),
        [json!(1)],
        "a cancellation is not kept for later"
    );
    let as_request = [
        ask(json!(1)),
        request(
            &json!(2),
            "notifications/cancelled",
            &json!({"requestId": 1}),
        ),
    ];
    assert_eq!(
        answered(&place, &as_request),
        [json!(1), json!(2)],
        "a request cancels nothing"
    );
    let unversioned = [
        ask(json!(1)),
        json!({"method": "notifications/cancelled", "params": {"requestId": 1}}),
    ];
    assert_eq!(answered(&place, &unversioned), [json!(1)]);
}

#[test]
fn a_cancellation_takes_back_all_requests_of_its_id() {
    let place = Place::new();
    let params = waits(&place).remove(0);
    let ask = || request(&json!(1), "tools/call", &params);
    assert_eq!(
        answered(&place, &[ask(), ask(), cancel(&json!(1))]),
        [] as [Value; 0]
    );
    let again = [ask(), ask(), cancel(&json!(1)), ask()];
    assert_eq!(
        answered(&place, &again),
        [json!(1)],
        "the id may be used again"
    );
}

#[test]
fn calls_of_one_id_are_all_done_and_all_answered() {
    let place = Place::new();
    let calls: Vec<_> = (0..20)
        .map(|call| create(&json!(7), &format!("call {call}")))
        .collect();
    assert_eq!(answered(&place, &calls), vec![json!(7); 20]);
    let titles: Vec<_> = stored(&place).into_iter().map(|task| task.title).collect();
    let mut expected: Vec<_> = (0..20).map(|call| format!("call {call}")).collect();
    expected.sort();
    assert_eq!(titles, expected);
}

#[test]
fn cancelled_creations_are_done_or_not_but_never_twice() {
    let place = Place::new();
    let mut messages = Vec::new();
    for call in 0..30 {
        messages.extend([
            create(&json!(call), &format!("call {call}")),
            cancel(&json!(call)),
        ]);
    }
    messages.push(create(&json!("kept"), "kept"));
    let answered = answered(&place, &messages);
    assert!(answered.contains(&json!("kept")), "{answered:?}");
    let mut titles: Vec<_> = stored(&place).into_iter().map(|task| task.title).collect();
    for id in answered {
        let title = id
            .as_u64()
            .map_or("kept".to_owned(), |call| format!("call {call}"));
        assert!(titles.contains(&title), "{title} was answered: {titles:?}");
    }
    let all = titles.len();
    titles.dedup();
    assert_eq!(titles.len(), all, "{titles:?}");
}

#[test]
fn what_is_said_while_nobody_listens_is_done_or_not() {
    let place = Place::new();
    let calls = (0..5).map(|call| create(&json!(call), &format!("call {call}")));
    let text = handshake() + &lines(calls);
    assert_eq!(said_to_nobody(&place, text.as_bytes()), Some(0));
    let mut titles: Vec<_> = stored(&place).into_iter().map(|task| task.title).collect();
    assert!(
        titles.iter().all(|title| title.starts_with("call ")),
        "{titles:?}"
    );
    let all = titles.len();
    titles.dedup();
    assert_eq!(titles.len(), all, "{titles:?}");
}
