//! The `olmguard` program: parse the command line, run the command, turn the result into an exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    olmguard::cli::main()
}
