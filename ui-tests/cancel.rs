//! Completed work is reviewed, and what is over stays over: neither can be cancelled.
use ai_coord::domain::{Stamp, Completed, Approved, Cancelled, Task};

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
