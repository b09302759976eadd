//! The transport: newline-delimited JSON-RPC over a pair of byte streams, standard input and output
//! in practice.
//!
//! A reader thread turns bytes into messages (`lines`, `decode`), a writer thread turns answers
//! into bytes, and [`Wire`] stands between them and the protocol: it owns the state of the
//! conversation (`in_flight`), so that nothing here needs a lock. It promises that
//!
//! - a line that is no message is answered instead of leaving its sender to wait for a time-out,
//!   and never ends the conversation;
//! - every request is answered once, also when two in flight carry the same id, unless it was
//!   cancelled: then it gets neither an answer nor further progress;
//! - the end of input ends the waits at once, and the conversation when the last request has been
//!   answered.
//!
//! Requests are known to the layers above under ids of this module's own. Subscriptions go by the id
//! of the request that began them, so it is translated in what they send, too.

mod decode;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod in_flight;
mod lines;
mod scan;

use std::{
    collections::VecDeque,
    future::{Future, pending, ready},
    io::{self, Read, Write},
    sync::mpsc as sync_mpsc,
    thread,
};

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CancelledNotification, CancelledNotificationParam, ClientRequest, GetMeta, JsonRpcMessage,
        RequestId, ServerNotification, ServerResult,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use self::{
    decode::{Decoded, decode},
    in_flight::{Id, InFlight},
    lines::{Line, Lines},
};

/// The longest line that is taken, in bytes.
const LONGEST_LINE: u64 = 16 << 20;

/// Where what a subscription sends names it.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Decoded lines that may wait for the protocol before the reader stops reading.
const READ_AHEAD: usize = 256;

/// The server's end of one conversation.
#[derive(Debug)]
pub(crate) struct Wire {
    incoming: mpsc::Receiver<Decoded>,
    outgoing: sync_mpsc::Sender<Outgoing>,
    in_flight: InFlight,
    /// Requests whose cancellation has been read but not yet passed on.
    cancelled: VecDeque<RequestId>,
    /// The `initialize` request that has not been answered yet.
    handshake: Option<RequestId>,
    shutdown: CancellationToken,
    output_closed: CancellationToken,
}

impl Wire {
    /// Starts the two threads. `shutdown` is cancelled when `input` ends; cancelling it ends the
    /// conversation likewise.
    pub(crate) fn start(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        shutdown: CancellationToken,
    ) -> io::Result<Self> {
        let (decoded, incoming) = mpsc::channel(READ_AHEAD);
        let (outgoing, encoded) = sync_mpsc::channel();
        let output_closed = CancellationToken::new();
        let closed = output_closed.clone();
        thread::Builder::new()
            .name("wire-reader".into())
            .spawn(move || read(input, &decoded))?;
        thread::Builder::new()
            .name("wire-writer".into())
            .spawn(move || write(output, &encoded, &closed))?;
        Ok(Self {
            incoming,
            outgoing,
            in_flight: InFlight::default(),
            cancelled: VecDeque::new(),
            handshake: None,
            shutdown,
            output_closed,
        })
    }

    /// Cancelled when nobody reads what is written any more.
    pub(crate) fn output_closed(&self) -> CancellationToken {
        self.output_closed.clone()
    }

    fn admit(&mut self, id: Id, request: ClientRequest) -> RxJsonRpcMessage<RoleServer> {
        let internal = self
            .in_flight
            .admit(id, request.get_meta().get_progress_token());
        if matches!(request, ClientRequest::InitializeRequest(_)) {
            self.handshake = Some(internal.clone());
        }
        JsonRpcMessage::request(request, internal)
    }

    /// The id to answer `internal` under, unless that request was cancelled.
    fn settle(&mut self, internal: &RequestId) -> Option<Id> {
        self.handshake.take_if(|handshake| handshake == internal);
        self.in_flight.finish(internal)
    }

