//! Serving one client on standard input and output: what the program does without a command.

use std::{
    env, fmt,
    io::{self, IsTerminal, Write},
    process::ExitCode,
};

use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use super::{failed, settings::Settings};
use crate::mcp::{self, ExitReason};

/// One answers while the other waits; what blocks has threads of its own.
const WORKERS: usize = 2;

/// For a person who started the server by hand.
const HINT: &str = "\
ai-coord-mcp serves the Model Context Protocol on standard input and output. It
is started by an MCP client (Claude Code, OpenCode, Codex, ..), not by hand:

  claude mcp add --scope user ai-coord -- ai-coord-mcp
  codex mcp add ai-coord -- ai-coord-mcp

The README has the other clients; --help shows what else the program can do.
It goes on serving until the end of input (Ctrl-D).
";

/// Serves until the client goes away.
pub(super) fn run(settings: Settings) -> ExitCode {
    log_to_stderr();
    if io::stdin().is_terminal() {
        // Whoever has no terminal for errors has none for hints.
        let _ = io::stderr().write_all(HINT.as_bytes());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error, 1),
    };
    let profile = settings.profile().clone();
    let service = settings.service();
    runtime.spawn(service.clone().keep_names());
    let server = match mcp::tools::server(service, &profile) {
        Ok(server) => server,
        Err(error) => return failed(&error, 1),
    };
    let ended = runtime.block_on(mcp::serve(server, CancellationToken::new()));
    // Threads may still be blocked on the streams; the end of the process ends them.
    runtime.shutdown_background();
    match ended {
        Ok(ExitReason::Failed) => {
            failed(&"the conversation broke down; RUST_LOG=debug shows how", 1)
        }
        Ok(reason) => {
            tracing::debug!(?reason, "the conversation is over");
            ExitCode::SUCCESS
        }
        Err(error) => failed(&error, 1),
    }
}

/// Logs what `RUST_LOG` asks for, where no protocol is spoken. Otherwise our own warnings: what the
/// library complains of is what clients do, down to their going away.
fn log_to_stderr() {
    let filter = env::var("RUST_LOG").unwrap_or_else(|_| "warn,rmcp=off".to_owned());
    let filter = EnvFilter::builder().parse_lossy(filter);
    let logged = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(false)
        .try_init();
    if let Err(error) = logged {
        let error: &dyn fmt::Display = &error;
        let _ = writeln!(io::stderr(), "ai-coord-mcp: no log: {error}");
    }
}
