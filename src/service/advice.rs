//! What a caller is told who asked for what is not to be had. The advice depends on who asks, and never invites
//! a wrong move.

use super::{Code, Failure, Service};
use crate::domain::{
    AgentName, AnyTask, Denial, HistoryEntry, Refused, Status, TaskId, Transition,
};

impl Service {
    /// The answer to a refused transition. `me`: the caller's names.
    pub(super) fn refusal(&self, refused: &Refused, me: &[AgentName]) -> Failure {
        let task = &refused.task;
        match refused.denial {
            Denial::Status => {
                Self::wrong_status(task, refused.transition, &refused.to_string(), me)
            }
            Denial::NotAssignee => self.not_assignee(task, refused.transition.tool()),
            Denial::NotReviewer => not_reviewer(task),
        }
    }

    fn wrong_status(task: &AnyTask, asked: Transition, what: &str, me: &[AgentName]) -> Failure {
        let is_mine = task.assignee().is_some_and(|it| me.contains(it));
        let was_mine = is_mine || task.history().iter().any(|it| is_claim_by(it, me));
        let advice = match asked.tool() {
            "update_progress" | "complete_task" if was_mine => worker(task, is_mine),
            "update_progress" | "complete_task" => stranger(task),
            "claim_task" => claimer(task, is_mine),
            "approve_task" | "request_revision" => reviewer(task, is_mine),
            "cancel_task" => over(task),
            _ => open(task, is_mine),
        };
        Failure::new(Code::InvalidTransition, format!("{what}; {advice}"))
    }

    /// Somebody else holds the task.
    pub(super) fn not_assignee(&self, task: &AnyTask, tool: &str) -> Failure {
        let id = task.id();
        let Some(holder) = task.assignee() else {
            let text = format!("nobody holds {id}; claim it with claim_task before {tool}");
            return Failure::new(Code::NotAssignee, text);
        };
        let idle = self.summary(task, None).idle_seconds;
        let text = if self.holder_gone(task) {
            format!(
                "{id} is held by {holder}, which is not running (idle {idle} s); it gets the task back when it \
                 is started again; if it won't be, cancel_task and then reopen_task put the task back in the queue"
            )
        } else {
            format!(
                "{id} is held by {holder}, which is not you and may be working on it (idle {idle} s); leave it \
                 alone: ask with post_message, or call claim_next_task for a task of your own"
            )
        };
        Failure::new(Code::NotAssignee, text)
    }

    /// The task waits for others.
    pub(super) fn blocked(&self, task: &AnyTask, by: &[TaskId]) -> Failure {
        let text = format!(
            "{} waits until {} {} approved; call claim_next_task for another one",
            task.id(),
            self.waits_for(by),
            if by.len() == 1 { "is" } else { "are" }
        );
        Failure::new(Code::Blocked, text)
    }

    /// What a task waits for, in words.
    pub(super) fn waits_for(&self, by: &[TaskId]) -> String {
        let one = |id: &TaskId| match (self.status_of(*id, None), self.is_archived(*id)) {
            (Some(Status::Cancelled), true) => {
                let command = self.store.command(&format!("restore {id}"));
                format!(
                    "{id} (cancelled and in the archive: `{command}` and reopen it, or cancel this one)"
                )
            }
            (Some(Status::Cancelled), false) => {
                format!("{id} (cancelled: it has to be reopened, or this one cancelled)")
            }
            (Some(status), _) => format!("{id} ({status})"),
            (None, _) => format!("{id} (unreadable or gone)"),
        };
        by.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    fn is_archived(&self, id: TaskId) -> bool {
        matches!(self.store.task(id), Ok(Some(it)) if it.is_archived)
    }
}

fn is_claim_by(entry: &HistoryEntry, names: &[AgentName]) -> bool {
    entry.action == Transition::Claim.into() && names.contains(&entry.actor)
}

/// Who did the last thing, when, and why.
fn by(task: &AnyTask) -> String {
    let HistoryEntry {
        actor,
        timestamp,
        note,
        ..
    } = task.last_change();
    let reason = note.as_ref().map_or_else(String::new, |note| {
        let short: String = note.as_str().chars().take(200).collect();
        format!(": {short:?}")
    });
    format!("by {actor} at {timestamp}{reason}")
}

/// To the one who works, or worked, on it.
fn worker(task: &AnyTask, is_mine: bool) -> String {
    let by = by(task);
    match task.status() {
        Status::Cancelled => {
            format!("it was cancelled {by}: stop working on it and call claim_next_task")
        }
        Status::Completed if is_mine => {
            let creator = task.creator();
            format!("it waits for review by {creator}: call claim_next_task for other work")
        }
        Status::Approved if is_mine => {
            format!("it was approved {by}, nothing is left to do: call claim_next_task")
        }
        Status::Pending => {
            format!(
                "it was put back in the queue {by}, nobody holds it: claim it again with claim_task to go on"
            )
        }
        _ => "it is not yours any more: call claim_next_task".to_owned(),
    }
}

/// To somebody who never held it.
fn stranger(task: &AnyTask) -> String {
    match task.status() {
        Status::Pending => "claim it with claim_task first".to_owned(),
        _ => "it is not yours: call claim_next_task for work".to_owned(),
    }
}

/// To somebody who wants it.
fn claimer(task: &AnyTask, is_mine: bool) -> String {
    match task.status() {
        Status::Completed if is_mine => worker(task, true),
        Status::Completed => {
            "it waits for review: claim_next_task gives you another one".to_owned()
        }
        Status::Approved | Status::Cancelled => {
            format!(
                "it was {} {}: call claim_next_task for another one",
                task.status(),
                by(task)
            )
        }
        _ => "call claim_next_task for another one".to_owned(),
    }
}

/// To somebody who wants to review it.
fn reviewer(task: &AnyTask, is_mine: bool) -> String {
    match task.status() {
        _ if is_mine => "it is yours to work on, not to review".to_owned(),
        Status::Approved | Status::Cancelled => format!("it was {} {}", task.status(), by(task)),
        Status::Pending => "nobody has taken it yet: wait with wait_for_task".to_owned(),
        _ => "it has not been handed in yet: wait with wait_for_task".to_owned(),
    }
}

/// To somebody who wants to cancel what cannot be.
fn over(task: &AnyTask) -> String {
    match task.status() {
        Status::Completed => {
            "it waits for review: a reviewer approves it or requests a revision".to_owned()
        }
        _ => format!("it was {} {}", task.status(), by(task)),
    }
}

/// To somebody who wants to reopen what is open.
fn open(task: &AnyTask, is_mine: bool) -> String {
    match task.status() {
        Status::Pending => "it is in the queue already".to_owned(),
        _ if is_mine => {
            "it is yours: go on with it, or cancel_task if it should not be done".to_owned()
        }
        _ => "somebody holds it: cancel_task takes it away from them, then reopen_task works"
            .to_owned(),
    }
}

fn not_reviewer(task: &AnyTask) -> Failure {
    let (id, creator) = (task.id(), task.creator());
    let text = if task.assignee() == Some(creator) {
        format!(
            "{id} is your own work on your own task; accept it with approve_task, or put it back with reopen_task"
        )
    } else {
        format!(
            "{id} is your own work and reviewed by somebody else; wait for {creator}, or call claim_next_task for \
             other work"
        )
    };
    Failure::new(Code::NotReviewer, text)
}
