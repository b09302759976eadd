//! Tools for whoever coordinates: waiting, accepting, sending back.

use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Tools, patience};
use crate::{
    domain::{Note, Status, TaskId, Timestamp},
    mcp::{Caller, Parameters, Reply, ToolError},
    service::{AttentionWait, Changed, SentBack, TaskWait},
};

#[derive(Debug, Deserialize, JsonSchema)]
struct WaitForTask {
    /// Leave out to wait for whatever needs you
    task_id: Option<TaskId>,
    /// With task_id: return at once if the status differs; default: its status now
    known_status: Option<Status>,
    /// Hide what is older: `now` of an earlier result, or a message's timestamp
    since: Option<Timestamp>,
    /// Default and maximum: what your client allows (50 or more)
    #[schemars(range(min = 0))]
    timeout_seconds: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ApproveTask {
    /// e.g. task-0001
    task_id: TaskId,
    /// Kept in the history
    note: Option<Note>,
    /// Refuse if the task's version differs
    expected_version: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct RequestRevision {
    /// e.g. task-0001
    task_id: TaskId,
    /// What has to change, and how you will check it
    feedback: Note,
    /// Refuse if the task's version differs
    expected_version: Option<u64>,
}

/// What a wait returns, by what was waited for.
pub(super) enum Waited {
    /// One task.
    Task(Box<TaskWait>),
    /// Whatever needs the caller.
    Attention(AttentionWait),
}

impl Serialize for Waited {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Task(wait) => wait.serialize(serializer),
            Self::Attention(wait) => wait.serialize(serializer),
        }
    }
}

#[tool_router(router = review_tools, vis = "pub(super)")]
impl Tools {
    /// Wait instead of polling. Without task_id: returns as soon as something needs you (why: review, holder_gone,
    /// revision, cancelled, message). With task_id: when its status changes or somebody else posts. timed_out: true
    /// is normal: call again.
    #[tool(
        title = "Wait for task",
        annotations(read_only_hint = true, destructive_hint = false, idempotent_hint = true, open_world_hint = false),
        meta = super::always_loaded()
    )]
    async fn wait_for_task(
        &self,
        Parameters(request): Parameters<WaitForTask>,
        caller: Caller,
    ) -> Result<Reply<Waited>, ToolError> {
        let patience = patience(&caller, request.timeout_seconds);
        let (service, since) = (self.service.clone(), request.since);
        Tools::wait(async move {
            match request.task_id {
                Some(id) => service
                    .wait_for_task(id, request.known_status, since, patience)
                    .await
                    .map(|it| Waited::Task(Box::new(it))),
                None => service
                    .wait_for_attention(since, patience)
                    .await
                    .map(Waited::Attention),
            }
        })
        .await
    }

    /// Accept a completed task. Look at what was handed in (get_task: submission) first. Not for your own work.
    #[tool(
        title = "Approve task",
        annotations(
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn approve_task(
        &self,
        Parameters(request): Parameters<ApproveTask>,
        caller: Caller,
    ) -> Result<Reply<Changed>, ToolError> {
        let ApproveTask {
            task_id,
            note,
            expected_version,
        } = request;
        self.run(&caller, move |service, client| {
            service.approve(task_id, note.as_ref(), expected_version, client)
        })
        .await
    }

    /// Send a completed task back to its assignee, who gets it from claim_next_task with your feedback. The feedback
    /// is also posted as a message.
    #[tool(
        title = "Request revision",
        annotations(
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn request_revision(
        &self,
        Parameters(request): Parameters<RequestRevision>,
        caller: Caller,
    ) -> Result<Reply<SentBack>, ToolError> {
        let RequestRevision {
            task_id,
            feedback,
            expected_version,
        } = request;
        self.run(&caller, move |service, client| {
            service.request_revision(task_id, &feedback, expected_version, client)
        })
        .await
    }
}
