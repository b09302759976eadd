//! The clients whose rules are known, and how each of them names a tool.
//!
//! # Limitations
//!
//! The lengths are those of the clients' present releases, or of the model providers behind them. Cursor's and VS
//! Code's are from their documentation.

use clap::ValueEnum;
use thiserror::Error;

use super::server_name::ServerName;

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// Claude Code
    Claude,
    /// OpenCode
    #[value(name = "opencode")]
    OpenCode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Copilot CLI
    Copilot,
    /// Cline
    Cline,
    /// VS Code
    #[value(name = "vscode")]
    VsCode,
    /// Cursor
    Cursor,
}

impl Client {
    /// The name its makers gave it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::OpenCode => "OpenCode",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Copilot => "Copilot CLI",
            Self::Cline => "Cline",
            Self::VsCode => "VS Code",
            Self::Cursor => "Cursor",
        }
    }

    /// The full name of a tool, as the client's model sees it.
    pub(super) fn full_name(self, server: &str, tool: &str) -> String {
        let Naming {
            before, between, ..
        } = self.naming();
        format!("{before}{server}{between}{tool}")
    }

    /// Whether the client shows all of these tools, and obeys rules on them, if the server has this name.
    pub(super) fn fits<'a>(
        self,
        server: &ServerName,
        tools: impl Iterator<Item = &'a str>,
    ) -> Result<(), Misfit> {
        if self == Self::Gemini && server.as_ref().contains('_') {
            return Err(Misfit::Underscore);
        }
        let Some(tool) = tools.max_by_key(|it| it.len()) else {
            return Ok(());
        };
        let longest = self.naming().longest;
        let most = longest.saturating_sub(self.full_name("", tool).len());
        if server.length() <= most {
            return Ok(());
        }
        Err(Misfit::TooLong {
            client: self.name(),
            length: server.length(),
            most,
            full_name: self.full_name("NAME", tool),
            longest,
        })
    }

    fn naming(self) -> Naming {
        let (before, between, longest) = match self {
            Self::Claude | Self::Codex => ("mcp__", "__", 64),
            Self::OpenCode => ("", "_", 64),
            Self::Gemini => ("mcp_", "_", 63),
            Self::Copilot => ("", "-", 64),
            Self::Cline => ("", "__", 64),
            Self::VsCode => ("mcp_", "_", 64),
            // It counts the two names alone.
            Self::Cursor => ("", "", 60),
        };
        Naming {
            before,
            between,
            longest,
        }
    }
}

/// How a client puts a full name together.
struct Naming {
    before: &'static str,
    between: &'static str,
    /// The most characters a full name may have.
    longest: usize,
}

/// The name that the server was given does not do for the client.
#[derive(Debug, Error)]
pub(super) enum Misfit {
    /// The client would drop tools, or refuse them.
    #[error(
        "--server: a name of {length} characters is too long for {client}, expected at most {most}: {full_name} may \
         have {longest} in all"
    )]
    TooLong {
        client: &'static str,
        length: usize,
        most: usize,
        full_name: String,
        longest: usize,
    },
    /// It takes the first underscore of a full name for the end of the server's, so that no rule fits.
    #[error("--server: Gemini CLI misreads names with an underscore: use a hyphen there and here")]
    Underscore,
}
