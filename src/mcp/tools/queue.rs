//! Tools that make, find and hand out tasks.

use rmcp::{tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Tools, patience};
use crate::{
    domain::{
        Bounded, Description, DirectoryPath, ExpectedOutput, FilePath, Metadata, RequestedName,
        Tag, TaskId, Title, Work,
    },
    mcp::{Caller, Parameters, Reply, ToolError},
    service::{Changed, Claim, ClaimNext, Filter, Search, TaskPage, WholeTask},
};

#[derive(Debug, Deserialize, JsonSchema)]
struct CreateTask {
    /// One line
    title: Title,
    /// What to do, complete enough for somebody without your context
    description: Description,
    /// When it counts as done
    expected_output: Option<ExpectedOutput>,
    /// Ids of tasks that must be approved first
    after: Option<Bounded<TaskId, 64>>,
    /// Words to group tasks by
    tags: Option<Bounded<Tag, 32>>,
    /// Paths to look at
    files: Option<Bounded<FilePath, 256>>,
    /// Where to do the work
    working_directory: Option<DirectoryPath>,
    /// Anything of your own, e.g. baseCommit
    metadata: Option<Metadata>,
    /// Act under this name (for subagents)
    agent: Option<RequestedName>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ListTasks {
    /// Default active: all but approved and cancelled
    status: Option<Filter>,
    /// A name, or me
    assignee: Option<String>,
    /// A name, or me
    creator: Option<String>,
    /// Only tasks with it
    tag: Option<Tag>,
    /// 1-200, default 50
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u64>,
    /// nextCursor of the page before
    cursor: Option<TaskId>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct SearchTasks {
    /// Text to find in title, description or tags, in any case
    query: Description,
    /// Default all
    status: Option<Filter>,
    /// 1-200, default 50
    #[schemars(range(min = 1, max = 200))]
    limit: Option<u64>,
    /// nextCursor of the page before
    cursor: Option<TaskId>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct GetTask {
    /// e.g. task-0001
    task_id: TaskId,
    /// Newest history entries to return, 0-200, default 10
    #[schemars(range(min = 0, max = 200))]
    history_limit: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ClaimTask {
    /// e.g. task-0001
    task_id: TaskId,
    /// Act under this name (for subagents)
    agent: Option<RequestedName>,
    /// Refuse if the task's version differs
    expected_version: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct ClaimNextTask {
    /// Only new tasks with this tag
    tag: Option<Tag>,
    /// Act under this name (for subagents)
    agent: Option<RequestedName>,
    /// Wait this long for a task if there is none now, default 0
    #[schemars(range(min = 0))]
    wait_seconds: Option<u64>,
}

#[tool_router(router = queue_tools, vis = "pub(super)")]
impl Tools {
    /// Put a task into the shared queue, for any assistant to claim. Order tasks with `after`. Returns its id; then
    /// call wait_for_task without task_id to learn when work awaits your review.
    #[tool(
        title = "Create task",
        annotations(
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = false,
            open_world_hint = false
        )
    )]
    async fn create_task(
        &self,
        Parameters(request): Parameters<CreateTask>,
        caller: Caller,
    ) -> Result<Reply<Changed>, ToolError> {
        let work = Work {
            title: request.title,
            description: request.description,
            expected_output: request.expected_output,
            after: request.after.unwrap_or_default().unique(),
            tags: request.tags.unwrap_or_default().unique(),
            files: request.files.unwrap_or_default().unique(),
            working_directory: request.working_directory,
            metadata: request.metadata.unwrap_or_default(),
        };
        self.run(&caller, move |service, client| {
            service.create(&work, request.agent, client)
        })
        .await
    }

    /// List tasks by id, a page at a time, with counts per status over the whole queue. To get work, call
    /// claim_next_task instead.
    #[tool(
        title = "List tasks",
        annotations(read_only_hint = true, destructive_hint = false, idempotent_hint = true, open_world_hint = false),
        meta = super::always_loaded()
    )]
    async fn list_tasks(
        &self,
        Parameters(request): Parameters<ListTasks>,
        caller: Caller,
    ) -> Result<Reply<TaskPage>, ToolError> {
        let search = Search {
            status: request.status.unwrap_or(Filter::Active),
            assignee: request.assignee,
            creator: request.creator,
            tag: request.tag,
            text: None,
            limit: super::count(request.limit, 50),
            cursor: request.cursor,
        };
        self.run(&caller, |service, client| service.find(search, client))
            .await
    }

    /// Find tasks, finished ones too, by a text in title, description or tags.
    #[tool(
        title = "Search tasks",
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn search_tasks(
        &self,
        Parameters(request): Parameters<SearchTasks>,
        caller: Caller,
    ) -> Result<Reply<TaskPage>, ToolError> {
        let search = Search {
            status: request.status.unwrap_or(Filter::All),
            text: Some(request.query.into()),
            limit: super::count(request.limit, 50),
            cursor: request.cursor,
            ..Search::default()
        };
        self.run(&caller, |service, client| service.find(search, client))
            .await
    }

    /// Read one task whole: work order, what was handed in, newest history. Messages: get_messages.
    #[tool(
        title = "Get task",
        annotations(
            read_only_hint = true,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn get_task(
        &self,
        Parameters(request): Parameters<GetTask>,
        caller: Caller,
    ) -> Result<Reply<WholeTask>, ToolError> {
        let limit = super::count(request.history_limit, 10);
        self.run(&caller, move |service, _| {
            service.get(request.task_id, limit)
        })
        .await
    }

    /// Claim one particular pending task. Returns its work order and messages; then work, and call update_progress.
    /// Usually claim_next_task is what you want.
    #[tool(
        title = "Claim task",
        annotations(
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn claim_task(
        &self,
        Parameters(request): Parameters<ClaimTask>,
        caller: Caller,
    ) -> Result<Reply<Claim>, ToolError> {
        let ClaimTask {
            task_id,
            agent,
            expected_version,
        } = request;
        self.run(&caller, move |service, client| {
            service.claim(task_id, agent, expected_version, client)
        })
        .await
    }

    /// Get work; call it again after each task. Hands you, in this order: your task sent back (why: revision, read
    /// feedback), your unfinished one after a restart (resumed), the next pending one (new). Never handed to two.
    /// task is null when there is nothing; `next` says why. Then work, update_progress, complete_task.
    #[tool(
        title = "Claim next task",
        annotations(read_only_hint = false, destructive_hint = false, idempotent_hint = false, open_world_hint = false),
        meta = super::always_loaded()
    )]
    async fn claim_next_task(
        &self,
        Parameters(request): Parameters<ClaimNextTask>,
        caller: Caller,
    ) -> Result<Reply<Claim>, ToolError> {
        let wanted = ClaimNext {
            tag: request.tag,
            agent: request.agent,
        };
        match request.wait_seconds.unwrap_or(0) {
            0 => {
                let cancellation = caller.cancellation().clone();
                self.run(&caller, move |service, client| {
                    let claim = service.claim_next(&wanted, client)?;
                    if cancellation.is_cancelled() {
                        service.take_back(&claim);
                    }
                    Ok(claim)
                })
                .await
            }
            seconds => {
                let patience = patience(&caller, Some(seconds));
                Tools::wait(self.service.clone().wait_and_claim(wanted, patience)).await
            }
        }
    }
}
