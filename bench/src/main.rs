//! `refire-bench`: see the crate. Uses the allocator of the server, so that what runs in this
//! process costs what it costs there.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    refire_bench::main()
}
