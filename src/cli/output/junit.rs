//! JUnit's XML: what is the same in every report that is printed.
//!
//! JUnit has no schema of its own: what is written is of the elements and attributes that `junit-10.xsd` of
//! Jenkins' xunit plugin has, by a table in `tests/support/src/junit.rs`.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use olmguard_engine::explain::one_line;

/// The XML of a report: a suite of what could not be read, where something could not, and one for each file.
pub(crate) fn report<T>(
    name: &str,
    unread: TestSuite,
    told: &[T],
    file: impl Fn(&T) -> &str,
    case: impl Fn(&T) -> TestCase,
) -> Result<String, SerializeError> {
    let mut report = Report::new(name);
    if unread.tests > 0 {
        report.add_test_suite(unread);
    }
    for of_file in told.chunk_by(|one, next| file(one) == file(next)) {
        let name = of_file.first().map(&file).unwrap_or_default();
        let mut suite = TestSuite::new(one_line(name));
        suite.add_test_cases(of_file.iter().map(&case));
        report.add_test_suite(suite);
    }
    // The root counts no skipped cases in that schema; its suites do.
    let skipped = format!(" skipped=\"{}\"", report.skipped);
    Ok(report.to_string()?.replacen(&skipped, "", 1))
}

/// What could not be read, each by a name and in a line.
pub(crate) fn unread(suite: &str, faults: impl Iterator<Item = (String, String)>) -> TestSuite {
    let cases = faults.map(|(name, line)| {
        let status = non_success(NonSuccessKind::Error, "BadInput", &line, None);
        let mut case = TestCase::new(one_line(&name), status);
        case.set_classname(suite);
        case
    });
    let mut all = TestSuite::new(suite);
    all.add_test_cases(cases);
    all
}

/// How a case ends badly: a word for it, a line, and all of it.
pub(crate) fn non_success(
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
