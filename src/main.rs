//! The `olmguard` program: parse the command line, run the command, turn the result into an exit code.

use std::process::ExitCode;

use olmguard::cli::{self, Build};

/// The system allocator of musl, which this one replaces, is slow as soon as two threads use it.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main(BUILD)
}

/// The commit comes from the environment of a release build, which `cargo xtask build` sets. If the
/// build asked git, each commit would recompile code that it does not change. The commit is read in
/// this file because it is the quickest to compile.
const BUILD: Build = Build {
    commit: option_env!("OLMGUARD_COMMIT"),
    rust: env!("BUILT_WITH_RUSTC"),
    target: env!("BUILT_FOR_TARGET"),
};
