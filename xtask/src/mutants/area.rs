//! The parts of the program whose mutants are tried, each with the tests that must notice them.

use std::io;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::{env, fs, thread};

use super::MutantsError;
use crate::program::{Program, ProgramError, root};

/// A part of the program.
#[derive(Debug)]
pub(super) struct Area {
    pub(super) name: &'static str,
    package: &'static str,
    /// Globs from the root.
    pub(super) files: &'static [&'static str],
    /// What `cargo test` is given, to run less than all tests of the package.
    tests: &'static [&'static str],
}

pub(super) static AREAS: [Area; 4] = [
    Area {
        name: "engine",
        package: "olmguard-engine",
        // Not the words, which tests of other crates pin.
        files: &["crates/engine/src/judge/**", "crates/engine/src/resolve/**"],
        // They count instructions, or ask for each edit of whole packages, which takes longer than all the others.
        tests: &["--", "--skip", "growth", "--skip", "recorded_packages"],
    },
    Area {
        name: "policy",
        package: "olmguard-policy",
        files: &["crates/policy/src/**"],
        tests: &[],
    },
    Area {
        name: "admission",
        package: "olmguard-admission",
        files: &["crates/admission/src/**"],
        tests: &[],
    },
    Area {
        name: "server",
        package: "olmguard-server",
        files: &["crates/server/src/**"],
        tests: &[],
    },
];

/// How many of the mutants are tried.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) enum Share {
    #[default]
    All,
    /// `K/N`: one part of N, from 0.
    Part(String),
    /// The first part, so that there are not more.
    AtMost(usize),
}

impl Share {
    /// The same as `K/N`.
    pub(super) fn of(&self, all: usize) -> String {
        match self {
            Self::All => "0/1".to_owned(),
            Self::Part(part) => part.clone(),
            Self::AtMost(most) => format!("0/{}", all.div_ceil(*most).max(1)),
        }
    }
}

/// What became of the mutants.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// How many there are to choose from.
    pub(super) all: usize,
    pub(super) caught: usize,
    pub(super) timed_out: usize,
    /// Those that do not compile.
    pub(super) unviable: usize,
    /// `FILE:LINE:COLUMN: CHANGE`
    pub(super) missed: Vec<String>,
}

impl Area {
    /// Tries a share of all mutants, or of the mutants on the lines in a file with changes.
    pub(super) fn run(
        &self,
        tool: &Path,
        share: &Share,
        changes: Option<&Path>,
    ) -> Result<Found, MutantsError> {
        let chosen = || match changes {
            Some(changes) => self.program(tool).arg("--in-diff").arg(changes),
            None => self.program(tool),
        };
        let all = chosen().arg("--list").output()?.lines().count();
        let output = emptied(root().join("target/mutants").join(self.name))?;
        let program = chosen().arg("--output").arg(&output);
        let program = program.args(["--sharding", "round-robin", "--shard", &share.of(all)]);
        let program = program.args(["--jobs", &jobs(share).to_string()]);
        is_tried(program.arg("--").args(self.tests).run())?;
        let lines = |name: &str| lines(output.join("mutants.out").join(name));
        Ok(Found {
            all,
            caught: lines("caught.txt")?.len(),
            timed_out: lines("timeout.txt")?.len(),
            unviable: lines("unviable.txt")?.len(),
            missed: lines("missed.txt")?,
        })
    }

    /// What only developers see, such as `Debug`, has no tests.
    fn program(&self, tool: &Path) -> Program {
        let files = self.files.iter().flat_map(|glob| ["--file", glob]);
        Program::at(tool)
            .args(["mutants", "--colors", "never", "--no-shuffle"])
            .args(["--exclude-re", "impl fmt::Debug", "--package"])
            .arg(self.package)
            .args(files)
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            // A case that fails is enough: to make it small takes longer than the tests may.
            .env("PROPTEST_MAX_SHRINK_ITERS", "0")
            // The tests run in a copy of the repository.
            .env("OLMGUARD_SHARED", shared())
    }
}

/// Each job builds the dependencies for itself, so one job is faster for a few mutants.
fn jobs(share: &Share) -> usize {
    match share {
        Share::AtMost(_) => 1,
        Share::All | Share::Part(_) => cores(),
    }
}

fn cores() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// The directory, without what an earlier run has found.
fn emptied(path: PathBuf) -> Result<PathBuf, MutantsError> {
    let removed = fs::remove_dir_all(&path);
    let removed = removed.or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    });
    match removed.and_then(|()| fs::create_dir_all(&path)) {
        Ok(()) => Ok(path),
        Err(source) => Err(MutantsError::File { path, source }),
    }
}

fn shared() -> PathBuf {
    let shared = env::var_os("OLMGUARD_SHARED");
    shared.map_or_else(|| root().join("../shared"), |shared| root().join(shared))
}

/// Survivors and tests without an end are findings. All else, such as tests that fail without a change, is no result.
fn is_tried(ended: Result<(), ProgramError>) -> Result<(), ProgramError> {
    match ended {
        Err(ProgramError::Failed { status, .. }) if matches!(status.code(), Some(2 | 3)) => Ok(()),
        ended => ended,
    }
}

/// None where the file is missing: there was no mutant.
fn lines(path: PathBuf) -> Result<Vec<String>, MutantsError> {
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().map(str::to_owned).collect()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(MutantsError::File { path, source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_part_of_all() {
        let at_most = |all| Share::AtMost(20).of(all);
        assert_eq!([0, 20, 21, 400].map(at_most), ["0/1", "0/1", "0/2", "0/20"]);
        assert_eq!(Share::All.of(400), "0/1");
        assert_eq!(Share::Part("3/4".to_owned()).of(400), "3/4");
    }
}
