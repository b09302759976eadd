//! Only whoever holds a task hands it in.

use ai_coord::domain::{Approved, Cancelled, Completed, Pending, Submission, Task, Timestamp};

fn pending(task: Task<Pending>, at: Timestamp, submission: Submission) {
    let _ = task.complete(at, submission);
}

fn completed(task: Task<Completed>, at: Timestamp, submission: Submission) {
    let _ = task.complete(at, submission);
}

fn approved(task: Task<Approved>, at: Timestamp, submission: Submission) {
    let _ = task.complete(at, submission);
}

fn cancelled(task: Task<Cancelled>, at: Timestamp, submission: Submission) {
    let _ = task.complete(at, submission);
}

fn main() {}
