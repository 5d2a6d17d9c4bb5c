//! The requirements of tests on the machine: programs to compare with, and the recorded answers.
//!
//! CI runs as root on Debian. There, all missing programs are installed with one call, and the run fails if a program
//! is still missing. No other machine is changed: its tests skip what they cannot do, and print it.

use std::env;
use std::path::PathBuf;

use super::{StepError, is_continuous_integration};
use crate::find;
use crate::program::{Program, root};
use crate::report::Report;

pub(super) fn check(_: &mut Report) -> Result<(), StepError> {
    if !is_continuous_integration() {
        return Ok(());
    }
    let folder = recorded();
    if !folder.is_dir() {
        return Err(StepError::NoRecordedAnswers { folder });
    }
    let packages = packages_of(&missing());
    if !packages.is_empty() {
        Program::new("apt-get").args(["update", "--quiet"]).run()?;
        let install = ["install", "--yes", "--quiet", "--no-install-recommends"];
        let install = Program::new("apt-get").args(install).args(packages);
        install.env("DEBIAN_FRONTEND", "noninteractive").run()?;
    }
    match missing().as_slice() {
        [] => Ok(()),
        missing => Err(StepError::MissingPrograms {
            programs: missing.join(", "),
        }),
    }
}

/// The program that drives a browser for the tests, if it exists.
pub(super) fn chromedriver() -> Option<PathBuf> {
    find::find(CHROMEDRIVER, &[])
}

/// The directory of recorded answers, found in the same way as by the tests.
fn recorded() -> PathBuf {
    env::var_os("OLMGUARD_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from)
}

fn missing() -> Vec<&'static str> {
    let programs = PROGRAMS.iter().map(|(program, _)| *program);
    programs
        .filter(|program| find::find(program, &[]).is_none())
        .collect()
}

fn packages_of(programs: &[&str]) -> Vec<&'static str> {
    let wanted = PROGRAMS
        .iter()
        .filter(|(program, _)| programs.contains(program));
    wanted
        .flat_map(|(_, packages)| *packages)
        .copied()
        .collect()
}

const CHROMEDRIVER: &str = "chromedriver";

/// Each program, and its packages in Debian.
const PROGRAMS: [(&str, &[&str]); 11] = [
    ("c++", &["g++"]),
    (CHROMEDRIVER, &["chromium", "chromium-driver"]),
    ("elvish", &["elvish"]),
    ("fish", &["fish"]),
    ("git", &["git"]),
    ("groff", &["groff-base"]),
    ("openssl", &["openssl"]),
    ("strace", &["strace"]),
    ("unshare", &["util-linux"]),
    ("valgrind", &["valgrind"]),
    ("zsh", &["zsh"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_packages_of_what_is_missing_are_installed() {
        assert_eq!(packages_of(&[]), [""; 0]);
        assert_eq!(
            packages_of(&["zsh", CHROMEDRIVER]),
            ["chromium", "chromium-driver", "zsh"]
        );
    }
}
