//! Only a pending task can be claimed.

use ai_coord::domain::{Approved, Cancelled, Claimed, Completed, InProgress, RevisionRequested, Stamp, Task};

fn claimed(task: Task<Claimed>, stamp: Stamp) {
    let _ = task.claim(stamp);
}

fn in_progress(task: Task<InProgress>, stamp: Stamp) {
    let _ = task.claim(stamp);
}

fn completed(task: Task<Completed>, stamp: Stamp) {
    let _ = task.claim(stamp);
}

fn approved(task: Task<Approved>, stamp: Stamp) {
    let _ = task.claim(stamp);
}

fn revision_requested(task: Task<RevisionRequested>, stamp: Stamp) {
    let _ = task.claim(stamp);
}

fn cancelled(task: Task<Cancelled>, stamp: Stamp) {
    let _ = task.claim(stamp);
}

fn main() {}
