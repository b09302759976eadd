//! What each client has to be told: how its entry for a server looks, and its rules about calls without a question.

use serde_json::{Value, json};

use super::{
    client::{Client, Role, Scope},
    setting::{Arguments, Server, Setting},
};

/// The name under which the clients know this server.
const NAME: &str = "ai-coord";

/// What a client is to be told.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) client: Client,
    pub(super) program: String,
    pub(super) role: Option<Role>,
    pub(super) scope: Scope,
    /// The value of `COORDINATION_DIR`, where it is to be said.
    pub(super) directory: Option<String>,
}

impl Wanted {
    /// What the client's list of servers has to say.
    pub(super) fn servers(&self) -> Setting {
        let list = match self.client {
            Client::Codex => "mcp_servers",
            Client::Opencode => "mcp",
            Client::Vscode => "servers",
            Client::Zed => "context_servers",
            Client::Claude | Client::Gemini | Client::Copilot | Client::Cline | Client::Cursor => {
                "mcpServers"
            }
        };
        let servers = Setting::Server(self.server()).below(&[list, NAME]);
        match (self.client, self.role) {
            // Under one roof with the servers.
            (Client::Opencode, Some(role)) => {
                servers.and(each(role, "ai-coord_", "allow", |it| it).below(&["permission"]))
            }
            _ => servers,
        }
    }

    /// What the client's rules have to say, where they are apart from its servers.
    pub(super) fn rules(&self) -> Option<Setting> {
        let role = self.role?;
        match self.client {
            Client::Claude => Some(list(role, "mcp__ai-coord__").below(&["permissions", "allow"])),
            Client::Cursor => Some(list(role, "ai-coord:").below(&["mcpAllowlist"])),
            Client::Zed => {
                let default = |it: Setting| it.below(&["default"]);
                let tools = each(role, "mcp:ai-coord:", "allow", default);
                Some(tools.below(&["agent", "tool_permissions", "tools"]))
            }
            _ => None,
        }
    }

    /// What a person has to know besides.
    pub(super) fn notes(&self, scope: Scope) -> Vec<String> {
        let mut notes = Vec::new();
        match (self.client, self.role) {
            (Client::Copilot, Some(role)) => {
                let allow = |it: String| format!(" --allow-tool='{NAME}({it})'");
                let options: String = role.tools().into_iter().map(allow).collect();
                notes.push(format!(
                    "Copilot CLI takes its rules on the command line: copilot{options}"
                ));
            }
            (Client::Vscode, Some(_)) => notes.push(
                "VS Code asks about each tool that changes something, once, and remembers \"always allow\""
                    .to_owned(),
            ),
            (Client::Cursor, Some(_)) => notes.push(
                "where mcpAllowlist is set, Cursor no longer takes the list of its own settings page"
                    .to_owned(),
            ),
            (Client::Codex, _) if scope == Scope::Project => notes.push(
                "Codex reads it once it trusts the project: start `codex` there and say so"
                    .to_owned(),
            ),
            (Client::Claude, _) if scope == Scope::Project => notes.push(
                "Claude Code asks once whether to use it: start `claude` there and approve it"
                    .to_owned(),
            ),
            (Client::Gemini, _) => notes.push(
                "Gemini CLI offers servers in folders that it trusts only: /permissions there"
                    .to_owned(),
            ),
            _ => {}
        }
        if scope == Scope::Project {
            notes.push(
                "paths in there are this machine's: think twice before you commit them".to_owned(),
            );
        }
        notes
    }

    fn server(&self) -> Server {
        let value = |name: &str, it: Value| (name.to_owned(), Setting::Value(it));
        let default = |name: &str, it: Value| (name.to_owned(), Setting::Default(it));
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let mut arguments = Arguments::Apart;
        match self.client {
            // It shares this file with Claude Code, which passes over a server of a type that it does not know.
            Client::Copilot if self.scope == Scope::Project => arguments = Arguments::Always,
            Client::Copilot => {
                arguments = Arguments::Always;
                before.push(value("type", json!("local")));
                after.push(default("tools", json!(["*"])));
            }
            Client::Opencode => {
                arguments = Arguments::Together;
                before.push(value("type", json!("local")));
                after.push(default("enabled", json!(true)));
            }
            Client::Codex => after.push(default("tool_timeout_sec", json!(300))),
            Client::Vscode => before.push(value("type", json!("stdio"))),
            Client::Zed => arguments = Arguments::Always,
            Client::Claude | Client::Gemini | Client::Cline | Client::Cursor => {}
        }
        if let Some(role) = self.role {
            match self.client {
                Client::Codex => after.push(value("default_tools_approval_mode", json!("approve"))),
                Client::Gemini => after.push(value("trust", json!(true))),
                Client::Cline => {
                    let allowed = Setting::Including(role.tools());
                    after.push(("autoApprove".to_owned(), allowed));
                }
                _ => {}
            }
        }
        if let Some(directory) = &self.directory {
            let environment = match self.client {
                Client::Opencode => "environment",
                _ => "env",
            };
            let pinned = Setting::text(directory).below(&["COORDINATION_DIR"]);
            after.push((environment.to_owned(), pinned));
        }
        Server {
            program: self.program.clone(),
            role: self.role,
            arguments,
            before,
            after,
        }
    }
}

/// The tools of a role, by the names that a client gives them.
fn list(role: Role, prefix: &str) -> Setting {
    let named = |it: String| format!("{prefix}{it}");
    Setting::Including(role.tools().into_iter().map(named).collect())
}

/// The same for each tool of a role.
fn each(role: Role, prefix: &str, value: &str, form: impl Fn(Setting) -> Setting) -> Setting {
    let member = |it: String| (format!("{prefix}{it}"), form(Setting::text(value)));
    Setting::Object(role.tools().into_iter().map(member).collect())
}
