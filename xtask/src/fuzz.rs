//! Runs the fuzz targets in `fuzz/` with libFuzzer, on any toolchain: `cargo fuzz` is not needed, but works too.
//!
//! The targets are instrumented for coverage, not for memory errors, because the crates forbid `unsafe`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::find;
use crate::program::{Program, ProgramError, root};

/// The reason why a target did not finish.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FuzzError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("there is no C++ compiler: install one (Debian has g++)")]
    NoCompiler,
    #[error("no fuzz target {asked:?}, expected one of: {}", TARGETS.join(", "))]
    UnknownTarget { asked: String },
    #[error("usage: cargo xtask fuzz [TARGET [SECONDS]]")]
    Usage,
    #[error("the directory of a corpus cannot be made: {0}")]
    Corpus(io::Error),
    #[error("`rustc -vV` does not name the machine that it builds for")]
    NoHost,
}

/// `cargo xtask fuzz [TARGET [SECONDS]]`: all targets for a number of inputs, or one until it is stopped.
pub(crate) fn run(arguments: &[&str]) -> Result<(), FuzzError> {
    match arguments {
        [] => smoke(),
        [target] => fuzz(target, &[]),
        [target, seconds] if seconds.parse::<u32>().is_ok() => {
            fuzz(target, &[format!("-max_total_time={seconds}")])
        }
        _ => Err(FuzzError::Usage),
    }
}

/// Runs every target from the seeds alone. Findings of earlier runs are not used.
pub(crate) fn smoke() -> Result<(), FuzzError> {
    let programs = build(&FAST_TO_BUILD)?;
    let limits = [format!("-runs={SMOKE_RUNS}"), "-seed=1".to_owned()];
    TARGETS.iter().try_for_each(|target| {
        let corpus = tempfile::tempdir().map_err(FuzzError::Corpus)?;
        start(&programs.join(target), target, corpus.path(), &limits)
    })
}

fn fuzz(target: &str, limits: &[String]) -> Result<(), FuzzError> {
    if !TARGETS.contains(&target) {
        let asked = target.to_owned();
        return Err(FuzzError::UnknownTarget { asked });
    }
    let corpus = folder(&format!("corpus/{target}"))?;
    start(&build(&FAST_TO_RUN)?.join(target), target, &corpus, limits)
}

fn start(program: &Path, target: &str, corpus: &Path, limits: &[String]) -> Result<(), FuzzError> {
    let artifacts = folder(&format!("artifacts/{target}"))?;
    let fuzzer = Program::at(program).args(limits).args(BOUNDS);
    let fuzzer = fuzzer.arg(format!("-artifact_prefix={}/", artifacts.display()));
    let fuzzer = fuzzer.arg(corpus).arg(format!("fuzz/seeds/{target}"));
    Ok(fuzzer.run()?)
}

/// A profile of cargo.
struct Profile {
    arguments: &'static str,
    folder: &'static str,
}

const FAST_TO_BUILD: Profile = Profile {
    arguments: "build --locked --manifest-path fuzz/Cargo.toml --target",
    folder: "debug",
};

const FAST_TO_RUN: Profile = Profile {
    arguments: "build --release --locked --manifest-path fuzz/Cargo.toml --target",
    folder: "release",
};

/// Builds all targets, and returns the directory of the programs.
fn build(profile: &Profile) -> Result<PathBuf, FuzzError> {
    if find::find("c++", &[]).is_none() {
        return Err(FuzzError::NoCompiler);
    }
    let host = host()?;
    // With an explicit target, cargo does not instrument build scripts.
    let build = Program::cargo(profile.arguments)
        .arg(&host)
        .arg("--target-dir")
        .arg(built());
    build.env("RUSTFLAGS", INSTRUMENTED.join(" ")).run()?;
    Ok(built().join(host).join(profile.folder))
}

fn host() -> Result<String, FuzzError> {
    let version = Program::new("rustc").arg("-vV").output()?;
    let mut lines = version.lines();
    let host = lines.find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or(FuzzError::NoHost)
}

fn folder(name: &str) -> Result<PathBuf, FuzzError> {
    let path = built().join(name);
    fs::create_dir_all(&path).map_err(FuzzError::Corpus)?;
    Ok(path)
}

fn built() -> PathBuf {
    root().join("target/fuzz")
}

const TARGETS: [&str; 6] = [
    "condition_compile",
    "condition_evaluate",
    "ranges",
    "catalog",
    "crd_pair",
    "bundle",
];

/// The limits: seconds for one input, MiB of memory for all inputs, and bytes of an input.
const BOUNDS: [&str; 5] = [
    "-timeout=5",
    "-rss_limit_mb=1024",
    "-max_len=4096",
    "-print_final_stats=1",
    "-verbosity=0",
];

const SMOKE_RUNS: u32 = 20_000;

/// The flags of cargo-fuzz without a sanitizer.
const INSTRUMENTED: [&str; 6] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_has_a_program_and_seeds() {
        let manifest = fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
        let named = manifest
            .lines()
            .filter_map(|line| line.strip_prefix("path = \"targets/"));
        let named: Vec<_> = named
            .filter_map(|line| line.strip_suffix(".rs\""))
            .collect();
        assert_eq!(named, TARGETS);
        for target in TARGETS {
            let seeds = fs::read_dir(root().join("fuzz/seeds").join(target)).unwrap();
            assert!(seeds.count() > 0, "{target}");
        }
    }

    #[test]
    fn other_words_are_refused() {
        let error = |arguments: &[&str]| run(arguments).unwrap_err().to_string();
        assert_eq!(
            error(&["conditions"]),
            "no fuzz target \"conditions\", expected one of: \
             condition_compile, condition_evaluate, ranges, catalog, crd_pair, bundle"
        );
        assert_eq!(
            error(&["ranges", "soon"]),
            "usage: cargo xtask fuzz [TARGET [SECONDS]]"
        );
    }
}
