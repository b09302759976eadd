//! The queue as things to read, `coord://tasks` and what is below it, and the prompts of the two roles.
//!
//! Reading gives the same JSON as the tools: `list_tasks`, `get_task`, `get_messages`,
//! `get_progress`.

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};
use rmcp::{
    ErrorData,
    model::{
        GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Resource,
        ResourceTemplate, Role,
    },
};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch::Receiver;

use super::{
    library::{Library, Shelf},
    text::{abbreviated, meant},
    tools::Profile,
};
use crate::{
    domain::TaskId,
    service::{Client, Failure, Filter, Search, Service},
};

/// All tasks that are not over.
const TASKS: &str = "coord://tasks";

/// How long an argument of a prompt may be, in bytes.
const LONGEST: usize = 4_000;

/// The prompt for whoever plans and reviews.
const COORDINATE: &str = "coordinate";

/// The prompt for whoever works on tasks.
const IMPLEMENT: &str = "implement";

const JSON: &str = "application/json";

/// How many resources a page has.
const PAGE: usize = 100;

/// How many entries of a list a resource shows at the most.
const ENTRIES: usize = 200;

/// How many lines of a task's history a resource shows.
const HISTORY: usize = 10;

/// The queue as a library.
pub(crate) struct TaskLibrary {
    service: Arc<Service>,
    profile: Profile,
}

/// What a URI names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Tasks,
    Task(TaskId),
    Messages(TaskId),
    Progress(TaskId),
}

impl Name {
    fn parse(uri: &str) -> Option<Self> {
        let below = uri.strip_prefix(TASKS)?;
        let mut parts = below.split('/');
        if parts.next() != Some("") {
            return None;
        }
        let name = match (parts.next(), parts.next()) {
            (None, None) if below.is_empty() => Self::Tasks,
            (Some(id), None) => Self::Task(id.parse().ok()?),
            (Some(id), Some("messages")) => Self::Messages(id.parse().ok()?),
            (Some(id), Some("progress")) => Self::Progress(id.parse().ok()?),
            _ => return None,
        };
        parts.next().is_none().then_some(name)
    }
}

impl TaskLibrary {
    /// With the prompts of those roles whose tools are in the profile.
    pub(crate) fn new(service: Arc<Service>, profile: Profile) -> Self {
        Self { service, profile }
    }

    fn offers(&self, prompt: &str) -> bool {
        let begins_with = match prompt {
            COORDINATE => "create_task",
            IMPLEMENT => "claim_next_task",
            _ => return false,
        };
        self.profile.has(begins_with)
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Service) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let done = self.service.clone().blocking(work).await;
        done.map_err(|failure| ErrorData::resource_not_found(failure.to_string(), None))
    }
}

impl Library for TaskLibrary {
    fn resources(&self, cursor: Option<String>) -> BoxFuture<'_, Result<Shelf, ErrorData>> {
        async move {
            let cursor = match cursor.map(|it| it.parse::<TaskId>()).transpose() {
                Ok(cursor) => cursor,
                Err(error) => {
                    return Err(ErrorData::invalid_params(format!("cursor: {error}"), None));
                }
            };
            let search = Search {
                limit: PAGE,
                cursor,
                ..Search::default()
            };
            let page = self
                .run(move |it| it.find(search, &Client::default()))
                .await?;
            let all = Resource::new(TASKS, "tasks")
                .with_description("The tasks that are not over, as list_tasks shows them")
                .with_mime_type(JSON);
            let each = page.tasks.into_iter().map(|task| {
                Resource::new(format!("{TASKS}/{}", task.id), task.id.to_string())
                    .with_title(task.title)
                    .with_mime_type(JSON)
            });
            let first = Some(all).filter(|_| cursor.is_none());
            Ok(Shelf {
                resources: first.into_iter().chain(each).collect(),
                next_cursor: page.next_cursor.map(|it| it.to_string()),
            })
        }
        .boxed()
    }

    fn templates(&self) -> Vec<ResourceTemplate> {
        [
            ("", "task", "A task with its history, as get_task shows it"),
            ("/messages", "messages", "The newest messages on a task"),
            ("/progress", "progress", "The newest reports on a task"),
        ]
        .map(|(below, name, description)| {
            ResourceTemplate::new(format!("{TASKS}/{{id}}{below}"), name)
                .with_description(description)
                .with_mime_type(JSON)
        })
        .into()
    }

    fn read(&self, uri: String) -> BoxFuture<'_, Result<Value, ErrorData>> {
        async move {
            let Some(name) = Name::parse(&uri) else {
                let uri = abbreviated(&uri, 100);
                let text = format!(
                    "{uri:?} is no resource: expected {TASKS}, or {TASKS}/task-0001 and /messages or /progress below it"
                );
                return Err(ErrorData::resource_not_found(text, None));
            };
            self.run(move |service| match name {
                Name::Tasks => {
                    let search = Search {
                        status: Filter::Active,
                        limit: ENTRIES,
                        ..Search::default()
                    };
                    Ok(json(&service.find(search, &Client::default())?))
                }
                Name::Task(id) => Ok(json(&service.get(id, HISTORY)?)),
                Name::Messages(id) => Ok(json(&service.messages(id, None, ENTRIES)?)),
                Name::Progress(id) => Ok(json(&service.progress(id, ENTRIES)?)),
            })
            .await
        }
        .boxed()
    }

    fn knows(&self, uri: &str) -> bool {
        Name::parse(uri).is_some()
    }

    fn changes(&self) -> Receiver<u64> {
        self.service.changes()
    }

    fn prompts(&self) -> Vec<Prompt> {
        let argument = |name: &str, description: &str| {
            let argument = PromptArgument::new(name);
            vec![argument.with_description(description).with_required(false)]
        };
        let all = [
            Prompt::new(
                COORDINATE,
                Some("Plan work as tasks in the shared queue, and review what comes in"),
                Some(argument("goal", "What is to be achieved")),
            ),
            Prompt::new(
                IMPLEMENT,
                Some("Work through the shared task queue"),
                Some(argument("tag", "Only tasks with this tag")),
            ),
        ];
        all.into_iter().filter(|it| self.offers(&it.name)).collect()
    }

    fn prompt(&self, name: &str, arguments: &JsonObject) -> Result<GetPromptResult, ErrorData> {
        for (argument, value) in arguments {
            if value.as_str().is_none_or(|it| it.len() > LONGEST) {
                let argument = abbreviated(argument, 60);
                let text = format!("{argument}: expected a text of at most {LONGEST} bytes");
                return Err(ErrorData::invalid_params(text, None));
            }
        }
        let given = |name: &str| {
            let text = arguments.get(name).and_then(Value::as_str).map(str::trim);
            text.filter(|it| !it.is_empty())
        };
        let text = match name {
            COORDINATE if self.offers(name) => coordinate(given("goal")),
            IMPLEMENT if self.offers(name) => implement(given("tag")),
            unknown => {
                let offered = [COORDINATE, IMPLEMENT]
                    .into_iter()
                    .filter(|it| self.offers(it));
                let advice = match meant(unknown, offered) {
                    Some(known) => format!("did you mean {known}?"),
                    None => "prompts/list names those there are".to_owned(),
                };
                let unknown = abbreviated(unknown, 60);
                let text = format!("unknown prompt {unknown:?}: {advice}");
                return Err(ErrorData::invalid_params(text, None));
            }
        };
        let message = PromptMessage::new_text(Role::User, text);
        Ok(GetPromptResult::new(vec![message]))
    }
}

