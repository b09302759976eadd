//! The bytes of a file in place of the sequence.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ai_coord::fuzzing::store::sequence(bytes);
});
