//! `advance` belongs to the transitions.
use ai_coord::domain::{Pending, Stamp, Task, Transition};

fn skip(task: Task<Pending>, stamp: Stamp) {
    task.advance(Transition::Approve, stamp, None, |state| state);
}

fn main() {}
