//! Which tasks a caller asks for, and how much of them fits a result.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::domain::{AgentName, AnyTask, Status, Tag};

/// Clients cut results near 8,000 bytes; a page of entries stays below that.
pub(super) const PAGE_BYTES: usize = 7_500;

/// Which tasks, as callers name them: a status, `active` or `all`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Filter {
    /// All but approved and cancelled.
    #[default]
    Active,
    /// All.
    All,
    /// Those in one status.
    In(Status),
}

impl Filter {
    /// Whether tasks in this status are asked for.
    pub(crate) fn takes(self, status: Status) -> bool {
        match self {
            Self::Active => status.is_active(),
            Self::All => true,
            Self::In(only) => status == only,
        }
    }
}

const ACTIVE: &str = "active";
const ALL: &str = "all";

impl TryFrom<String> for Filter {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.as_str() {
            ACTIVE => Ok(Self::Active),
            ALL => Ok(Self::All),
            text => {
                let status = Status::ALL.into_iter().find(|it| it.as_str() == text);
                status
                    .map(Self::In)
                    .ok_or_else(|| format!("{text:?} is no status"))
            }
        }
    }
}

impl schemars::JsonSchema for Filter {
    fn schema_name() -> Cow<'static, str> {
        "Filter".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let statuses = Status::ALL.iter().map(|it| it.as_str());
        let values: Vec<_> = [ACTIVE, ALL].into_iter().chain(statuses).collect();
        schemars::json_schema!({ "type": "string", "enum": values })
    }
}

/// What else a task has to be.
#[derive(Debug, Default)]
pub(crate) struct Criteria {
    /// The status.
    pub(crate) status: Filter,
    /// Held by one of these.
    pub(crate) assignee: Option<Vec<AgentName>>,
    /// Created by one of these.
    pub(crate) creator: Option<Vec<AgentName>>,
    /// With this tag.
    pub(crate) tag: Option<Tag>,
    /// With this text, in lower case, in its title, description or a tag.
    pub(crate) text: Option<String>,
}

impl Criteria {
    /// Whether a task is asked for.
    pub(super) fn take(&self, task: &AnyTask) -> bool {
        let among = |names: &Option<Vec<AgentName>>, name: Option<&AgentName>| {
            names
                .as_ref()
                .is_none_or(|names| name.is_some_and(|it| names.contains(it)))
        };
        self.status.takes(task.status())
            && among(&self.assignee, task.assignee())
            && among(&self.creator, Some(task.creator()))
            && self
                .tag
                .as_ref()
                .is_none_or(|tag| task.work().tags.contains(tag))
            && self.text.as_ref().is_none_or(|text| mentions(task, text))
    }
}

fn mentions(task: &AnyTask, text: &str) -> bool {
    let work = task.work();
    let has = |it: &str| it.to_lowercase().contains(text);
    has(work.title.as_str())
        || has(work.description.as_str())
        || work.tags.iter().any(|it| has(it.as_str()))
}

/// Takes entries while they fit: at most `limit`, at most `bytes` of JSON, at least one.
pub(super) fn fit<T: Serialize>(
    entries: impl IntoIterator<Item = T>,
    limit: usize,
    bytes: usize,
) -> Vec<T> {
    let mut taken = Vec::new();
    let mut size = 0;
    for entry in entries.into_iter().take(limit) {
        size += size_of(&entry) + 1;
        if size > bytes && !taken.is_empty() {
            break;
        }
        taken.push(entry);
    }
    taken
}

/// How many bytes of compact JSON it takes.
pub(super) fn size_of(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(0, |json| json.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_ends_at_its_limit_or_its_bytes_and_has_one_entry_at_least() {
        let entries = ["aaaa", "bbbb", "cccc"];
        assert_eq!(fit(entries, 2, 1_000), ["aaaa", "bbbb"]);
        assert_eq!(fit(entries, 9, 14), ["aaaa", "bbbb"]);
        assert_eq!(fit(entries, 9, 13), ["aaaa"]);
        assert_eq!(fit(entries, 9, 1), ["aaaa"]);
        assert!(fit(entries, 0, 1_000).is_empty());
    }
}
