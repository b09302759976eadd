//! Where nobody need hold the task there is no assignee to ask for.

use ai_coord::domain::{AgentName, Cancelled, Pending, Task};

fn pending(task: &Task<Pending>) -> &AgentName {
    task.assignee()
}

fn cancelled(task: &Task<Cancelled>) -> &AgentName {
    task.assignee()
}

fn main() {}
