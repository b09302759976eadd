//! The tests that see the crate from outside: one binary, a topic a module.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::expect_used,
    reason = "a test that cannot go on fails"
)]

mod architecture;
mod golden;
mod lifecycle;
mod records;
mod ui;
