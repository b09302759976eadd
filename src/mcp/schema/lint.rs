//! The rules that a published tool has to keep so that every client and model provider takes it.
//!
//! Each rule has its own message. Tests run them over the real tools.

use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};

use super::{
    super::{arguments::Pattern, text::thousands},
    KEYWORDS,
};

/// Everything that is wrong with a tool, nothing if it is fine.
pub(crate) fn tool(tool: &Tool) -> Vec<String> {
    let mut problems = Vec::new();
    let name = &tool.name;
    let snake_case =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_';
    if name.is_empty() || name.len() > 40 || !name.chars().all(snake_case) {
        problems.push(format!(
            "{name}: a tool's name is snake_case, of at most 40 characters"
        ));
    }
    match tool
        .description
        .as_deref()
        .map_or(0, |description| description.chars().count())
    {
        0 => problems.push(format!("{name}: it has no description")),
        1..=2048 => {}
        _ => problems.push(format!(
            "{name}: its description is longer than 2,048 characters"
        )),
    }
    if tool.output_schema.is_some() {
        problems.push(format!(
            "{name}: an outputSchema costs every client context"
        ));
    }
    let hints = tool.annotations.as_ref();
    let read_only = hints.and_then(|hints| hints.read_only_hint);
    let destructive = hints.and_then(|hints| hints.destructive_hint);
    if read_only.is_none() || hints.and_then(|hints| hints.open_world_hint).is_none() {
        problems.push(format!(
            "{name}: readOnlyHint and openWorldHint must be given"
        ));
    }
    if read_only == Some(false) && destructive.is_none() {
        problems.push(format!(
            "{name}: destructiveHint must be given, it defaults to true"
        ));
    }
    problems.extend(
        schema(&tool.input_schema)
            .into_iter()
            .map(|problem| format!("{name}: {problem}")),
    );
    problems
}

/// Everything that is wrong with a published schema.
pub(crate) fn schema(root: &JsonObject) -> Vec<String> {
    let mut problems = Vec::new();
    if root.get("type") != Some(&json!("object")) {
        problems.push("the root's type is not object".to_owned());
    }
    let allowed = ["type", "properties", "required"];
    problems.extend(unknown_keywords("the root", root, &allowed));
    let Some(properties) = root.get("properties").and_then(Value::as_object) else {
        problems.push("the root has no properties, not even none".to_owned());
        return problems;
    };
    for required in root
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if !required
            .as_str()
            .is_some_and(|name| properties.contains_key(name))
        {
            problems.push(format!("required: {required} is no property"));
        }
    }
    for (name, property) in properties {
        let legal = |letter: char| letter.is_ascii_alphanumeric() || "_.-".contains(letter);
        if name.is_empty() || name.len() > 64 || !name.chars().all(legal) {
            problems.push(format!(
                "{name}: a property's name is 1 to 64 of a-z, A-Z, 0-9, _, . and -"
            ));
        }
        if property.get("description").is_none() {
            problems.push(format!("{name}: it has no description"));
        }
        problems.extend(value(name, property));
    }
    problems
}

fn value(path: &str, schema: &Value) -> Vec<String> {
    let Some(schema) = schema.as_object() else {
        return vec![format!(
            "{path}: a boolean schema loses the whole server in some clients"
        )];
    };
    let Some(kind) = schema.get("type").and_then(Value::as_str) else {
        return vec![format!("{path}: it has not exactly one type")];
    };
    let Some((_, keywords)) = KEYWORDS.iter().find(|(name, _)| *name == kind) else {
        return vec![format!("{path}: the type {kind} is not in the subset")];
    };
    let mut problems: Vec<_> =
        unknown_keywords(path, schema, &[&["type"], *keywords].concat()).collect();
    if schema.get("default").is_some_and(Value::is_null) {
        problems.push(format!("{path}: its default is null"));
    }
    if schema
        .get("pattern")
        .is_some_and(|pattern| pattern.as_str().and_then(Pattern::parse).is_none())
    {
        problems.push(format!("{path}: its pattern is not anchored and simple"));
    }
    if kind == "string"
        && schema
            .get("enum")
            .is_some_and(|values| !is_list_of_strings(values))
    {
        problems.push(format!(
            "{path}: its enum holds something other than strings"
        ));
    }
    problems.extend(unsaid(path, schema));
    match schema.get("items") {
        Some(items) => problems.extend(value(&format!("{path}[]"), items)),
        None if kind == "array" => problems.push(format!("{path}: an array without items")),
        None => {}
    }
    problems
}

