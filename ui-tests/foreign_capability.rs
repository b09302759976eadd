//! What a state allows is decided in the table of transitions and nowhere else.
use ai_coord::domain::{Claimable, Cancelled};

impl Claimable for Cancelled {}

fn main() {}
