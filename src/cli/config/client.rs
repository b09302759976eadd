//! The MCP clients that can be told about this program, and where each keeps its files.
//!
//! Responsibility: paths, from the environment variables that the clients themselves honour.
//! Limits: files that an administrator manages, and those that another option of a client names, are not looked for.

use std::{
    env,
    path::{Path, PathBuf},
};

use clap::ValueEnum;

use super::document::Format;
use crate::mcp::tools::Profile;

/// A client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Client {
    Claude,
    Codex,
    Gemini,
    Copilot,
    Opencode,
    Cline,
    Vscode,
    Cursor,
    Zed,
}

/// For whom a client is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Scope {
    /// All projects of this user
    User,
    /// This project, for everybody who works on it
    Project,
}

/// What an assistant is going to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum Role {
    /// Works on tasks
    Implementer,
    /// Plans and reviews
    Coordinator,
}

/// A file of a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ClientFile {
    pub(super) path: PathBuf,
    pub(super) format: Format,
}

/// The directories that a client's paths start from.
#[derive(Debug)]
pub(super) struct Directories {
    home: PathBuf,
    project: PathBuf,
}

impl Role {
    /// The name of the profile that goes with it.
    pub(super) fn profile(self) -> &'static str {
        match self {
            Self::Implementer => "implementer",
            Self::Coordinator => "coordinator",
        }
    }

    /// The tools that it needs.
    pub(super) fn tools(self) -> Vec<String> {
        let profile: Profile = self.profile().parse().expect("a role is a profile");
        profile.named().map(str::to_owned).collect()
    }
}

impl Directories {
    /// Those of this user. None: nobody knows the home directory.
    pub(super) fn new(project: &Path) -> Option<Self> {
        Some(Self {
            home: env::home_dir().filter(|it| it.is_absolute())?,
            project: project.to_owned(),
        })
    }

    /// The file in which the client looks for servers. None: it has none for this scope.
    pub(super) fn servers(&self, client: Client, scope: Scope) -> Option<ClientFile> {
        let path = match scope {
            Scope::User => self.servers_of_the_user(client),
            Scope::Project => self.project.join(match client {
                Client::Claude | Client::Copilot => ".mcp.json",
                Client::Codex => ".codex/config.toml",
                Client::Gemini => ".gemini/settings.json",
                Client::Opencode => "opencode.json",
                Client::Cline => return None,
                Client::Vscode => ".vscode/mcp.json",
                Client::Cursor => ".cursor/mcp.json",
                Client::Zed => ".zed/settings.json",
            }),
        };
        let format = match client {
            Client::Codex => Format::Toml,
            Client::Claude | Client::Copilot | Client::Cline => Format::Json,
            Client::Opencode => return Some(opencode(path.parent()?)),
            Client::Gemini | Client::Vscode | Client::Cursor | Client::Zed => {
                Format::JsonWithComments
            }
        };
        Some(ClientFile { path, format })
    }

    /// The file in which the client looks for what its model may call unasked, where that is a matter of its own.
    pub(super) fn rules(&self, client: Client, scope: Scope) -> Option<ClientFile> {
        let (path, format) = match (client, scope) {
            (Client::Claude, Scope::User) => {
                let own = self.variable("CLAUDE_CONFIG_DIR", ".claude");
                (own.join("settings.json"), Format::Json)
            }
            (Client::Claude, Scope::Project) => {
                (self.project.join(".claude/settings.json"), Format::Json)
            }
            (Client::Cursor, Scope::User) => (
                self.home.join(".cursor/permissions.json"),
                Format::JsonWithComments,
            ),
            (Client::Cursor, Scope::Project) => (
                self.project.join(".cursor/permissions.json"),
                Format::JsonWithComments,
            ),
            // Zed takes servers from a project's settings, but nothing about its agent.
            (Client::Zed, _) => return self.servers(client, Scope::User),
            _ => return None,
        };
        Some(ClientFile { path, format })
    }

    fn servers_of_the_user(&self, client: Client) -> PathBuf {
        match client {
            Client::Claude => match absolute("CLAUDE_CONFIG_DIR") {
                Some(directory) => directory.join(".claude.json"),
                None => self.home.join(".claude.json"),
            },
            Client::Codex => self.variable("CODEX_HOME", ".codex").join("config.toml"),
            Client::Gemini => {
                let home = absolute("GEMINI_CLI_HOME").unwrap_or_else(|| self.home.clone());
                home.join(".gemini/settings.json")
            }
            Client::Copilot => {
                let own = self.variable("COPILOT_HOME", ".copilot");
                own.join("mcp-config.json")
            }
            Client::Opencode => {
                let shared = self.variable("XDG_CONFIG_HOME", ".config");
                shared.join("opencode/opencode.json")
            }
            Client::Cline => self.variable(
                "CLINE_MCP_SETTINGS_PATH",
                ".cline/data/settings/cline_mcp_settings.json",
            ),
            Client::Vscode if cfg!(target_os = "macos") => {
                let support = self.home.join("Library/Application Support");
                support.join("Code/User/mcp.json")
            }
            Client::Vscode => {
                let shared = self.variable("XDG_CONFIG_HOME", ".config");
                shared.join("Code/User/mcp.json")
            }
            Client::Cursor => self.home.join(".cursor/mcp.json"),
            Client::Zed if cfg!(target_os = "macos") => self.home.join(".config/zed/settings.json"),
            Client::Zed => {
                let shared = self.variable("XDG_CONFIG_HOME", ".config");
                shared.join("zed/settings.json")
            }
        }
    }

    /// What a variable says, or a path below the home directory.
    fn variable(&self, name: &str, below_home: &str) -> PathBuf {
        absolute(name).unwrap_or_else(|| self.home.join(below_home))
    }
}

/// OpenCode reads both names; who has only the second one goes on with it.
fn opencode(directory: &Path) -> ClientFile {
    let (plain, other) = (
        directory.join("opencode.json"),
        directory.join("opencode.jsonc"),
    );
    let path = if !plain.exists() && other.exists() {
        other
    } else {
        plain
    };
    ClientFile {
        path,
        format: Format::JsonWithComments,
    }
}

/// A relative path in such a variable depends on where the client is started, which is not known here.
fn absolute(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env::var_os(variable)?);
    path.is_absolute().then_some(path)
}
