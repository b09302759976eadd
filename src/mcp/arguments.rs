//! Checking a tool's arguments, before they become its request: lenient in, strict out.
//!
//! Models are sloppy in known ways, and those are put right: `null` or a blank string where nothing
//! is required, `"40"` or `40.0` for 40, an array or object encoded as a string. Everything else
//! that doesn't fit the *full* view of the schema is refused with the field, what was expected and
//! what was given. Nothing is guessed that could hit the wrong task: an argument nobody knows is
//! ignored, and reported, only if it can't be a known one misspelt.

mod pattern;
mod value;

use rmcp::model::JsonObject;
use serde_json::Value;

pub(super) use self::pattern::Pattern;
use self::value::Field;
use super::{
    reply::ToolError,
    text::{abbreviated, listed, meant},
};

/// Arguments that clients are known to add to every call, for themselves.
const INJECTED: [&str; 1] = ["wait_for_previous"];

/// Why arguments are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ArgumentError {
    /// They are missing, of the wrong type, or no legal value.
    #[error("{0}")]
    Invalid(String),
    /// They are over a limit.
    #[error("{0}")]
    TooLarge(String),
}

impl From<ArgumentError> for ToolError {
    fn from(error: ArgumentError) -> Self {
        let code = match error {
            ArgumentError::Invalid(_) => "invalid_arguments",
            ArgumentError::TooLarge(_) => "too_large",
        };
        Self::new(code, error.to_string())
    }
}

/// Arguments that fit their schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checked {
    arguments: JsonObject,
    ignored: Vec<String>,
}

impl Checked {
    /// The arguments, and the names of those that have no effect.
    pub(super) fn into_parts(self) -> (JsonObject, Vec<String>) {
        (self.arguments, self.ignored)
    }
}

/// Checks what was given to `tool` against the full view of its schema.
pub(super) fn check(
    tool: &str,
    schema: &JsonObject,
    mut given: JsonObject,
) -> Result<Checked, ArgumentError> {
    let tool = Tool { name: tool, schema };
    let ignored = tool.unknown(&given)?;
    let mut arguments = JsonObject::new();
    for (name, property) in tool.properties() {
        match given.remove(name) {
            Some(value) if !is_absent(&value) => {
                let field = Field::new(name, property, tool.takes("files"));
                arguments.insert(name.to_owned(), field.check(value)?);
            }
            absent if tool.required().any(|required| required == name) => {
                return Err(tool.missing(name, absent.as_ref(), &ignored));
            }
            _ => {}
        }
    }
    Ok(Checked { arguments, ignored })
}

/// What models write for "nothing".
fn is_absent(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// A tool as its schema describes it.
#[derive(Clone, Copy)]
struct Tool<'a> {
    name: &'a str,
    schema: &'a JsonObject,
}

impl<'a> Tool<'a> {
    fn properties(self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let properties = self.schema.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flatten()
            .map(|(name, property)| (name.as_str(), property))
    }

    fn required(self) -> impl Iterator<Item = &'a str> {
        self.schema
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
    }

    fn takes(self, name: &str) -> bool {
        self.properties().any(|(known, _)| known == name)
    }

    /// The names that mean nothing to this tool, unless one looks like a known name: ignoring an
    /// `expectedVersion` would skip the check its caller relies on.
    fn unknown(self, given: &JsonObject) -> Result<Vec<String>, ArgumentError> {
        let unknown = given
            .keys()
            .map(String::as_str)
            .filter(|name| !self.takes(name) && !INJECTED.contains(name));
        let mut ignored = Vec::new();
        for name in unknown {
            if let Some(known) = meant(name, self.properties().map(|(known, _)| known)) {
                return Err(self.misspelt(name, known, given.contains_key(known)));
            }
            ignored.push(name.to_owned());
        }
        Ok(ignored)
    }

    fn misspelt(self, name: &str, known: &str, both: bool) -> ArgumentError {
        let (name, tool) = (abbreviated(name, 60), self.name);
        ArgumentError::Invalid(if both {
            format!(
                "{name}: {tool} has no such argument, and {known} is given as well: leave {name} out"
            )
        } else {
            format!("{name}: {tool} has no such argument: use {known}")
        })
    }

    fn missing(self, name: &str, given: Option<&Value>, ignored: &[String]) -> ArgumentError {
        let state = match given {
            None => "missing",
            Some(Value::Null) => "null",
            Some(_) => "blank",
        };
        let needed = listed(self.required());
        let mut message = format!(
            "{name}: required, but {state}; {} needs {needed}",
            self.name
        );
        if !ignored.is_empty() {
            let ignored: Vec<_> = ignored
                .iter()
                .take(8)
                .map(|name| abbreviated(name, 40))
                .collect();
            message.push_str("; it has no argument ");
            message.push_str(&ignored.join(", "));
        }
        ArgumentError::Invalid(message)
    }
}

#[cfg(test)]
mod tests;
