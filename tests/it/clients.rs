//! The protocol as a real client library speaks it, against a server in this process.

use std::{
    io::pipe,
    process::{ChildStdin, ChildStdout},
    time::Duration,
};

use ai_coord::mcp::{ExitReason, serve_on};
use rmcp::{
    ClientLifecycleMode, RoleClient, ServiceError,
    model::{CallToolRequestParams, CallToolResult, ClientRequest, ProtocolVersion, Request},
    serve_client_with_lifecycle,
    service::{PeerRequestOptions, RunningService},
};
use serde_json::{Value, json};
use tokio::{task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;

use crate::{child::PATIENCE, toy};

/// A client, and the server it talks to.
struct Connection {
    client: RunningService<RoleClient, ()>,
    server: JoinHandle<std::io::Result<ExitReason>>,
}

impl Connection {
    async fn open(lifecycle: ClientLifecycleMode) -> Self {
        let (server_input, input) = pipe().expect("a pipe");
        let (output, server_output) = pipe().expect("a pipe");
        let server = tokio::spawn(serve_on(
            toy::server(),
            server_input,
            server_output,
            CancellationToken::new(),
        ));
        // The ends of a child's pipes are what the standard library and tokio agree on.
        let output = tokio::process::ChildStdout::from_std(ChildStdout::from(
            std::os::fd::OwnedFd::from(output),
        ));
        let input = tokio::process::ChildStdin::from_std(ChildStdin::from(
            std::os::fd::OwnedFd::from(input),
        ));
        let transport = (output.expect("it is a pipe"), input.expect("it is a pipe"));
        let client = serve_client_with_lifecycle((), transport, lifecycle)
            .await
            .expect("they agree on a version");
        Self { client, server }
    }

    async fn call(&self, tool: &'static str, arguments: &Value) -> CallToolResult {
        let arguments = arguments.as_object().cloned().unwrap_or_default();
        let call = self
            .client
            .call_tool(CallToolRequestParams::new(tool).with_arguments(arguments));
        timeout(PATIENCE, call)
            .await
            .expect("an answer")
            .expect("a result")
    }

    async fn close(self) {
        self.client.cancel().await.expect("it closes");
        let reason = timeout(PATIENCE, self.server)
            .await
            .expect("it ends")
            .expect("it does not panic");
        assert_eq!(reason.expect("it served"), ExitReason::EndOfInput);
    }
}

/// What a client does with a server.
async fn everyday_use(lifecycle: ClientLifecycleMode) {
    let connection = Connection::open(lifecycle).await;
    let tools = connection.client.list_all_tools().await.expect("a list");
    assert_eq!(tools.len(), 6);

    let result = connection
        .call("echo", &json!({"task_id": "task-0001", "percent": "7"}))
        .await;
    assert_eq!(
        result.structured_content,
        Some(json!({"task_id": "task-0001", "percent": 7}))
    );
    let result = connection.call("fail", &json!({})).await;
    assert_eq!(result.is_error, Some(true));
    let result = connection.call("panic", &json!({})).await;
    assert_eq!(result.is_error, Some(true));

    let wait = json!({"milliseconds": 3_600_000})
        .as_object()
        .cloned()
        .unwrap_or_default();
    let wait = CallToolRequestParams::new("wait").with_arguments(wait);
    let wait = ClientRequest::CallToolRequest(Request::new(wait));
    let options = PeerRequestOptions::with_timeout(Duration::from_millis(100));
    let wait = connection
        .client
        .send_cancellable_request(wait, options)
        .await
        .expect("it can be sent");
    let ended = timeout(PATIENCE, wait.await_response())
        .await
        .expect("the client gives up");
    assert!(
        matches!(ended, Err(ServiceError::Timeout { .. })),
        "{ended:?}"
    );
    let result = connection.call("whoami", &json!({})).await;
    assert_eq!(result.is_error, Some(false), "the server goes on");
    connection.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_with_a_handshake() {
    everyday_use(ClientLifecycleMode::Initialize).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_without_a_handshake() {
    everyday_use(ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    })
    .await;
}

#[tokio::test]
async fn a_client_on_a_single_thread() {
    everyday_use(ClientLifecycleMode::Initialize).await;
}
