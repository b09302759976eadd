//! One value against the schema of its field.

use std::borrow::Cow;

use rmcp::model::JsonObject;
use serde_json::{Number, Value};

use super::{
    super::text::{abbreviated, thousands},
    ArgumentError, Pattern,
};

/// The characters of a given value that an error repeats, at most.
const SHOWN: usize = 60;

/// Limits from here on are for prose, which can be put into a file instead. Below, they are for
/// names.
const PROSE: u64 = 2000;

/// The largest magnitude up to which every integer has a floating-point number of its own.
const MOST_EXACT: f64 = 9_007_199_254_740_992.0;

/// A field, or one entry of it.
pub(super) struct Field<'a> {
    path: Cow<'a, str>,
    schema: &'a Value,
    /// The tool has an argument that names files.
    takes_files: bool,
}

impl<'a> Field<'a> {
    pub(super) fn new(path: impl Into<Cow<'a, str>>, schema: &'a Value, takes_files: bool) -> Self {
        Self {
            path: path.into(),
            schema,
            takes_files,
        }
    }

    /// The value as the request takes it.
    pub(super) fn check(&self, value: Value) -> Result<Value, ArgumentError> {
        match (self.kind(), value) {
            ("integer", value) => self.integer(&value),
            ("boolean", value) => self.boolean(&value),
            ("string", Value::String(text)) => self.string(text),
            ("array", Value::Array(items)) => self.array(items),
            ("object", Value::Object(object)) => self.object(object),
            ("array" | "object", Value::String(text)) => self.encoded(text),
            (_, value) => Err(self.unexpected(&value)),
        }
    }

    fn integer(&self, value: &Value) -> Result<Value, ArgumentError> {
        let number = match value {
            Value::Number(number) => integral(number),
            Value::String(text) => serde_json::from_str(text.trim())
                .ok()
                .as_ref()
                .and_then(integral),
            _ => None,
        };
        let bound = |keyword| self.schema.get(keyword).and_then(Value::as_i64);
        let is_below = |number| bound("minimum").is_some_and(|minimum| number < minimum);
        let is_above = |number| bound("maximum").is_some_and(|maximum| number > maximum);
        match number {
            Some(number) if !is_below(number) && !is_above(number) => Ok(number.into()),
            _ => Err(self.unexpected(value)),
        }
    }

    fn boolean(&self, value: &Value) -> Result<Value, ArgumentError> {
        match value {
            Value::Bool(_) => Ok(value.clone()),
            Value::String(text) if text == "true" || text == "false" => {
                Ok(Value::Bool(text == "true"))
            }
            _ => Err(self.unexpected(value)),
        }
    }

    fn string(&self, text: String) -> Result<Value, ArgumentError> {
        if text.trim().is_empty() {
            return Err(self.invalid(&format!("expected {}, got a blank string", self.expected())));
        }
        self.refuse_nul(&text)?;
        // Before the pattern: of what is too long, the length is the better explanation.
        self.limit("maxLength", text.chars().count(), "characters")?;
        let is_listed = |values: &Vec<Value>| values.iter().any(|value| *value == *text);
        let values = self.schema.get("enum").and_then(Value::as_array);
        let fits = |pattern: Pattern| pattern.matches(&text);
        let pattern = self.schema.get("pattern").and_then(Value::as_str);
        if values.is_none_or(is_listed) && pattern.and_then(Pattern::parse).is_none_or(fits) {
            Ok(Value::String(text))
        } else {
            Err(self.unexpected(&Value::String(text)))
        }
    }

    fn array(&self, items: Vec<Value>) -> Result<Value, ArgumentError> {
        self.limit("maxItems", items.len(), "entries")?;
        let Some(schema) = self.schema.get("items") else {
            return Ok(Value::Array(items));
        };
        let checked = items.into_iter().enumerate().map(|(index, item)| {
            Field::new(format!("{}[{index}]", self.path), schema, self.takes_files).check(item)
        });
        checked.collect::<Result<_, _>>().map(Value::Array)
    }

    fn object(&self, object: JsonObject) -> Result<Value, ArgumentError> {
        let object = Value::Object(object);
        self.refuse_nul_within(&object)?;
        self.limit("x-maxBytes", object.to_string().len(), "bytes of JSON")?;
        Ok(object)
    }

    /// An array or object written as a string. Once is enough: what it holds is taken as it is.
    fn encoded(&self, text: String) -> Result<Value, ArgumentError> {
        match (self.kind(), serde_json::from_str(&text)) {
            ("array", Ok(Value::Array(items))) => self.array(items),
            ("object", Ok(Value::Object(object))) => self.object(object),
            _ => Err(self.unexpected(&Value::String(text))),
        }
    }

