//! What derived schemas become.

use schemars::{JsonSchema, schema_for};
use serde_json::Map;

use super::*;

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is of interest")]
enum Plain {
    Pending,
    InProgress,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is of interest")]
enum Documented {
    /// First.
    Pending,
    /// Second.
    InProgress,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Id(
    #[schemars(extend("pattern" = "^task-[0-9]{4,}$", "x-expected" = "an id like task-0001"))]
    String,
);

/// The doc comment of the struct.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is of interest")]
struct Everything {
    /// Which task.
    task_id: Id,
    /// A title.
    #[schemars(length(min = 1, max = 200))]
    title: String,
    /// How much, 0 to 100.
    #[schemars(range(min = 0, max = 100))]
    percent: Option<u8>,
    count: Option<u32>,
    status: Option<Plain>,
    documented: Option<Documented>,
    one: Documented,
    after: Option<Vec<Id>>,
    #[schemars(length(max = 256), inner(length(max = 1024)))]
    files: Option<Vec<String>>,
    #[serde(default)]
    force: bool,
    #[serde(default)]
    note: Option<String>,
    #[schemars(extend("x-maxBytes" = 4096))]
    metadata: Option<Map<String, Value>>,
}

fn derived<T: JsonSchema>() -> JsonObject {
    match schema_for!(T).to_value() {
        Value::Object(schema) => schema,
        other => panic!("a struct's schema is an object, not {other}"),
    }
}

#[test]
fn the_full_view_keeps_what_arguments_are_checked_against() {
    let full = full("t", &derived::<Everything>()).expect("all of it is supported");
    let expected = json!({
        "type": "object",
        "properties": {
            "task_id": {"type": "string", "description": "Which task.", "pattern": "^task-[0-9]{4,}$", "x-expected": "an id like task-0001"},
            "title": {"type": "string", "description": "A title.", "minLength": 1, "maxLength": 200},
            "percent": {"type": "integer", "description": "How much, 0 to 100.", "minimum": 0, "maximum": 100},
            "count": {"type": "integer", "minimum": 0},
            "status": {"type": "string", "enum": ["pending", "in_progress"]},
            "documented": {"type": "string", "enum": ["pending", "in_progress"]},
            "one": {"type": "string", "enum": ["pending", "in_progress"]},
            "after": {"type": "array", "items": {"type": "string", "pattern": "^task-[0-9]{4,}$", "x-expected": "an id like task-0001"}},
            "files": {"type": "array", "items": {"type": "string", "maxLength": 1024}, "maxItems": 256},
            "force": {"type": "boolean", "default": false},
            "note": {"type": "string"},
            "metadata": {"type": "object", "x-maxBytes": 4096},
        },
        "required": ["task_id", "title", "one"],
    });
    assert_eq!(
        Value::Object(full.clone()).to_string(),
        expected.to_string(),
        "order is part of it"
    );
}

#[test]
fn the_published_view_drops_what_clients_cannot_take() {
    let full = full("t", &derived::<Everything>()).expect("all of it is supported");
    let published = published(&full);
    let properties = published["properties"].as_object().expect("an object");
    assert_eq!(
        properties["title"],
        json!({"type": "string", "description": "A title."})
    );
    assert_eq!(properties["percent"]["maximum"], json!(100));
    assert_eq!(properties["task_id"]["pattern"], json!("^task-[0-9]{4,}$"));
    assert_eq!(
        properties["files"],
        json!({"type": "array", "items": {"type": "string"}})
    );
    assert_eq!(properties["metadata"], json!({"type": "object"}));
    assert_eq!(published["required"], full["required"]);
    let text = Value::Object(published).to_string();
    for keyword in [
        "minLength",
        "maxLength",
        "maxItems",
        "x-",
        "$schema",
        "$ref",
        "$defs",
        "format",
        "null",
        "title\":\"",
        "anyOf",
    ] {
        assert!(!text.contains(keyword), "{keyword} in {text}");
    }
}

#[test]
fn a_struct_without_fields_still_has_properties() {
    #[derive(JsonSchema)]
    struct Nothing {}
    let full = full("t", &derived::<Nothing>()).expect("nothing is supported");
    assert_eq!(
        Value::Object(full),
        json!({"type": "object", "properties": {}})
    );
}

#[test]
fn a_description_beside_a_reference_wins() {
    let derived = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/A", "description": "mine"}},
        "$defs": {"A": {"type": "string", "description": "its", "maxLength": 3}},
    });
    let full = full("t", derived.as_object().expect("an object")).expect("supported");
    assert_eq!(
        full["properties"]["a"],
        json!({"type": "string", "description": "mine", "maxLength": 3})
    );
}

#[test]
fn what_is_not_supported_is_named() {
    for (property, problem) in [
        (json!(true), "schema of t.a: a schema must be an object"),
        (json!({}), "schema of t.a: it has no single type"),
        (
            json!({"type": ["string", "integer"]}),
            "schema of t.a: it has no single type",
        ),
        (
            json!({"type": "number"}),
            "schema of t.a: the type number is not supported",
        ),
        (
            json!({"type": "array"}),
            "schema of t.a: an array must say what its items are",
        ),
        (
            json!({"type": "array", "items": {"type": "null"}}),
            "schema of t.a[]: the type null is not supported",
        ),
        (
            json!({"type": "object", "properties": {}}),
            "schema of t.a: properties of a property are not supported",
        ),
        (
            json!({"$ref": "#/$defs/B"}),
            "schema of t.a: a $ref leads nowhere",
        ),
        (
            json!({"$ref": "#/$defs/Loop"}),
            "schema of t.a: it refers to itself",
        ),
        (
            json!({"type": "string", "pattern": "(a|b)"}),
            "schema of t.a: the pattern (a|b) is not supported",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            "schema of t.a: anyOf of anything but strings is not supported",
        ),
    ] {
        let derived = json!({
            "type": "object", "properties": {"a": property}, "$defs": {"Loop": {"anyOf": [{"$ref": "#/$defs/Loop"}]}},
        });
        let error =
            full("t", derived.as_object().expect("an object")).expect_err("it is not supported");
        assert_eq!(error.to_string(), problem);
    }
    let error =
        full("t", json!({"oneOf": []}).as_object().expect("an object")).expect_err("no object");
    assert_eq!(
        error.to_string(),
        "schema of t: the root must have the type object"
    );
}
