//! A state cannot be built by hand: it would be a holder without a claim, work without a review.

use ai_coord::domain::{AgentName, Approved, Submission};

fn approved(assignee: AgentName, submission: Submission) -> Approved {
    Approved {
        assignee,
        submission,
    }
}

fn main() {}
