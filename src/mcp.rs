//! The Model Context Protocol on standard input and output.
//!
//! `rmcp` brings the protocol's model, the service loop and the macros that make methods into
//! tools. This module owns what is around them: the transport (`wire`), the rules of both revisions
//! (`shell`), the schemas that clients take (`schema`), the checking of arguments (`arguments`),
//! and how a call ends (`reply`).
//!
//! A tool is a method of the state that [`Server`] is built with:
//!
//! ```
//! use ai_coord::mcp::{Caller, Parameters, Reply, Server, ToolError};
//! use rmcp::{tool, tool_router};
//!
//! struct Tools;
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Greet {
//!     /// Whom to greet.
//!     #[schemars(length(max = 200))]
//!     name: String,
//! }
//!
//! #[derive(serde::Serialize)]
//! struct Greeting {
//!     greeting: String,
//! }
//!
//! #[tool_router(router = greeting_tools)]
//! impl Tools {
//!     /// Greet somebody.
//!     #[tool(annotations(read_only_hint = true, open_world_hint = false))]
//!     async fn greet(
//!         &self,
//!         Parameters(request): Parameters<Greet>,
//!         caller: Caller,
//!     ) -> Result<Reply<Greeting>, ToolError> {
//!         let from = caller.client_name().unwrap_or("somebody");
//!         Ok(Reply::new(Greeting { greeting: format!("{from} greets {}", request.name) }))
//!     }
//! }
//!
//! let server = Server::new(Tools, Tools::greeting_tools(), "Greets people.")?;
//! assert_eq!(server.tools()[0].name, "greet");
//! # Ok::<_, ai_coord::mcp::SchemaError>(())
//! ```

mod arguments;
mod caller;
mod library;
mod parameters;
mod reply;
mod schema;
mod server;
mod shell;
mod tasks;
mod text;
pub(crate) mod tools;
mod wire;

use std::{
    future::{Future, pending},
    io::{self, Read, Write},
    os::unix::process::parent_id,
    pin::pin,
    time::Duration,
};

use tokio::{
    signal::unix::{SignalKind, signal},
    time::{MissedTickBehavior, interval, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub use self::wire::fuzzing;
pub use self::{
    caller::{Caller, Interruption},
    parameters::Parameters,
    reply::{Reply, ToolError},
    schema::SchemaError,
    server::Server,
};
use self::{shell::Shell, wire::Wire};

/// How long requests may take to be answered after the end of input. Waits end at once and calls take milliseconds, so
/// only one that is stuck behind somebody's lock gets near it; whatever it was about to commit is then not committed.
const DRAIN: Duration = Duration::from_secs(2);

/// How long answers may take to be written once the process has been told to end.
const GRACE: Duration = Duration::from_millis(50);

/// How often to look whether the client is still there.
const PARENT_POLL: Duration = Duration::from_secs(1);

/// Why the conversation is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    /// The client closed our standard input, or the shutdown token was cancelled.
    EndOfInput,
    /// The client closed our standard output.
    OutputClosed,
    /// A signal asked us to end; its number.
    Signal(i32),
    /// The process that started us is gone.
    ParentGone,
    /// The service loop failed.
    Failed,
}

/// Serves one client on standard input and output until one of the reasons to end. Nothing happens
/// before it asks.
///
/// `shutdown` is cancelled as soon as the end begins. Two threads may still be blocked on the
/// streams when this returns: end the process.
pub async fn serve<T: Send + Sync + 'static>(
    server: Server<T>,
    shutdown: CancellationToken,
) -> io::Result<ExitReason> {
    serve_on(server, io::stdin(), io::stdout(), shutdown).await
}

/// Like [`serve`], on other streams.
pub async fn serve_on<T: Send + Sync + 'static>(
    server: Server<T>,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
    shutdown: CancellationToken,
) -> io::Result<ExitReason> {
    let told_to_end = pin!(told_to_end());
    let wire = Wire::start(input, output, shutdown.clone())?;
    let output_closed = wire.output_closed();
    let service = rmcp::service::serve_directly(Shell::new(server, shutdown.clone()), wire, None);
    let mut conversation = pin!(service.waiting());
    let reason = tokio::select! {
        quit = &mut conversation => {
            return Ok(quit.map_or(ExitReason::Failed, |_| ExitReason::EndOfInput));
        }
        reason = told_to_end => reason,
        () = output_closed.cancelled() => ExitReason::OutputClosed,
        () = async { shutdown.cancelled().await; sleep(DRAIN).await } => ExitReason::EndOfInput,
    };
    shutdown.cancel();
    // Whether that is enough time or not, the process ends.
    let _ = timeout(GRACE, conversation).await;
    Ok(reason)
}

/// Waits for a signal, or for the client to be gone without having sent one. It watches from now
/// on, not only once it is polled: what happens before it is polled counts as well.
fn told_to_end() -> impl Future<Output = ExitReason> {
    let terminated = signalled(SignalKind::terminate());
    let interrupted = signalled(SignalKind::interrupt());
    let hung_up = signalled(SignalKind::hangup());
    let orphaned = orphaned();
    async {
        tokio::select! {
            reason = terminated => reason,
            reason = interrupted => reason,
            reason = hung_up => reason,
            () = orphaned => ExitReason::ParentGone,
        }
    }
}

fn signalled(kind: SignalKind) -> impl Future<Output = ExitReason> {
    let signals = signal(kind);
    async move {
        match signals {
            // The stream of signals never ends.
            Ok(mut signals) => {
                signals.recv().await;
                ExitReason::Signal(kind.as_raw_value())
            }
            Err(error) => {
                tracing::warn!(%error, ?kind, "a signal cannot be handled: it ends the process at once");
                pending().await
            }
        }
    }
}

/// Returns when another process than the one that started us has become our parent.
fn orphaned() -> impl Future<Output = ()> {
    let parent = parent_id();
    async move {
        let mut polls = interval(PARENT_POLL);
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while parent_id() == parent {
            polls.tick().await;
        }
    }
}
