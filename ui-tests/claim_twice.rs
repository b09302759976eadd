//! A transition consumes the task, so that no second one can start from the same version.

use ai_coord::domain::{Pending, Stamp, Task};

fn twice(task: Task<Pending>, first: Stamp, second: Stamp) {
    let _ours = task.claim(first);
    let _theirs = task.claim(second);
}

fn main() {}
