//! Tools that move a task along: handing in, withdrawing, putting back.

use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Tools;
use crate::{
    domain::{Bounded, FilePath, Note, Reference, TaskId},
    mcp::{Caller, Parameters, Reply, ToolError},
    service::{Changed, HandIn},
};

#[derive(Debug, Deserialize, JsonSchema)]
struct CompleteTask {
    /// e.g. task-0001
    task_id: TaskId,
    /// What you did and how you checked it, for the reviewer
    summary: Option<Note>,
    /// Files to review
    files: Option<Bounded<FilePath, 256>>,
    /// The commit with your work
    commit: Option<Reference>,
    /// Refuse if the task's version differs
    expected_version: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct CancelTask {
    /// e.g. task-0001
    task_id: TaskId,
    /// Told to whoever holds it
    reason: Option<Note>,
    /// Refuse if the task's version differs
    expected_version: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ReopenTask {
    /// e.g. task-0001
    task_id: TaskId,
    /// Kept in the history
    reason: Option<Note>,
    /// Refuse if the task's version differs
    expected_version: Option<u64>,
}

#[tool_router(router = lifecycle_tools, vis = "pub(super)")]
impl Tools {
    /// Hand in your finished task for review. Your branch and directory are recorded. Then call claim_next_task: it
    /// brings the task back if a revision is requested, or the next one.
    #[tool(
        title = "Complete task",
        annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false, open_world_hint = false),
        meta = super::always_loaded()
    )]
    async fn complete_task(
        &self,
        Parameters(request): Parameters<CompleteTask>,
        caller: Caller,
    ) -> Result<Reply<Changed>, ToolError> {
        let CompleteTask {
            task_id,
            summary,
            files,
            commit,
            expected_version,
        } = request;
        let hand_in = HandIn {
            summary,
            files: files.unwrap_or_default(),
            commit,
        };
        self.run(&caller, move |service, client| {
            service.complete(task_id, &hand_in, expected_version, client)
        })
        .await
    }

    /// Withdraw a task that should not be done (any more). Whoever holds it is told to stop.
    #[tool(
        title = "Cancel task",
        annotations(
            read_only_hint = false,
            destructive_hint = true,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn cancel_task(
        &self,
        Parameters(request): Parameters<CancelTask>,
        caller: Caller,
    ) -> Result<Reply<Changed>, ToolError> {
        let CancelTask {
            task_id,
            reason,
            expected_version,
        } = request;
        self.run(&caller, move |service, client| {
            service.cancel(task_id, reason.as_ref(), expected_version, client)
        })
        .await
    }

    /// Put a completed, approved or cancelled task back into the queue as pending, with nobody holding it.
    #[tool(
        title = "Reopen task",
        annotations(
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn reopen_task(
        &self,
        Parameters(request): Parameters<ReopenTask>,
        caller: Caller,
    ) -> Result<Reply<Changed>, ToolError> {
        let ReopenTask {
            task_id,
            reason,
            expected_version,
        } = request;
        self.run(&caller, move |service, client| {
            service.reopen(task_id, reason.as_ref(), expected_version, client)
        })
        .await
    }
}
