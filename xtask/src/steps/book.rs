//! The book in `docs`, made by mdBook: that its pages and their summary can be read.
//!
//! What the pages say is tested by `tests/book.rs`.

use std::env;
use std::path::PathBuf;

use super::{StepError, is_continuous_integration};
use crate::find;
use crate::program::Program;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let mdbook = installed().map_or_else(install, Ok)?;
    Program::at(&mdbook).args(["build", "docs"]).run()?;
    report.notes.push("the book is in target/book".to_owned());
    Ok(())
}

/// Takes minutes, once. A machine that cannot fetch it says so; continuous integration has to.
fn install() -> Result<PathBuf, StepError> {
    let install = Program::cargo("install --locked --version ^0.5 mdbook").run();
    match (install, installed()) {
        (Ok(()), Some(mdbook)) => Ok(mdbook),
        (Err(error), _) if is_continuous_integration() => Err(error.into()),
        (Err(error), _) => Err(StepError::LeftOut {
            why: format!("mdbook cannot be installed: {error}"),
        }),
        (Ok(()), None) => Err(StepError::LostProgram { program: "mdbook" }),
    }
}

/// On the `PATH`, or where cargo installs, which need not be on it.
fn installed() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(env::home_dir()?.join(".cargo")));
    let folders: Vec<_> = home.iter().map(|home| home.join("bin")).collect();
    find::find("mdbook", &folders)
}
