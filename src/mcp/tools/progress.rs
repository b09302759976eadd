//! Tools for reporting on work.

use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Tools;
use crate::{
    domain::{Note, Percent, Report, TaskId},
    mcp::{Caller, Parameters, Reply, ToolError},
    service::{ProgressPage, Reported},
};

#[derive(Debug, Deserialize, JsonSchema)]
struct UpdateProgress {
    /// e.g. task-0001
    task_id: TaskId,
    /// 0-100
    percent: Option<Percent>,
    /// What you are doing
    current_step: Option<Note>,
    /// Findings, problems
    notes: Option<Note>,
    /// Refuse if the task's version differs
    expected_version: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct GetProgress {
    /// e.g. task-0001
    task_id: TaskId,
    /// Newest entries to return, 1-200, default 50
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u64>,
}

#[tool_router(router = progress_tools, vis = "pub(super)")]
impl Tools {
    /// Report on your task now and then while you work; the first call starts it. With task_id alone it is a sign of
    /// life. Returns messages from others since you last looked: read them.
    #[tool(
        title = "Update progress",
        annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false, open_world_hint = false),
        meta = super::always_loaded()
    )]
    async fn update_progress(
        &self,
        Parameters(request): Parameters<UpdateProgress>,
        caller: Caller,
    ) -> Result<Reply<Reported>, ToolError> {
        let UpdateProgress {
            task_id,
            percent,
            current_step,
            notes,
            expected_version,
        } = request;
        let report = Report {
            percent,
            current_step,
            notes,
        };
        self.run(&caller, move |service, client| {
            service.report(task_id, &report, expected_version, client)
        })
        .await
    }

    /// Read what was reported on a task, newest entries, oldest of them first. `latest` has the percentage reached.
    #[tool(
        title = "Get progress",
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn get_progress(
        &self,
        Parameters(request): Parameters<GetProgress>,
        caller: Caller,
    ) -> Result<Reply<ProgressPage>, ToolError> {
        let limit = super::count(request.limit, 50);
        self.run(&caller, move |service, _| {
            service.progress(request.task_id, limit)
        })
        .await
    }
}
