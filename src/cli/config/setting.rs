//! What a configuration file has to say, whatever else it says, and what is missing for that.
//!
//! Responsibility: comparing what is wanted with what is there. How a file is written is `document`'s business.

use std::path::Path;

use serde_json::{Map, Value};

use super::client::Role;

/// The name of the program, by which an entry is known to be one of ours.
const PROGRAM: &str = "ai-coord-mcp";

/// What is wanted at some place of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Setting {
    /// This value.
    Value(Value),
    /// This value, unless there is one.
    Default(Value),
    /// A list that has these, among others.
    Including(Vec<String>),
    /// An object that has these members, among others.
    Object(Vec<(String, Setting)>),
    /// The entry of a server.
    Server(Server),
}

/// The entry of a server that is a program.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Server {
    pub(super) program: String,
    pub(super) role: Option<Role>,
    pub(super) arguments: Arguments,
    /// Members that stand before the command, and after it.
    pub(super) before: Vec<(String, Setting)>,
    pub(super) after: Vec<(String, Setting)>,
}

/// Where a client wants a program's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arguments {
    /// In `args`, if there are any.
    Apart,
    /// In `args`, even if there are none.
    Always,
    /// In `command`, after the program.
    Together,
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Edit {
    /// This value comes to this place, instead of what is there.
    Set(Vec<String>, Value),
    /// The list at this place gets these, too.
    Append(Vec<String>, Vec<String>),
}

/// Something of another kind is where we want something of our own to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mismatch {
    pub(super) place: String,
    pub(super) expected: &'static str,
}

impl Setting {
    /// A text.
    pub(super) fn text(text: &str) -> Self {
        Self::Value(Value::from(text))
    }

    /// This setting, found by these keys.
    pub(super) fn below(self, keys: &[&str]) -> Self {
        keys.iter().rev().fold(self, |inner, key| {
            Self::Object(vec![((*key).to_owned(), inner)])
        })
    }

    /// Both settings. They have no key in common.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Object(mut members), Self::Object(more)) => {
                members.extend(more);
                Self::Object(members)
            }
            (first, _) => first,
        }
    }

    /// What a file says that says nothing else.
    pub(super) fn alone(&self) -> Value {
        match self {
            Self::Value(value) | Self::Default(value) => value.clone(),
            Self::Including(items) => Value::from(items.clone()),
            Self::Object(members) => object(members),
            Self::Server(server) => object(&server.members(None)),
        }
    }

    /// What has to be changed in a file that says `present`. Nothing: it says all of this.
    pub(super) fn edits(&self, present: &Value) -> Result<Vec<Edit>, Mismatch> {
        let mut edits = Vec::new();
        self.compare(&mut Vec::new(), Some(present), &mut edits)?;
        Ok(edits)
    }

    fn compare(
        &self,
        path: &mut Vec<String>,
        present: Option<&Value>,
        edits: &mut Vec<Edit>,
    ) -> Result<(), Mismatch> {
        let Some(present) = present else {
            edits.push(Edit::Set(path.clone(), self.alone()));
            return Ok(());
        };
        match self {
            Self::Default(_) => {}
            Self::Value(value) if value == present => {}
            Self::Value(value) => edits.push(match continued(present, value) {
                Some(more) => Edit::Append(path.clone(), more),
                None => Edit::Set(path.clone(), value.clone()),
            }),
            Self::Including(items) => {
                let list = present.as_array().ok_or_else(|| mismatch(path, "a list"))?;
                let is_there = |item: &String| list.iter().any(|it| it == item);
                let missing: Vec<_> = items.iter().filter(|it| !is_there(it)).cloned().collect();
                if !missing.is_empty() {
                    edits.push(Edit::Append(path.clone(), missing));
                }
            }
            Self::Object(members) => compare_members(members, path, present, edits)?,
            Self::Server(server) => {
                compare_members(&server.members(Some(present)), path, present, edits)?;
            }
        }
        Ok(())
    }
}

impl Server {
    /// The members of the entry, seeing what it says already.
    fn members(&self, present: Option<&Value>) -> Vec<(String, Setting)> {
        let mut members = self.before.clone();
        let words = self.words(present);
        let member = |name: &str, value| (name.to_owned(), Setting::Value(value));
        if self.arguments == Arguments::Together {
            let line = std::iter::once(self.program.clone()).chain(words);
            members.push(member("command", line.collect()));
        } else {
            let has_some = present.is_some_and(|it| it.get("args").is_some());
            members.push(member("command", Value::from(self.program.clone())));
            if has_some || !words.is_empty() || self.arguments == Arguments::Always {
                members.push(member("args", Value::from(words)));
            }
        }
        members.extend(self.after.iter().cloned());
        members
    }

    /// The arguments: those that the person gave to this program, with the role that is wanted now.
    ///
    /// Arguments of another program, such as a wrapper, mean nothing to ours.
    fn words(&self, present: Option<&Value>) -> Vec<String> {
        let mut given = present.and_then(|it| self.given(it)).unwrap_or_default();
        let Some(role) = self.role else {
            return given;
        };
        let role = role.profile();
        let separate = given.iter().position(|it| it == "--tools");
        let joined = given.iter().position(|it| it.starts_with("--tools="));
        if let Some(value) = separate.and_then(|it| given.get_mut(it + 1)) {
            role.clone_into(value);
        } else if let Some(word) = joined.and_then(|it| given.get_mut(it)) {
            *word = format!("--tools={role}");
        } else {
            given.truncate(separate.unwrap_or(given.len()));
            given.extend(["--tools".to_owned(), role.to_owned()]);
        }
        given
    }