/// Keywords outside of the subset, and those that cost context for nothing.
fn unknown_keywords<'a>(
    path: &'a str,
    schema: &'a JsonObject,
    known: &[&str],
) -> impl Iterator<Item = String> + 'a {
    let unknown = schema.keys().filter(|keyword| {
        !known.contains(&keyword.as_str()) || super::UNPUBLISHED.contains(&keyword.as_str())
    });
    unknown
        .map(move |keyword| format!("{path}: the keyword {keyword} is not in the subset"))
        .collect::<Vec<_>>()
        .into_iter()
}

/// Some clients strip bounds and defaults, so that the description has to say them, too.
fn unsaid(path: &str, schema: &JsonObject) -> Vec<String> {
    let description = schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let says = |value: &Value| match value {
        Value::Number(number) => {
            let grouped = number.as_u64().map(thousands);
            description.contains(&number.to_string())
                || grouped.is_some_and(|grouped| description.contains(&grouped))
        }
        Value::String(text) => description.contains(text.as_str()),
        // That a flag is off by default goes without saying.
        _ => true,
    };
    let keywords = ["maximum", "default"].into_iter();
    let unsaid = keywords.filter(|keyword| schema.get(*keyword).is_some_and(|value| !says(value)));
    unsaid
        .map(|keyword| format!("{path}: its description doesn't say its {keyword}"))
        .collect()
}

fn is_list_of_strings(values: &Value) -> bool {
    values
        .as_array()
        .is_some_and(|values| !values.is_empty() && values.iter().all(Value::is_string))
}

#[cfg(test)]
mod tests {
    use rmcp::model::ToolAnnotations;

    use super::*;

    fn root(properties: &Value) -> JsonObject {
        JsonObject::from_iter([
            ("type".into(), json!("object")),
            ("properties".into(), properties.clone()),
        ])
    }

    #[test]
    fn a_good_schema_passes() {
        let good = root(&json!({
            "task_id": {"type": "string", "description": "Which one.", "pattern": "^task-[0-9]{4,}$"},
            "percent": {"type": "integer", "description": "0 to 100.", "minimum": 0, "maximum": 100},
            "limit": {"type": "integer", "description": "At most 1,000, default 50.", "maximum": 1000, "default": 50},
            "status": {"type": "string", "description": "Which status.", "enum": ["a", "b"]},
            "tags": {"type": "array", "description": "Tags.", "items": {"type": "string"}},
            "metadata": {"type": "object", "description": "Anything."},
            "force": {"type": "boolean", "description": "Do it.", "default": false},
        }));
        assert_eq!(schema(&good), [""; 0]);
    }