fn coordinate(goal: Option<&str>) -> String {
    let goal = goal.map_or_else(
        || "Ask me what is to be achieved, if I have not said so.".to_owned(),
        |goal| format!("The goal: {goal}"),
    );
    format!(
        "Coordinate work through the shared task queue (the tools of this server). {goal}\n\
         1. Split it into tasks that one assistant can do in its own checkout. create_task for each: what is to be \
         done, how you will check it (expected_output), and `after` where one needs another's result.\n\
         2. Call wait_for_task without task_id. It returns when something needs you; do that, then wait again:\n\
         - review: look at what was handed in (get_task; branch and commit are in `submission`). approve_task, or \
         request_revision with what has to change.\n\
         - message: answer with post_message.\n\
         - holder_gone: wait for its return, or cancel_task and reopen_task to give the task to somebody else.\n\
         3. Go on until every task is approved or cancelled (list_tasks). Then say what was achieved.\n\
         Do not do the tasks yourself, unless nobody takes them."
    )
}

fn implement(tag: Option<&str>) -> String {
    let only = tag.map_or_else(String::new, |tag| format!(" with tag {tag:?}"));
    format!(
        "Work through the shared task queue (the tools of this server).\n\
         1. claim_next_task{only}, with wait_seconds 300. It brings a revision of your work, what you had begun, or a \
         new task. With task: null, call it again, until I stop you or `next` says that nothing is left.\n\
         2. Do the task in your own checkout, on a branch of its own; keep to what it says. update_progress when you \
         begin and at each step; it shows messages from others.\n\
         3. If something is unclear, ask: post_message with wait_seconds, and go on with the answer.\n\
         4. Check your work against expected_output, commit it, then complete_task with summary, files and commit.\n\
         5. Begin again at 1."
    )
}

/// Shapes are objects with text keys, and so always JSON.
fn json(shape: &impl Serialize) -> Value {
    serde_json::to_value(shape).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::tools::tool_names;

    #[test]
    fn names_are_read_as_they_are_written() {
        let id = TaskId::from_number(7);
        for (uri, name) in [
            ("coord://tasks", Some(Name::Tasks)),
            ("coord://tasks/task-0007", Some(Name::Task(id))),
            ("coord://tasks/task-0007/messages", Some(Name::Messages(id))),
            ("coord://tasks/task-0007/progress", Some(Name::Progress(id))),
            ("coord://tasks/", None),
            ("coord://tasks/7", None),
            ("coord://taskstask-0007", None),
            ("coord://tasksX/task-0007", None),
            ("coord://tasks/task-0007/", None),
            ("coord://tasks/task-0007/history", None),
            ("coord://tasks/task-0007/messages/1", None),
            ("file:///etc/passwd", None),
            ("", None),
        ] {
            assert_eq!(Name::parse(uri), name, "{uri}");
        }
    }

    #[test]
    fn prompts_name_tools_that_there_are_and_say_what_was_asked_for() {
        let known = tool_names();
        for text in [coordinate(None), implement(None)] {
            let words = text.split(|it: char| !(it.is_ascii_lowercase() || it == '_'));
            let tools: Vec<_> = words
                .filter(|it| {
                    it.ends_with("_task")
                        || it.starts_with("post_")
                        || it.starts_with("request_")
                        || it.starts_with("update_")
                        || it.ends_with("_tasks")
                })
                .collect();
            assert!(tools.len() >= 4, "{tools:?}");
            for tool in tools {
                assert!(known.iter().any(|it| it == tool), "there is no {tool}");
            }
            assert!(text.chars().count() < 1_300, "{}", text.chars().count());
        }
        assert!(coordinate(Some("a parser")).contains("The goal: a parser"));
        assert!(implement(Some("docs")).contains("with tag \"docs\""));
    }
}
