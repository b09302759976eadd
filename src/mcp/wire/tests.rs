//! The conversation: what comes in, what goes out, and what must not.

use std::{
    io::{BufRead, BufReader, PipeReader, PipeWriter, pipe},
    time::Duration,
};

use proptest::prelude::*;
use rmcp::model::{ProgressNotification, ProgressNotificationParam, ProgressToken};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::*;

/// More than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A wire with a client at its other end.
struct Conversation {
    wire: Wire,
    shutdown: CancellationToken,
    /// Dropping it is the end of input.
    input: Option<PipeWriter>,
    output: BufReader<PipeReader>,
}

impl Conversation {
    fn start() -> Self {
        let (server_input, input) = pipe().expect("a pipe");
        let (output, server_output) = pipe().expect("a pipe");
        let shutdown = CancellationToken::new();
        let wire =
            Wire::start(server_input, server_output, shutdown.clone()).expect("threads start");
        Self {
            wire,
            shutdown,
            input: Some(input),
            output: BufReader::new(output),
        }
    }

    fn write(&mut self, lines: &[Value]) {
        let input = self.input.as_mut().expect("the input is open");
        for line in lines {
            writeln!(input, "{line}").expect("the wire reads");
        }
    }

    fn end_input(&mut self) {
        self.input = None;
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        timeout(PATIENCE, self.wire.receive())
            .await
            .expect("a message or the end")
    }

    /// The internal id of the next message, which has to be a request.
    async fn request(&mut self) -> RequestId {
        match self.receive().await {
            Some(JsonRpcMessage::Request(request)) => request.id,
            other => panic!("expected a request, got {other:?}"),
        }
    }

    async fn answer(&mut self, internal: &RequestId) {
        let answer = JsonRpcMessage::response(ServerResult::empty(()), internal.clone());
        self.wire.send(answer).await.expect("the client reads");
    }

    async fn report(&mut self, token: &str) {
        let token = ProgressToken(RequestId::String(token.into()));
        let report = ProgressNotification::new(ProgressNotificationParam::new(token, 1.0));
        self.wire
            .send(JsonRpcMessage::notification(report.into()))
            .await
            .expect("the client reads");
    }

    /// What has been written until now.
    async fn written(&mut self) -> Vec<Value> {
        self.report_end().await;
        let mut written = Vec::new();
        for line in self.output.by_ref().lines() {
            let line: Value =
                serde_json::from_str(&line.expect("the wire writes")).expect("only JSON");
            assert_eq!(line["jsonrpc"], "2.0");
            if line["method"] == "notifications/tools/list_changed" {
                break;
            }
            written.push(line);
        }
        written
    }

    /// Marks a point in the output.
    async fn report_end(&mut self) {
        let mark = rmcp::model::ToolListChangedNotification::default();
        self.wire
            .send(JsonRpcMessage::notification(mark.into()))
            .await
            .expect("the client reads");
    }
}

fn ping(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

fn with_token(id: &Value, token: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping", "params": {"_meta": {"progressToken": token}}})
}

fn cancel(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
}

fn answered(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {}})
}

#[tokio::test]
async fn answers_carry_the_clients_own_ids() {
    let mut it = Conversation::start();
    let ids = [
        json!("a"),
        json!(-1),
        json!(u64::MAX),
        json!(""),
        json!(2.5),
    ];
    it.write(&ids.iter().map(ping).collect::<Vec<_>>());
    let mut expected = Vec::new();
    for id in &ids {
        let internal = it.request().await;
        it.answer(&internal).await;
        expected.push(answered(id));
    }
    assert_eq!(it.written().await, expected);
}

#[tokio::test]
async fn both_of_two_requests_with_one_id_are_answered() {
    let mut it = Conversation::start();
    it.write(&[ping(&json!(1)), ping(&json!(1))]);
    let (first, second) = (it.request().await, it.request().await);
    assert_ne!(first, second);
    it.answer(&second).await;
    it.answer(&first).await;
    assert_eq!(
        it.written().await,
        [answered(&json!(1)), answered(&json!(1))]
    );
}

#[tokio::test]
async fn a_request_is_answered_once() {
    let mut it = Conversation::start();
    it.write(&[ping(&json!(1))]);
    let internal = it.request().await;
    it.answer(&internal).await;
    it.answer(&internal).await;
    assert_eq!(it.written().await, [answered(&json!(1))]);
}

