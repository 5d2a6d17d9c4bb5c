//! Results as JUnit's XML: a suite for each file, a test case for each extension in it.
//!
//! A refusal is a failure; what is undecided, and what could not be read, is an error; what is not
//! judged is skipped; warnings are a case's output, or its failure where they count as one.

use quick_junit::{NonSuccessKind, SerializeError, TestCase, TestCaseStatus};

use crate::cli::Exit;
use crate::cli::commands::check::form::{CheckedExtension, Run};
use crate::cli::commands::check::trouble::{About, Trouble, Weight};
use crate::cli::output::junit::{non_success, report, unread};
use olmguard_engine::explain::one_line;
use olmguard_engine::judge::Verdict;

/// The XML.
pub(in crate::cli::commands::check) fn junit(run: &Run<'_>) -> Result<String, SerializeError> {
    let errors = run.troubles.iter();
    let errors = errors.filter(|one| one.weight == Weight::Error);
    let unread = unread("inputs", errors.map(named));
    report(
        "olmguard check",
        unread,
        &run.results,
        CheckedExtension::file,
        case,
    )
}

/// What could not be read, beside its name.
fn named(trouble: &Trouble) -> (String, String) {
    let name = match &trouble.about {
        About::File(name, _) | About::Base(name) => name,
        About::Run => "facts",
    };
    (name.to_owned(), trouble.line())
}

fn case(told: &CheckedExtension<'_>) -> TestCase {
    let mut case = TestCase::new(one_line(&told.name()), status_of(told));
    case.set_classname(one_line(told.file()));
    let warnings: Vec<_> = told.warnings().collect();
    if !warnings.is_empty() {
        case.set_system_out(warnings.join("\n"));
    }
    case
}

fn status_of(told: &CheckedExtension<'_>) -> TestCaseStatus {
    let bad = |kind| {
        let place = one_line(&told.case.place.to_string());
        let whole = format!("{place}\n{}", told.text());
        non_success(kind, told.token(), &told.first_line(), Some(&whole))
    };
    match (told.answer.verdict, told.counts) {
        (Verdict::Deny, _) => bad(NonSuccessKind::Failure),
        (Verdict::Undecided, counts) if counts != Exit::Good => bad(NonSuccessKind::Error),
        (_, Exit::Denied) => {
            let warnings: Vec<_> = told.warnings().collect();
            let first = warnings.first().map(String::as_str).unwrap_or_default();
            let all = warnings.join("\n");
            non_success(NonSuccessKind::Failure, "Warning", first, Some(&all))
        }
        (Verdict::NotJudged, _) => {
            let mut skipped = TestCaseStatus::skipped();
            skipped
                .set_type(told.token())
                .set_message(told.first_line());
            skipped
        }
        (Verdict::Allow | Verdict::Undecided, _) => TestCaseStatus::success(),
    }
}
