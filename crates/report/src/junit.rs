//! Cases as JUnit's XML.
//!
//! JUnit has no schema of its own: what is written is of the elements and attributes that `junit-10.xsd` of
//! Jenkins' xunit plugin has, by a table in `tests/support/src/junit.rs`.

pub use quick_junit::SerializeError;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use crate::finding::{Finding, Place};
use olmguard_catalog::version::go::one_line;

/// One thing that was checked.
#[derive(Clone, Debug)]
pub struct Case {
    /// The suite: cases that follow each other and have the same one are in it together.
    pub suite: String,
    /// Its name.
    pub name: String,
    /// What it is grouped by in its suite.
    pub class: String,
    /// How it ends.
    pub status: CaseStatus,
    /// Its output, such as warnings; empty for none.
    pub output: String,
}

/// How a case ends.
#[derive(Clone, Debug)]
pub enum CaseStatus {
    /// Well.
    Passed,
    /// It was checked, and fails.
    Failed(Failure),
    /// It could not be checked.
    Error(Failure),
    /// It was not checked, for a reason: a word and a line.
    Skipped(&'static str, String),
}

/// Why a case ends badly.
#[derive(Clone, Debug)]
pub struct Failure {
    /// A word for it.
    pub word: &'static str,
    /// The same in a line.
    pub line: String,
    /// All of it.
    pub whole: String,
}

/// The XML of a report: first a suite of what could not be read, if something could not, by the name of that suite.
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
    // The root counts no skipped cases in that schema; its suites do.
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
