//! The `refire` binary: the server and the command line that talks to it.
//!
//! Nothing happens here before the arguments are read, so that `--help` answers at once.

mod api;
mod cli;
mod codes;
mod config;
mod demo;
mod program;
mod serve;

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
