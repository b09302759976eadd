//! An assistant as the program sees one: a real MCP client on a process of its own.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use rmcp::{
    RoleClient, ServiceExt,
    model::{CallToolRequestParams, ClientCapabilities, Implementation, InitializeRequestParams},
    service::RunningService,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Clients cut results that are longer.
const RESULT_BYTES: usize = 8_000;

/// A coordination directory of a test's own, not made yet.
pub(crate) struct Place {
    scratch: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            scratch: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.scratch.path().join("coordination")
    }

    pub(crate) fn outside(&self) -> &Path {
        self.scratch.path()
    }

    /// The program, in surroundings that say nothing but where the directory is.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ai-coord-mcp"));
        command
            .env_clear()
            .env("COORDINATION_DIR", self.path())
            .env("COORDINATION_DURABILITY", "none")
            .current_dir(self.scratch.path())
            .kill_on_drop(true);
        command
    }

    /// An assistant of this kind.
    pub(crate) async fn agent(&self, client: &str) -> Agent {
        Agent::start(client, self.command()).await
    }

    /// Everything in the directory, by path, but the transient and those who are there.
    pub(crate) fn snapshot(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        let mut directories = vec![self.path()];
        while let Some(directory) = directories.pop() {
            for entry in std::fs::read_dir(directory).into_iter().flatten() {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_str().unwrap().to_owned();
                if path.is_dir() && name != ".locks" && name != "agents" {
                    directories.push(path);
                } else if path.is_file() {
                    files.push((path.clone(), std::fs::read(&path).unwrap()));
                }
            }
        }
        files.sort();
        files
    }
}

/// An assistant.
pub(crate) struct Agent {
    client: RunningService<RoleClient, InitializeRequestParams>,
    server: Child,
}

impl Agent {
    /// An assistant of this kind, with a server that this command starts.
    pub(crate) async fn start(name: &str, mut command: Command) -> Self {
        command
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped());
        let mut server = command.spawn().unwrap();
        let pipes = (server.stdout.take().unwrap(), server.stdin.take().unwrap());
        let hello = InitializeRequestParams::new(
            ClientCapabilities::default(),
            Implementation::new(name, "1.0"),
        );
        let client = hello.serve(pipes).await.unwrap();
        Self { client, server }
    }

    /// Calls a tool: its result, or `code: text`.
    pub(crate) async fn call(&self, tool: &'static str, arguments: Value) -> Result<Value, String> {
        let arguments = arguments.as_object().cloned().unwrap();
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        let result = tokio::time::timeout(PATIENCE, self.client.call_tool(request))
            .await
            .unwrap()
            .unwrap();
        let result = serde_json::to_value(&result).unwrap();
        assert_eq!(
            result["content"].as_array().unwrap().len(),
            1,
            "one content: {result}"
        );
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.len() < RESULT_BYTES, "{tool}: {} bytes", text.len());
        if result["isError"] == true {
            assert!(
                result.get("structuredContent").is_none(),
                "an error has text only: {result}"
            );
            return Err(text.to_owned());
        }
        assert_eq!(
            result["structuredContent"].to_string(),
            text,
            "both forms are the same"
        );
        Ok(serde_json::from_str(text).unwrap())
    }

    /// Calls a tool that has to work.
    pub(crate) async fn ok(&self, tool: &'static str, arguments: Value) -> Value {
        match self.call(tool, arguments.clone()).await {
            Ok(result) => result,
            Err(error) => panic!("{tool}({arguments}): {error}"),
        }
    }

    /// Calls a tool that has to refuse with this code.
    pub(crate) async fn refused(&self, code: &str, tool: &'static str, arguments: Value) -> String {
        match self.call(tool, arguments.clone()).await {
            Err(error) if error.starts_with(&format!("{code}: ")) => error,
            other => panic!("{tool}({arguments}): expected {code}, got {other:?}"),
        }
    }

    /// The tools, as they are listed.
    pub(crate) async fn tools(&self) -> Vec<rmcp::model::Tool> {
        self.client.list_all_tools().await.unwrap()
    }

    /// The prompts, by name.
    pub(crate) async fn prompts(&self) -> Vec<String> {
        let prompts = self.client.list_all_prompts().await.unwrap();
        prompts.into_iter().map(|it| it.name).collect()
    }

    /// Ends its server as a crash would.
    pub(crate) async fn crash(mut self) {
        self.server.kill().await.unwrap();
    }
}
