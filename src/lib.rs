//! A coordination layer between AI coding assistants: one task queue, shared through a directory.
//!
//! Layers, each of which names only those below it:
//! `cli | mcp → service → store → domain`.

pub mod cli;
pub mod domain;
pub mod mcp;
mod service;
mod store;

/// What the targets in `fuzz/` run, and the unit tests too. No part of the interface.
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::{mcp::fuzzing as mcp, store::fuzzing as store};
}
