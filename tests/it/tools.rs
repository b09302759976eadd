//! The tools, called through a real MCP client on the built program, one process an assistant.

mod arguments;
mod claims;
mod lists;
mod review;
mod storage;

use serde_json::{Value, json};

use crate::{
    agent::{Agent, Place},
    golden,
};

/// What all tools together may cost a client's context.
const LIST_BYTES: usize = 14_000;

#[test]
fn the_readme_names_every_tool_with_all_its_arguments() {
    let readme = include_str!("../../README.md");
    let tools: Value = serde_json::from_str(include_str!("../golden/tools.json")).unwrap();
    for tool in tools.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let row = readme
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("README.md has no row for {name}"));
        let arguments = row.split('|').nth(2).unwrap();
        for (argument, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let required = tool["inputSchema"]["required"].as_array();
            let star = if required.is_some_and(|it| it.contains(&json!(argument))) {
                "*"
            } else {
                ""
            };
            let suffix = match schema["type"].as_str() {
                Some("array") => "[]",
                Some("object") => "{}",
                _ => "",
            };
            let expected = format!("`{argument}{suffix}`{star}");
            assert!(
                arguments.contains(&expected),
                "{name}: README.md lacks {expected}"
            );
        }
    }
}

/// What the tools of an implementer may cost.
const IMPLEMENTER_BYTES: usize = 6_000;

#[tokio::test]
async fn a_role_is_offered_its_tools_and_no_others() {
    let place = Place::new();
    for (setting, expected, most) in [
        ("implementer", 6, IMPLEMENTER_BYTES),
        ("coordinator", 12, LIST_BYTES),
        ("get_task,list_tasks", 2, LIST_BYTES),
    ] {
        let mut command = place.command();
        command.env("COORDINATION_TOOLS", setting);
        let agent = Agent::start("a-client", command).await;
        let tools = agent.tools().await;
        assert_eq!(tools.len(), expected, "{setting}");
        let prompts = agent.prompts().await;
        let expected: &[&str] = match setting {
            "implementer" => &["implement"],
            "coordinator" => &["coordinate"],
            _ => &[],
        };
        assert_eq!(prompts, expected, "{setting}");
        let bytes = json!({ "tools": tools }).to_string().len();
        println!("tools/list of {setting}: {bytes} bytes");
        assert!(bytes <= most, "{setting}: {bytes} bytes");
    }
    let mut command = place.command();
    let output = command
        .args(["--tools", "get_tasks"])
        .output()
        .await
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("did you mean get_task?"), "{said}");
}

#[tokio::test]
async fn the_tools_are_what_clients_have_allowed() {
    let place = Place::new();
    let tools = place.agent("claude-code").await.tools().await;
    golden::check(
        "tools.json",
        &(serde_json::to_string_pretty(&tools).unwrap() + "\n"),
    );
    assert_eq!(tools.len(), 16);
    let bytes = json!({ "tools": tools }).to_string().len();
    println!("tools/list: {bytes} bytes, {} a tool", bytes / tools.len());
    assert!(bytes <= LIST_BYTES, "{bytes} bytes");
    for tool in &tools {
        let description = tool.description.as_deref().unwrap_or_default();
        assert!(
            description.chars().count() <= 500,
            "{}: too long a description",
            tool.name
        );
        assert!(
            !description.contains('\n'),
            "{}: a description is one paragraph",
            tool.name
        );
    }
    assert!(!place.path().exists(), "listing tools touches nothing");
}
