//! Only work that was handed in and not accepted can be sent back.

use ai_coord::domain::{Approved, Cancelled, Claimed, InProgress, Note, Pending, RevisionRequested, Stamp, Task};

fn pending(task: Task<Pending>, stamp: Stamp, feedback: Note) {
    let _ = task.request_revision(stamp, feedback);
}

fn claimed(task: Task<Claimed>, stamp: Stamp, feedback: Note) {
    let _ = task.request_revision(stamp, feedback);
}

fn in_progress(task: Task<InProgress>, stamp: Stamp, feedback: Note) {
    let _ = task.request_revision(stamp, feedback);
}

fn approved(task: Task<Approved>, stamp: Stamp, feedback: Note) {
    let _ = task.request_revision(stamp, feedback);
}

fn revision_requested(task: Task<RevisionRequested>, stamp: Stamp, feedback: Note) {
    let _ = task.request_revision(stamp, feedback);
}

fn cancelled(task: Task<Cancelled>, stamp: Stamp, feedback: Note) {
    let _ = task.request_revision(stamp, feedback);
}

fn main() {}
