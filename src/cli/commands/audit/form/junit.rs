//! A report as JUnit's XML: a test case for each extension.
//!
//! A spec that would be denied today is a failure; an undecided one, and what could not be read, is an error; an
//! extension that is not judged is skipped. All other findings are the output of their case.

use quick_junit::{NonSuccessKind, SerializeError, TestCase, TestCaseStatus};

use super::Unread;
use crate::cli::output::junit::{non_success, report, unread};
use olmguard_engine::explain::one_line;
use olmguard_engine::judge::{Token, Verdict};
use olmguard_views::audit_report::{AuditReport, ExtensionReport};

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
    let bad = |kind, word| {
        let first = extension.lines().next().unwrap_or_default();
        non_success(kind, word, &first, Some(&findings(extension)))
    };
    match extension.verdict() {
        Verdict::Deny => bad(NonSuccessKind::Failure, extension.token()),
        Verdict::Undecided => bad(NonSuccessKind::Error, extension.token()),
        // The bypass allows it, whatever is installed.
        Verdict::Allow if extension.is_undecided() => {
            bad(NonSuccessKind::Error, Token::InstalledUnknown.as_str())
        }
        Verdict::Allow => TestCaseStatus::success(),
        Verdict::NotJudged => {
            let mut skipped = TestCaseStatus::skipped();
            let why = extension.exemption().unwrap_or_default();
            skipped.set_type(extension.token()).set_message(why);
            skipped
        }
    }
}

fn findings(extension: &ExtensionReport) -> String {
    extension.lines().collect::<Vec<_>>().join("\n")
}

const SUITE: &str = "extensions";
