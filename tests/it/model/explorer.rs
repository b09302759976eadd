//! Goes through every state that a model can get into, breadth first.
//!
//! Responsibility: to find the shortest way to a fault, if there is one, and the shortest way to where there is no way
//! on. It knows nothing of locks and files.
//!
//! Limits: everything is kept in memory, some 200 bytes a state; nothing is reduced, so the model has to be small.

use std::{
    collections::{HashMap, hash_map::Entry},
    fmt::Display,
    hash::{BuildHasherDefault, Hash, Hasher},
};

/// Some 2 GB. A model that comes here has grown by mistake, and would go on until the memory is full.
const MOST_STATES: usize = 10_000_000;

/// Something that moves from state to state.
pub(super) trait Model {
    type State: Copy + Eq + Hash;
    type Label: Copy + Display;

    fn initial(&self) -> Self::State;

    /// Adds every step that may come next.
    fn steps(&self, state: &Self::State, steps: &mut Vec<Step<Self>>);

    /// Whether everything that was to be done has been done.
    fn is_finished(&self, state: &Self::State) -> bool;
}

/// One way on from a state.
pub(super) struct Step<M: Model + ?Sized> {
    pub(super) label: M::Label,
    pub(super) next: M::State,
    /// Nobody may count on this step being taken.
    pub(super) is_hostile: bool,
    /// What this step has broken.
    pub(super) fault: Option<String>,
}

/// What an exploration found.
pub(super) struct Report {
    pub(super) states: usize,
    pub(super) transitions: usize,
    /// The shortest way to a fault. The exploration ends there.
    pub(super) fault: Option<Vec<String>>,
    /// The shortest way to a state from which nothing but hostile steps lead to the end.
    pub(super) stuck: Option<Vec<String>>,
}

/// Explores the whole model, unless there is a fault in it. `on_step` gets each step that may be taken.
pub(super) fn explore<M: Model>(model: &M, mut on_step: impl FnMut(&Step<M>)) -> Report {
    let mut found = Found::new(model.initial());
    let mut steps = Vec::new();
    let mut transitions = 0;
    let mut at = 0;
    while at < found.states.len() {
        assert!(found.states.len() <= MOST_STATES, "too many states");
        model.steps(&found.states[at], &mut steps);
        for step in steps.drain(..) {
            transitions += 1;
            on_step(&step);
            if let Some(fault) = step.fault {
                let mut way = found.way_to(model, at);
                way.push(format!("{}: {fault}", step.label));
                return found.report(transitions, Some(way), None);
            }
            found.add(at, step.next, step.is_hostile);
        }
        at += 1;
    }
    let stuck = found.first_stuck(model);
    let way = stuck.map(|at| found.way_to(model, at));
    found.report(transitions, None, way)
}

/// The states found so far, in the order of their distance from the initial one.
struct Found<S> {
    states: Vec<S>,
    numbers: HashMap<S, u32, BuildHasherDefault<QuickHasher>>,
    /// Where each state was found from.
    parents: Vec<u32>,
    /// From where to where steps lead that aren't hostile.
    friendly: Vec<(u32, u32)>,
}

impl<S: Copy + Eq + Hash> Found<S> {
    fn new(initial: S) -> Self {
        Self {
            states: vec![initial],
            numbers: HashMap::from_iter([(initial, 0)]),
            parents: vec![0],
            friendly: Vec::new(),
        }
    }

    fn add(&mut self, from: usize, state: S, is_hostile: bool) {
        let from = number(from);
        let to = match self.numbers.entry(state) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let to = *entry.insert(number(self.states.len()));
                self.states.push(state);
                self.parents.push(from);
                to
            }
        };
        if !is_hostile {
            self.friendly.push((from, to));
        }
    }

    /// The nearest state from which friendly steps don't lead to a finished one.
    fn first_stuck<M: Model<State = S>>(&self, model: &M) -> Option<usize> {
        let finished = self.states.iter().map(|state| model.is_finished(state));
        let mut can_finish: Vec<bool> = finished.collect();
        let mut changed = true;
        while changed {
            changed = false;
            // Most steps lead to a state found later: backwards, few rounds will do.
            for &(from, to) in self.friendly.iter().rev() {
                if can_finish[to as usize] && !can_finish[from as usize] {
                    can_finish[from as usize] = true;
                    changed = true;
                }
            }
        }
        can_finish.iter().position(|can| !can)
    }

    /// The labels on the way to a state. Only parents are kept: the steps are taken again.
    fn way_to<M: Model<State = S>>(&self, model: &M, state: usize) -> Vec<String> {
        let mut way = Vec::new();
        let mut at = state;
        let mut steps = Vec::new();
        while at > 0 {
            let parent = self.parents[at] as usize;
            steps.clear();
            model.steps(&self.states[parent], &mut steps);
            let step = steps.iter().find(|step| step.next == self.states[at]);
            way.push(step.expect("a step led here").label.to_string());
            at = parent;
        }
        way.reverse();
        way
    }

    fn report(
        &self,
        transitions: usize,
        fault: Option<Vec<String>>,
        stuck: Option<Vec<String>>,
    ) -> Report {
        Report {
            states: self.states.len(),
            transitions,
            fault,
            stuck,
        }
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("memory ends before u32 does")
}

/// Multiplies and rotates: the keys are no attacker's, and the default hasher takes most of the time.
#[derive(Default)]
struct QuickHasher(u64);

impl QuickHasher {
    fn mix(&mut self, word: u64) {
        const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(ODD);
    }
}

impl Hasher for QuickHasher {
    fn finish(&self) -> u64 {
        // The table looks at the lowest bits, which a multiplication mixes least.
        self.0.rotate_left(26)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.mix(byte.into());
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(byte.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.mix(word as u64);
    }

    // What a derived `Hash` makes of the variant of an enum.
    fn write_isize(&mut self, word: isize) {
        self.mix(word.cast_unsigned() as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps up and to the right on a board of 4 by 4. Up is hostile.
    struct Board {
        faulty: Option<(u8, u8)>,
    }

    impl Model for Board {
        type State = (u8, u8);
        type Label = &'static str;

        fn initial(&self) -> (u8, u8) {
            (0, 0)
        }

        fn steps(&self, &(x, y): &(u8, u8), steps: &mut Vec<Step<Self>>) {
            let right = (x < 3).then_some(("right", (x + 1, y), false));
            let up = (y < 3).then_some(("up", (x, y + 1), true));
            for (label, next, is_hostile) in right.into_iter().chain(up) {
                let fault = (self.faulty == Some(next)).then(|| "here".to_owned());
                steps.push(Step {
                    label,
                    next,
                    is_hostile,
                    fault,
                });
            }
        }

        fn is_finished(&self, &(x, y): &(u8, u8)) -> bool {
            x == 3 && y != 2
        }
    }

    #[test]
    fn every_state_and_step_is_visited() {
        let mut seen = 0;
        let report = explore(&Board { faulty: None }, |_| seen += 1);
        assert_eq!(report.states, 16);
        assert_eq!((report.transitions, seen), (24, 24));
    }

    #[test]
    fn the_way_to_a_fault_is_the_shortest() {
        let faulty = Some((2, 0));
        let report = explore(&Board { faulty }, |_| {});
        assert_eq!(report.fault.unwrap(), ["right", "right: here"]);
    }

    #[test]
    fn hostile_steps_are_no_way_to_the_end() {
        let report = explore(&Board { faulty: None }, |_| {});
        assert_eq!(report.stuck.unwrap(), ["up", "up"]);
    }
}
