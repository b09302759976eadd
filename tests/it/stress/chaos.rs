//! Kills and stops servers at random moments.
//!
//! Responsibility: two ways of it. Signals from outside hit whatever a server is doing. A fault that a server is started
//! with hits a step of an update for certain; see `src/store/dir/fault.rs`, which debug builds have.

use std::{
    ops::Range,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use nix::sys::signal::Signal;

use super::{client::Slot, rng::Rng};

/// How long the stopped stay so at most: longer than the short limit by far, and no time for the long one.
const STOPPED: Range<u64> = 60..180;

/// What was done.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Toll {
    pub(super) kills: u64,
    pub(super) stops: u64,
}

/// Rages `until` then, and wakes the stopped until `everybody_is_done`.
pub(super) fn rage(
    slots: &[Slot],
    rng: &mut Rng,
    until: Instant,
    everybody_is_done: &AtomicBool,
) -> Toll {
    let mut toll = Toll::default();
    let mut wake_at = Instant::now();
    while !everybody_is_done.load(Ordering::SeqCst) {
        // Not for anything to have happened: this is what makes the moments random.
        thread::sleep(Duration::from_micros(rng.below(20_000)));
        if Instant::now() >= wake_at {
            for slot in slots {
                slot.signal(Signal::SIGCONT);
            }
            wake_at = Instant::now() + Duration::from_millis(rng.within(STOPPED));
        }
        let victim = rng.pick(slots).filter(|_| Instant::now() < until);
        match (victim, rng.below(100)) {
            (Some(slot), 0..5) => toll.kills += u64::from(slot.signal(Signal::SIGKILL)),
            (Some(slot), 5..20) => toll.stops += u64::from(slot.signal(Signal::SIGSTOP)),
            _ => {}
        }
    }
    toll
}

/// The fault that the next server is started with, if it gets one.
pub(super) fn fault(rng: &mut Rng) -> Option<String> {
    match rng.below(10) {
        0..3 => Some(format!("after {}", rng.within(1..150))),
        3..9 => Some(format!("stop-each {}", rng.within(11..80))),
        _ => None,
    }
}
