//! A state cannot be made by hand: its data is private.
use ai_coord::domain::{AgentName, Claimed};

fn forge(assignee: AgentName) -> Claimed {
    Claimed { assignee }
}

fn main() {}
