//! The binary: arguments, logging and the exit code.

fn main() {}
