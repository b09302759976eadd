//! The functions of the fuzz targets, held against their seeds and a little noise.

use std::fs;

use proptest::{prelude::*, sample::Index, test_runner::RngSeed};

use super::*;

/// The files that fuzzing a target starts from.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/seeds")
        .join(target);
    let files = fs::read_dir(folder).expect("every target has seeds");
    let seeds: Vec<_> = files
        .map(|file| fs::read(file.unwrap().path()).unwrap())
        .collect();
    assert!(!seeds.is_empty(), "{target} has no seeds");
    seeds
}

/// The targets, as `fuzz/` runs them.
const TARGETS: [Target; 4] = [
    Target("task", task),
    Target("thread", thread),
    Target("progress", progress),
    Target("sequence", sequence),
];

struct Target(&'static str, fn(&[u8]) -> bool);

#[test]
fn every_seed_is_taken() {
    for Target(name, run) in TARGETS {
        assert!(seeds(name).iter().all(|it| run(it)), "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(0), ..ProptestConfig::with_cases(128) })]

    #[test]
    fn noise_is_no_more_than_refused(
        seed in any::<Index>(),
        at in any::<Index>(),
        noise in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        for Target(name, run) in TARGETS {
            run(&noise);
            let mut bytes = seed.get(&seeds(name)).clone();
            bytes.splice(at.index(bytes.len()).., noise.iter().copied());
            run(&bytes);
        }
    }
}
