//! `schema`: the tools as people export them, and the rules with which each client allows them.
//!
//! The rules are read back with the client's own kind of parser, so that a golden file that was updated without a look
//! cannot hide a rule that is none.

use std::{collections::BTreeSet, fmt::Write as _, process::Output};

use serde_json::Value;

use crate::{agent::Place, golden};

/// A client, the full name it gives the tool `T` of the server `S`, how long that may be, and how long a server's name
/// may be for that.
struct Limit(&'static str, &'static str, usize, usize);

const LIMITS: [Limit; 8] = [
    Limit("claude", "mcp__S__T", 64, 41),
    Limit("opencode", "S_T", 64, 47),
    Limit("codex", "mcp__S__T", 64, 41),
    Limit("gemini", "mcp_S_T", 63, 42),
    Limit("copilot", "S-T", 64, 47),
    Limit("cline", "S__T", 64, 46),
    Limit("vscode", "mcp_S_T", 64, 43),
    Limit("cursor", "ST", 60, 44),
];

const DEFAULT_SERVER: &str = "ai-coord";

/// What a run of the program came to.
struct Ran {
    code: Option<i32>,
    said: String,
    complaint: String,
}

async fn run(arguments: &[&str]) -> Ran {
    let place = Place::new();
    let Output {
        status,
        stdout,
        stderr,
    } = place.command().args(arguments).output().await.unwrap();
    assert!(!place.path().exists(), "{arguments:?} touches nothing");
    Ran {
        code: status.code(),
        said: String::from_utf8(stdout).unwrap(),
        complaint: String::from_utf8(stderr).unwrap(),
    }
}

/// What `schema` prints with these arguments.
async fn schema(arguments: &[&str]) -> String {
    let ran = run(&[&["schema"], arguments].concat()).await;
    assert_eq!(ran.code, Some(0), "{arguments:?}: {}", ran.complaint);
    ran.said
}

/// The tools that are served.
fn served() -> Vec<Value> {
    serde_json::from_str(include_str!("../golden/tools.json")).unwrap()
}

fn names<'a>(tools: impl IntoIterator<Item = &'a Value>) -> BTreeSet<String> {
    let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
    tools.into_iter().map(name).collect()
}

fn names_of_readers(tools: &[Value]) -> BTreeSet<String> {
    let reads = |tool: &&Value| tool["annotations"]["readOnlyHint"] == true;
    names(tools.iter().filter(reads))
}

fn strings(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    list.iter().map(|it| it.as_str().unwrap()).collect()
}

/// The tools of `server` that a client allows by these rules.
fn allowed(client: &str, server: &str, rules: &str) -> BTreeSet<String> {
    let json = || serde_json::from_str::<Value>(rules).unwrap();
    let of_server = |name: &str, before: &str| {
        let tool = name.strip_prefix(before);
        tool.unwrap_or_else(|| panic!("{name} is not of {server}"))
            .to_owned()
    };
    match client {
        "claude" => {
            let rules = json();
            let rules = strings(&rules["permissions"]["allow"]);
            let before = format!("mcp__{server}__");
            rules.into_iter().map(|it| of_server(it, &before)).collect()
        }
        "opencode" => {
            let rules = json();
            let rules = rules["permission"].as_object().unwrap();
            assert!(rules.values().all(|it| it == "allow"), "{rules:?}");
            let before = format!("{server}_");
            rules.keys().map(|it| of_server(it, &before)).collect()
        }
        "codex" => allowed_in_toml(server, rules),
        "gemini" => {
            let entry = json()["mcpServers"][server].take();
            assert_eq!(entry["trust"], true);
            let tools = strings(&entry["includeTools"]);
            tools.into_iter().map(str::to_owned).collect()
        }
        "copilot" => allowed_on_a_command_line(server, rules),
        "cline" => {
            let entry = json()["mcpServers"][server].take();
            let tools = strings(&entry["autoApprove"]);
            tools.into_iter().map(str::to_owned).collect()
        }
        "cursor" => {
            let rules = json();
            let before = format!("{server}:");
            let rules = strings(&rules["mcpAllowlist"]);
            rules.into_iter().map(|it| of_server(it, &before)).collect()
        }
        other => panic!("{other} has no rules"),
    }
}

/// Added to a file that has the server's entry, as people are told to.
fn allowed_in_toml(server: &str, rules: &str) -> BTreeSet<String> {
    let file = format!("[mcp_servers.{server}]\ncommand = \"ai-coord-mcp\"\n\n{rules}");
    let file: toml::Table = file.parse().unwrap();
    let tools = file["mcp_servers"][server]["tools"].as_table().unwrap();
    for (tool, rule) in tools {
        assert_eq!(rule["approval_mode"].as_str(), Some("approve"), "{tool}");
        assert_eq!(rule.as_table().unwrap().len(), 1, "{tool}");
    }
    tools.keys().cloned().collect()
}

/// As a shell hands it to the program.
fn allowed_on_a_command_line(server: &str, rules: &str) -> BTreeSet<String> {
    let script = format!("copilot() {{ printf '%s\\n' \"$@\"; }}\n{rules}");
    let output = std::process::Command::new("sh")
        .args(["-euc", &script])
        .output()
        .unwrap();
    assert!(output.status.success(), "{rules}");
    let words = String::from_utf8(output.stdout).unwrap();
    let words: Vec<_> = words.lines().collect();
    let (pairs, rest) = words.as_chunks::<2>();
    assert!(rest.is_empty(), "{words:?}");
    let tool = |[option, rule]: &[&str; 2]| {
        assert_eq!(*option, "--allow-tool");
        let tool = rule.strip_prefix(&format!("{server}("));
        let tool = tool.and_then(|it| it.strip_suffix(')'));
        tool.unwrap_or_else(|| panic!("{rule} is not of {server}"))
            .to_owned()
    };
    pairs.iter().map(tool).collect()
}

