//! A task cannot be built by hand: it comes from `Task::create`, a transition or a file.

use ai_coord::domain::{Approved, Task};

fn anything<T>() -> T {
    unreachable!()
}

fn approved() -> Task<Approved> {
    Task {
        common: anything(),
        state: anything(),
    }
}

fn main() {}
