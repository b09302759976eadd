//! The tests that see the crate from outside: one binary, a module for each topic.

#![cfg(test)]

mod agent;
mod architecture;
mod calls;
mod child;
mod clients;
mod config;
mod crash;
mod demo;
mod durability;
mod ending;
mod faults;
mod golden;
mod hostile;
mod lifecycle;
mod lines;
mod listings;
mod model;
mod people;
mod records;
mod resources;
mod schema;
mod stress;
mod tasks;
mod terminal;
mod tools;
mod toy;
mod ui;
mod wire;
