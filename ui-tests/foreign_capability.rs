//! What a state can do is said in the transitions table and nowhere else.

use ai_coord::domain::{Approvable, Claimable, Claimed, Pending};

impl Claimable for Claimed {}

impl Approvable for Pending {}

fn main() {}
