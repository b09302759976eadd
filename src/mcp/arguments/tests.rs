//! The rules for arguments, one by one, and what is said when one is broken.

use proptest::prelude::*;
use serde_json::json;

use super::*;

/// The full schema of a tool with one argument of each kind.
fn schema() -> JsonObject {
    let schema = json!({
        "type": "object",
        "properties": {
            "task_id": {"type": "string", "pattern": "^task-[0-9]{4,}$", "x-expected": "an id like task-0001"},
            "title": {"type": "string", "maxLength": 10},
            "description": {"type": "string", "maxLength": 8000},
            "percent": {"type": "integer", "minimum": 0, "maximum": 100},
            "expected_version": {"type": "integer", "minimum": 1},
            "status": {"type": "string", "enum": ["pending", "claimed"]},
            "force": {"type": "boolean"},
            "after": {"type": "array", "items": {"type": "string", "pattern": "^task-[0-9]{4,}$", "x-expected": "an id like task-0001"}, "maxItems": 3},
            "files": {"type": "array", "items": {"type": "string", "maxLength": 5}},
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "metadata": {"type": "object", "x-maxBytes": 30},
            "code": {"type": "string", "pattern": "^[a-z]$"},
        },
        "required": ["task_id", "title"],
    });
    schema.as_object().cloned().unwrap_or_default()
}

fn check_all(given: &Value) -> Result<Checked, ArgumentError> {
    check(
        "a_tool",
        &schema(),
        given.as_object().cloned().expect("an object"),
    )
}

/// Checks the arguments beside the required ones.
fn check_with(extra: &Value) -> Result<Checked, ArgumentError> {
    let mut given = json!({"task_id": "task-0001", "title": "T"});
    let object = given.as_object_mut().expect("an object");
    object.extend(extra.as_object().cloned().expect("an object"));
    check_all(&given)
}

/// What one argument became. `None` if it counts as absent.
fn taken(name: &str, value: &Value) -> Option<Value> {
    let checked = check_with(&json!({name: value}))
        .unwrap_or_else(|error| panic!("{name}: {value}: {error}"));
    checked.into_parts().0.get(name).cloned()
}

fn refused(name: &str, value: &Value) -> String {
    match check_with(&json!({name: value})) {
        Err(ArgumentError::Invalid(message)) => message,
        other => panic!("{name}: {value}: expected to be refused, got {other:?}"),
    }
}

fn too_large(name: &str, value: &Value) -> String {
    match check_with(&json!({name: value})) {
        Err(ArgumentError::TooLarge(message)) => message,
        other => panic!("{name}: expected to be too large, got {other:?}"),
    }
}

#[test]
fn nothing_given_for_an_optional_is_absent() {
    for name in [
        "description",
        "percent",
        "status",
        "force",
        "after",
        "metadata",
    ] {
        for nothing in [json!(null), json!(""), json!(" \n")] {
            assert_eq!(taken(name, &nothing), None, "{name}: {nothing}");
        }
    }
}

#[test]
fn required_arguments_are_named_with_all_the_tool_needs() {
    let message = |given: Value| {
        check_all(&given)
            .expect_err("something is missing")
            .to_string()
    };
    let needs = "a_tool needs task_id and title";
    assert_eq!(
        message(json!({})),
        format!("task_id: required, but missing; {needs}")
    );
    assert_eq!(
        message(json!({"task_id": null})),
        format!("task_id: required, but null; {needs}")
    );
    assert_eq!(
        message(json!({"task_id": "task-0001", "title": " "})),
        format!("title: required, but blank; {needs}")
    );
    assert_eq!(
        message(json!({"task_id": "task-0001", "body": 1, "text": 2})),
        format!("title: required, but missing; {needs}; it has no argument body, text")
    );
}

