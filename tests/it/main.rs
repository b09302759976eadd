//! The tests that see the crate from outside: one binary, a topic a module.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

mod agent;
mod architecture;
mod calls;
mod child;
mod clients;
mod ending;
mod golden;
mod lifecycle;
mod records;
mod terminal;
mod tools;
mod toy;
mod ui;
mod wire;
