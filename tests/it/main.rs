//! The tests that see the crate from outside: one binary, a topic a module.

mod architecture;
mod golden;
mod lifecycle;
mod records;
mod ui;
