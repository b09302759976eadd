//! The binary. What it does is the library's; what it ends with is here.

use std::{env, process::ExitCode};

fn main() -> ExitCode {
    ai_coord::cli::run(env::args_os())
}
