//! Set-up and checks of olmguard, run as `cargo xtask TASK` from anywhere in the repository.

mod alerts;
mod bless;
mod program;
mod report;
mod steps;
mod tally;

use std::fmt::Display;
use std::process::ExitCode;
use std::{env, io};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["test"] => test(),
        ["bless"] => ended(bless::run()),
        ["alerts"] => ended(alerts::run(None)),
        ["help" | "--help" | "-h"] => {
            report::say(HELP);
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("xtask: unknown task {:?}\n\n{HELP}", arguments.join(" "));
            ExitCode::from(2)
        }
    }
}

fn test() -> ExitCode {
    let report = steps::run_all();
    ended(report.map(|report| report.print(&mut io::stdout())))
}

fn ended<E: Display>(result: Result<(), E>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nxtask: {error}");
            ExitCode::FAILURE
        }
    }
}

const HELP: &str = "\
usage: cargo xtask TASK

tasks:
  test   everything that must hold before a change is merged: format, clippy, the pure part alone,
         documentation, dependencies, tests; stops at the first failure. Installs cargo-deny if it
         is missing. Recorded answers are taken from OLMGUARD_SHARED, else from ../shared, else
         from the sample in tests/vectors.
  bless  writes the answers that stand in the repository anew instead of comparing them; read the
         difference before you commit it
  alerts puts the alert rules, their unit tests and the metrics of a running guard to promtool, which
         is looked for in the folders of OLMGUARD_E2E_BIN and on the PATH, and fails without
  help   this text";
