//! Only a task that somebody works on can be completed.
use ai_coord::domain::{Submission, Timestamp, Pending, Completed, Approved, Cancelled, Task};

fn pending(task: Task<Pending>, at: Timestamp, work: Submission) {
    let _ = task.complete(at, work);
}

fn completed(task: Task<Completed>, at: Timestamp, work: Submission) {
    let _ = task.complete(at, work);
}

fn approved(task: Task<Approved>, at: Timestamp, work: Submission) {
    let _ = task.complete(at, work);
}

fn cancelled(task: Task<Cancelled>, at: Timestamp, work: Submission) {
    let _ = task.complete(at, work);
}

fn main() {}
