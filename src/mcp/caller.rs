//! Who calls, and how to reach them while the call runs: the part of a request that isn't its
//! arguments.

use rmcp::{
    ErrorData, Peer, RoleServer,
    handler::server::common::{AsRequestContext, FromContextPart},
    model::{Implementation, ProgressNotificationParam, ProgressToken},
};
use tokio_util::sync::CancellationToken;

/// Take it as a parameter of a tool that needs to know its caller, or that waits.
#[derive(Debug, Clone)]
pub struct Caller {
    client: Option<Implementation>,
    cancellation: CancellationToken,
    shutdown: CancellationToken,
    progress: Option<Progress>,
}

/// Why a wait has to end before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// The client took the request back. Nobody reads the answer.
    Cancelled,
    /// The conversation ends. The answer may still be read.
    Shutdown,
}

#[derive(Debug, Clone)]
struct Progress {
    token: ProgressToken,
    peer: Peer<RoleServer>,
}

impl Caller {
    /// The name the client goes by, `claude-code` for instance, if it has said so.
    pub fn client_name(&self) -> Option<&str> {
        self.client.as_ref().map(|client| client.name.as_str())
    }

    /// The client's own version.
    pub fn client_version(&self) -> Option<&str> {
        self.client.as_ref().map(|client| client.version.as_str())
    }

    /// Cancelled when the client takes the request back, and when it has been answered.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.cancellation
    }

    /// Cancelled when the conversation ends.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }

    /// Returns when a wait has to end, whatever it waits for.
    pub async fn interrupted(&self) -> Interruption {
        tokio::select! {
            biased;
            () = self.cancellation.cancelled() => Interruption::Cancelled,
            () = self.shutdown.cancelled() => Interruption::Shutdown,
        }
    }

    /// Whether the request asked for progress, which with some clients also keeps it from timing
    /// out.
    pub fn wants_progress(&self) -> bool {
        self.progress.is_some()
    }

    /// Reports progress if it was asked for. `progress` has to grow from report to report.
    ///
    /// Nothing is sent once the request was cancelled; a report under way at that moment is dropped
    /// by the transport.
    pub async fn report(&self, progress: f64, message: impl Into<String> + Send) {
        let Some(Progress { token, peer }) = &self.progress else {
            return;
        };
        if self.cancellation.is_cancelled() {
            return;
        }
        let report = ProgressNotificationParam::new(token.clone(), progress).with_message(message);
        if let Err(error) = peer.notify_progress(report).await {
            tracing::debug!(%error, "progress could not be reported");
        }
    }
}

impl<C: AsRequestContext> FromContextPart<C> for Caller {
    fn from_context_part(context: &mut C) -> Result<Self, ErrorData> {
        let context = context.as_request_context();
        let progress = context.meta.get_progress_token();
        Ok(Self {
            client: context.client_info(),
            cancellation: context.ct.clone(),
            shutdown: context
                .extensions
                .get::<Shutdown>()
                .cloned()
                .unwrap_or_default()
                .0,
            progress: progress.map(|token| Progress {
                token,
                peer: context.peer.clone(),
            }),
        })
    }
}

/// Carries the conversation's shutdown token from the shell to the caller.
#[derive(Debug, Clone, Default)]
pub(super) struct Shutdown(CancellationToken);

impl Shutdown {
    /// Returns when the conversation ends.
    pub(super) async fn cancelled(&self) {
        self.0.cancelled().await;
    }
}

impl From<CancellationToken> for Shutdown {
    fn from(token: CancellationToken) -> Self {
        Self(token)
    }
}
