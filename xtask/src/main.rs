//! Set-up and checks of olmguard, run as `cargo xtask TASK` from anywhere in the repository.

mod alerts;
mod assets;
mod bless;
mod commit;
mod e2e;
mod find;
mod image;
mod program;
mod release;
mod render;
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
        ["e2e-assets"] => ended(assets::run(false)),
        ["e2e-assets", "--prune"] => ended(assets::run(true)),
        ["e2e", arguments @ ..] => ended(e2e::run(arguments)),
        ["render"] => ended(render::write(&find::folders())),
        ["render", "--check"] => ended(render::check(&find::folders())),
        ["alerts"] => ended(alerts::run()),
        ["image"] => ended(image::run(None)),
        ["image", "--output", folder] => ended(image::run(Some(folder))),
        ["release"] => ended(release::run(None)),
        ["release", "--output", file] => ended(release::run(Some(file))),
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
         documentation, the book, dependencies, tests, end to end; stops at the first failure.
         Installs mdbook and cargo-deny if they are missing. Where there is no Go, and CI is not
         `true`, end to end is left out. Recorded answers are taken from OLMGUARD_SHARED, else from
         ../shared, else from the sample in tests/vectors.
  bless  writes the answers that stand in the repository anew instead of comparing them; read the
         difference before you commit it
  e2e [ARGUMENT...]
         the end-to-end tests alone: olmguard beside a real API server and a real OLM, on loopback.
         The arguments are theirs: a part of a name, --list
  e2e-assets [--prune]
         builds the programs that they need, with Go, into OLMGUARD_E2E_ASSETS, else into
         olmguard/e2e in the user's cache folder. KUBEBUILDER_ASSETS is used where it has etcd,
         kube-apiserver and kubectl; OLMGUARD_E2E_KUBERNETES=1.34 takes that minor. --prune
         removes what earlier versions left
  render writes the manifests in deploy/rendered anew, from the kustomizations and from the chart,
         which have to come to the same; --check compares only. It needs kubectl and helm, in the
         folders of OLMGUARD_E2E_BIN or on the PATH.
  alerts puts the alert rules, their unit tests and the metrics of a running guard to promtool, which
         is looked for in the folders of OLMGUARD_E2E_BIN and on the PATH, and fails without
  release [--output FILE]
         builds olmguard as it is delivered, one static program; fetches rustup's musl target if it
         is missing
  image [--output FOLDER]
         builds the same and writes its image as a layout of OCI, by default into image beside
         what cargo builds; no engine takes part
  help   this text";
