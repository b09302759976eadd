//! The function of the fuzz target, held against its seeds and a little noise.

use std::{fs, path::Path};

use proptest::{prelude::*, sample::Index, test_runner::RngSeed};

use super::*;

/// The conversations that fuzzing starts from.
fn seeds() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/seeds/conversation");
    let files = fs::read_dir(folder).expect("the target has seeds");
    let seeds: Vec<_> = files
        .map(|file| fs::read(file.unwrap().path()).unwrap())
        .collect();
    assert!(!seeds.is_empty(), "there are no seeds");
    seeds
}

#[test]
fn every_seed_is_read_and_some_of_it_understood() {
    for seed in seeds() {
        conversation(&seed);
        let all = lines(&*seed);
        let mut messages = all.iter().flatten().filter_map(|it| written(decode(it)?));
        assert!(messages.next().is_some(), "no message in a seed");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(0), ..ProptestConfig::with_cases(256) })]

    #[test]
    fn noise_does_no_harm(
        seed in any::<Index>(),
        (start, length) in (any::<Index>(), 0_usize..30),
        noise in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        conversation(&noise);
        let mut bytes = seed.get(&seeds()).clone();
        let start = start.index(bytes.len());
        let end = bytes.len().min(start + length);
        bytes.splice(start..end, noise);
        conversation(&bytes);
    }
}
