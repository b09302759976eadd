//! Storms: several servers work on one directory while they are killed and stopped at any moment.
//!
//! Responsibility: that what was acknowledged is there, once, that what was refused is not, and that every file is whole
//! at every moment, whoever dies and whoever is wrongly taken for dead.
//!
//! | variable | meaning |
//! |---|---|
//! | `STRESS_SECONDS` | how long each storm rages (5), in rounds of at most ten seconds with a directory each |
//! | `STRESS_SEED` | the first round's seed; a failure names the one of its round |
//!
//! ```sh
//! STRESS_SECONDS=600 cargo test --test it stress -- --nocapture
//! ```
//!
//! # Limits
//!
//! A seed repeats the choices and not the schedule. What has to happen at one exact moment is in [`steps`].

mod chaos;
mod checks;
mod client;
mod drivers;
mod found;
mod journal;
mod readers;
mod rng;
mod round;
mod settle;
mod steps;

use std::{
    env,
    time::{Duration, Instant},
};

use uuid::Uuid;

use round::Round;

/// What the waiting may conclude from time passing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    /// Too short: the living are taken for dead.
    Short,
    /// Too long to help: only the death probe does.
    Hour,
}

impl Limit {
    /// The value of `COORDINATION_STALE_LOCK_SECONDS`.
    const fn seconds(self) -> f64 {
        match self {
            Self::Short => 0.05,
            Self::Hour => 3600.0,
        }
    }
}

const ROUND: Duration = Duration::from_secs(10);

#[test]
fn nothing_is_lost_where_the_living_are_taken_for_dead() {
    storm(Limit::Short);
}

#[test]
fn nothing_is_lost_or_blocked_where_only_the_death_probe_helps() {
    storm(Limit::Hour);
}

fn storm(limit: Limit) {
    let length = Duration::from_secs(number("STRESS_SECONDS").unwrap_or(5));
    let first = number("STRESS_SEED").unwrap_or_else(|| Uuid::new_v4().as_u64_pair().0);
    let started = Instant::now();
    let mut seed = first;
    loop {
        let left = length.saturating_sub(started.elapsed());
        // A last round of a moment would show nothing.
        if seed != first && left < Duration::from_secs(1) {
            return;
        }
        println!("{limit:?} storm: STRESS_SEED={seed}");
        let report = Round::new(limit, seed).run(left.min(ROUND));
        assert!(report.was_a_storm(), "nothing happened: {report}");
        assert!(report.is_clean(), "STRESS_SEED={seed}: {report}");
        println!("{report}");
        seed = seed.wrapping_add(1);
    }
}

fn number(variable: &str) -> Option<u64> {
    let value = env::var(variable).ok()?;
    Some(value.parse().expect("the variable is a number"))
}
