//! Work starts on a task that is held and not being worked on.

use ai_coord::domain::{Approved, Cancelled, Completed, InProgress, Pending, Task, Timestamp};

fn pending(task: Task<Pending>, at: Timestamp) {
    let _ = task.start(at);
}

fn in_progress(task: Task<InProgress>, at: Timestamp) {
    let _ = task.start(at);
}

fn completed(task: Task<Completed>, at: Timestamp) {
    let _ = task.start(at);
}

fn approved(task: Task<Approved>, at: Timestamp) {
    let _ = task.start(at);
}

fn cancelled(task: Task<Cancelled>, at: Timestamp) {
    let _ = task.start(at);
}

fn main() {}
