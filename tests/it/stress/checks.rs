//! The account: every call against what is found.
//!
//! Responsibility: acknowledged means once, refused means never, unanswered means at most once; and nothing is found that
//! nobody asked for.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::{
    Limit,
    found::{Found, check_order, check_versions},
    journal::{Call, Fate, Tool, Trace, Violations},
};

/// The lifecycle, as the README has it: action, from, to.
const LEGAL: [(&str, &str, &str); 15] = [
    ("claim", "pending", "claimed"),
    ("start", "claimed", "in_progress"),
    ("start", "revision_requested", "in_progress"),
    ("complete", "claimed", "completed"),
    ("complete", "in_progress", "completed"),
    ("complete", "revision_requested", "completed"),
    ("approve", "completed", "approved"),
    ("request_revision", "completed", "revision_requested"),
    ("cancel", "pending", "cancelled"),
    ("cancel", "claimed", "cancelled"),
    ("cancel", "in_progress", "cancelled"),
    ("cancel", "revision_requested", "cancelled"),
    ("reopen", "completed", "pending"),
    ("reopen", "approved", "pending"),
    ("reopen", "cancelled", "pending"),
];

/// What calls may be refused for: others were faster.
const HONEST: [&str; 4] = [
    "conflict: ",
    "invalid_transition: ",
    "not_assignee: ",
    "not_reviewer: ",
];

/// A text that was found: on which task, by whom, in which entry.
struct Find<'a> {
    task: &'a str,
    by: &'a Value,
    entry: &'a Value,
}

type Finds<'a> = HashMap<(Trace, &'a str), Vec<Find<'a>>>;

pub(super) fn account(calls: &[Call], found: &Found, limit: Limit, violations: &Violations) {
    for (id, task) in &found.tasks {
        let history = found.history(id);
        let wrong = check_versions(history)
            .and_then(|()| check_order(history))
            .and_then(|()| check_legal(history));
        if let Err(wrong) = wrong {
            violations.add(format!("{id}: {wrong}: {task}"));
        }
    }
    for (id, entries) in found.messages.iter().chain(&found.progress) {
        if let Err(wrong) = check_order(entries) {
            violations.add(format!("{id}: {wrong}"));
        }
    }
    let mut finds = finds(found);
    for call in calls {
        check_refusal(call, limit, violations);
        check_call(call, &mut finds, violations);
        check_answer(call, found, violations);
    }
    for ((trace, text), find) in finds {
        violations.add(format!(
            "nobody asked for the {trace:?} {text:?} on {}: {}",
            find[0].task, find[0].entry
        ));
    }
    check_claims(calls, found, violations);
}

