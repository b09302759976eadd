//! The rules that a published tool has to keep so that every client and model provider takes it.
//!
//! Each rule has its own message. Tests run them over the real tools.

use rmcp::model::{JsonObject, Tool};
use serde_json::{Value, json};

use super::{
    super::{arguments::Pattern, text::thousands},
    KEYWORDS,
};

/// How long a tool's description may be, in characters. Clients take 2,048; each is read in every conversation.
const DESCRIPTION: usize = 500;

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
        1..=DESCRIPTION => {}
        _ => problems.push(format!(
            "{name}: its description is longer than {DESCRIPTION} characters"
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
        if property.is_object() && property.get("description").is_none() {
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
    let mut problems = unknown_keywords(path, schema, &[&["type"], *keywords].concat());
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
fn unknown_keywords(path: &str, schema: &JsonObject, known: &[&str]) -> Vec<String> {
    let is_published =
        |keyword: &&str| known.contains(keyword) && !super::UNPUBLISHED.contains(keyword);
    let unknown = schema
        .keys()
        .map(String::as_str)
        .filter(|keyword| !is_published(keyword));
    unknown
        .map(|keyword| format!("{path}: the keyword {keyword} is not in the subset"))
        .collect()
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

    /// The schema of one described property, `a`.
    fn described(property: &Value) -> JsonObject {
        let mut property = property.as_object().cloned().unwrap_or_default();
        property.insert("description".into(), json!("It."));
        root(&json!({"a": property}))
    }

    #[test]
    fn each_rule_for_values_finds_what_breaks_it() {
        for (property, problem) in [
            (
                json!({"type": ["string", "null"]}),
                "it has not exactly one type",
            ),
            (json!({"anyOf": []}), "it has not exactly one type"),
            (
                json!({"type": "number"}),
                "the type number is not in the subset",
            ),
            (
                json!({"type": "string", "default": null}),
                "its default is null",
            ),
            (
                json!({"type": "string", "pattern": "task-[0-9]+"}),
                "its pattern is not anchored and simple",
            ),
            (
                json!({"type": "string", "pattern": "^\\d$"}),
                "its pattern is not anchored and simple",
            ),
            (
                json!({"type": "string", "enum": [1]}),
                "its enum holds something other than strings",
            ),
            (
                json!({"type": "integer", "maximum": 100}),
                "its description doesn't say its maximum",
            ),
            (
                json!({"type": "integer", "default": 5}),
                "its description doesn't say its default",
            ),
            (json!({"type": "array"}), "an array without items"),
        ] {
            assert_eq!(
                schema(&described(&property)),
                [format!("a: {problem}")],
                "{property}"
            );
        }
        let boolean = json!({"type": "array", "items": true});
        assert_eq!(
            schema(&described(&boolean)),
            ["a[]: a boolean schema loses the whole server in some clients"]
        );
    }

    #[test]
    fn keywords_outside_of_the_subset_are_named() {
        for (kind, keyword, value) in [
            ("integer", "format", json!("uint32")),
            ("string", "$ref", json!("#")),
            ("string", "const", json!("x")),
            ("string", "title", json!("A")),
            ("string", "maxLength", json!(1)),
            ("array", "maxItems", json!(1)),
            ("object", "x-maxBytes", json!(1)),
            ("object", "additionalProperties", json!(true)),
        ] {
            let property = json!({"type": kind, "items": {"type": "string"}, keyword: value});
            let problems = schema(&described(&property));
            let expected = format!("a: the keyword {keyword} is not in the subset");
            assert!(problems.contains(&expected), "{problems:?}");
        }
    }

    #[test]
    fn each_rule_for_the_root_finds_what_breaks_it() {
        let with = |keyword: &str, value: Value| {
            let mut root = root(&json!({}));
            root.insert(keyword.into(), value);
            root
        };
        let only = |keyword: &str, value| JsonObject::from_iter([(keyword.into(), value)]);
        for (broken, problem) in [
            (
                with("$schema", json!("x")),
                "the root: the keyword $schema is not in the subset",
            ),
            (
                with("required", json!(["b"])),
                r#"required: "b" is no property"#,
            ),
            (
                only("type", json!("object")),
                "the root has no properties, not even none",
            ),
            (
                only("properties", json!({})),
                "the root's type is not object",
            ),
            (
                root(&json!({"a": true})),
                "a: a boolean schema loses the whole server in some clients",
            ),
            (
                root(&json!({"a": {"type": "string"}})),
                "a: it has no description",
            ),
            (
                root(&json!({"a b": {"type": "string", "description": "It."}})),
                "a b: a property's name is 1 to 64 of a-z, A-Z, 0-9, _, . and -",
            ),
        ] {
            assert_eq!(schema(&broken), [problem], "{broken:?}");
        }
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
        broken.description = Some("x".repeat(501).into());
        assert_eq!(
            tool(&broken),
            ["a_tool: its description is longer than 500 characters"]
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
