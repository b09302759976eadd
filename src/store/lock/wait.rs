//! Waiting for a lock: how long, in what steps, and what to say when it was too long.
//!
//! Steps start at 0.2 ms and grow to 4 ms, each one jittered so that waiters don't march in step.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use uuid::Uuid;

use crate::store::error::StoreError;

const FIRST_STEP: Duration = Duration::from_micros(200);
const LAST_STEP: Duration = Duration::from_millis(4);
/// Looking at the holder costs more than trying the rename.
const LOOK_INTERVAL: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(super) struct Wait {
    started: Instant,
    patience: Duration,
    step: Duration,
    last_look: Option<Instant>,
    holder: Option<String>,
}

impl Wait {
    pub(super) fn new(patience: Duration) -> Self {
        Self {
            started: Instant::now(),
            patience,
            step: FIRST_STEP,
            last_look: None,
            holder: None,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.started.elapsed() >= self.patience
    }

    /// Whether to look who holds the lock: at the first contention, then every few milliseconds.
    pub(super) fn is_look_due(&mut self) -> bool {
        let due = self
            .last_look
            .is_none_or(|at| at.elapsed() >= LOOK_INTERVAL);
        if due {
            self.last_look = Some(Instant::now());
        }
        due
    }

    pub(super) fn note(&mut self, holder: String) {
        self.holder = Some(holder);
    }

    /// Sleeps for one step. `false`: the patience is used up.
    pub(super) fn pause(&mut self) -> bool {
        if self.is_over() {
            return false;
        }
        thread::sleep(jittered(self.step));
        self.step = (self.step * 3 / 2).min(LAST_STEP);
        true
    }

    pub(super) fn busy(&self, path: PathBuf) -> StoreError {
        let holder = self.holder.clone();
        StoreError::Busy {
            path,
            holder: holder.unwrap_or_else(|| "another process".to_owned()),
            waited: self.started.elapsed(),
        }
    }
}

/// Between half of the step and one and a half.
fn jittered(step: Duration) -> Duration {
    let (random, _) = Uuid::new_v4().as_u64_pair();
    let thousandths = u32::try_from(random % 1000).expect("a remainder of 1000 fits");
    step / 2 + step * thousandths / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jittered_step_stays_near_the_step() {
        for _ in 0..1000 {
            let step = jittered(LAST_STEP);
            assert!(
                step >= LAST_STEP / 2 && step < LAST_STEP * 3 / 2,
                "{step:?}"
            );
        }
    }

    #[test]
    fn steps_grow_and_end_with_the_patience() {
        let mut wait = Wait::new(Duration::from_millis(20));
        let mut steps = 0;
        while wait.pause() {
            steps += 1;
        }
        assert!(steps >= 3, "several steps fit into the patience");
        assert!(wait.is_over());
        assert!(wait.step > FIRST_STEP && wait.step <= LAST_STEP);
    }
}
