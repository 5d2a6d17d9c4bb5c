//! JUnit's XML: what is the same in every report that is printed.
//!
//! There is no schema of JUnit's own: what is written is what Jenkins' `junit-10.xsd` takes.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCaseStatus};

/// The XML of a report.
pub(super) fn xml(report: &Report) -> Result<String, SerializeError> {
    // The root counts no skipped cases in that schema; its suites do.
    let skipped = format!(" skipped=\"{}\"", report.skipped);
    Ok(report.to_string()?.replacen(&skipped, "", 1))
}

/// How a case ends badly: a word for it, a line, and all of it.
pub(super) fn non_success(
    kind: NonSuccessKind,
    word: &str,
    line: &str,
    whole: Option<&str>,
) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(word).set_message(line);
    if let Some(whole) = whole {
        status.set_description(whole);
    }
    status
}
