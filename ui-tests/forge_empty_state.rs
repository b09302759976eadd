//! A state without data cannot be built by hand either.

use ai_coord::domain::Pending;

fn pending() -> Pending {
    Pending {}
}

fn main() {}
