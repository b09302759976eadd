//! Input schemas: from what is derived for a request struct to what every client and model provider
//! takes.
//!
//! There are two views of one schema. The *full* one drives the checking of arguments; the
//! *published* one is what `tools/list` shows, without what costs context or what some client
//! rejects. Both are objects of scalars, arrays of scalars and plain objects, each with a single
//! type: no references, combinations, nulls or formats.
//!
//! Beyond the standard keywords the full view knows two of its own, set with
//! `#[schemars(extend(..))]`:
//!
//! - `x-maxBytes`: the most bytes an object may have as JSON;
//! - `x-expected`: what a string with a `pattern` is in words, for error messages: `an id like
//!   task-0001`.
//!
//! # Limitations
//!
//! What the tools don't use is refused when the server is built, not half supported: numbers that
//! aren't integers, nested properties, unions. Doc comments on the variants of an enum are dropped;
//! say it in the field's description.

#[cfg(test)]
pub(crate) mod lint;

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::arguments::Pattern;

/// Deeper than any schema of a request goes: what refers to itself is found by it.
const DEEPEST: usize = 8;

/// The keywords that are kept, by type, in the order they are written.
const KEYWORDS: [(&str, &[&str]); 5] = [
    (
        "string",
        &[
            "description",
            "enum",
            "pattern",
            "default",
            "minLength",
            "maxLength",
            "x-expected",
        ],
    ),
    ("integer", &["description", "minimum", "maximum", "default"]),
    ("boolean", &["description", "default"]),
    ("array", &["description", "items", "default", "maxItems"]),
    ("object", &["description", "x-maxBytes"]),
];

/// The keywords of the full view that clients don't get.
const UNPUBLISHED: [&str; 5] = [
    "minLength",
    "maxLength",
    "maxItems",
    "x-maxBytes",
    "x-expected",
];

/// A request struct asks for what the safe subset lacks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("schema of {path}: {problem}")]
pub struct SchemaError {
    path: String,
    problem: String,
}

impl SchemaError {
    fn new(path: &str, problem: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            problem: problem.into(),
        }
    }
}

/// The full view of a tool's schema as it is derived.
pub(super) fn full(tool: &str, derived: &JsonObject) -> Result<JsonObject, SchemaError> {
    let definitions = Definitions(derived.get("$defs"));
    if derived.get("type") != Some(&json!("object")) {
        return Err(SchemaError::new(tool, "the root must have the type object"));
    }
    let mut properties = JsonObject::new();
    for (name, property) in derived
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let property = definitions.property(&format!("{tool}.{name}"), property, DEEPEST)?;
        properties.insert(name.clone(), Value::Object(property));
    }
    let mut root = JsonObject::new();
    root.insert("type".into(), json!("object"));
    root.insert("properties".into(), Value::Object(properties));
    if let Some(required) = derived.get("required") {
        root.insert("required".into(), required.clone());
    }
    Ok(root)
}

/// The view that clients get.
pub(super) fn published(full: &JsonObject) -> JsonObject {
    let kept = full
        .iter()
        .filter(|(keyword, _)| !UNPUBLISHED.contains(&keyword.as_str()));
    kept.map(|(keyword, value)| {
        let value = match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => properties
                .iter()
                .map(|(name, property)| (name.clone(), published_value(property)))
                .collect(),
            ("items", items) => published_value(items),
            (_, value) => value.clone(),
        };
        (keyword.clone(), value)
    })
    .collect()
}

fn published_value(schema: &Value) -> Value {
    schema
        .as_object()
        .map_or_else(|| schema.clone(), |schema| Value::Object(published(schema)))
}

/// What `$ref` may refer to.
#[derive(Clone, Copy)]
struct Definitions<'a>(Option<&'a Value>);