#[test]
fn integers_are_taken_in_any_spelling() {
    for (given, number) in [
        (json!(40), 40),
        (json!("40"), 40),
        (json!(40.0), 40),
        (json!("40.0"), 40),
        (json!(" 40 "), 40),
        (json!(0), 0),
        (json!(100), 100),
    ] {
        assert_eq!(taken("percent", &given), Some(json!(number)), "{given}");
    }
    let expected = "percent: expected an integer from 0 to 100, got";
    for (given, got) in [
        (json!("lots"), r#"the string "lots""#),
        (json!(101), "101"),
        (json!(-1), "-1"),
        (json!(0.5), "0.5"),
        (json!("0.5"), r#"the string "0.5""#),
        (json!("50%"), r#"the string "50%""#),
        (json!(1e300), "1e+300"),
        (json!(u64::MAX), "18446744073709551615"),
        (json!(true), "true"),
        (json!([40]), "an array"),
        (json!({}), "an object"),
    ] {
        assert_eq!(refused("percent", &given), format!("{expected} {got}"));
    }
    assert_eq!(
        refused("expected_version", &json!(0)),
        "expected_version: expected an integer of at least 1, got 0"
    );
    assert_eq!(
        taken("expected_version", &json!(i64::MAX)),
        Some(json!(i64::MAX))
    );
}

#[test]
fn booleans_are_taken_as_words() {
    assert_eq!(taken("force", &json!(true)), Some(json!(true)));
    assert_eq!(taken("force", &json!("false")), Some(json!(false)));
    assert_eq!(
        refused("force", &json!(1)),
        "force: expected true or false, got 1"
    );
    assert_eq!(
        refused("force", &json!("yes")),
        r#"force: expected true or false, got the string "yes""#
    );
}

#[test]
fn strings_are_strings() {
    assert_eq!(
        taken("description", &json!(" as it is\n")),
        Some(json!(" as it is\n"))
    );
    assert_eq!(
        refused("description", &json!(5)),
        "description: expected a string, got 5"
    );
    assert_eq!(
        refused("description", &json!(["a"])),
        "description: expected a string, got an array"
    );
    let nul = "description: it contains a NUL character (U+0000): remove it";
    assert_eq!(refused("description", &json!("a\0b")), nul);
}

#[test]
fn a_value_outside_of_an_enum_is_told_all_of_them() {
    assert_eq!(taken("status", &json!("claimed")), Some(json!("claimed")));
    assert_eq!(
        refused("status", &json!("Claimed")),
        r#"status: expected one of pending, claimed, got "Claimed""#
    );
    assert_eq!(
        refused("status", &json!(1)),
        "status: expected one of pending, claimed, got 1"
    );
}

#[test]
fn ids_are_never_guessed() {
    assert_eq!(
        taken("task_id", &json!("task-12345")),
        Some(json!("task-12345"))
    );
    for (given, got) in [
        (json!("task-1"), r#""task-1""#),
        (json!("1"), r#""1""#),
        (json!(1), "1"),
        (json!(" task-0001"), r#"" task-0001""#),
        (json!("TASK-0001"), r#""TASK-0001""#),
        (json!("../x"), r#""../x""#),
        (json!("a\nb"), r#""a\nb""#),
    ] {
        assert_eq!(
            refused("task_id", &given),
            format!("task_id: expected an id like task-0001, got {got}")
        );
    }
    let long = refused("task_id", &json!("x".repeat(1 << 20)));
    assert!(long.len() < 200, "values are abbreviated: {}", long.len());
    assert_eq!(
        refused("code", &json!("A")),
        r#"code: expected a string like ^[a-z]$, got "A""#
    );
}

#[test]
fn arrays_may_be_encoded_as_strings() {
    for given in [json!(["a", "b"]), json!(r#"["a", "b"]"#)] {
        assert_eq!(taken("files", &given), Some(json!(["a", "b"])));
    }
    assert_eq!(taken("files", &json!([])), Some(json!([])));
    assert_eq!(
        taken("numbers", &json!("[1, \"2\", 3.0]")),
        Some(json!([1, 2, 3]))
    );
    for (given, got) in [
        (json!("a.rs"), r#"the string "a.rs""#),
        (json!("[1"), r#"the string "[1""#),
        (json!("{}"), r#"the string "{}""#),
        (json!({}), "an object"),
        (json!(1), "1"),
    ] {
        assert_eq!(
            refused("files", &given),
            format!("files: expected an array of strings, got {got}")
        );
    }
}

#[test]
fn entries_of_arrays_are_named_by_their_index() {
    assert_eq!(
        refused("files", &json!(["a", 1])),
        "files[1]: expected a string, got 1"
    );
    assert_eq!(
        refused("files", &json!(["a", null])),
        "files[1]: expected a string, got null"
    );
    assert_eq!(
        refused("files", &json!(["a", " "])),
        "files[1]: expected a string, got a blank string"
    );
    assert_eq!(
        refused("files", &json!(["\0"])),
        "files[0]: it contains a NUL character (U+0000): remove it"
    );
    assert_eq!(
        refused("after", &json!(["task-1"])),
        r#"after[0]: expected an id like task-0001, got "task-1""#
    );
    assert_eq!(
        too_large("files", &json!(["a", "b", "abcdef"])),
        "files[2]: 6 characters, at most 5: shorten it"
    );
    let four = json!(["task-0001", "task-0002", "task-0003", "task-0004"]);
    assert_eq!(
        too_large("after", &four),
        "after: 4 entries, at most 3: leave some out"
    );
}

#[test]
fn objects_may_be_encoded_as_strings() {
    for given in [json!({"a": [1, "[2]"]}), json!(r#"{"a": [1, "[2]"]}"#)] {
        assert_eq!(
            taken("metadata", &given),
            Some(json!({"a": [1, "[2]"]})),
            "only the outermost is decoded"
        );
    }
    assert_eq!(
        refused("metadata", &json!([])),
        "metadata: expected an object, got an array"
    );
    assert_eq!(
        refused("metadata", &json!("x")),
        r#"metadata: expected an object, got the string "x""#
    );
    for nul in [
        json!({"a": "\0"}),
        json!({"\0": 1}),
        json!({"a": [{"b": "\0"}]}),
    ] {
        assert_eq!(
            refused("metadata", &nul),
            "metadata: it contains a NUL character (U+0000): remove it"
        );
    }
    let advice = "put it in a repository file and name it in files";
    let large = json!({"key": "x".repeat(30)});
    assert_eq!(
        too_large("metadata", &large),
        format!("metadata: 40 bytes of JSON, at most 30: {advice}")
    );
}

#[test]
fn limits_count_characters() {
    assert_eq!(
        taken("title", &json!("ä".repeat(10))),
        Some(json!("ä".repeat(10)))
    );
    assert_eq!(
        too_large("title", &json!("ä".repeat(11))),
        "title: 11 characters, at most 10: shorten it"
    );
    assert_eq!(
        too_large("description", &json!("x".repeat(9001))),
        "description: 9,001 characters, at most 8,000: put it in a repository file and name it in files"
    );
    let schema = json!({"properties": {"content": {"type": "string", "maxLength": 8000}}});
    let given = JsonObject::from_iter([("content".to_owned(), json!("x".repeat(8001)))]);
    let error =
        check("post", schema.as_object().expect("an object"), given).expect_err("too large");
    assert_eq!(
        error.to_string(),
        "content: 8,001 characters, at most 8,000: put it in a repository file and give its path instead"
    );
}

#[test]
fn unknown_arguments_are_reported_not_taken() {
    let checked =
        check_with(&json!({"reasoning": "because", "wait_for_previous": true, "x": null}))
            .expect("fine");
    let (arguments, ignored) = checked.into_parts();
    assert_eq!(ignored, ["reasoning", "x"]);
    assert_eq!(
        Value::Object(arguments),
        json!({"task_id": "task-0001", "title": "T"})
    );
}

#[test]
fn misspelt_arguments_are_refused() {
    for (given, known) in [
        ("expectedVersion", "expected_version"),
        ("expected-version", "expected_version"),
        ("version", "expected_version"),
        ("percnt", "percent"),
        ("file", "files"),
    ] {
        let expected = format!("{given}: a_tool has no such argument: use {known}");
        assert_eq!(refused(given, &json!(1)), expected);
    }
    for given in ["taskId", "id", "task", "task-id"] {
        let expected = format!(
            "{given}: a_tool has no such argument, and task_id is given as well: leave {given} out"
        );
        assert_eq!(refused(given, &json!(1)), expected);
    }
}

#[test]
fn codes_follow_the_kind() {
    assert_eq!(
        ToolError::from(ArgumentError::Invalid("a".into())).to_string(),
        "invalid_arguments: a"
    );
    assert_eq!(
        ToolError::from(ArgumentError::TooLarge("a".into())).to_string(),
        "too_large: a"
    );
}

#[test]
fn arguments_come_out_in_the_order_of_the_schema() {
    let given = json!({"percent": 1, "title": "T", "task_id": "task-0001"});
    let (arguments, _) = check_all(&given).expect("fine").into_parts();
    assert_eq!(
        Value::Object(arguments).to_string(),
        r#"{"task_id":"task-0001","title":"T","percent":1}"#
    );
}

/// Any JSON at all.
fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        "[\\[{\"0-9,.]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map("[a-z_]{0,6}", inner, 0..4)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// Whether a value is what the schema says, read strictly.
fn fits(schema: &Value, value: &Value) -> bool {
    let bound = |keyword: &str, default| {
        schema
            .get(keyword)
            .and_then(Value::as_i64)
            .unwrap_or(default)
    };
    match schema["type"].as_str() {
        Some("integer") => value.as_i64().is_some_and(|value| {
            (bound("minimum", i64::MIN)..=bound("maximum", i64::MAX)).contains(&value)
        }),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.as_str().is_some_and(|text| {
            let listed = |values: &Vec<Value>| values.iter().any(|listed| listed == text);
            !text.trim().is_empty() && schema["enum"].as_array().is_none_or(listed)
        }),
        Some("array") => value
            .as_array()
            .is_some_and(|items| items.iter().all(|item| fits(&schema["items"], item))),
        _ => value.is_object(),
    }
}

proptest! {
    #[test]
    fn what_is_taken_fits_the_schema(
        names in prop::collection::vec(prop::sample::select(vec!["percent", "status", "force", "after", "files", "numbers", "metadata", "code", "other"]), 0..5),
        values in prop::collection::vec(json(), 5),
    ) {
        let extra: JsonObject = names.iter().zip(values).map(|(name, value)| ((*name).to_owned(), value)).collect();
        if let Ok(checked) = check_with(&Value::Object(extra)) {
            let (arguments, _) = checked.into_parts();
            for (name, value) in &arguments {
                prop_assert!(fits(&schema()["properties"][name], value), "{}: {}", name, value);
            }
        }
    }
}
