//! Test cases as JUnit XML.
//!
//! JUnit has no schema of its own. The output uses only elements and attributes of `junit-10.xsd`
//! from Jenkins' xunit plugin, according to a table in `tests/support/src/junit.rs`.

pub use quick_junit::SerializeError;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::finding::{Finding, Place};
use olmguard_catalog::version::go::one_line;

/// One check.
#[derive(Clone, Debug)]
pub struct Case {
    /// The suite. Consecutive cases with equal suites are grouped.
    pub suite: String,
    /// The name of the case.
    pub name: String,
    /// The class, by which cases are grouped in their suite.
    pub class: String,
    /// The result.
    pub status: CaseStatus,
    /// The output, such as warnings; empty if there is none.
    pub output: String,
}

/// The result of a case.
#[derive(Clone, Debug)]
pub enum CaseStatus {
    /// The case passed.
    Passed,
    /// The case was checked, and failed.
    Failed(Failure),
    /// The case could not be checked.
    Error(Failure),
    /// The case was not checked, for a reason: a word and a line.
    Skipped(&'static str, String),
}

/// The reason why a case did not pass.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The reason as a word.
    pub word: &'static str,
    /// The reason as a line.
    pub line: String,
    /// The complete reason.
    pub whole: String,
}

/// Creates the XML of a report. If input could not be read, a suite with the name `unread` comes
/// first and has the messages.
///
/// # Errors
/// If a text cannot be written as XML.
pub fn junit<'f>(
    title: &str,
    (unread, faults): (&str, impl IntoIterator<Item = &'f Finding>),
    cases: &[Case],
) -> Result<String, SerializeError> {
    let mut report = Report::new(title);
    let faults: Vec<_> = faults.into_iter().map(|one| fault(unread, one)).collect();
    if !faults.is_empty() {
        report.add_test_suite(suite(unread, faults));
    }
    for of_suite in cases.chunk_by(|one, next| one.suite == next.suite) {
        let name = of_suite.first().map_or("", |case| &case.suite);
        report.add_test_suite(suite(&one_line(name), of_suite.iter().map(test_case)));
    }
    // In that schema the root has no count of skipped cases; its suites do.
    let skipped = format!(" skipped=\"{}\"", report.skipped);
    Ok(report.to_string()?.replacen(&skipped, "", 1))
}

fn suite(name: &str, cases: impl IntoIterator<Item = TestCase>) -> TestSuite {
    let mut suite = TestSuite::new(name);
    suite.add_test_cases(cases);
    suite
}

fn fault(class: &str, fault: &Finding) -> TestCase {
    let name = match &fault.place {
        Place::File(name, _) | Place::Named(name) => name,
        Place::Run => "facts",
    };
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type("BadInput").set_message(fault.line());
    let mut case = TestCase::new(one_line(name), status);
    case.set_classname(class);
    case
}

fn test_case(case: &Case) -> TestCase {
    let mut xml = TestCase::new(one_line(&case.name), status(&case.status));
    xml.set_classname(one_line(&case.class));
    if !case.output.is_empty() {
        xml.set_system_out(&case.output);
    }
    xml
}

fn status(status: &CaseStatus) -> TestCaseStatus {
    let (kind, failure) = match status {
        CaseStatus::Passed => return TestCaseStatus::success(),
        CaseStatus::Skipped(word, why) => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_type(*word).set_message(why);
            return skipped;
        }
        CaseStatus::Failed(failure) => (NonSuccessKind::Failure, failure),
        CaseStatus::Error(failure) => (NonSuccessKind::Error, failure),
    };
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(failure.word).set_message(&failure.line);
    status.set_description(&failure.whole);
    status
}
