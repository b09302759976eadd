//! The commands for people.

mod where_;
