//! Hostile content: bytes, JSON and edits that nobody thought of, in place of the files of a store.
//!
//! The cases are the same in every run, so that no change fails by chance. `PROPTEST_CASES=2560` looks at ten times as
//! many (256 are the default), at other ones each time.

mod document;
mod edits;
mod files;
mod oracle;
mod records;
mod values;
mod walks;

use std::fmt::Debug;

use proptest::{
    strategy::Strategy,
    test_runner::{Config, RngSeed, TestRunner},
};

/// Holds a property against that many cases of a strategy, or against a multiple where the environment asks for it.
#[track_caller]
fn check<S: Strategy>(cases: u32, strategy: &S, property: impl Fn(S::Value))
where
    S::Value: Debug,
{
    let mut config = Config {
        failure_persistence: None,
        max_shrink_time: 20_000,
        ..Config::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        config.cases = (cases * config.cases / 256).max(cases);
    } else {
        config.cases = cases;
        config.rng_seed = RngSeed::Fixed(0);
    }
    let outcome = TestRunner::new(config).run(strategy, |case| {
        property(case);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}
