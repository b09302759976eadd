//! The story against servers that only recite: every answer that is not as it has to be is noticed.
//!
//! What the real server answers is not tested here, but where the built program is run.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;

/// Recites the lines of a file that is named after who introduces itself, with a `+` when it is for the second time.
const RECITER: &str = r#"
read -r hello
case $hello in *claude-code*) part=claude-code;; *) part=opencode;; esac
[ -e "$part.begun" ] && part=$part+ || : > "$part.begun"
printf '%s\n' '{"id":1,"result":{"protocolVersion":"2025-11-25"}}'
read -r initialized
while read -r answer <&3; do
    read -r request || exit
    printf '%s\n' "$answer"
done 3< "$part"
while read -r request; do :; done
"#;

/// A part, and what is recited in it: exactly what the story looks at.
fn transcript() -> [(&'static str, Vec<Value>); 3] {
    let shop = ("claude-code@shop", "opencode@shop");
    let coordinator = vec![
        json!({"task": {"id": "task-0001", "status": "pending"}}),
        json!({"task": {"id": "task-0002", "status": "pending"}}),
        json!({"task": {"id": "task-0003", "status": "pending"}}),
        json!({"attention": [{"why": "message", "message": {"content": "Upper case first?", "author": shop.1}}]}),
        json!({"message": {"author": shop.0}}),
        json!({"attention": [{"why": "review", "task": {"id": "task-0001"}}]}),
        json!({"task": {"status": "revision_requested"}, "message": {"author": shop.0}}),
        json!({"task": {"status": "approved"}}),
        json!({"attention": [{
            "why": "holder_gone",
            "task": {"id": "task-0002", "assignee": shop.1, "holderGone": true},
        }]}),
        json!({"task": {"status": "approved"}}),
        json!({"tasks": [{"id": "task-0003"}], "total": 1, "counts": {"approved": 2, "pending": 1}}),
    ];
    let implementer = vec![
        json!({"why": "new", "task": {
            "id": "task-0001", "status": "claimed", "creator": shop.0, "assignee": shop.1,
        }}),
        json!({"task": null, "held": [{"id": "task-0001"}]}),
        json!({"task": {"status": "in_progress"}, "progress": {"percent": 40}}),
        json!({"reply": {"content": "No, ignore case.", "author": shop.0}, "timed_out": false}),
        json!({"task": {"status": "completed"}}),
        json!({"why": "revision", "task": {
            "id": "task-0001", "status": "in_progress", "feedback": "An empty list is not tested.",
        }}),
        json!({"task": {"status": "completed"}}),
        json!({"why": "new", "task": {"id": "task-0002", "assignee": shop.1}}),
        json!({"task": {"status": "in_progress"}}),
    ];
    let returned = vec![
        json!({"why": "resumed", "task": {"id": "task-0002", "assignee": shop.1}, "progress": {"percent": 10}}),
        json!({"task": {"status": "completed"}}),
    ];
    [
        ("claude-code", coordinator),
        ("opencode", implementer),
        ("opencode+", returned),
    ]
}

/// Has the story told by servers that recite these parts.
fn told(parts: &[(&str, Vec<Value>)]) -> Result<(), DemoError> {
    let checkout = TempDir::new().unwrap();
    for (part, answers) in parts {
        let lines = (2..).zip(answers).map(|(id, answer)| {
            let content = json!([{"type": "text", "text": answer.to_string()}]);
            format!("{}\n", json!({"id": id, "result": {"content": content}}))
        });
        fs::write(checkout.path().join(part), lines.collect::<String>()).unwrap();
    }
    let place = Place {
        program: Path::new("/bin/sh"),
        arguments: &["-c", RECITER],
        checkout: checkout.path(),
        coordination: checkout.path(),
        deadline: Instant::now() + Duration::from_mins(1),
    };
    tell(place, &mut Script::new(Vec::new(), false))
}

/// The places in a value that hold no further ones.
fn leaves(value: &Value, at: &str) -> Vec<String> {
    let inner: Vec<_> = match value {
        Value::Object(fields) => fields.iter().map(|(name, it)| (name.clone(), it)).collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(index, it)| (index.to_string(), it))
            .collect(),
        _ => return vec![at.to_owned()],
    };
    inner
        .into_iter()
        .flat_map(|(name, it)| leaves(it, &format!("{at}/{name}")))
        .collect()
}

#[test]
fn it_ends_well_where_every_answer_is_as_it_has_to_be() {
    told(&transcript()).unwrap();
}

#[test]
fn every_wrong_answer_is_reported_with_what_was_expected_and_what_came() {
    for (part, (name, answers)) in transcript().into_iter().enumerate() {
        for (number, answer) in answers.iter().enumerate() {
            for at in leaves(answer, "") {
                let mut wrong = transcript();
                let place = wrong[part].1[number].pointer_mut(&at).unwrap();
                let right = std::mem::replace(place, json!("something else"));
                let error = told(&wrong)
                    .expect_err(&format!("{name}, answer {number}: {at} is not looked at"))
                    .to_string();
                let end = format!("expected {at} to be {right}, got \"something else\"");
                assert!(error.ends_with(&end), "{error} instead of {end}");
                assert!(error.starts_with(name.trim_end_matches('+')), "{error}");
            }
        }
    }
}

#[test]
fn a_refusal_is_reported_as_what_it_says() {
    let mut parts = transcript();
    parts[1].1[1] = json!("busy: a lock is held; try again");
    let error = told(&parts).unwrap_err().to_string();
    assert_eq!(
        error,
        "opencode: claim_next_task: expected /task to be null, got \"busy: a lock is held; try again\""
    );
}

#[test]
fn a_server_of_another_revision_is_reported() {
    let place = Place {
        program: Path::new("/bin/sh"),
        arguments: &[
            "-c",
            r#"read -r hello; echo '{"id":1,"result":{"protocolVersion":"1999"}}'; read -r rest"#,
        ],
        checkout: Path::new("/"),
        coordination: Path::new("/"),
        deadline: Instant::now() + Duration::from_mins(1),
    };
    let error = tell(place, &mut Script::new(Vec::new(), false)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "claude-code: initialize: expected /result/protocolVersion to be \"2025-11-25\", got \"1999\""
    );
}
