//! `config`: what it prints for each client, and that this is what it writes.
//!
//! What it does to files that are somebody's own is in `files`.

mod files;
mod home;

use std::{fmt::Write, path::Path};

use crate::golden;
use home::{Home, Said};

const CLIENTS: [&str; 9] = [
    "claude", "codex", "gemini", "copilot", "opencode", "cline", "vscode", "cursor", "zed",
];

/// The path that a fragment belongs to, from what was said on standard error.
fn named_files(stderr: &str) -> Vec<String> {
    let lines = stderr.lines();
    let named = lines.filter_map(|it| it.strip_prefix("ai-coord-mcp: this belongs in "));
    let path = |it: &str| it.split(" (--write").next().unwrap().to_owned();
    named.map(path).collect()
}

#[test]
fn each_client_is_told_in_its_own_words() {
    for client in CLIENTS {
        let home = Home::new();
        let mut text = String::new();
        for options in [
            "",
            " --role implementer",
            " --role coordinator --pin",
            " --scope project --role implementer",
        ] {
            if client == "cline" && options.contains("project") {
                continue;
            }
            let line = format!("config {client}{options}");
            let Said {
                code,
                stdout,
                stderr,
            } = home.run(&line);
            assert_eq!(code, Some(0), "{line}: {stderr}");
            writeln!(text, "$ ai-coord-mcp {line}\n{stderr}{stdout}").unwrap();
        }
        golden::check(&format!("config/{client}.txt"), &text);
        assert_eq!(home.files(), [], "{client}: printing changes nothing");
    }
}

#[test]
fn what_is_printed_is_what_is_written() {
    for client in CLIENTS {
        for options in ["", " --role implementer", " --role coordinator --pin"] {
            let home = Home::new();
            let line = format!("config {client}{options}");
            let printed = home.run(&line);
            home.said(&format!("{line} --write"));
            let mut written = String::new();
            for path in named_files(&printed.stderr) {
                written += &home.read(path.trim_start_matches("~/"));
            }
            let printed = printed
                .stdout
                .replace("~/", &format!("{}/", home.root().display()));
            assert_eq!(written, printed, "{line}");
        }
    }
}

#[test]
fn a_second_time_there_is_nothing_to_do() {
    for client in CLIENTS {
        let home = Home::new();
        let line = format!("config {client} --role coordinator --pin --write");
        let first = home.said(&line);
        assert!(
            first.contains("\n+") && first.contains("\nwritten\n"),
            "{first}"
        );
        let before = home.files();
        let again = home.said(&line);
        assert!(
            again.lines().all(|it| it.ends_with(": nothing to do")),
            "{again}"
        );
        assert_eq!(home.files(), before, "{client}");
    }
}

#[test]
fn files_are_where_the_clients_look_for_them() {
    let home = Home::new();
    let own = home.path("own");
    for (client, variable, path) in [
        ("claude", "CLAUDE_CONFIG_DIR", "~/own/.claude.json"),
        ("codex", "CODEX_HOME", "~/own/config.toml"),
        ("gemini", "GEMINI_CLI_HOME", "~/own/.gemini/settings.json"),
        ("copilot", "COPILOT_HOME", "~/own/mcp-config.json"),
        (
            "opencode",
            "XDG_CONFIG_HOME",
            "~/own/opencode/opencode.json",
        ),
        ("cline", "CLINE_MCP_SETTINGS_PATH", "~/own"),
    ] {
        let said = home.run_with(&format!("config {client}"), &[(variable, &own)]);
        assert_eq!(named_files(&said.stderr), [path], "{client}");
        let relative = home.run_with(&format!("config {client}"), &[(variable, Path::new("own"))]);
        assert_ne!(named_files(&relative.stderr), [path], "{client}");
    }
    let said = home.run_with(
        "config claude --role implementer",
        &[("CLAUDE_CONFIG_DIR", &own)],
    );
    assert_eq!(
        named_files(&said.stderr),
        ["~/own/.claude.json", "~/own/settings.json"]
    );

    home.write(".config/opencode/opencode.jsonc", "{} // mine");
    let said = home.run("config opencode");
    assert_eq!(
        named_files(&said.stderr),
        ["~/.config/opencode/opencode.jsonc"]
    );
}

#[test]
fn what_makes_no_sense_is_a_matter_of_usage() {
    let home = Home::new();
    for (line, reason) in [
        ("config emacs", "possible values: claude, codex, gemini"),
        ("config", "<CLIENT>"),
        (
            "config codex --role reviewer",
            "possible values: implementer",
        ),
        ("config codex --scope machine", "possible values: user"),
        (
            "--dir /srv/queue config codex --write",
            "config uses --dir only with --pin",
        ),
        (
            "config cline --scope project --write",
            "Cline has no file for a project",
        ),
    ] {
        let Said {
            code,
            stderr,
            stdout,
        } = home.run(line);
        assert_eq!(code, Some(2), "{line}: {stderr}");
        assert!(stderr.contains(reason), "{line}: {stderr}");
        assert_eq!(stdout, "", "{line}");
    }
    let said = home.said("--dir /srv/queue config codex --pin");
    assert!(said.contains("COORDINATION_DIR = \"/srv/queue\""), "{said}");
    assert_eq!(home.files(), []);
}
