//! Task ids: sequential numbers in a spelling that is safe to join to a path.

use std::{borrow::Cow, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// The name of a task: `task-` and at least four digits, as in `task-0001`.
///
/// One number has one spelling (`task-9999` is followed by `task-10000`, `task-09999` is no id), so ids compare as
/// numbers and an id never names two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(u64);

impl TaskId {
    /// The regular expression that every id matches, in the dialect of JSON Schema.
    pub const PATTERN: &str = "^task-[0-9]{4,}$";

    /// The id with this number.
    pub const fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// The number in the id.
    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task-{:04}", self.0)
    }
}

impl FromStr for TaskId {
    type Err = ParseTaskIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text
            .strip_prefix("task-")
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let id = digits.and_then(|digits| digits.parse().ok()).map(Self);
        // Printing it again refuses every other spelling of the same number.
        id.filter(|id| id.to_string() == text)
            .ok_or_else(|| ParseTaskIdError(text.chars().take(80).collect()))
    }
}

impl TryFrom<String> for TaskId {
    type Error = ParseTaskIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.to_string()
    }
}

impl schemars::JsonSchema for TaskId {
    fn schema_name() -> Cow<'static, str> {
        "TaskId".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": Self::PATTERN, "x-expected": "an id like task-0001" })
    }
}

/// The text is not a task id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a task id: expected one like task-0001")]
pub struct ParseTaskIdError(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_has_one_spelling() {
        for (text, number) in [
            ("task-0001", 1),
            ("task-9999", 9_999),
            ("task-10000", 10_000),
            ("task-0000", 0),
        ] {
            let id: TaskId = text.parse().unwrap();
            assert_eq!(id.number(), number);
            assert_eq!(id.to_string(), text);
        }
    }

    #[test]
    fn every_other_spelling_is_refused() {
        let long = format!("task-{}", "9".repeat(400));
        for text in [
            "",
            "task-",
            "task-1",
            "task-01000",
            "task-00001",
            "Task-0001",
            "task-0001 ",
            "task-+001",
            "task-٠٠٠١",
        ]
        .into_iter()
        .chain(["../task-0001", "task-0001/..", "task-0001\0", long.as_str()])
        {
            assert!(
                text.parse::<TaskId>().is_err(),
                "{text:?} was taken for an id"
            );
        }
    }

    #[test]
    fn ids_order_as_numbers() {
        assert!(TaskId::from_number(9_999) < TaskId::from_number(10_000));
    }
}
