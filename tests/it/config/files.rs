//! What `config --write` does to files that are somebody's own.

use std::{
    fs, io,
    os::unix::fs::{PermissionsExt, symlink},
};

use serde_json::{Value, json};

use super::home::{Home, Said};

/// Files with other servers, comments and a form of their own: client, path, before and after.
const ADDITIONS: [(&str, &str, &str, &str); 4] = [
    (
        "claude",
        ".claude.json",
        r#"{ "numStartups":   7,
   "mcpServers": { "other": {"command":"x","env":{"KEY":"secret"}} },
   "last": 1.50e0 }"#,
        r#"{ "numStartups":   7,
   "mcpServers": { "other": {"command":"x","env":{"KEY":"secret"}}, "ai-coord": {"command":"/bin/ai-coord-mcp"} },
   "last": 1.50e0 }"#,
    ),
    (
        "zed",
        ".config/zed/settings.json",
        r#"// My settings
{
	"theme" : "One",	// dark

	"context_servers": {
		/* a server */ "other": { "command": "x", "env": { "KEY": "secret" } },
	},
}
"#,
        r#"// My settings
{
	"theme" : "One",	// dark

	"context_servers": {
		/* a server */ "other": { "command": "x", "env": { "KEY": "secret" } },
		"ai-coord": {
			"command": "/bin/ai-coord-mcp",
			"args": [],
		},
	},
}
"#,
    ),
    (
        "opencode",
        ".config/opencode/opencode.json",
        "{\r\n  \"$schema\": \"https://opencode.ai/config.json\", // kept\r\n  \"theme\":\"x\"\r\n}",
        "{\r\n  \"$schema\": \"https://opencode.ai/config.json\", // kept\r\n  \"theme\":\"x\",\r\n  \"mcp\": {\r\n    \
         \"ai-coord\": {\r\n      \"type\": \"local\",\r\n      \"command\": [\"/bin/ai-coord-mcp\"],\r\n      \
         \"enabled\": true\r\n    }\r\n  }\r\n}",
    ),
    (
        "codex",
        ".codex/config.toml",
        r#"# Mine
model   = "m"   # the best

[mcp_servers.other]
command = 'x'
env.KEY = "secret"

[profiles.a] # last
b=1
# the end"#,
        r#"# Mine
model   = "m"   # the best

[mcp_servers.other]
command = 'x'
env.KEY = "secret"

[profiles.a] # last
b=1
# the end

[mcp_servers.ai-coord]
command = "/bin/ai-coord-mcp"
tool_timeout_sec = 300
"#,
    ),
];

#[test]
fn a_file_keeps_everything_else_byte_for_byte() {
    for (client, path, before, after) in ADDITIONS {
        let home = Home::new();
        home.write(path, before);
        let said = home.said(&format!("config {client} --write"));
        assert_eq!(home.read(path), *after, "{client}");
        let backup = format!("{path}.ai-coord-backup");
        assert_eq!(home.read(&backup), *before, "{client}");
        assert!(
            said.contains(&format!("written; before: ~/{backup}\n")),
            "{said}"
        );
        for line in said.lines().filter(|it| it.starts_with('-')) {
            assert!(before.contains(&line[1..]), "{said}");
        }
        let alone = client != "claude";
        assert!(
            !alone || !said.contains("secret"),
            "others' lines are not shown: {said}"
        );
        let again = home.said(&format!("config {client} --write"));
        assert!(again.ends_with(": nothing to do\n"), "{again}");
    }
}

#[test]
fn an_empty_file_is_filled() {
    for text in ["", "\n", "{}", "{}\n"] {
        let home = Home::new();
        home.write(".cursor/mcp.json", text);
        home.said("config cursor --write");
        let now: Value = serde_json::from_str(&home.read(".cursor/mcp.json")).unwrap();
        let entry = json!({"mcpServers": {"ai-coord": {"command": "/bin/ai-coord-mcp"}}});
        assert_eq!(now, entry, "{text:?}");
        assert_eq!(home.read(".cursor/mcp.json.ai-coord-backup"), text);
    }
}

