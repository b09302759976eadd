//! JSON, with comments or without.

use std::iter;

use jsonc_parser::{
    CollectOptions, ParseOptions,
    ast::Object,
    cst::{CstInputValue, CstNode, CstObject, CstRootNode},
    parse_to_ast,
};
use serde_json::Value;

use super::Broken;
use crate::cli::config::setting::Edit;

/// What a client takes for JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Strict,
    WithComments,
}

pub(super) fn fragment(value: &Value) -> String {
    format!("{value:#}\n")
}

pub(super) fn read(text: &str, dialect: Dialect) -> Result<Value, Broken> {
    if dialect == Dialect::Strict {
        return serde_json::from_str(text).map_err(|error| strict(&error));
    }
    let root = parse(text)?;
    // Nothing but comments.
    let nothing = || Value::Object(serde_json::Map::new());
    Ok(root.to_serde_value().unwrap_or_else(nothing))
}

/// What was read in either dialect, changed.
pub(super) fn edited(text: &str, edits: &[Edit]) -> Result<String, Broken> {
    if parse(text)?.to_string() != text {
        return Err(Broken::Entangled);
    }
    let apply = |text: String, edit: &Edit| match edit {
        Edit::Set(path, value) => set(&text, path, value),
        Edit::Append(path, items) => append(&text, path, items),
    };
    let edited = edits.iter().try_fold(text.to_owned(), apply);
    edited.ok_or(Broken::Entangled)
}

fn strict(error: &serde_json::Error) -> Broken {
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = error.to_string();
    Broken::Syntax {
        line: error.line(),
        reason: reason.strip_suffix(&place).unwrap_or(&reason).to_owned(),
    }
}

fn parse(text: &str) -> Result<CstRootNode, Broken> {
    CstRootNode::parse(text, &options()).map_err(|error| Broken::Syntax {
        line: error.line_display(),
        reason: error.kind().to_string(),
    })
}

fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

fn set(text: &str, path: &[String], value: &Value) -> Option<String> {
    let root = parse(text).ok()?;
    let (key, above) = path.split_last()?;
    let object = object_at(&root, above)?;
    match object.get(key) {
        Some(member) => member.set_value(input(value)),
        // The parser would break up the line.
        None if is_in_a_line(&object) => return in_a_line(text, above, key, value),
        None => {
            object.append(key, input(value));
        }
    }
    Some(root.to_string())
}

fn append(text: &str, path: &[String], items: &[String]) -> Option<String> {
    let root = parse(text).ok()?;
    let (key, above) = path.split_last()?;
    let list = object_at(&root, above)?.array_value(key)?;
    for item in items {
        list.append(CstInputValue::String(item.clone()));
    }
    Some(root.to_string())
}

fn object_at(root: &CstRootNode, path: &[String]) -> Option<CstObject> {
    let inner = |object: CstObject, key: &String| object.object_value(key);
    let top = root.object_value_or_create()?;
    path.iter().try_fold(top, inner)
}

/// Whether the members of an object stand in one line; of one without members, whether those around it do.
fn is_in_a_line(object: &CstObject) -> bool {
    let around = object.ancestors().filter_map(|it| it.as_object());
    let mut with_members = iter::once(object.clone())
        .chain(around)
        .filter(|it| !it.properties().is_empty());
    let innermost = with_members.next();
    innermost.is_some_and(|it| !it.children().iter().any(CstNode::is_newline))
}

/// The text with one member more, behind the last one of this object.
fn in_a_line(text: &str, path: &[String], key: &str, value: &Value) -> Option<String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options()).ok()?;
    let parsed = parsed.value?;
    let top = parsed.as_object()?;
    let inner = |object, key: &String| Object::get_object(object, key);
    let object = path.iter().try_fold(top, inner)?;
    let member = format!("{}: {value}", Value::from(key));
    let (place, member) = match object.properties.last() {
        Some(last) => (last.range.end, format!(", {member}")),
        None => (object.range.start + 1, member),
    };
    let (before, after) = text.split_at_checked(place)?;
    Some(format!("{before}{member}{after}"))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(it) => CstInputValue::Bool(*it),
        Value::Number(it) => CstInputValue::Number(it.to_string()),
        Value::String(it) => CstInputValue::String(it.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            let member = |(key, it): (&String, &Value)| (key.clone(), input(it));
            CstInputValue::Object(members.iter().map(member).collect())
        }
    }
}
