//! A transition consumes the task, so that two agents cannot claim one.
use ai_coord::domain::{Claimed, Pending, Stamp, Task};

fn claim_twice(task: Task<Pending>, ours: Stamp, theirs: Stamp) -> (Task<Claimed>, Task<Claimed>) {
    (task.claim(ours), task.claim(theirs))
}

fn main() {}
