//! The `olmguard` program: parse the command line, run the command, turn the result into an exit code.

use std::process::ExitCode;

/// That of musl is slow as soon as two threads use it.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    olmguard::cli::main()
}