#[tokio::test]
async fn the_list_is_the_one_that_is_served() {
    golden::check("tools.json", &schema(&[]).await);
    let role = schema(&["--tools", "implementer"]).await;
    let role: Vec<Value> = serde_json::from_str(&role).unwrap();
    assert_eq!(role.len(), 6);
    assert!(role.iter().all(|it| served().contains(it)));
    let readers = schema(&["--read-only"]).await;
    let readers: Vec<Value> = serde_json::from_str(&readers).unwrap();
    assert_eq!(names(&readers), names_of_readers(&served()));
}

#[tokio::test]
async fn the_rules_are_as_written_down() {
    let mut hints = String::new();
    for Limit(client, ..) in LIMITS {
        let ran = run(&["schema", "--client", client]).await;
        assert_eq!(ran.code, Some(0), "{client}: {}", ran.complaint);
        golden::check(&format!("schema/{client}.txt"), &ran.said);
        writeln!(hints, "# {client}\n{}", ran.complaint).unwrap();
    }
    golden::check("schema/hints.txt", &hints);
    assert!(hints.lines().all(|it| it.chars().count() <= 80), "{hints}");
    for client in ["claude", "codex"] {
        let rules = schema(&["--client", client, "--read-only"]).await;
        golden::check(&format!("schema/{client}-read-only.txt"), &rules);
    }
}

#[tokio::test]
async fn the_rules_allow_what_was_asked_for_and_nothing_else() {
    let served = served();
    let (all, readers) = (names(&served), names_of_readers(&served));
    assert!(!readers.is_empty() && readers.len() < all.len());
    let some = BTreeSet::from(["claim_task", "get_task"].map(str::to_owned));
    let one = BTreeSet::from(["get_task".to_owned()]);
    let profile = ["--tools", "get_task,claim_task"];
    let profile_readers = ["--tools", "get_task,claim_task", "--read-only"];
    for Limit(client, ..) in LIMITS {
        let other = if client == "gemini" {
            "Queue-2"
        } else {
            "Queue_2"
        };
        for server in [DEFAULT_SERVER, other] {
            for (arguments, expected) in [
                (&[][..], &all),
                (&["--read-only"], &readers),
                (&profile, &some),
                (&profile_readers, &one),
            ] {
                let asked = [&["--client", client, "--server", server], arguments].concat();
                let rules = schema(&asked).await;
                if client == "vscode" {
                    assert_eq!(rules, "", "what is no rule is on the other stream");
                } else {
                    assert_eq!(&allowed(client, server, &rules), expected, "{asked:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_server_name_is_as_long_as_the_client_takes_and_no_longer() {
    let served = names(&served());
    let tool = served.iter().max_by_key(|it| it.len()).unwrap();
    for Limit(client, full_name, longest, most) in LIMITS {
        let full = |server: &str| full_name.replace('T', tool).replace('S', server);
        assert_eq!(longest - full("").len(), most, "{client}");
        assert!(full(DEFAULT_SERVER).len() <= longest, "{client}");

        let fits = "s".repeat(most);
        schema(&["--client", client, "--server", &fits]).await;
        let too_long = "s".repeat(most + 1);
        for only in [&[][..], &["--read-only"]] {
            let asked = ["schema", "--client", client, "--server", &too_long];
            let ran = run(&[&asked, only].concat()).await;
            assert_eq!((ran.code, ran.said.as_str()), (Some(2), ""), "{client}");
            let expected = format!("at most {most}: ");
            assert!(ran.complaint.contains(&expected), "{}", ran.complaint);
        }
    }
    // Shorter tools leave more room for it: get_task has eight characters less.
    let longer = "s".repeat(41 + 8);
    let asked = [
        "--client", "codex", "--tools", "get_task", "--server", &longer,
    ];
    schema(&asked).await;
}

#[tokio::test]
async fn what_cannot_be_printed_is_refused_with_what_can() {
    let clients = LIMITS.map(|Limit(client, ..)| client).join(", ");
    let help = schema(&["--help"]).await;
    assert!(help.contains(&format!("Clients: {clients}.")), "{help}");
    let none_reads = ["--read-only", "--tools", "claim_task"];
    for (arguments, expected) in [
        (
            &["--client", "emacs"][..],
            format!("possible values: {clients}"),
        ),
        (
            &["--client", "claude", "--server", "a b"],
            "A-Z a-z 0-9 _ -".into(),
        ),
        (
            &["--client", "claude", "--server="],
            "A-Z a-z 0-9 _ -".into(),
        ),
        (
            &["--client", "gemini", "--server", "Queue_2"],
            "use a hyphen".into(),
        ),
        (&["--server", "queue"], "--client <CLIENT>".into()),
        (&["--tools", "get_tasks"], "did you mean get_task?".into()),
        (
            &none_reads,
            "none of these tools is for reading only".into(),
        ),
    ] {
        let ran = run(&[&["schema"], arguments].concat()).await;
        let said = (ran.code, ran.said.as_str());
        assert_eq!(said, (Some(2), ""), "{arguments:?}");
        assert!(ran.complaint.contains(&expected), "{}", ran.complaint);
    }
}
