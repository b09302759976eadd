//! Nobody holds a pending task, and a cancelled one may never have been held.
use ai_coord::domain::{Pending, Cancelled, Task};

fn pending(task: Task<Pending>) {
    let _ = task.assignee();
}

fn cancelled(task: Task<Cancelled>) {
    let _ = task.assignee();
}

fn main() {}
