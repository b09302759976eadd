//! Tools with nothing behind them, for tests of what is in front of tools.

use std::{env, process::Command, time::Duration};

use ai_coord::mcp::{
    Caller, ExitReason, Interruption, Parameters, Reply, Server, ToolError, serve,
};
use rmcp::{model::MetaObject, tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

/// Set in the process that is to be a server.
const IS_SERVER: &str = "AI_COORD_TEST_IS_SERVER";

/// The state of the toys: none.
pub(crate) struct Toys;

/// An id that has to look like one.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("pattern" = "^task-[0-9]{4,}$", "x-expected" = "an id like task-0001"))]
struct Id(String);

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Color {
    Red,
    DarkBlue,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Echo {
    /// Which task.
    task_id: Id,
    /// A percentage from 0 to 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    percent: Option<u8>,
    /// Which color.
    #[serde(skip_serializing_if = "Option::is_none")]
    color: Option<Color>,
    /// Names of files.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 3), inner(length(max = 20)))]
    files: Option<Vec<String>>,
    /// Anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-maxBytes" = 100))]
    metadata: Option<Map<String, Value>>,
    /// The version that the caller has seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected_version: Option<Version>,
    /// A long text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 8000))]
    text: Option<String>,
}

/// A type with a rule that no schema tells.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(try_from = "u64")]
struct Version(u64);

impl TryFrom<u64> for Version {
    type Error = String;

    fn try_from(version: u64) -> Result<Self, String> {
        if version == 13 {
            Err("versions skip 13".to_owned())
        } else {
            Ok(Self(version))
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Wait {
    /// For how long at most.
    milliseconds: u64,
}

#[derive(Debug, Serialize)]
struct Waited {
    until: &'static str,
}

#[derive(Debug, Serialize)]
struct Who {
    name: Option<String>,
    version: Option<String>,
    wants_progress: bool,
}

#[tool_router(router = plain_toys)]
impl Toys {
    /// Answer with the arguments.
    #[tool(
        title = "Echo",
        annotations(read_only_hint = true, open_world_hint = false),
        meta = always_load()
    )]
    async fn echo(&self, Parameters(echo): Parameters<Echo>) -> Result<Reply<Echo>, ToolError> {
        Ok(Reply::new(echo))
    }

    /// Fail in an orderly way.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn fail(&self) -> Result<Reply<Value>, ToolError> {
        Err(ToolError::new(
            "conflict",
            "the version is 3: read it again",
        ))
    }

    /// Fail in the worst way.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn panic(&self) -> Result<Reply<Value>, ToolError> {
        panic!("a toy broke")
    }
}

#[tool_router(router = waiting_toys)]
impl Toys {
    /// Say who calls.
    #[tool(annotations(read_only_hint = true, open_world_hint = false))]
    async fn whoami(&self, caller: Caller) -> Result<Reply<Who>, ToolError> {
        Ok(Reply::new(Who {
            name: caller.client_name().map(str::to_owned),
            version: caller.client_version().map(str::to_owned),
            wants_progress: caller.wants_progress(),
        }))
    }

    /// Wait, with progress every few milliseconds.
    #[tool(annotations(
        read_only_hint = false,
        destructive_hint = false,
        open_world_hint = false
    ))]
    async fn wait(
        &self,
        Parameters(wait): Parameters<Wait>,
        caller: Caller,
    ) -> Result<Reply<Waited>, ToolError> {
        let reports = async {
            for step in 1_u32.. {
                caller.report(f64::from(step), "still waiting").await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let until = tokio::select! {
            interruption = caller.interrupted() => match interruption {
                Interruption::Cancelled => "cancelled",
                Interruption::Shutdown => "shutdown",
            },
            () = tokio::time::sleep(Duration::from_millis(wait.milliseconds)) => "the end",
            () = reports => "never",
        };
        Ok(Reply::new(Waited { until }))
    }

    /// Block a thread, whatever anybody wants.
    #[tool(annotations(
        read_only_hint = false,
        destructive_hint = false,
        open_world_hint = false
    ))]
    async fn block(&self, Parameters(wait): Parameters<Wait>) -> Result<Reply<Waited>, ToolError> {
        let blocked = tokio::task::spawn_blocking(move || {
            std::thread::sleep(Duration::from_millis(wait.milliseconds));
        });
        blocked
            .await
            .map_err(|error| ToolError::internal(error.to_string()))?;
        Ok(Reply::new(Waited { until: "the end" }))
    }
}

fn always_load() -> MetaObject {
    let meta = json!({"anthropic/alwaysLoad": true});
    MetaObject(meta.as_object().cloned().unwrap_or_default())
}

pub(crate) fn server() -> Server<Toys> {
    Server::new(
        Toys,
        Toys::plain_toys() + Toys::waiting_toys(),
        "Toys for tests.",
    )
    .expect("their schemas are fine")
}

/// The command that serves the toys: this very binary, told to run the test below.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env::current_exe().expect("we run from a file"));
    command
        .args([
            "--exact",
            "toy::is_a_server",
            "--ignored",
            "--nocapture",
            "--quiet",
        ])
        .env(IS_SERVER, "1");
    command
}

/// No test, but what a child process runs. It ends without the harness's last words.
#[test]
#[ignore = "it is the server of the others"]
fn is_a_server() {
    if env::var_os(IS_SERVER).is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.expect("a runtime");
    let reason = runtime
        .block_on(serve(server(), CancellationToken::new()))
        .expect("it serves");
    runtime.shutdown_background();
    std::process::exit(match reason {
        ExitReason::EndOfInput => 0,
        ExitReason::OutputClosed => 2,
        ExitReason::ParentGone => 3,
        ExitReason::Failed => 4,
        ExitReason::Signal(signal) => 100 + signal,
    });
}
