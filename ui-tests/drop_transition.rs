//! A transition that is not stored has not happened.
#![deny(unused_must_use)]
use ai_coord::domain::{Pending, Stamp, Task};

fn forget(task: Task<Pending>, stamp: Stamp) {
    task.claim(stamp);
}

fn main() {}