    fn limit(&self, keyword: &str, size: usize, unit: &str) -> Result<(), ArgumentError> {
        let Some(most) = self.schema.get(keyword).and_then(Value::as_u64) else {
            return Ok(());
        };
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        if size <= most {
            return Ok(());
        }
        let advice = match keyword {
            "maxItems" => "leave some out",
            "maxLength" if most < PROSE => "shorten it",
            _ if self.takes_files => "put it in a repository file and name it in files",
            _ => "put it in a repository file and give its path instead",
        };
        let (path, size, most) = (&self.path, thousands(size), thousands(most));
        Err(ArgumentError::TooLarge(format!(
            "{path}: {size} {unit}, at most {most}: {advice}"
        )))
    }

    /// JSON can carry the character, but paths cannot, and it hides what follows it in terminals
    /// and tools.
    fn refuse_nul(&self, text: &str) -> Result<(), ArgumentError> {
        if text.contains('\0') {
            return Err(self.invalid("it contains a NUL character (U+0000): remove it"));
        }
        Ok(())
    }

    /// The parser has bounded how deeply the value nests.
    fn refuse_nul_within(&self, value: &Value) -> Result<(), ArgumentError> {
        match value {
            Value::String(text) => self.refuse_nul(text),
            Value::Array(items) => items
                .iter()
                .try_for_each(|item| self.refuse_nul_within(item)),
            Value::Object(object) => object.iter().try_for_each(|(key, value)| {
                self.refuse_nul(key)?;
                self.refuse_nul_within(value)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
        }
    }

    fn kind(&self) -> &'a str {
        self.schema
            .get("type")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    fn expected(&self) -> String {
        let keyword = |name| self.schema.get(name);
        let bounds = (
            keyword("minimum").and_then(Value::as_i64),
            keyword("maximum").and_then(Value::as_i64),
        );
        match (self.kind(), bounds) {
            ("integer", (Some(minimum), Some(maximum))) => {
                format!("an integer from {minimum} to {maximum}")
            }
            ("integer", (Some(minimum), None)) => format!("an integer of at least {minimum}"),
            ("integer", (None, Some(maximum))) => format!("an integer of at most {maximum}"),
            ("integer", (None, None)) => "an integer".into(),
            ("boolean", _) => "true or false".into(),
            ("array", _) => {
                let item = keyword("items")
                    .and_then(|item| item.get("type"))
                    .and_then(Value::as_str);
                format!("an array of {}s", item.unwrap_or("value"))
            }
            ("object", _) => "an object".into(),
            _ => self.expected_string(),
        }
    }

    fn expected_string(&self) -> String {
        let keyword = |name| self.schema.get(name);
        if let Some(values) = keyword("enum").and_then(Value::as_array) {
            let values: Vec<_> = values.iter().filter_map(Value::as_str).collect();
            return format!("one of {}", values.join(", "));
        }
        let in_words = keyword("x-expected")
            .and_then(Value::as_str)
            .map(str::to_owned);
        let pattern = || {
            keyword("pattern")
                .and_then(Value::as_str)
                .map(|pattern| format!("a string like {pattern}"))
        };
        in_words
            .or_else(pattern)
            .unwrap_or_else(|| "a string".into())
    }

    fn unexpected(&self, value: &Value) -> ArgumentError {
        let got = match value {
            Value::Null => "null".into(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => number.to_string(),
            Value::String(text) => {
                let quoted = Value::String(abbreviated(text, SHOWN).into_owned());
                // Where a string is expected it is one; that it is one is the point only elsewhere.
                if self.kind() == "string" {
                    quoted.to_string()
                } else {
                    format!("the string {quoted}")
                }
            }
            Value::Array(_) => "an array".into(),
            Value::Object(_) => "an object".into(),
        };
        self.invalid(&format!("expected {}, got {got}", self.expected()))
    }

    fn invalid(&self, problem: &str) -> ArgumentError {
        ArgumentError::Invalid(format!("{}: {problem}", self.path))
    }
}

/// The integer a number stands for, also when it is written `40.0`.
fn integral(number: &Number) -> Option<i64> {
    let float = || {
        number
            .as_f64()
            .filter(|float| float.fract() == 0.0 && float.abs() < MOST_EXACT)
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is integral and within the exact range"
    )]
    number
        .as_i64()
        .or_else(|| float().map(|float| float as i64))
}
