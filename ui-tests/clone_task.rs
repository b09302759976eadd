//! A task is one thing: a copy could be claimed by somebody else.
use ai_coord::domain::{Pending, Task};

fn copy(task: &Task<Pending>) -> Task<Pending> {
    Task::clone(task)
}

fn main() {}
