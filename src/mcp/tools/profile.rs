//! Which tools a server offers: all of them, those of a role, or some by name.
//!
//! Every tool that a client lists costs context in each of its conversations, and an assistant that only works through
//! the queue needs six.

use std::{collections::BTreeSet, fmt, str::FromStr};

use rmcp::handler::server::router::tool::ToolRouter;

use super::Tools;
use crate::mcp::text::meant;

/// What somebody needs who works on tasks.
const IMPLEMENTER: [&str; 6] = [
    "claim_next_task",
    "complete_task",
    "get_task",
    "post_message",
    "update_progress",
    "wait_for_task",
];

/// What somebody needs who plans and reviews.
const COORDINATOR: [&str; 12] = [
    "approve_task",
    "cancel_task",
    "create_task",
    "get_messages",
    "get_progress",
    "get_task",
    "list_tasks",
    "post_message",
    "reopen_task",
    "request_revision",
    "search_tasks",
    "wait_for_task",
];

/// A choice of tools: `all`, `implementer`, `coordinator`, or names with commas between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Profile {
    /// None: all of them.
    names: Option<BTreeSet<String>>,
}

impl Profile {
    /// Whether the tool is offered.
    pub(crate) fn has(&self, tool: &str) -> bool {
        self.names.as_ref().is_none_or(|names| names.contains(tool))
    }

    /// The tools that are named. None are where all are offered.
    pub(crate) fn named(&self) -> impl Iterator<Item = &str> {
        self.names.iter().flatten().map(String::as_str)
    }

    /// Takes out what is not offered.
    pub(super) fn choose(&self, mut router: ToolRouter<Tools>) -> ToolRouter<Tools> {
        let all: Vec<_> = router.map.keys().cloned().collect();
        for name in all.iter().filter(|it| !self.has(it)) {
            router.remove_route(name);
        }
        router
    }

    fn of(names: &[&str]) -> Self {
        Self {
            names: Some(names.iter().map(ToString::to_string).collect()),
        }
    }
}

impl FromStr for Profile {
    type Err = UnknownTools;

    fn from_str(text: &str) -> Result<Self, UnknownTools> {
        match text.trim() {
            "all" => return Ok(Self::default()),
            "implementer" => return Ok(Self::of(&IMPLEMENTER)),
            "coordinator" => return Ok(Self::of(&COORDINATOR)),
            _ => {}
        }
        let router = Tools::router();
        let words = text.split(',').map(str::trim);
        let names: Vec<_> = words.filter(|it| !it.is_empty()).collect();
        match names.iter().find(|it| !router.map.contains_key(**it)) {
            Some(unknown) => Err(UnknownTools {
                advice: advice(unknown, &router),
                text: (*unknown).to_owned(),
            }),
            None if names.is_empty() => Err(UnknownTools {
                advice: "none is named".to_owned(),
                text: text.to_owned(),
            }),
            None => Ok(Self::of(&names)),
        }
    }
}

fn advice(unknown: &str, router: &ToolRouter<Tools>) -> String {
    let known = router.map.keys().map(AsRef::as_ref);
    match meant(unknown, known) {
        Some(name) => format!("did you mean {name}?"),
        None => "`ai-coord-mcp schema` names those there are".to_owned(),
    }
}

/// The text chooses no tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownTools {
    text: String,
    advice: String,
}

impl fmt::Display for UnknownTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "expected all, implementer, coordinator, or names of tools with commas between them, got {:?}: {}",
            self.text, self.advice
        )
    }
}

impl std::error::Error for UnknownTools {}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(profile: &str) -> Vec<String> {
        let router = profile.parse::<Profile>().unwrap().choose(Tools::router());
        let mut names: Vec<_> = router.map.keys().map(ToString::to_string).collect();
        names.sort();
        names
    }

    #[test]
    fn roles_and_names_choose_tools_that_there_are() {
        assert_eq!(offered("all").len(), 16);
        assert_eq!(offered("implementer"), IMPLEMENTER);
        assert_eq!(offered("coordinator"), COORDINATOR);
        assert_eq!(
            offered(" get_task, list_tasks,"),
            ["get_task", "list_tasks"]
        );
    }

    #[test]
    fn what_is_unknown_is_named() {
        for (text, said) in [
            ("get_tasks", "did you mean get_task?"),
            ("get_task,everything", "got \"everything\""),
            ("", "none is named"),
            ("Implementer", "expected all, implementer"),
        ] {
            let error = text.parse::<Profile>().unwrap_err().to_string();
            assert!(error.contains(said), "{text:?}: {error}");
        }
    }
}
