//! What became of the cases, for pipelines.

use quick_junit::{NonSuccessKind, SerializeError, TestCase, TestCaseStatus};

use crate::cli::commands::test::text::details;
use crate::cli::commands::test::trial::Outcome;
use crate::cli::output::junit::{non_success, report, unread};
use crate::cli::output::workflow::Command;
use olmguard_engine::explain::one_line;

/// JUnit's XML: a suite for each file, and one for what could not be read.
pub(super) fn junit(outcomes: &[Outcome], faults: &[String]) -> Result<String, SerializeError> {
    let faults = faults.iter().map(|fault| one_line(fault));
    let unread = unread("suites", faults.map(|fault| (fault.clone(), fault)));
    report("olmguard test", unread, outcomes, |one| &one.file, case)
}

fn case(outcome: &Outcome) -> TestCase {
    let status = match outcome.differences.first() {
        None => TestCaseStatus::success(),
        Some(first) => {
            let line = format!(
                "{}: expected {}, found {}",
                first.field, first.expected, first.found
            );
            let whole = format!("{}\n{}", one_line(&outcome.place()), details(outcome));
            non_success(NonSuccessKind::Failure, "Difference", &line, Some(&whole))
        }
    };
    let mut case = TestCase::new(one_line(&outcome.name), status);
    case.set_classname(one_line(&outcome.file));
    case
}

/// Workflow commands of GitHub: an error for each case that does not hold.
pub(super) fn github(outcomes: &[Outcome], faults: &[String]) -> String {
    let faults = faults.iter().map(|fault| {
        let command = Command {
            word: "error",
            file: None,
            at: None,
            title: "olmguard test",
        };
        command.line(&one_line(fault))
    });
    let failed = outcomes.iter().filter(|outcome| !outcome.holds());
    let failed = failed.map(|outcome| {
        let command = Command {
            word: "error",
            file: Some(&outcome.file),
            at: Some(outcome.at),
            title: &outcome.name,
        };
        command.line(&details(outcome))
    });
    faults.chain(failed).collect()
}
