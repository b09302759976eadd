//! Only a task that is over can have been in the archive.

use ai_coord::domain::{Claimed, Completed, InProgress, Pending, RevisionRequested, Stamp, Task};

fn pending(task: Task<Pending>, stamp: Stamp) {
    let _ = task.restore(stamp);
}

fn claimed(task: Task<Claimed>, stamp: Stamp) {
    let _ = task.restore(stamp);
}

fn in_progress(task: Task<InProgress>, stamp: Stamp) {
    let _ = task.restore(stamp);
}

fn completed(task: Task<Completed>, stamp: Stamp) {
    let _ = task.restore(stamp);
}

fn revision_requested(task: Task<RevisionRequested>, stamp: Stamp) {
    let _ = task.restore(stamp);
}

fn main() {}
