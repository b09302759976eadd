//! The seven states are all there are.
use ai_coord::domain::{Facts, State, Status};

struct Archived;

impl State for Archived {
    const STATUS: Status = Status::Approved;

    fn facts(&self) -> Facts<'_> {
        Facts::default()
    }
}

fn main() {}