#[tokio::test]
async fn what_was_cancelled_gets_neither_answer_nor_progress() {
    let mut it = Conversation::start();
    it.write(&[with_token(&json!(u64::MAX), "t"), cancel(&json!(u64::MAX))]);
    let internal = it.request().await;
    it.report("t").await;
    match it.receive().await {
        Some(JsonRpcMessage::Notification(notification)) => {
            let CancelledNotification { params, .. } = notification
                .notification
                .try_into()
                .expect("the cancellation is passed on");
            assert_eq!(
                params.request_id,
                Some(internal.clone()),
                "under the id the request is known by"
            );
        }
        other => panic!("expected a cancellation, got {other:?}"),
    }
    it.report("t").await;
    it.answer(&internal).await;
    let written = it.written().await;
    assert_eq!(
        written.len(),
        1,
        "only the progress from before: {written:?}"
    );
    assert_eq!(written[0]["params"]["progressToken"], "t");
}

#[tokio::test]
async fn a_cancellation_takes_back_all_requests_of_its_id_and_no_other() {
    let mut it = Conversation::start();
    it.write(&[
        ping(&json!(1)),
        ping(&json!("1")),
        ping(&json!(1)),
        cancel(&json!(1)),
        ping(&json!(3)),
    ]);
    let internal = [it.request().await, it.request().await, it.request().await];
    let mut cancelled = 0;
    let last = loop {
        match it.receive().await {
            Some(JsonRpcMessage::Notification(_)) => cancelled += 1,
            Some(JsonRpcMessage::Request(request)) => break request.id,
            other => panic!("unexpected {other:?}"),
        }
    };
    assert_eq!(cancelled, 2);
    for internal in internal.iter().chain([&last]) {
        it.answer(internal).await;
    }
    assert_eq!(
        it.written().await,
        [answered(&json!("1")), answered(&json!(3))]
    );
}

#[tokio::test]
async fn cancelling_what_is_not_in_flight_does_nothing() {
    let mut it = Conversation::start();
    it.write(&[cancel(&json!(1)), ping(&json!(1))]);
    let internal = it.request().await;
    it.answer(&internal).await;
    it.write(&[cancel(&json!(1)), ping(&json!(1))]);
    let internal = it.request().await;
    it.answer(&internal).await;
    assert_eq!(
        it.written().await,
        [answered(&json!(1)), answered(&json!(1))]
    );
}

#[tokio::test]
async fn progress_is_for_requests_in_flight() {
    let mut it = Conversation::start();
    it.write(&[with_token(&json!(1), "t")]);
    let internal = it.request().await;
    it.report("other").await;
    it.answer(&internal).await;
    it.report("t").await;
    assert_eq!(it.written().await, [answered(&json!(1))]);
}

#[tokio::test]
async fn nothing_overtakes_initialize() {
    let mut it = Conversation::start();
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}});
    it.write(&[
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}),
        ping(&json!(2)),
    ]);
    let internal = it.request().await;
    // Long enough for the request behind it to have been read.
    assert!(
        timeout(Duration::from_millis(50), it.wire.receive())
            .await
            .is_err()
    );
    it.answer(&internal).await;
    let internal = it.request().await;
    it.answer(&internal).await;
    assert_eq!(
        it.written().await,
        [answered(&json!(1)), answered(&json!(2))]
    );
}

#[tokio::test]
async fn what_is_no_message_is_answered_and_does_not_end_the_conversation() {
    let mut it = Conversation::start();
    it.write(&[json!([1]), json!({"id": 7}), ping(&json!(1))]);
    let internal = it.request().await;
    it.answer(&internal).await;
    let written = it.written().await;
    assert_eq!(written.len(), 3);
    assert_eq!(
        (&written[0]["id"], &written[0]["error"]["code"]),
        (&json!(null), &json!(-32600))
    );
    assert_eq!(
        (&written[1]["id"], &written[1]["error"]["code"]),
        (&json!(7), &json!(-32600))
    );
    assert_eq!(written[2], answered(&json!(1)));
}

#[tokio::test]
async fn a_line_over_the_limit_is_answered_and_skipped() {
    let mut it = Conversation::start();
    let mut input = it.input.take().expect("the input is open");
    let writer = std::thread::spawn(move || {
        let text = "x".repeat(usize::try_from(LONGEST_LINE).expect("it fits"));
        writeln!(
            input,
            r#"{{"method":"ping","params":{{"text":"{text}"}},"jsonrpc":"2.0","id":"long"}}"#
        )?;
        writeln!(input, "{}", ping(&json!(1)))
    });
    let internal = it.request().await;
    it.answer(&internal).await;
    let written = it.written().await;
    assert_eq!(
        (&written[0]["id"], &written[0]["error"]["code"]),
        (&json!("long"), &json!(-32600))
    );
    assert_eq!(written[1], answered(&json!(1)));
    writer
        .join()
        .expect("it does not panic")
        .expect("the wire reads");
}