impl Definitions<'_> {
    fn property(self, path: &str, schema: &Value, depth: usize) -> Result<JsonObject, SchemaError> {
        let schema = self.flattened(path, schema, depth)?;
        let kind =
            single_type(&schema).ok_or_else(|| SchemaError::new(path, "it has no single type"))?;
        let Some((_, keywords)) = KEYWORDS.iter().find(|(name, _)| *name == kind) else {
            return Err(SchemaError::new(
                path,
                format!("the type {kind} is not supported"),
            ));
        };
        if schema.contains_key("properties") {
            return Err(SchemaError::new(
                path,
                "properties of a property are not supported",
            ));
        }
        let mut property = JsonObject::new();
        property.insert("type".into(), json!(kind));
        for keyword in *keywords {
            if let Some(value) = schema.get(*keyword).filter(|value| !value.is_null()) {
                let value = self.keyword(path, keyword, value, depth)?;
                property.insert((*keyword).into(), value);
            }
        }
        if kind == "array" && !property.contains_key("items") {
            return Err(SchemaError::new(
                path,
                "an array must say what its items are",
            ));
        }
        Ok(property)
    }

    fn keyword(
        self,
        path: &str,
        keyword: &str,
        value: &Value,
        depth: usize,
    ) -> Result<Value, SchemaError> {
        match (keyword, value) {
            ("items", items) => {
                let depth = depth
                    .checked_sub(1)
                    .ok_or_else(|| SchemaError::new(path, "it nests too deeply"))?;
                self.property(&format!("{path}[]"), items, depth)
                    .map(Value::Object)
            }
            ("enum", Value::Array(values)) => Ok(values
                .iter()
                .filter(|value| !value.is_null())
                .cloned()
                .collect()),
            ("pattern", Value::String(pattern)) if Pattern::parse(pattern).is_none() => Err(
                SchemaError::new(path, format!("the pattern {pattern} is not supported")),
            ),
            (_, value) => Ok(value.clone()),
        }
    }

    /// Without references and combinations: a nullable type becomes the type, a choice of constants
    /// an enum. What stands beside a reference wins over what it refers to.
    fn flattened(
        self,
        path: &str,
        schema: &Value,
        depth: usize,
    ) -> Result<JsonObject, SchemaError> {
        let object = schema
            .as_object()
            .ok_or_else(|| SchemaError::new(path, "a schema must be an object"))?;
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| SchemaError::new(path, "it refers to itself"))?;
        let mut flat = JsonObject::new();
        if let Some(reference) = object.get("$ref") {
            let target = self
                .find(reference)
                .ok_or_else(|| SchemaError::new(path, "a $ref leads nowhere"))?;
            flat = self.flattened(path, target, depth)?;
        }
        for combination in ["anyOf", "oneOf", "allOf"] {
            if let Some(Value::Array(parts)) = object.get(combination) {
                let parts = parts
                    .iter()
                    .filter(|part| part.get("type") != Some(&json!("null")));
                let parts = parts
                    .map(|part| self.flattened(path, part, depth))
                    .collect::<Result<Vec<_>, _>>()?;
                flat.extend(combined(parts).ok_or_else(|| {
                    SchemaError::new(
                        path,
                        format!("{combination} of anything but strings is not supported"),
                    )
                })?);
            }
        }
        flat.extend(
            object
                .iter()
                .map(|(keyword, value)| (keyword.clone(), value.clone())),
        );
        if let Some(value) = flat.shift_remove("const") {
            flat.insert("enum".into(), json!([value]));
        }
        Ok(flat)
    }

    fn find(&self, reference: &Value) -> Option<&Value> {
        self.0?.get(reference.as_str()?.strip_prefix("#/$defs/")?)
    }
}

/// One schema for several: the only one there is, or an enum of all their strings.
fn combined(mut parts: Vec<JsonObject>) -> Option<JsonObject> {
    if parts.len() == 1 {
        return parts.pop();
    }
    let mut values = Vec::new();
    for part in &parts {
        values.extend(
            part.get("enum")?
                .as_array()?
                .iter()
                .filter(|value| !value.is_null())
                .cloned(),
        );
    }
    let strings = !values.is_empty() && values.iter().all(Value::is_string);
    strings.then(|| {
        JsonObject::from_iter([
            ("type".into(), json!("string")),
            ("enum".into(), Value::Array(values)),
        ])
    })
}

/// The one type other than null.
fn single_type(schema: &JsonObject) -> Option<&str> {
    match schema.get("type")? {
        Value::String(kind) => Some(kind),
        Value::Array(kinds) => {
            let mut kinds = kinds
                .iter()
                .filter_map(Value::as_str)
                .filter(|kind| *kind != "null");
            kinds.next().filter(|_| kinds.next().is_none())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