    fn encode(&mut self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<Option<Vec<u8>>> {
        let encoded = match message {
            JsonRpcMessage::Response(response) => match self.settle(&response.id) {
                Some(id) => encode_result(&id, &response.result),
                None => return Ok(None),
            },
            JsonRpcMessage::Error(error) => {
                match error.id.as_ref().and_then(|internal| self.settle(internal)) {
                    Some(id) => serde_json::to_vec(&Answer::error(Some(&id), &error.error)),
                    None => return Ok(None),
                }
            }
            JsonRpcMessage::Notification(sent) if self.is_unwanted(&sent.notification) => {
                return Ok(None);
            }
            JsonRpcMessage::Notification(_) => match self.told(message)? {
                Some(told) => serde_json::to_vec(&told),
                None => return Ok(None),
            },
            JsonRpcMessage::Request(_) => serde_json::to_vec(message),
        };
        encoded.map(Some).map_err(io::Error::other)
    }

    /// A notification as the client is to see it. `None`: it belongs to a subscription that has ended.
    fn told(&self, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<Option<Value>> {
        let mut told = serde_json::to_value(message).map_err(io::Error::other)?;
        if let Some(subscription) = told
            .pointer_mut("/params/_meta")
            .and_then(|meta| meta.get_mut(SUBSCRIPTION_ID))
        {
            let internal = subscription.as_i64().map(RequestId::Number);
            match internal.and_then(|it| self.in_flight.id(&it)) {
                Some(id) => *subscription = id.as_value().clone(),
                None => return Ok(None),
            }
        }
        Ok(Some(told))
    }

    /// Progress that its request no longer waits for: whoever reports it cannot know that a
    /// cancellation is on its way.
    fn is_unwanted(&self, notification: &ServerNotification) -> bool {
        match notification {
            ServerNotification::ProgressNotification(progress) => !self
                .in_flight
                .wants_progress(&progress.params.progress_token),
            _ => false,
        }
    }

    fn put(&self, mut encoded: Vec<u8>) -> io::Result<()> {
        encoded.push(b'\n');
        self.outgoing
            .send(Outgoing::Line(encoded))
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn reject(&self, id: Option<&Id>, error: &ErrorData) {
        let rejected = serde_json::to_vec(&Answer::error(id, error)).map_err(io::Error::other);
        if let Err(error) = rejected.and_then(|encoded| self.put(encoded)) {
            tracing::debug!(%error, "a rejection could not be written");
        }
    }
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    /// Lines leave in the order of these calls: the work is done here, not in the future.
    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sent = self
            .encode(&message)
            .and_then(|encoded| encoded.map_or(Ok(()), |encoded| self.put(encoded)));
        ready(sent)
    }

    /// Safe to drop at any time: nothing is taken from the reader that is not returned or kept.
    ///
    /// Where it returns `pending()` it waits for an answer to be sent. Sending takes `&mut self`,
    /// so this future has been dropped by then, and the service loop calls again.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // Requests run concurrently, and whether one is valid depends on an `initialize` before it.
        if self.handshake.is_some() {
            return pending().await;
        }
        loop {
            if let Some(internal) = self.cancelled.pop_front() {
                let params = CancelledNotificationParam::new(Some(internal), None);
                return Some(JsonRpcMessage::notification(
                    CancelledNotification::new(params).into(),
                ));
            }
            let decoded = tokio::select! {
                biased;
                decoded = self.incoming.recv() => decoded,
                () = self.shutdown.cancelled() => None,
            };
            match decoded {
                Some(Decoded::Request { id, request }) => return Some(self.admit(id, *request)),
                Some(Decoded::Notification(notification)) => {
                    return Some(JsonRpcMessage::notification(notification));
                }
                Some(Decoded::Cancelled(id)) => self.cancelled.extend(self.in_flight.cancel(&id)),
                Some(Decoded::Rejected { id, error }) => self.reject(id.as_ref(), &error),
                None => break,
            }
        }
        self.shutdown.cancel();
        if self.in_flight.is_empty() {
            None
        } else {
            pending().await
        }
    }

    /// Returns when everything sent so far has been written, or cannot be.
    async fn close(&mut self) -> io::Result<()> {
        let (done, written) = oneshot::channel();
        if self.outgoing.send(Outgoing::Flush(done)).is_ok() {
            written
                .await
                .map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        }
        Ok(())
    }
}

/// What the writer thread is asked to do.
#[derive(Debug)]
enum Outgoing {
    Line(Vec<u8>),
    /// Say when everything before this has been written.
    Flush(oneshot::Sender<()>),
}

/// An answer under the client's own id. Without a readable id it is `null`, as JSON-RPC 2.0 asks
/// for.
#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'static str,
    id: Option<&'a Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a ServerResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorData>,
}

impl<'a> Answer<'a> {
    fn result(id: &'a Id, result: &'a ServerResult) -> Self {
        Self {
            jsonrpc: "2.0",
            id: Some(id),
            result: Some(result),
            error: None,
        }
    }

    fn error(id: Option<&'a Id>, error: &'a ErrorData) -> Self {
        Self {
            jsonrpc: "2.0",
            id,
            result: None,
            error: Some(error),
        }
    }
}

/// The end of a subscription names it as all that it has sent.
fn encode_result(id: &Id, result: &ServerResult) -> serde_json::Result<Vec<u8>> {
    if !matches!(result, ServerResult::SubscriptionsListenResult(_)) {
        return serde_json::to_vec(&Answer::result(id, result));
    }
    let mut answer = serde_json::to_value(Answer::result(id, result))?;
    let meta = answer.pointer_mut("/result/_meta");
    if let Some(subscription) = meta.and_then(|meta| meta.get_mut(SUBSCRIPTION_ID)) {
        *subscription = id.as_value().clone();
    }
    serde_json::to_vec(&answer)
}

/// The reader thread. Dropping its channel is how it reports the end of input.
fn read(input: impl Read, decoded: &mpsc::Sender<Decoded>) {
    let mut lines = Lines::new(input, LONGEST_LINE);
    loop {
        let item = match lines.next_line() {
            Ok(Some(Line::Complete(line))) => decode(line),
            Ok(Some(Line::TooLong(id))) => Some(Decoded::too_long(id, LONGEST_LINE)),
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "standard input cannot be read");
                return;
            }
        };
        if let Some(item) = item
            && decoded.blocking_send(item).is_err()
        {
            return;
        }
    }
}

/// The writer thread.
fn write(
    mut output: impl Write,
    outgoing: &sync_mpsc::Receiver<Outgoing>,
    closed: &CancellationToken,
) {
    while let Ok(item) = outgoing.recv() {
        let line = match item {
            Outgoing::Line(line) => line,
            Outgoing::Flush(done) => {
                // Nobody waiting any longer is fine.
                let _ = done.send(());
                continue;
            }
        };
        if let Err(error) = output.write_all(&line).and_then(|()| output.flush()) {
            tracing::debug!(%error, "standard output cannot be written");
            closed.cancel();
            return;
        }
    }
}

#[cfg(test)]
mod tests;
