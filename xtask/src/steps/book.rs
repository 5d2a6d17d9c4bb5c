//! The book in `docs`, made by mdBook: that its pages and their summary can be read.
//!
//! What the pages say is tested by `tests/pages/book.rs`.

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
