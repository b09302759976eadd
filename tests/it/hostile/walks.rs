//! Tasks that took a random way through their lifecycle, made by the transitions alone.

use ai_coord::domain::{
    AnyTask, Bounded, HistoryEntry, Message, MessageId, Metadata, NewTask, OutboxEntry, Percent,
    ProgressEntry, Refused, Report, Stamp, Status, Submission, Task, TaskId, Transition, Work,
};
use proptest::{
    option,
    prelude::*,
    sample::{Index, select},
};
use serde_json::Value;
use uuid::Uuid;

use super::values;
use crate::tasks::{ASSIGNEE, CREATOR, OTHER, agent, at};

/// Who acts. Each of them may create the task, hold it and review it.
const ACTORS: [&str; 3] = [CREATOR, ASSIGNEE, OTHER];

/// The number of the task that is written.
const NUMBER: u64 = 7;

/// One move: which of those that the status allows, and who tries first.
#[derive(Clone, Debug)]
struct Step {
    transition: Index,
    actor: usize,
    /// Since the step before. The clock may have been set back.
    millis: i64,
    said: Option<String>,
    submission: Submission,
    /// Whether it comes back from the archive instead, if it can have been there.
    restores: bool,
}

/// The file of a task after up to eleven moves.
pub(super) fn task() -> impl Strategy<Value = String> {
    let steps = prop::collection::vec(step(), 0..12);
    let outbox = prop::collection::vec(any::<Index>(), 0..3);
    let creator = (0..ACTORS.len(), prop::bool::weighted(0.2));
    (work(), creator, steps, outbox).prop_map(|(work, (creator, alone), mut steps, outbox)| {
        if alone {
            // Whoever creates a task may do all of it, and approve it.
            for step in &mut steps {
                step.actor = creator;
            }
        }
        let stamp = Stamp {
            actor: agent(ACTORS[creator]),
            at: at(0),
        };
        let id = TaskId::from_number(NUMBER);
        let mut task = walk(Task::create(NewTask { id, work }, stamp).into(), &steps);
        let sent: Vec<_> = (1..)
            .zip(outbox)
            .filter_map(|(number, which)| sent(which.get(task.history()), number))
            .collect();
        for entry in sent {
            task.enqueue(entry);
        }
        serde_json::to_string_pretty(&task).expect("tasks have string keys and no foreign values")
    })
}

fn walk(mut task: AnyTask, steps: &[Step]) -> AnyTask {
    let mut millis = 0;
    for step in steps {
        millis += step.millis;
        if step.restores && Status::ARCHIVABLE.contains(&task.status()) {
            let stamp = Stamp {
                actor: agent(ACTORS[step.actor]),
                at: at(millis),
            };
            task = task.restore(stamp).expect("it is over");
            continue;
        }
        let all = Transition::ALL.iter();
        let possible: Vec<_> = all
            .filter(|it| it.sources().contains(&task.status()))
            .collect();
        let transition = **step.transition.get(&possible);
        for offset in 0..ACTORS.len() {
            let actor = ACTORS[(step.actor + offset) % ACTORS.len()];
            match taken(task, transition, actor, millis, step) {
                Ok(moved) => {
                    task = moved;
                    break;
                }
                Err(refused) => task = *refused.task,
            }
        }
    }
    task
}

fn taken(
    task: AnyTask,
    transition: Transition,
    actor: &str,
    millis: i64,
    step: &Step,
) -> Result<AnyTask, Refused> {
    let stamp = Stamp {
        actor: agent(actor),
        at: at(millis),
    };
    let said = |text: &String| text.clone().try_into().expect("notes are short");
    let note = step.said.as_ref().map(said);
    match transition {
        Transition::Claim => task.claim(stamp),
        Transition::Start => task.start(stamp),
        Transition::Complete => task.complete(stamp, step.submission.clone()),
        Transition::Approve => task.approve(stamp, note),
        Transition::RequestRevision => {
            task.request_revision(stamp, note.unwrap_or_else(|| said(&"more".to_owned())))
        }
        Transition::Cancel => task.cancel(stamp, note),
        Transition::Reopen => task.reopen(stamp, note),
    }
}

fn step() -> impl Strategy<Value = Step> {
    (
        any::<Index>(),
        0..ACTORS.len(),
        -500_i64..2_000,
        option::of(text()),
        submission(),
        prop::bool::weighted(0.4),
    )
        .prop_map(
            |(transition, actor, millis, said, submission, restores)| Step {
                transition,
                actor,
                millis,
                said,
                submission,
                restores,
            },
        )
}

/// A text that is neither blank nor long.
fn text() -> impl Strategy<Value = String> {
    let texts = [
        "t",
        " t\t",
        "\"\\\n",
        "ä\u{0}\u{1f600}",
        "}, {",
        "-1",
        "null",
        "so",
    ];
    select(texts.to_vec()).prop_map(str::to_owned)
}

/// A value of a type that is made of a text.
fn of_text<T: TryFrom<String, Error: std::fmt::Debug> + std::fmt::Debug>()
-> impl Strategy<Value = T> {
    text().prop_map(|text| T::try_from(text).expect("the text is neither blank nor long"))
}

fn list<T: Clone + std::fmt::Debug, const MAX: usize>(
    entry: impl Strategy<Value = T>,
) -> impl Strategy<Value = Bounded<T, MAX>> {
    prop::collection::vec(entry, 0..3)
        .prop_map(|list| Bounded::try_from(list).expect("it is short"))
}

fn submission() -> impl Strategy<Value = Submission> {
    let (summary, commit, branch) = (
        option::of(of_text()),
        option::of(of_text()),
        option::of(of_text()),
    );
    (summary, list(of_text()), commit, branch, of_text()).prop_map(
        |(summary, files, commit, branch, directory)| Submission {
            summary,
            files,
            commit,
            branch,
            directory,
        },
    )
}

fn work() -> impl Strategy<Value = Work> {
    let texts = (of_text(), of_text(), option::of(of_text()));
    let after = list(select(&[1, 2, 9_999, 10_000, u64::MAX][..]).prop_map(TaskId::from_number));
    let lists = (after, list(of_text()), list(of_text()));
    (texts, lists, option::of(of_text()), metadata()).prop_map(
        |(
            (title, description, expected_output),
            (after, tags, files),
            working_directory,
            metadata,
        )| Work {
            title,
            description,
            expected_output,
            after,
            tags,
            files,
            working_directory,
            metadata,
        },
    )
}

fn metadata() -> impl Strategy<Value = Metadata> {
    let object = values::object(values::json());
    prop_oneof![3 => Just(Value::Null), 1 => object].prop_map(|object| {
        let fields = object.as_object().cloned().unwrap_or_default();
        // One that is too large is left out.
        Metadata::try_from(fields).unwrap_or_default()
    })
}

/// The entry that came with a line of the history, if one did.
fn sent(line: &HistoryEntry, number: u128) -> Option<OutboxEntry> {
    let id = MessageId::from_uuid(Uuid::from_u128(number));
    if line.action == Transition::RequestRevision.into() {
        return Some(OutboxEntry::Message(Message {
            id,
            task_id: TaskId::from_number(NUMBER),
            author: line.actor.clone(),
            timestamp: at(5),
            content: line.note.clone()?.into(),
        }));
    }
    let report = Report {
        percent: Percent::try_from(40).ok(),
        current_step: "reading".to_owned().try_into().ok(),
        notes: None,
    };
    let (author, claim) = (line.actor.clone(), line.version);
    (line.action == Transition::Claim.into())
        .then(|| OutboxEntry::Progress(ProgressEntry::new(id, at(6), author, claim, report)))
}
