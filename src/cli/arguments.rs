//! What the program can be started as.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

const AFTER_HELP: &str = "\
Without a command it serves MCP on standard input and output: an MCP client starts
it. See it work without one: `ai-coord-mcp demo`.

Environment (see the README): COORDINATION_DIR, COORDINATION_AGENT,
COORDINATION_DURABILITY, COORDINATION_MAX_WAIT_SECONDS, RUST_LOG";

/// One task queue, shared by the AI coding assistants on this machine
#[derive(Debug, Parser)]
#[command(version, max_term_width = 80, after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// The shared directory [default: of the git repository; see `where`]
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub(super) dir: Option<PathBuf>,

    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Print the shared directory and why it is that one
    Where,
    /// Show the whole workflow with two servers and no assistant
    Demo {
        /// Keep the directory it ran in, and print where it is
        #[arg(long)]
        keep: bool,
    },
}
