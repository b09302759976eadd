//! The integration tests, one binary, a module for each topic.

#![cfg(test)]

mod architecture;
mod golden;
mod lifecycle;
mod records;
mod tasks;
mod ui;
