//! What the program can be started as.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// One task queue, shared by the AI coding assistants on this machine
#[derive(Debug, Parser)]
#[command(version)]
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
}
