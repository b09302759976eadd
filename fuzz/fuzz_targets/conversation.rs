//! The bytes that a client sends.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ai_coord::fuzzing::mcp::conversation(bytes));
