//! The `olmguard` program: parse the command line, run the command, turn the result into an exit code.

use std::process::ExitCode;

use olmguard::cli::{self, Build};

/// That of musl is slow as soon as two threads use it.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main(BUILD)
}

/// The commit is told by whoever builds a release, as `cargo xtask build` does: asked of git, each
/// commit would build anew what it does not change. It is read here, in the file that is compiled the
/// quickest.
const BUILD: Build = Build {
    commit: option_env!("OLMGUARD_COMMIT"),
    rust: env!("BUILT_WITH_RUSTC"),
    target: env!("BUILT_FOR_TARGET"),
};
