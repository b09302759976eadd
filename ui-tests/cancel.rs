//! Only an open task can be withdrawn.

use ai_coord::domain::{Approved, Cancelled, Completed, Stamp, Task};

fn completed(task: Task<Completed>, stamp: Stamp) {
    let _ = task.cancel(stamp, None);
}

fn approved(task: Task<Approved>, stamp: Stamp) {
    let _ = task.cancel(stamp, None);
}

fn cancelled(task: Task<Cancelled>, stamp: Stamp) {
    let _ = task.cancel(stamp, None);
}

fn main() {}
