//! A task cannot be made by hand: `Task::create` and the transitions are the only constructors.
use ai_coord::domain::{Approved, Task};

fn forge(task: Task<Approved>, state: Approved) -> Task<Approved> {
    Task { state, ..task }
}

fn main() {}
