//! TOML.

use serde_json::Value as Json;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, TomlError, Value};

use super::Broken;
use crate::cli::config::setting::Edit;

/// How deep tables have a heading of their own: the list of servers, and the server. What is deeper stands in a line.
const HEADINGS: usize = 2;

pub(super) fn fragment(value: &Json) -> String {
    let mut document = DocumentMut::new();
    if let Item::Table(table) = with_headings(value, HEADINGS) {
        *document.as_table_mut() = table;
    }
    document.to_string()
}

pub(super) fn read(text: &str) -> Result<Json, Broken> {
    let document = parse(text)?;
    Ok(table_to_json(document.as_table()))
}

pub(super) fn edited(text: &str, edits: &[Edit]) -> Result<String, Broken> {
    // The parser drops the carriage returns, so they come back afterwards, or the file is none of those we can keep.
    let unix = text.replace("\r\n", "\n");
    let windows = unix != text;
    if unix.contains('\r') || windows && unix.replace('\n', "\r\n") != text {
        return Err(Broken::Entangled);
    }
    let edited = match appended(&unix, edits) {
        Some(appended) => appended,
        None => within(&unix, edits)?,
    };
    Ok(if windows {
        edited.replace('\n', "\r\n")
    } else {
        edited
    })
}

/// A server that is not there comes to the end. None: it is there, or the list of servers stands in a line.
fn appended(text: &str, edits: &[Edit]) -> Option<String> {
    let [Edit::Set(path, value)] = edits else {
        return None;
    };
    if path.len() > HEADINGS || !value.is_object() {
        return None;
    }
    let nested = |inner: Json, key: &String| serde_json::json!({ key: inner });
    let fragment = fragment(&path.iter().rev().fold(value.clone(), nested));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let appended = format!("{text}{end}\n{fragment}");
    parse(&appended).is_ok().then_some(appended)
}

fn within(text: &str, edits: &[Edit]) -> Result<String, Broken> {
    let mut document = parse(text)?;
    if document.to_string() != text {
        return Err(Broken::Entangled);
    }
    for edit in edits {
        apply(document.as_table_mut(), edit).ok_or(Broken::Entangled)?;
    }
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<DocumentMut, Broken> {
    text.parse().map_err(|error: TomlError| {
        let before = error.span().and_then(|it| text.get(..it.start));
        Broken::Syntax {
            line: 1 + before.unwrap_or_default().matches('\n').count(),
            reason: error.message().trim_end().replace('\n', ", "),
        }
    })
}

fn apply(top: &mut dyn TableLike, edit: &Edit) -> Option<()> {
    match edit {
        Edit::Set(path, value) => {
            let (key, above) = path.split_last()?;
            let table = table_at(top, above)?;
            match table.get_mut(key) {
                Some(item) => replace(item, in_a_line(value)),
                None => {
                    table.insert(key, Item::Value(in_a_line(value)));
                }
            }
        }
        Edit::Append(path, items) => {
            let (key, above) = path.split_last()?;
            let list = table_at(top, above)?.get_mut(key)?.as_array_mut()?;
            list.extend(items);
        }
    }
    Some(())
}

fn table_at<'a>(top: &'a mut dyn TableLike, path: &[String]) -> Option<&'a mut dyn TableLike> {
    let Some((key, below)) = path.split_first() else {
        return Some(top);
    };
    table_at(top.get_mut(key)?.as_table_like_mut()?, below)
}

/// The blanks before the old value and the comment behind it stay.
fn replace(item: &mut Item, mut value: Value) {
    if let Item::Value(old) = item {
        *value.decor_mut() = old.decor().clone();
    }
    *item = Item::Value(value);
}

fn with_headings(value: &Json, depth: usize) -> Item {
    let Json::Object(members) = value else {
        return Item::Value(in_a_line(value));
    };
    let mut table = Table::new();
    table.set_implicit(true);
    for (key, value) in members {
        let item = if depth == 0 {
            Item::Value(in_a_line(value))
        } else {
            with_headings(value, depth - 1)
        };
        table.insert(key, item);
    }
    Item::Table(table)
}

fn in_a_line(value: &Json) -> Value {
    match value {
        Json::Null => Value::from(""),
        Json::Bool(it) => Value::from(*it),
        Json::Number(it) => match it.as_i64() {
            Some(whole) => Value::from(whole),
            None => Value::from(it.as_f64().unwrap_or_default()),
        },
        Json::String(it) => Value::from(it),
        Json::Array(items) => Value::Array(items.iter().map(in_a_line).collect::<Array>()),
        Json::Object(members) => {
            let members = members.iter().map(|(key, it)| (key, in_a_line(it)));
            Value::InlineTable(members.collect::<InlineTable>())
        }
    }
}

fn table_to_json(table: &dyn TableLike) -> Json {
    let members = table.iter().filter_map(|(key, item)| {
        let value = match item {
            Item::None => return None,
            Item::Value(value) => value_to_json(value),
            Item::Table(table) => table_to_json(table),
            Item::ArrayOfTables(tables) => {
                Json::Array(tables.iter().map(|it| table_to_json(it)).collect())
            }
        };
        Some((key.to_owned(), value))
    });
    Json::Object(members.collect())
}

fn value_to_json(value: &Value) -> Json {
    match value {
        Value::String(it) => Json::from(it.value().as_str()),
        Value::Integer(it) => Json::from(*it.value()),
        Value::Float(it) => Json::from(*it.value()),
        Value::Boolean(it) => Json::from(*it.value()),
        Value::Datetime(it) => Json::from(it.value().to_string()),
        Value::Array(items) => Json::Array(items.iter().map(value_to_json).collect()),
        Value::InlineTable(table) => table_to_json(table),
    }
}
