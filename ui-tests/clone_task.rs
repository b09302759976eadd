//! A task cannot be cloned: two copies could be moved to different statuses.

use ai_coord::domain::{AnyTask, Pending, Task};

fn pending(task: &Task<Pending>) -> Task<Pending> {
    task.clone()
}

fn any(task: &AnyTask) -> AnyTask {
    task.clone()
}

fn main() {}
