//! A type that is no state cannot have a capability.

use ai_coord::domain::{Claimable, Completable};

struct Paused;

impl Claimable for Paused {}

impl Completable for Paused {}

fn main() {}
