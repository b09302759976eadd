//! What clients are told of the tools, for people: the list that is served, or the rules that let a client use it
//! without asking.
//!
//! Nothing is read or written but the settings: which tools there are is fixed when the program is built.

mod client;
mod rules;
mod server_name;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Args;
use rmcp::model::Tool;

use self::{client::Client, server_name::ServerName};
use super::{USAGE, failed, print};
use crate::mcp::tools::{Profile, published};

pub(super) const AFTER_HELP: &str = "\
Clients: claude, opencode, codex, gemini, copilot, cline, vscode, cursor.
What to do with the rules is said on standard error.

Examples:
  ai-coord-mcp schema                     all tools, with their schemas
  ai-coord-mcp schema --tools implementer
                                          those of a role
  ai-coord-mcp schema --client claude     rules that allow them all
  ai-coord-mcp schema --client codex --read-only
                                          rules for those that change nothing";

/// What to print.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// Print this client's rules to allow the tools
    #[arg(long, value_enum, value_name = "CLIENT", hide_possible_values = true)]
    client: Option<Client>,

    /// Only the tools that change nothing
    #[arg(long)]
    read_only: bool,

    /// What the client calls the server
    #[arg(
        long,
        value_name = "NAME",
        default_value = "ai-coord",
        requires = "client"
    )]
    server: ServerName,
}

/// Prints it.
pub(super) fn run(options: &Options, profile: &Profile) -> ExitCode {
    let offered = match published(profile) {
        Ok(tools) => tools,
        Err(error) => return failed(&error, 1),
    };
    let chosen: Vec<_> = offered
        .iter()
        .filter(|tool| !options.read_only || only_reads(tool))
        .collect();
    if chosen.is_empty() {
        return failed(&"none of these tools is for reading only", USAGE);
    }
    let Some(client) = options.client else {
        return match serde_json::to_string_pretty(&chosen) {
            Ok(list) => print(&(list + "\n")),
            Err(error) => failed(&error, 1),
        };
    };
    let server = &options.server;
    // Whichever are allowed, the client lists all that are offered.
    if let Err(error) = client.fits(server, offered.iter().map(|it| it.name.as_ref())) {
        return failed(&error, USAGE);
    }
    let names: Vec<_> = chosen.iter().map(|it| it.name.as_ref()).collect();
    // The rules are for a file; whoever has no terminal for the hint has them nevertheless.
    let _ = writeln!(io::stderr(), "{}", rules::hint(client, server));
    print(&rules::text(client, server, &names))
}

/// Whether the tool says of itself that it changes nothing, which is what clients go by.
fn only_reads(tool: &Tool) -> bool {
    let annotations = tool.annotations.as_ref();
    annotations.and_then(|it| it.read_only_hint) == Some(true)
}
