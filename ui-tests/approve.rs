//! Only work that was handed in can be accepted.

use ai_coord::domain::{Approved, Cancelled, Claimed, InProgress, Pending, RevisionRequested, Stamp, Task};

fn pending(task: Task<Pending>, stamp: Stamp) {
    let _ = task.approve(stamp, None);
}

fn claimed(task: Task<Claimed>, stamp: Stamp) {
    let _ = task.approve(stamp, None);
}

fn in_progress(task: Task<InProgress>, stamp: Stamp) {
    let _ = task.approve(stamp, None);
}

fn approved(task: Task<Approved>, stamp: Stamp) {
    let _ = task.approve(stamp, None);
}

fn revision_requested(task: Task<RevisionRequested>, stamp: Stamp) {
    let _ = task.approve(stamp, None);
}

fn cancelled(task: Task<Cancelled>, stamp: Stamp) {
    let _ = task.approve(stamp, None);
}

fn main() {}
