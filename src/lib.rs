//! A coordination layer between AI coding assistants: one task queue, shared through a directory.
//!
//! Layers, each of which names only those below it:
//! `cli | mcp → service → store → domain`.

pub mod cli;
pub mod domain;
pub mod mcp;
mod service;
mod store;
