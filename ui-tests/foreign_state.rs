//! The lifecycle has its seven states and takes no other.

use ai_coord::domain::{Facts, State, Status, Task};

struct Paused;

impl State for Paused {
    const STATUS: Status = Status::Pending;

    fn facts(&self) -> Facts<'_> {
        Facts::default()
    }
}

struct Deleted;

fn deleted(_: Task<Deleted>) {}

fn main() {}