#[tokio::test]
async fn the_end_of_input_waits_for_answers_but_ends_waits_at_once() {
    let mut it = Conversation::start();
    it.write(&[ping(&json!(1))]);
    it.end_input();
    let internal = it.request().await;
    assert!(
        !it.shutdown.is_cancelled(),
        "everything that was read comes first"
    );
    let waits_end = timeout(PATIENCE, async {
        tokio::select! {
            message = it.wire.receive() => panic!("one answer is still due, got {message:?}"),
            () = it.shutdown.cancelled() => {}
        }
    });
    waits_end.await.expect("the end is noticed");
    let ended = timeout(Duration::from_millis(20), it.wire.receive()).await;
    assert!(ended.is_err(), "one answer is still due, got {ended:?}");
    it.answer(&internal).await;
    assert!(it.receive().await.is_none());
    timeout(PATIENCE, it.wire.close())
        .await
        .expect("it closes")
        .expect("the client reads");
}

#[tokio::test]
async fn cancelling_the_shutdown_token_ends_the_conversation() {
    let mut it = Conversation::start();
    it.shutdown.cancel();
    assert!(it.receive().await.is_none());
}

#[tokio::test]
async fn a_client_that_stops_reading_is_noticed() {
    let mut it = Conversation::start();
    it.write(&[ping(&json!(1))]);
    let internal = it.request().await;
    let closed = it.wire.output_closed();
    let (output, _) = pipe().expect("a pipe");
    it.output = BufReader::new(output);
    it.answer(&internal).await;
    timeout(PATIENCE, closed.cancelled())
        .await
        .expect("it is noticed");
    // Whether the thread has ended by now is a matter of luck. That nothing hangs is not.
    let _ = timeout(PATIENCE, it.wire.close()).await.expect("it closes");
}

/// What a client may send, and what it may do next.
#[derive(Debug, Clone)]
enum Step {
    Request(Value),
    Cancel(Value),
    Garbage(String),
    /// The server answers the request that has waited longest, or latest.
    Answer {
        oldest: bool,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let id = || {
        prop_oneof![
            (0..4).prop_map(|id| json!(id)),
            "[0-3]".prop_map(|id| json!(id)),
            Just(json!(u64::MAX))
        ]
    };
    prop::collection::vec(
        prop_oneof![
            4 => id().prop_map(Step::Request),
            1 => id().prop_map(Step::Cancel),
            1 => "[^\n\r]{0,30}".prop_map(Step::Garbage),
            3 => any::<bool>().prop_map(|oldest| Step::Answer { oldest }),
        ],
        0..40,
    )
}

/// Plays the steps. Returns the ids that are due an answer, in order, and those that got one.
async fn play(steps: Vec<Step>) -> (Vec<Value>, Vec<Value>) {
    let mut it = Conversation::start();
    let mut waiting: VecDeque<(Value, RequestId)> = VecDeque::new();
    let mut due = Vec::new();
    for step in steps {
        match step {
            Step::Request(id) => {
                it.write(&[ping(&id)]);
                let internal = it.request().await;
                waiting.push_back((id, internal));
            }
            Step::Cancel(id) => {
                it.write(&[cancel(&id)]);
                let (cancelled, others) = waiting
                    .into_iter()
                    .partition::<VecDeque<_>, _>(|(other, _)| *other == id);
                for _ in &cancelled {
                    let passed_on = it.receive().await;
                    assert!(
                        matches!(passed_on, Some(JsonRpcMessage::Notification(_))),
                        "{passed_on:?}"
                    );
                }
                for (_, internal) in &cancelled {
                    it.answer(internal).await;
                }
                waiting = others;
            }
            Step::Garbage(line) => {
                writeln!(it.input.as_mut().expect("open"), "{line}").expect("the wire reads");
            }
            Step::Answer { oldest } => {
                let next = if oldest {
                    waiting.pop_front()
                } else {
                    waiting.pop_back()
                };
                if let Some((id, internal)) = next {
                    it.answer(&internal).await;
                    due.push(id);
                }
            }
        }
    }
    it.end_input();
    for (id, internal) in waiting {
        it.answer(&internal).await;
        due.push(id);
    }
    assert!(it.receive().await.is_none(), "nothing is left to wait for");
    let written = it.written().await.into_iter();
    (
        due,
        written
            .filter(|line| line.get("result").is_some())
            .map(|line| line["id"].clone())
            .collect(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_request_is_answered_once_unless_cancelled(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (due, answered) = runtime.block_on(play(steps));
        prop_assert_eq!(due, answered);
    }
}
