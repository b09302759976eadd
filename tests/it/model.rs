//! The lock protocol of the store as an executable model, and all that can happen to it.
//!
//! Responsibility: to show, for a few processes, that no schedule, no crash and no wrong verdict loses an update or
//! shuts a lock for ever, and that each part of the protocol is needed for that. [`protocol`] has the steps: a change
//! to `src/store/lock.rs` that moves a system call is made there too, and tried here first.
//!
//! The search is our own: a model checker such as `stateright` would be one more dependency, with a web server in it,
//! in place of the hundred lines of [`explorer`].
//!
//! Limits: a model is not the code, whose tests are beside it. Readers are left out: a document is only ever replaced
//! by a rename. So are people who edit, and power cuts.

mod event;
mod explorer;
mod namespace;
mod protocol;
mod state;

use event::Event;
use explorer::{Report, explore};
use protocol::{Design, Protocol};

/// An exploration, and how often each event was met in it.
struct Explored {
    report: Report,
    times: [usize; Event::COUNT],
}

impl Explored {
    fn new<const N: usize>(protocol: Protocol<N>) -> Self {
        let mut times = [0; Event::COUNT];
        let report = explore(&protocol, |step| times[step.label.event as usize] += 1);
        let (states, transitions) = (report.states, report.transitions);
        println!("{N} processes, {protocol:?}: {states} states, {transitions} transitions");
        Self { report, times }
    }

    /// Nothing is lost, and from every state everybody can finish, as soon as the adversary rests.
    fn assert_sound(&self) {
        for way in [&self.report.fault, &self.report.stuck] {
            assert!(way.is_none(), "{}", told(way.as_deref()));
        }
    }

    /// What the protocol is for has happened, and more than once.
    fn assert_thorough(&self, least_states: usize) {
        assert!(self.report.states >= least_states, "too few states");
        for event in [
            Event::Crashed,
            Event::TakenFromDead,
            Event::TakenFromLiving,
            Event::NothingToTake,
            Event::CommitLost,
            Event::Committed,
        ] {
            assert!(self.times[event as usize] > 10, "{event:?} is too rare");
        }
    }

    /// The shortest way to a fault of this kind. It is printed too.
    fn way_to(&self, kind: &str) -> &[String] {
        println!("{}", told(self.report.fault.as_deref()));
        let way = self.report.fault.as_deref().expect("there is a fault");
        let last = way.last().expect("it takes a step");
        assert!(last.contains(kind), "{last}");
        way
    }
}

fn told(way: Option<&[String]>) -> String {
    way.unwrap_or_default().join("\n")
}

fn two_processes(design: Design) -> Protocol<2> {
    Protocol {
        design,
        updates: 1,
        crashes: 0,
        is_swept: false,
    }
}

/// Whether the way has a living holder robbed, which only a wrong verdict does.
fn has_robbery(way: &[String]) -> bool {
    way.iter().any(|step| step.contains("of the living holder"))
}

#[test]
fn three_processes_lose_nothing_and_can_always_finish() {
    let explored = Explored::new(Protocol::<3> {
        design: Design::Fused,
        updates: 1,
        crashes: 1,
        is_swept: true,
    });
    explored.assert_sound();
    explored.assert_thorough(100_000);
    for event in [
        Event::TokenSwept,
        Event::CandidateSwept,
        Event::LockSwept,
        Event::PublishSwept,
    ] {
        assert!(explored.times[event as usize] > 10, "{event:?} is too rare");
    }
}

#[test]
fn three_updates_each_of_two_processes_are_kept() {
    let explored = Explored::new(Protocol::<2> {
        design: Design::Fused,
        updates: 3,
        crashes: 2,
        is_swept: true,
    });
    explored.assert_sound();
    explored.assert_thorough(20_000);
}

#[test]
fn four_processes_lose_nothing_and_can_always_finish() {
    let explored = Explored::new(Protocol::<4> {
        design: Design::Fused,
        updates: 1,
        crashes: 1,
        is_swept: false,
    });
    explored.assert_sound();
    explored.assert_thorough(300_000);
}

#[test]
#[ignore = "a minute and 2 GB; run by hand: cargo test --test it model -- --ignored"]
fn four_processes_and_a_sweeper_lose_nothing() {
    let explored = Explored::new(Protocol::<4> {
        design: Design::Fused,
        updates: 1,
        crashes: 2,
        is_swept: true,
    });
    explored.assert_sound();
    explored.assert_thorough(1_000_000);
}

#[test]
fn without_the_fence_an_update_is_lost() {
    let explored = Explored::new(two_processes(Design::NoFence));
    assert!(has_robbery(explored.way_to("lost update")));
}

#[test]
fn when_tokens_share_a_name_an_update_is_lost() {
    let explored = Explored::new(two_processes(Design::SharedName));
    assert!(has_robbery(explored.way_to("lost update")));
}

#[test]
fn verifying_before_writing_is_no_fence() {
    let explored = Explored::new(two_processes(Design::VerifyThenWrite));
    assert!(has_robbery(explored.way_to("lost update")));
}

#[test]
fn when_a_rename_is_done_but_not_found_its_update_is_made_twice() {
    let explored = Explored::new(two_processes(Design::LostAnswer));
    explored.way_to("double update");
}

#[test]
fn when_no_lock_is_taken_away_a_crash_shuts_it_for_ever() {
    let explored = Explored::new(Protocol {
        crashes: 1,
        ..two_processes(Design::NoTakeover)
    });
    assert!(explored.report.fault.is_none(), "nothing is lost");
    let way = told(explored.report.stuck.as_deref());
    println!("{way}");
    assert!(way.ends_with("crashes"), "{way}");
}
