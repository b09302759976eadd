//! Only a task that is handed in or over can be put back.

use ai_coord::domain::{Claimed, InProgress, Pending, RevisionRequested, Stamp, Task};

fn pending(task: Task<Pending>, stamp: Stamp) {
    let _ = task.reopen(stamp, None);
}

fn claimed(task: Task<Claimed>, stamp: Stamp) {
    let _ = task.reopen(stamp, None);
}

fn in_progress(task: Task<InProgress>, stamp: Stamp) {
    let _ = task.reopen(stamp, None);
}

fn revision_requested(task: Task<RevisionRequested>, stamp: Stamp) {
    let _ = task.reopen(stamp, None);
}

fn main() {}
