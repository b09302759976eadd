//! The tools, called through a real MCP client on the built program, one process an assistant.

mod arguments;
mod claims;
mod lists;
mod review;
mod storage;

use serde_json::json;

use crate::{agent::Place, golden};

/// What all tools together may cost a client's context.
const LIST_BYTES: usize = 14_000;

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
