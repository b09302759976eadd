//! Tools for talking about a task.

use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tools, patience};
use crate::{
    domain::{Content, RequestedName, TaskId, Timestamp},
    mcp::{Caller, Parameters, Reply, ToolError},
    service::{MessagePage, Post, PostResult, Service},
};

#[derive(Debug, Deserialize, JsonSchema)]
struct PostMessage {
    /// e.g. task-0001
    task_id: TaskId,
    /// The message
    content: Content,
    /// Wait this long for somebody's answer, default 0
    #[schemars(range(min = 0))]
    wait_seconds: Option<u64>,
    /// Act under this name (for subagents)
    agent: Option<RequestedName>,
    /// Refuse if the task's version differs
    expected_version: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct GetMessages {
    /// e.g. task-0001
    task_id: TaskId,
    /// Only later ones: a message's timestamp
    since: Option<Timestamp>,
    /// 1-200, default 50
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u64>,
}

#[tool_router(router = message_tools, vis = "pub(super)")]
impl Tools {
    /// Say something on a task: a question, an answer, a finding. With wait_seconds it waits for somebody else's next
    /// message and returns it as `reply`; without one in time, timed_out is true.
    #[tool(
        title = "Post message",
        annotations(
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn post_message(
        &self,
        Parameters(request): Parameters<PostMessage>,
        caller: Caller,
    ) -> Result<Reply<PostResult>, ToolError> {
        let PostMessage {
            task_id,
            content,
            wait_seconds,
            agent,
            expected_version,
        } = request;
        let post = Post {
            task_id,
            content,
            agent,
            expected_version,
        };
        match wait_seconds.unwrap_or(0) {
            0 => {
                let post = move |service: &Service, client: &_| {
                    service
                        .post(&post, client)
                        .map(|message| Service::posted(&message))
                };
                self.run(&caller, post).await
            }
            seconds => {
                let patience = patience(&caller, Some(seconds));
                Tools::wait(self.service.clone().post_and_wait(post, patience)).await
            }
        }
    }

    /// Read a task's messages, oldest first: the newest ones, or with `since` the first ones after it. `more` says
    /// that there are others beyond.
    #[tool(
        title = "Get messages",
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn get_messages(
        &self,
        Parameters(request): Parameters<GetMessages>,
        caller: Caller,
    ) -> Result<Reply<MessagePage>, ToolError> {
        let limit = super::count(request.limit, 50);
        self.run(&caller, move |service, _| {
            service.messages(request.task_id, request.since, limit)
        })
        .await
    }
}
