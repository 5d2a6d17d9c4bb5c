//! Builds the book in `docs` with mdBook, to check that its pages and their summary are readable.
//!
//! `tests/pages/book.rs` checks the content of the pages.

use super::StepError;
use super::pinned::MDBOOK;
use crate::program::Program;
use crate::report::Report;

pub(super) fn check(report: &mut Report) -> Result<(), StepError> {
    let mdbook = MDBOOK.program()?;
    Program::at(&mdbook).args(["build", "docs"]).run()?;
    report.notes.push("the book is in target/book".to_owned());
    Ok(())
}
