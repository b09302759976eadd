//! Only a claimed task, or one sent back, can be started.
use ai_coord::domain::{Timestamp, Pending, InProgress, Completed, Approved, Cancelled, Task};

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