#[test]
fn an_entry_of_the_persons_own_is_merged() {
    let home = Home::new();
    let mine = json!({"mcpServers": {"ai-coord": {
        "command": "/old/ai-coord-mcp",
        "args": ["--dir", "/srv/queue", "--tools", "implementer"],
        "env": {"RUST_LOG": "debug"},
        "timeout": 5,
    }}, "theme": "dark"});
    home.write(".gemini/settings.json", &mine.to_string());
    home.said("config gemini --role coordinator --pin --write");
    let now: Value = serde_json::from_str(&home.read(".gemini/settings.json")).unwrap();
    let directory = home.path("project/.ai/coordination");
    let entry = json!({"mcpServers": {"ai-coord": {
        "command": "/bin/ai-coord-mcp",
        "args": ["--dir", "/srv/queue", "--tools", "coordinator"],
        "env": {"RUST_LOG": "debug", "COORDINATION_DIR": directory},
        "timeout": 5,
        "trust": true,
    }}, "theme": "dark"});
    assert_eq!(now, entry);

    home.write(
        ".codex/config.toml",
        "[mcp_servers.ai-coord]\ncommand = \"/old\" # mine\ntool_timeout_sec = 60\nenv = { A = \"1\" }\n",
    );
    home.said("config codex --pin --write");
    let directory = directory.display();
    assert_eq!(
        home.read(".codex/config.toml"),
        format!(
            "[mcp_servers.ai-coord]\ncommand = \"/bin/ai-coord-mcp\" # mine\ntool_timeout_sec = 60\n\
             env = {{ A = \"1\" , COORDINATION_DIR = \"{directory}\" }}\n"
        )
    );
}

#[test]
fn comments_within_a_list_stay() {
    let home = Home::new();
    let entry = |more: &str| {
        format!(
            r#"{{
  "context_servers": {{
    "ai-coord": {{
      "command": "/bin/ai-coord-mcp", // mine
      "args": [
        "--dir", // where
        "/d"{more}
      ]
    }}
  }}
}}
"#
        )
    };
    let before = entry("").replace("/bin/ai-coord-mcp", "/old/ai-coord-mcp");
    home.write("project/.zed/settings.json", &before);
    home.said("config zed --scope project --role implementer --write");
    let after = entry(",\n        \"--tools\",\n        \"implementer\"");
    assert_eq!(home.read("project/.zed/settings.json"), after);

    home.write(
        ".codex/config.toml",
        "[mcp_servers.ai-coord]\ncommand = \"/old/ai-coord-mcp\"\nargs = [\n  '--dir', # where\n  '/d',\n]\n",
    );
    home.said("config codex --role implementer --write");
    let now = home.read(".codex/config.toml");
    assert!(
        now.contains("args = [\n  '--dir', # where\n  '/d'"),
        "{now}"
    );
}

#[test]
fn rules_of_the_persons_own_stay() {
    let home = Home::new();
    home.write(
        ".claude/settings.json",
        "{\n  \"permissions\": {\n    \"allow\": [\"Bash(ls)\", \"mcp__ai-coord__get_task\"],\n    \"deny\": []\n  }\n}\n",
    );
    home.said("config claude --role implementer --write");
    let text = home.read(".claude/settings.json");
    assert!(
        text.contains("\"allow\": [\"Bash(ls)\", \"mcp__ai-coord__get_task\""),
        "{text}"
    );
    let now: Value = serde_json::from_str(&text).unwrap();
    let allowed = now["permissions"]["allow"].as_array().unwrap();
    assert_eq!(allowed[..2], ["Bash(ls)", "mcp__ai-coord__get_task"]);
    assert_eq!(allowed.len(), 7, "six tools, one of which was there: {now}");
    assert_eq!(now["permissions"]["deny"], json!([]));
}

#[test]
fn a_broken_file_is_named_and_left_alone() {
    for (client, path, text, reason) in [
        (
            "cursor",
            ".cursor/mcp.json",
            "{\n  \"mcpServers\": {\n}\n",
            "line 1",
        ),
        ("claude", ".claude.json", "{\n  // no\n}\n", "line 2"),
        ("codex", ".codex/config.toml", "a = 1\n[b\n", "line 2"),
        (
            "gemini",
            ".gemini/settings.json",
            "[]",
            "the whole file has to be an object",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"mcpServers\": \"x\"}",
            "mcpServers has to be an object",
        ),
        (
            "zed",
            ".config/zed/settings.json",
            "{\"context_servers\": {\"ai-coord\": 1}}",
            "context_servers.ai-coord has",
        ),
    ] {
        let home = Home::new();
        home.write(path, text);
        let before = home.files();
        let said = home.refused(&format!("config {client} --write"));
        assert!(said.contains(&format!("~/{path}: {reason}")), "{said}");
        assert_eq!(home.files(), before);
    }
}

