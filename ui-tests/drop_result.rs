//! A transition changes nothing by itself: its result has to be stored.

#![deny(unused_must_use)]

use ai_coord::domain::{AnyTask, Pending, Stamp, Task};

fn typed(task: Task<Pending>, stamp: Stamp) {
    task.claim(stamp);
}

fn erased(task: AnyTask, stamp: Stamp) {
    task.claim(stamp);
}

fn main() {}
