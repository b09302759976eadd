//! The rules with which a client uses tools without asking, in the client's own notation.
//!
//! A fragment is for merging into a file that has more in it: none of them starts the server, and none names a tool
//! that was not asked for.

use serde_json::{Value, json};

use super::{client::Client, server_name::ServerName};

/// The rules for these tools; nothing where the client has none.
pub(super) fn text(client: Client, server: &ServerName, tools: &[&str]) -> String {
    let full = |tool: &&str| client.full_name(server.as_ref(), tool);
    match client {
        Client::Claude => {
            let allow: Vec<_> = tools.iter().map(full).collect();
            pretty(&json!({"permissions": {"allow": allow}}))
        }
        Client::OpenCode => {
            let allow = tools.iter().map(|it| (full(it), json!("allow")));
            pretty(&json!({"permission": allow.collect::<Value>()}))
        }
        Client::Codex => codex(server, tools),
        Client::Gemini => in_entry(server, &json!({"trust": true, "includeTools": tools})),
        Client::Copilot => copilot(server, tools),
        Client::Cline => in_entry(server, &json!({"autoApprove": tools})),
        Client::VsCode => String::new(),
        Client::Cursor => {
            let allow: Vec<_> = tools.iter().map(|it| format!("{server}:{it}")).collect();
            pretty(&json!({"mcpAllowlist": allow}))
        }
    }
}

/// Where the rules belong, and what they do that nobody would expect.
pub(super) fn hint(client: Client, server: &ServerName) -> String {
    let hint = match client {
        Client::Claude => {
            "merge this into .claude/settings.json, or for all projects into\n~/.claude/settings.json"
        }
        Client::OpenCode => {
            "merge this into opencode.json, or for all projects into\n~/.config/opencode/opencode.json"
        }
        Client::Codex => "add this to ~/.codex/config.toml, which has [mcp_servers.{server}]",
        Client::Gemini => {
            "merge this into .gemini/settings.json or ~/.gemini/settings.json, whichever has\n\
             the server. Gemini CLI trusts whole servers only: tools that are not listed\n\
             here it does not offer at all"
        }
        Client::Copilot => "start Copilot CLI so; it goes for one session",
        Client::Cline => "merge this into cline_mcp_settings.json, which has the server",
        Client::VsCode => {
            "VS Code has no such list. It does not ask about tools that only read; about\n\
             each of the others it asks until you choose to always allow it there. What you\n\
             chose is under \"Chat: Manage Tool Approval\""
        }
        Client::Cursor => {
            "merge this into ~/.cursor/permissions.json; it takes the place of the list in\nCursor's settings"
        }
    };
    hint.replace("{server}", server.as_ref())
}

/// Tables of their own can be added below whatever the server's entry says.
fn codex(server: &ServerName, tools: &[&str]) -> String {
    let table =
        |tool: &&str| format!("[mcp_servers.{server}.tools.{tool}]\napproval_mode = \"approve\"\n");
    let tables: Vec<_> = tools.iter().map(table).collect();
    tables.join("\n")
}

fn copilot(server: &ServerName, tools: &[&str]) -> String {
    let option = |tool: &&str| format!(" \\\n  --allow-tool '{server}({tool})'");
    let options: String = tools.iter().map(option).collect();
    format!("copilot{options}\n")
}

/// What stands in the server's own entry.
fn in_entry(server: &ServerName, rules: &Value) -> String {
    pretty(&json!({"mcpServers": {(server.as_ref()): rules}}))
}

fn pretty(json: &Value) -> String {
    format!("{json:#}\n")
}