/// Transitions are those of the table, and work is its holder's.
fn check_legal(history: &[Value]) -> Result<(), String> {
    let mut holder = &Value::Null;
    for entry in history.iter().skip(1) {
        let text = |key: &str| entry[key].as_str().unwrap_or_default();
        let transition = (text("action"), text("from"), text("to"));
        if !LEGAL.contains(&transition) {
            return Err(format!("{transition:?} is no transition"));
        }
        let actor = &entry["actor"];
        match transition.0 {
            "claim" => holder = actor,
            "start" | "complete" if actor != holder => {
                return Err(format!("{entry} is not by the holder {holder}"));
            }
            "approve" | "request_revision" if actor == holder => {
                return Err(format!("{entry} is by the holder"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn finds<'a>(found: &'a Found) -> Finds<'a> {
    let mut finds = Finds::new();
    let mut add = |trace, text: &'a Value, task: &'a str, by, entry| {
        let key = (trace, text_of(text));
        let find = Find { task, by, entry };
        finds.entry(key).or_default().push(find);
    };
    for (id, task) in &found.tasks {
        add(Trace::Title, &task["title"], id, &task["creator"], task);
        for entry in found.history(id) {
            if let Some(note) = entry.get("note") {
                add(Trace::Note, note, id, &entry["actor"], entry);
            }
        }
    }
    for (trace, key, entries) in [
        (Trace::Message, "content", &found.messages),
        (Trace::Progress, "notes", &found.progress),
    ] {
        for (id, entries) in entries {
            for entry in entries {
                add(trace, &entry[key], id, &entry["author"], entry);
            }
        }
    }
    finds
}

fn check_refusal(call: &Call, limit: Limit, violations: &Violations) {
    let Fate::Refused(text) = &call.fate else {
        return;
    };
    // Wrong verdicts cost retries, of which there are three. Nobody may wait in vain.
    let was_robbed = limit == Limit::Short && text.contains("took the lock away");
    let is_honest = HONEST.iter().any(|it| text.starts_with(it));
    violations.check(is_honest || was_robbed, || {
        format!("refused: {text}: {call:?}")
    });
}

/// Each trace of a call is there as often as its fate says, in the right place.
fn check_call<'a>(call: &'a Call, finds: &mut Finds<'a>, violations: &Violations) {
    let Some(text) = call.text.as_deref() else {
        return;
    };
    let mut counts = Vec::new();
    for trace in call.tool.traces() {
        let found = finds.remove(&(*trace, text)).unwrap_or_default();
        let is_as_told = match call.fate {
            Fate::Answered(_) => found.len() == 1,
            Fate::Refused(_) => found.is_empty(),
            Fate::Lost => found.len() <= 1,
        };
        violations.check(is_as_told, || {
            let entries: Vec<_> = found.iter().map(|it| (it.task, it.entry)).collect();
            format!(
                "{trace:?} found {} times, in {entries:?}: {call:?}",
                found.len()
            )
        });
        for it in &found {
            violations.check(it.is_of(call, *trace), || {
                format!("{trace:?} found on {} as {}: {call:?}", it.task, it.entry)
            });
        }
        counts.push(found.len());
    }
    violations.check(counts.windows(2).all(|it| it[0] == it[1]), || {
        format!("only a part has happened, {counts:?}: {call:?}")
    });
}

impl Find<'_> {
    /// Whether it stands where the call put it, with what the answer said about it.
    fn is_of(&self, call: &Call, trace: Trace) -> bool {
        let answer = call.fate.answer().unwrap_or(&Value::Null);
        let told = |told: &Value, found: &Value| told.is_null() || told == found;
        let is_told = match trace {
            Trace::Title => told(&answer["task"]["id"], &self.entry["id"]),
            Trace::Note => {
                self.entry["action"].as_str() == call.tool.action()
                    && told(&answer["task"]["version"], &self.entry["version"])
                    && told(&answer["task"]["status"], &self.entry["to"])
            }
            Trace::Message => told(&answer["message"]["id"], &self.entry["id"]),
            Trace::Progress => true,
        };
        let task = call.task.as_deref();
        is_told && *self.by == *call.by && task.is_none_or(|it| it == self.task)
    }
}

/// A status was acknowledged with a version: the history says so, too.
fn check_answer(call: &Call, found: &Found, violations: &Violations) {
    let Some(task) = call.fate.answer().and_then(|it| it.get("task")) else {
        return;
    };
    let Some(id) = task["id"].as_str() else {
        return;
    };
    let entry = entry_at(found.history(id), task);
    violations.check(entry.is_some_and(|it| it["to"] == task["status"]), || {
        format!("the history of {id} says {entry:?}: {call:?}")
    });
}

fn entry_at<'a>(history: &'a [Value], task: &Value) -> Option<&'a Value> {
    let version = &task["version"];
    history.iter().find(|it| it["version"] == *version)
}

/// Claims and starts have no text: those that were acknowledged are all there, and no more than were asked for.
fn check_claims(calls: &[Call], found: &Found, violations: &Violations) {
    let mut given = HashSet::new();
    for call in calls {
        let Some(answer) = call.fate.answer().filter(|it| it["task"]["id"].is_string()) else {
            continue;
        };
        let action = match (call.tool, answer["why"].as_str()) {
            (Tool::Claim, _) | (Tool::ClaimNext, Some("new")) => "claim",
            (Tool::ClaimNext, Some("revision")) => "start",
            _ => continue,
        };
        // The answer shows the task as it was a moment later, so others may have changed it again.
        let (id, version) = (&answer["task"]["id"], answer["task"]["version"].as_u64());
        let history = found.history(text_of(id)).iter();
        let made = history
            .filter(|it| it["action"] == action && it["actor"] == *call.by)
            .filter_map(|it| it["version"].as_u64())
            .rfind(|it| Some(*it) <= version);
        violations.check(
            made.is_some_and(|it| given.insert((id.clone(), it))),
            || format!("no {action} of its own, but {made:?}: {call:?}"),
        );
    }
    for action in ["claim", "start"] {
        let mut balance: HashMap<&str, i64> = HashMap::new();
        for call in calls.iter().filter(|it| it.fate.may_have_happened()) {
            let makes_one = match call.tool {
                Tool::ClaimNext => true,
                Tool::Claim => action == "claim",
                Tool::Report => action == "start",
                _ => false,
            };
            *balance.entry(&call.by).or_default() += i64::from(makes_one);
        }
        let entries = found.tasks.keys().flat_map(|id| found.history(id));
        for entry in entries.filter(|it| it["action"] == action) {
            *balance.entry(text_of(&entry["actor"])).or_default() -= 1;
        }
        violations.check(balance.values().all(|it| *it >= 0), || {
            format!("more of {action} than were asked for: {balance:?}")
        });
    }
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