    fn given(&self, present: &Value) -> Option<Vec<String>> {
        let texts = |list: &Value| -> Option<Vec<String>> {
            let texts = list.as_array()?.iter();
            texts.map(|it| it.as_str().map(str::to_owned)).collect()
        };
        let command = present.get("command")?;
        let mut line = if self.arguments == Arguments::Together {
            texts(command)?
        } else {
            let mut line = vec![command.as_str()?.to_owned()];
            line.extend(present.get("args").and_then(texts)?);
            line
        };
        let program = line.first()?;
        let ours = Path::new(program)
            .file_name()
            .is_some_and(|it| it == PROGRAM);
        ours.then(|| line.split_off(1))
    }
}

fn compare_members(
    members: &[(String, Setting)],
    path: &mut Vec<String>,
    present: &Value,
    edits: &mut Vec<Edit>,
) -> Result<(), Mismatch> {
    let present = present
        .as_object()
        .ok_or_else(|| mismatch(path, "an object"))?;
    for (key, setting) in members {
        path.push(key.clone());
        setting.compare(path, present.get(key), edits)?;
        path.pop();
    }
    Ok(())
}

/// What has to come to a list to make it the other one, where that is enough: comments in it stay that way.
fn continued(present: &Value, wanted: &Value) -> Option<Vec<String>> {
    let (present, wanted) = (present.as_array()?, wanted.as_array()?);
    let more = wanted.strip_prefix(present.as_slice())?;
    more.iter()
        .map(|it| it.as_str().map(str::to_owned))
        .collect()
}

fn object(members: &[(String, Setting)]) -> Value {
    let members = members.iter().map(|(key, it)| (key.clone(), it.alone()));
    Value::Object(members.collect::<Map<_, _>>())
}

fn mismatch(path: &[String], expected: &'static str) -> Mismatch {
    let place = match path {
        [] => "the whole file".to_owned(),
        keys => keys.join("."),
    };
    Mismatch { place, expected }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn server(role: Option<Role>, arguments: Arguments) -> Setting {
        Setting::Server(Server {
            program: "/new/ai-coord-mcp".to_owned(),
            role,
            arguments,
            before: vec![],
            after: vec![],
        })
    }

    fn arguments_after(present: &Value, role: Option<Role>) -> Value {
        let edits = server(role, Arguments::Apart).edits(present).unwrap();
        let arguments = edits.into_iter().find_map(|it| match it {
            Edit::Set(path, value) if path == ["args"] => Some(value),
            Edit::Append(path, more) if path == ["args"] => {
                let mut list = present["args"].as_array().unwrap().clone();
                list.extend(more.into_iter().map(Value::from));
                Some(Value::from(list))
            }
            _ => None,
        });
        arguments.unwrap_or_else(|| present["args"].clone())
    }

    #[test]
    fn a_role_takes_the_place_of_another_and_leaves_other_arguments() {
        let coordinator = Some(Role::Coordinator);
        for (before, role, after) in [
            (json!([]), coordinator, json!(["--tools", "coordinator"])),
            (json!(["--dir", "/d"]), None, json!(["--dir", "/d"])),
            (
                json!(["--tools", "implementer", "--dir", "/d"]),
                coordinator,
                json!(["--tools", "coordinator", "--dir", "/d"]),
            ),
            (
                json!(["--tools=implementer"]),
                coordinator,
                json!(["--tools=coordinator"]),
            ),
            (
                json!(["--dir", "/d", "--tools"]),
                coordinator,
                json!(["--dir", "/d", "--tools", "coordinator"]),
            ),
        ] {
            let present = json!({"command": "/old/ai-coord-mcp", "args": before});
            assert_eq!(arguments_after(&present, role), after, "{present}");
        }
        let foreign = json!({"command": "env", "args": ["A=1", "ai-coord-mcp"]});
        assert_eq!(arguments_after(&foreign, None), json!([]));
    }

    #[test]
    fn arguments_in_the_command_are_kept_too() {
        let present = json!({"command": ["/old/ai-coord-mcp", "--dir", "/d"]});
        let edits = server(None, Arguments::Together).edits(&present).unwrap();
        let line = json!(["/new/ai-coord-mcp", "--dir", "/d"]);
        assert_eq!(edits, [Edit::Set(vec!["command".to_owned()], line)]);
    }

    #[test]
    fn what_is_there_is_left_alone() {
        let setting = Setting::Object(vec![
            ("list".to_owned(), Setting::Including(vec!["a".to_owned()])),
            ("number".to_owned(), Setting::Default(json!(300))),
            ("flag".to_owned(), Setting::Value(json!(true))),
        ]);
        let present = json!({"list": ["b", "a"], "number": 5, "flag": true, "other": null});
        assert_eq!(setting.edits(&present), Ok(vec![]));
        for (present, place) in [
            (json!([]), "the whole file"),
            (json!({"list": "a"}), "list"),
        ] {
            assert_eq!(setting.edits(&present).unwrap_err().place, place);
        }
    }
}
