//! The step that all transitions share cannot be taken without one of them.

use ai_coord::domain::{Approved, Pending, Stamp, Task, Transition};

fn approved(task: Task<Pending>, stamp: Stamp, state: Approved) -> Task<Approved> {
    task.advance(Transition::Approve, stamp, None, |_| state)
}

fn main() {}
