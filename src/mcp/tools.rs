//! The tools: one method each, with its request struct, description and annotations beside it.
//!
//! A doc comment here is text that a model reads: what the tool does, when to use it, what comes back, what to call
//! next. A handler turns the request into a call of the service and nothing else.
#![expect(
    clippy::doc_markdown,
    reason = "the descriptions of tools are for models, who read no Markdown"
)]

mod lifecycle;
mod messages;
mod profile;
mod progress;
mod queue;
mod review;

use std::{sync::Arc, time::Duration};

use futures::FutureExt;
use rmcp::{
    handler::server::router::tool::ToolRouter,
    model::{JsonObject, MetaObject, Tool},
};
use serde::Serialize;

pub(crate) use profile::{Profile, UnknownTools};

use super::{
    Caller, Interruption, Reply, SchemaError, Server, ToolError, server::publish,
    tasks::TaskLibrary,
};
use crate::service::{Client, Failure, Patience, Service};

/// How many characters of instructions every client shows.
const INSTRUCTIONS: usize = 600;

/// What the tools hang on.
#[derive(Debug)]
pub(crate) struct Tools {
    service: Arc<Service>,
}

/// The server with the tools of a profile.
pub(crate) fn server(
    service: Arc<Service>,
    profile: &Profile,
) -> Result<Server<Tools>, SchemaError> {
    let instructions = instructions(&service.directory(), profile);
    let router = profile.choose(Tools::router());
    let library = TaskLibrary::new(service.clone(), profile.clone());
    let server = Server::new(Tools { service }, router, instructions)?;
    Ok(server.with_library(Arc::new(library)))
}

/// The names of all tools.
#[cfg(test)]
pub(crate) fn tool_names() -> Vec<String> {
    let router = Tools::router();
    router.map.keys().map(ToString::to_string).collect()
}

/// The tools of a profile as its server lists them.
pub(crate) fn published(profile: &Profile) -> Result<Vec<Tool>, SchemaError> {
    let mut router = profile.choose(Tools::router());
    publish(&mut router)?;
    Ok(router.list_all())
}

/// What a client tells its model about the server: the first sentences for those who see no more. Only of roles whose
/// tools are offered.
fn instructions(directory: &str, profile: &Profile) -> String {
    let implement = "To implement: repeat claim_next_task (also brings back unfinished work and revisions), work in \
        your own checkout, update_progress, complete_task. ";
    let coordinate = "To coordinate: create_task (order with `after`), then wait_for_task without task_id: it returns \
        when work awaits review, somebody asks or a holder is gone; approve_task or request_revision. ";
    let ask = "Ask with post_message and wait_seconds. ";
    let parts = [
        (profile.has("claim_next_task"), implement),
        (profile.has("create_task"), coordinate),
        (profile.has("post_message"), ask),
    ];
    let roles: String = parts
        .into_iter()
        .filter_map(|(is_offered, text)| is_offered.then_some(text))
        .collect();
    let words = format!(
        "Task queue shared with other AI assistants. {roles}Lost context? Call the same tool again. Queue: "
    );
    let room = INSTRUCTIONS.saturating_sub(words.chars().count());
    let length = directory.chars().count();
    if length <= room {
        return format!("{words}{directory}");
    }
    // The end of a path tells two directories apart sooner than its beginning.
    let end: String = directory
        .chars()
        .skip(length.saturating_sub(room.saturating_sub(1)))
        .collect();
    format!("{words}…{end}")
}

impl Tools {
    fn router() -> ToolRouter<Self> {
        Self::queue_tools()
            + Self::lifecycle_tools()
            + Self::review_tools()
            + Self::message_tools()
            + Self::progress_tools()
    }

    /// Runs what reads and writes files where blocking is allowed.
    async fn run<T: Serialize + Send + 'static>(
        &self,
        caller: &Caller,
        work: impl FnOnce(&Service, &Client) -> Result<T, Failure> + Send + 'static,
    ) -> Result<Reply<T>, ToolError> {
        let client = client(caller);
        let done = self
            .service
            .clone()
            .blocking(move |service| work(service, &client))
            .await?;
        Ok(Reply::new(done))
    }

    /// Answers with what a wait ends with.
    async fn wait<T: Serialize>(
        wait: impl Future<Output = Result<T, Failure>>,
    ) -> Result<Reply<T>, ToolError> {
        Ok(Reply::new(wait.await?))
    }
}

/// Marks the few tools that a client which shows only names until it is asked should show whole: without them an
/// assistant would search for each step of its loop.
fn always_loaded() -> MetaObject {
    let mut meta = JsonObject::new();
    meta.insert("anthropic/alwaysLoad".to_owned(), true.into());
    MetaObject(meta)
}

/// A number of entries; the schema has bounded it.
fn count(asked: Option<u64>, default: usize) -> usize {
    asked.map_or(default, |it| usize::try_from(it).unwrap_or(usize::MAX))
}

/// Who calls.
fn client(caller: &Caller) -> Client {
    Client {
        name: caller.client_name().map(str::to_owned),
        version: caller.client_version().map(str::to_owned),
    }
}

/// How long a caller waits.
fn patience(caller: &Caller, seconds: Option<u64>) -> Patience {
    let tell = caller.wants_progress().then(|| {
        let caller = caller.clone();
        let tell = move |elapsed: Duration| {
            let caller = caller.clone();
            async move {
                caller
                    .report(
                        elapsed.as_secs_f64(),
                        format!("waiting for {} s", elapsed.as_secs()),
                    )
                    .await;
            }
            .boxed()
        };
        Box::new(tell) as crate::service::Tell
    });
    let interrupted = {
        let caller = caller.clone();
        async move {
            let _: Interruption = caller.interrupted().await;
        }
        .boxed()
    };
    Patience::new(client(caller), seconds, interrupted, tell)
}

impl From<Failure> for ToolError {
    fn from(failure: Failure) -> Self {
        Self::new(failure.code().as_str(), failure.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::schema;

    #[test]
    fn every_client_takes_every_tool() {
        let service = Service::idle();
        let server = server(service, &Profile::default()).unwrap();
        let problems: Vec<_> = server.tools().iter().flat_map(schema::lint::tool).collect();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn instructions_fit_every_client_and_name_the_directory_last() {
        for directory in [
            "/home/me/project/.ai/coordination",
            &"/very-long".repeat(100),
        ] {
            let text = instructions(directory, &Profile::default());
            assert!(
                text.chars().count() <= 600,
                "{} characters",
                text.chars().count()
            );
            assert!(text.ends_with(&directory[directory.len() - 20..]));
        }
        let first: String = instructions("/x", &Profile::default())
            .chars()
            .take(250)
            .collect();
        let implementer = instructions("/x", &"implementer".parse().unwrap());
        assert!(!implementer.contains("create_task"), "{implementer}");
        let coordinator = instructions("/x", &"coordinator".parse().unwrap());
        assert!(!coordinator.contains("claim_next_task"), "{coordinator}");
        for tool in ["claim_next_task", "update_progress", "complete_task"] {
            assert!(
                first.contains(tool),
                "{tool} is not within the first 250 characters"
            );
        }
    }
}