#[test]
fn if_one_of_two_files_is_broken_neither_is_changed() {
    let home = Home::new();
    home.write(".claude.json", "{}");
    home.write(".claude/settings.json", "{\"permissions\": ");
    let before = home.files();
    let said = home.refused("config claude --role implementer --write");
    assert!(said.contains("~/.claude/settings.json: line 1"), "{said}");
    assert_eq!(home.files(), before);
}

#[test]
fn where_nothing_may_be_written_nothing_is() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "{}");
    let path = home.path(".cursor/mcp.json");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let said = home.refused("config cursor --write");
    assert!(
        said.contains("~/.cursor/mcp.json: it may only be read"),
        "{said}"
    );
    assert_eq!(home.read(".cursor/mcp.json"), "{}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();

    let directory = home.path(".cursor");
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
    // An administrator writes anywhere.
    let may = fs::write(directory.join("probe"), "").is_ok();
    let outcome = (!may).then(|| home.run("config cursor --write"));
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
    if let Some(Said { code, stderr, .. }) = outcome {
        assert_eq!(code, Some(1), "{stderr}");
        assert!(stderr.contains("it is unchanged"), "{stderr}");
        assert_eq!(home.files(), [(path, "{}".to_owned())]);
    }

    // So that an administrator sees a directory that cannot be written, too.
    home.write(".gemini", "a file in its place");
    let before = home.files();
    home.refused("config gemini --write");
    assert_eq!(home.files(), before);
}

#[test]
fn links_are_followed_and_permissions_kept() {
    let home = Home::new();
    home.write("dotfiles/claude.json", "{}");
    let target = home.path("dotfiles/claude.json");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("dotfiles/claude.json", home.path(".claude.json")).unwrap();
    home.said("config claude --write");
    let link = fs::symlink_metadata(home.path(".claude.json")).unwrap();
    assert!(link.is_symlink());
    assert!(
        home.read("dotfiles/claude.json")
            .contains("/bin/ai-coord-mcp")
    );
    for path in [
        "dotfiles/claude.json",
        "dotfiles/claude.json.ai-coord-backup",
    ] {
        let mode = fs::metadata(home.path(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{path}");
    }

    // A link that leads nowhere yet.
    fs::create_dir(home.path(".cursor")).unwrap();
    symlink("../elsewhere/mcp.json", home.path(".cursor/mcp.json")).unwrap();
    home.said("config cursor --write");
    assert!(
        home.read("elsewhere/mcp.json")
            .contains("/bin/ai-coord-mcp")
    );
    assert!(home.path(".cursor/mcp.json").is_symlink());

    fs::create_dir(home.path(".copilot")).unwrap();
    symlink("mcp-config.json", home.path(".copilot/mcp-config.json")).unwrap();
    let said = home.refused("config copilot --write");
    assert!(said.contains("symbolic links"), "{said}");
}

#[test]
fn whoever_reads_sees_the_old_file_or_the_new_one() {
    let home = Home::new();
    let before = "{\"first\": 1}";
    home.write(".cursor/mcp.json", before);
    let reader = fs::File::open(home.path(".cursor/mcp.json")).unwrap();
    home.said("config cursor --write");
    assert_eq!(io::read_to_string(reader).unwrap(), before);
    assert_ne!(home.read(".cursor/mcp.json"), before);
}

#[test]
fn a_backup_is_never_overwritten() {
    let home = Home::new();
    home.write(".cursor/mcp.json", "{\"first\": 1}");
    home.write(".cursor/mcp.json.ai-coord-backup", "precious");
    home.said("config cursor --write");
    home.said("config cursor --pin --write");
    assert_eq!(home.read(".cursor/mcp.json.ai-coord-backup"), "precious");
    assert_eq!(
        home.read(".cursor/mcp.json.ai-coord-backup.1"),
        "{\"first\": 1}"
    );
    let second = home.read(".cursor/mcp.json.ai-coord-backup.2");
    assert!(
        second.contains("ai-coord-mcp") && !second.contains("COORDINATION_DIR"),
        "{second}"
    );
    assert_eq!(
        home.files().len(),
        4,
        "nothing else is left: {:?}",
        home.files()
    );
}
