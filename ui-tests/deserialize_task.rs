//! A file says which status its task has: it is read as an `AnyTask`, which checks the claim.

use ai_coord::domain::{Approved, Task};

fn approved(json: &str) -> serde_json::Result<Task<Approved>> {
    serde_json::from_str(json)
}

fn main() {}
