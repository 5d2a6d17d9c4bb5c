//! A report as JUnit's XML: a test case for each extension.
//!
//! A spec that would be denied today is a failure; an undecided one, and what could not be read, is an error; an
//! extension that is not judged is skipped. All other findings are the output of their case.

use quick_junit::{NonSuccessKind, SerializeError, TestCase, TestCaseStatus};

use super::Unread;
use crate::cli::output::junit::{non_success, report, unread};
use olmguard_engine::explain::one_line;
use olmguard_engine::judge::Verdict;
use olmguard_views::audit_report::{AuditReport, ExtensionReport, FindingReport};

/// The XML.
pub(super) fn junit(audit: &AuditReport, faults: &[Unread]) -> Result<String, SerializeError> {
    let errors = faults.iter().filter(|fault| fault.is_error);
    let unread = unread(
        "inputs",
        errors.map(|fault| (fault.name.clone(), fault.line.clone())),
    );
    report(
        "olmguard audit",
        unread,
        audit.extensions(),
        |_| SUITE,
        case,
    )
}

fn case(extension: &ExtensionReport) -> TestCase {
    let mut case = TestCase::new(one_line(extension.name()), status_of(extension));
    case.set_classname(one_line(extension.package()));
    let is_success = matches!(case.status, TestCaseStatus::Success { .. });
    if is_success && !extension.findings().is_empty() {
        case.set_system_out(findings(extension));
    }
    case
}

fn status_of(extension: &ExtensionReport) -> TestCaseStatus {
    let bad = |kind| {
        let first = extension.findings().first().map(FindingReport::to_string);
        let whole = findings(extension);
        non_success(
            kind,
            extension.token(),
            &first.unwrap_or_default(),
            Some(&whole),
        )
    };
    match extension.verdict() {
        Verdict::Deny => bad(NonSuccessKind::Failure),
        Verdict::Undecided => bad(NonSuccessKind::Error),
        Verdict::Allow => TestCaseStatus::success(),
        Verdict::NotJudged => {
            let mut skipped = TestCaseStatus::skipped();
            skipped.set_type(extension.token());
            skipped
        }
    }
}

fn findings(extension: &ExtensionReport) -> String {
    let lines: Vec<_> = extension
        .findings()
        .iter()
        .map(ToString::to_string)
        .collect();
    lines.join("\n")
}

const SUITE: &str = "extensions";