    #[test]
    fn each_rule_finds_what_breaks_it() {
        let described = |property: Value| {
            let mut property = property.as_object().cloned().unwrap_or_default();
            property.insert("description".into(), json!("It."));
            root(&json!({"a": property}))
        };
        let not_in_subset =
            |keyword: &str| format!("a: the keyword {keyword} is not in the subset");
        for (broken, problem) in [
            (
                root(&json!({"a": true})),
                "a: a boolean schema loses the whole server in some clients".to_owned(),
            ),
            (
                root(&json!({"a": {"type": "string"}})),
                "a: it has no description".into(),
            ),
            (
                root(&json!({"a b": {"type": "string", "description": "It."}})),
                "a b: a property's name is 1 to 64 of a-z, A-Z, 0-9, _, . and -".into(),
            ),
            (
                described(json!({"type": ["string", "null"]})),
                "a: it has not exactly one type".into(),
            ),
            (
                described(json!({"anyOf": []})),
                "a: it has not exactly one type".into(),
            ),
            (
                described(json!({"type": "number"})),
                "a: the type number is not in the subset".into(),
            ),
            (
                described(json!({"type": "integer", "format": "uint32"})),
                not_in_subset("format"),
            ),
            (
                described(json!({"type": "string", "$ref": "#"})),
                not_in_subset("$ref"),
            ),
            (
                described(json!({"type": "string", "const": "x"})),
                not_in_subset("const"),
            ),
            (
                described(json!({"type": "string", "title": "A"})),
                not_in_subset("title"),
            ),
            (
                described(json!({"type": "string", "maxLength": 1})),
                not_in_subset("maxLength"),
            ),
            (
                described(json!({"type": "object", "additionalProperties": true})),
                not_in_subset("additionalProperties"),
            ),
            (
                described(json!({"type": "string", "default": null})),
                "a: its default is null".into(),
            ),
            (
                described(json!({"type": "string", "pattern": "task-[0-9]+"})),
                "a: its pattern is not anchored and simple".into(),
            ),
            (
                described(json!({"type": "string", "pattern": "^\\d+$"})),
                "a: its pattern is not anchored and simple".into(),
            ),
            (
                described(json!({"type": "string", "enum": [1]})),
                "a: its enum holds something other than strings".into(),
            ),
            (
                described(json!({"type": "integer", "maximum": 100})),
                "a: its description doesn't say its maximum".into(),
            ),
            (
                described(json!({"type": "integer", "default": 5})),
                "a: its description doesn't say its default".into(),
            ),
            (
                described(json!({"type": "array"})),
                "a: an array without items".into(),
            ),
            (
                described(json!({"type": "array", "items": true})),
                "a[]: a boolean schema loses the whole server in some clients".into(),
            ),
            (
                JsonObject::from_iter([("type".into(), json!("object"))]),
                "the root has no properties, not even none".into(),
            ),
            (
                JsonObject::from_iter([("properties".into(), json!({}))]),
                "the root's type is not object".into(),
            ),
        ] {
            assert_eq!(schema(&broken), [problem], "{broken:?}");
        }
        let mut broken = root(&json!({}));
        broken.insert("$schema".into(), json!("x"));
        broken.insert("required".into(), json!(["b"]));
        assert_eq!(
            schema(&broken),
            [
                "the root: the keyword $schema is not in the subset",
                r#"required: "b" is no property"#
            ]
        );
    }

    #[test]
    fn each_rule_for_tools_finds_what_breaks_it() {
        let annotations = || {
            ToolAnnotations::new()
                .read_only(false)
                .destructive(false)
                .open_world(false)
        };
        let good =
            || Tool::new("a_tool", "Does it.", root(&json!({}))).with_annotations(annotations());
        assert_eq!(tool(&good()), [""; 0]);

        let mut broken = good();
        broken.name = "aTool".into();
        assert_eq!(
            tool(&broken),
            ["aTool: a tool's name is snake_case, of at most 40 characters"]
        );
        let mut broken = good();
        broken.description = None;
        assert_eq!(tool(&broken), ["a_tool: it has no description"]);
        let mut broken = good();
        broken.description = Some("x".repeat(2049).into());
        assert_eq!(
            tool(&broken),
            ["a_tool: its description is longer than 2,048 characters"]
        );
        let mut broken = good();
        broken.output_schema = Some(root(&json!({})).into());
        assert_eq!(
            tool(&broken),
            ["a_tool: an outputSchema costs every client context"]
        );
        let mut broken = good();
        broken.annotations = None;
        assert_eq!(
            tool(&broken),
            ["a_tool: readOnlyHint and openWorldHint must be given"]
        );
        let mut broken = good();
        broken.annotations = Some(ToolAnnotations::new().read_only(false).open_world(false));
        assert_eq!(
            tool(&broken),
            ["a_tool: destructiveHint must be given, it defaults to true"]
        );
        let mut broken = good();
        broken.input_schema = root(&json!({"a": true})).into();
        assert_eq!(
            tool(&broken),
            ["a_tool: a: a boolean schema loses the whole server in some clients"]
        );
    }
}
