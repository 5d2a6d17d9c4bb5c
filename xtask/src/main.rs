//! Set-up and checks of olmguard, run as `cargo xtask TASK` from anywhere in the repository.

mod ahead;
mod alerts;
mod archive;
mod assets;
mod attack;
mod bench;
mod bless;
mod build;
mod commit;
mod digest;
mod e2e;
mod faults;
mod find;
mod fuzz;
mod image;
mod left_out;
mod machine;
mod mutants;
mod output;
mod page;
mod program;
mod release;
mod render;
mod report;
mod reproduce;
mod shape;
mod soak;
mod steps;
mod suite;
mod tally;

use std::fmt::Display;
use std::process::ExitCode;
use std::{env, io};

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["test", steps @ ..] => test(steps),
        ["ahead"] => ended(ahead::run()),
        ["bless"] => ended(bless::run()),
        ["e2e-assets"] => ended(assets::run(false)),
        ["e2e-assets", "--prune"] => ended(assets::run(true)),
        ["e2e", arguments @ ..] => ended(e2e::run(arguments)),
        ["render"] => ended(render::write(&find::folders())),
        ["render", "--check"] => ended(render::check(&find::folders())),
        ["bench", arguments @ ..] => ended(bench::run(arguments)),
        ["faults"] => ended(faults::run(false)),
        ["faults", "--write"] => ended(faults::run(true)),
        ["soak", options @ ..] => ended(soak::run(options)),
        ["attack"] => ended(attack::run()),
        ["fuzz", arguments @ ..] => ended(fuzz::run(arguments)),
        ["mutants", arguments @ ..] => ended(mutants::run(arguments)),
        ["alerts"] => ended(alerts::run()),
        ["image"] => ended(image::run(None)),
        ["image", "--output", folder] => ended(image::run(Some(folder))),
        ["build"] => ended(build::run(None)),
        ["build", "--output", file] => ended(build::run(Some(file))),
        ["release", options @ ..] => ended(release::run(options)),
        ["reproduce"] => ended(reproduce::run()),
        ["shape"] => ended(shape::check()),
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

fn test(names: &[&str]) -> ExitCode {
    let report = steps::run(names);
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
  test [CHECK...]
         everything that must hold before a change is merged: format, clippy, the pure part alone,
         documentation, the book, dependencies, tests, benches, end to end; stops at the first failure.
         Names choose checks; tests, benches and end to end need `test programs` before them. Prints the time of
         every check, and the slowest tests. What takes long is built in the background meanwhile.
         Installs mdbook and cargo-deny in their pinned versions into target/tools. If CI is `true`,
         it installs what Debian has, and fails on whatever is left out but for the list in
         .ci/left-out; otherwise it prints what was left out. Recorded answers are taken from
         OLMGUARD_SHARED, by default from ../shared, or from the sample in tests/vectors.
  ahead  what `test` starts in the background: everything of e2e-assets, and the build. Ends when its
         standard input ends
  bless  writes the answers that stand in the repository anew instead of comparing them; read the
         difference before you commit it
  e2e [ARGUMENT...]
         the end-to-end tests alone: olmguard beside a real API server and a real OLM, on loopback.
         The arguments are theirs: a part of a name, --list
  bench [NAME]... [--peer] [--static] [--save NAME] [--against NAME] [--write] [--smoke]
         runs the benches of these names, or all, and prints tables of their figures. --peer builds OLM's
         resolver, operator-registry's loader and opm with Go and measures them in turns; --static
         measures the program as it is delivered, too. --save keeps the figures in target/bench,
         --against compares with such figures. --write writes the tables and the picture into
         docs/performance.md. --smoke asks everything once, for the answers only. Figures are read
         from whole catalogs in OLMGUARD_SHARED, by default in ../shared
  attack attacks the program as it is delivered, with hostile reviews and catalogs at the same time
  faults [--write]
         plays faults of pods, of their clocks, of catalogd, of the control plane and of the network while people edit,
         and prints what their edits met: the end-to-end tests `faults::`, one by one. They need nft and Debian's
         package faketime. --write writes the table into docs/reliability.md
  soak [--hours N] [--speed N] [--write]
         runs all loads at the same time for N hours, by default for one, and prints the memory, the descriptors and
         the tasks of two pods: the end-to-end test `soak::`. Fails if a pod grows. With --speed 10 all but the edits
         come ten times as often, and it is done in a tenth of the time. --write writes the table and the picture
         into docs/reliability.md
  fuzz [TARGET [SECONDS]]
         runs the fuzz targets in fuzz/, each with the same 20000 inputs, or one of them for so many seconds
         or until it is stopped. What it found stays in target/fuzz. It needs a C++ compiler
  mutants [AREA]... [--shard K/N] [--since REV] [--write]
         changes the code of these areas (engine, policy, admission, server), or of all, one function or operator at
         a time, and fails if no test notices it, but for the list in .ci/mutants. --shard takes one part of N,
         --since the mutants on lines that differ from a revision. --write writes the table into
         docs/reliability.md
  e2e-assets [--prune]
         builds the programs that they need, with Go, into OLMGUARD_E2E_ASSETS, else into
         olmguard/e2e in the user's cache folder. KUBEBUILDER_ASSETS is used where it has etcd,
         kube-apiserver and kubectl; OLMGUARD_E2E_KUBERNETES=1.30 takes that minor. --prune
         removes what earlier versions left
  render writes the manifests in deploy/rendered anew, from the kustomizations and from the chart,
         which have to come to the same; --check compares only. It needs kubectl and helm, in the
         folders of OLMGUARD_E2E_BIN or on the PATH.
  alerts puts the alert rules, their unit tests and the metrics of a running guard to promtool, which
         is looked for in the folders of OLMGUARD_E2E_BIN and on the PATH, and fails without
  build [--output FILE]
         builds olmguard as it is delivered, one static program; adds rustup's musl target if it is
         missing, and fails without it
  image [--output FOLDER]
         builds the same and writes its image as a layout of OCI, by default into image beside
         what cargo builds; no engine takes part
  release [--output FOLDER] [--url PREFIX]
         makes all that users download, by default in dist beside what cargo builds: for each processor
         an archive with the static program, completions and manual pages; one image for all of them;
         the chart, an SBOM, a manifest for krew, and SHA256SUMS. PREFIX is where users will find these
         files; without it there is no manifest for krew. SOURCE_DATE_EPOCH is the date of the files in
         the archives, by default the date of the commit. Prints what was left out, and why; if CI is
         `true`, that is a failure
  reproduce
         builds the image of the commit in two new checkouts, and fails if the images are different. Changes
         that are not committed are an error
  shape  counts the code: lines, files, long functions, names that several types share; fails if a count is above
         its ceiling in .ci/shape
  help   this text";
