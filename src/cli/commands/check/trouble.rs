//! Findings of a run that are not results: inputs and catalogs that could not be read, warnings about the OLM to
//! answer for, and objects that were removed, skipped or passed over.

use crate::cli::commands::check::args::CheckArgs;
use crate::cli::commands::check::cases::CasePlace;
use crate::cli::commands::check::inputs::GatheredInputs;
use crate::cli::commands::check::installed::is_unknown;
use crate::cli::commands::{BadInput, Lies};
use crate::facts::{Fault, instead};
use olmguard_catalog::version::go;
use olmguard_engine::explain::{Answer, of_catalog, plain};
use olmguard_engine::extension::{Filter, Hint};
use olmguard_engine::judge::Verdict;
use olmguard_report::{Finding, Place, Severity};

/// Findings that are known before the catalogs are read.
pub(super) fn of_inputs(args: &CheckArgs, gathered: &GatheredInputs) -> Vec<Finding> {
    let inputs = gathered.errors.iter().map(of_input);
    let hints = gathered.hints.iter().map(of_hint);
    let strangers = gathered.strangers(args.expected());
    let strangers = strangers.map(|name| of_stranger(name, gathered));
    let none = no_extension(args, gathered);
    inputs.chain(hints).chain(strangers).chain(none).collect()
}

/// A warning about an extension that only the project file names. It is probably a typo, and its fact is lost.
fn of_stranger(name: &str, gathered: &GatheredInputs) -> Finding {
    let known = gathered.manifest_names().map(String::as_str);
    let (instead, name) = (instead(name, known, 1), go::quote(name));
    let text = format!(
        "installed of the project file: no manifest of its paths has extension {name}{instead}"
    );
    of_run(Severity::Warning, text)
}

/// Findings about the facts, which are known before anything is judged.
pub(super) fn of_faults(faults: &[Fault]) -> Vec<Finding> {
    faults.iter().map(|fault| fault.finding(TITLE)).collect()
}

/// Warnings about the OLM to answer for.
pub(super) fn of_olm(warnings: &[String]) -> Vec<Finding> {
    let warnings = warnings.iter();
    let warnings = warnings.map(|warning| of_run(Severity::Warning, warning));
    warnings.collect()
}

/// An extension or a file that is not a result, with the reason.
pub(super) struct Aside {
    place: Place,
    /// The place for people, with the name of an extension.
    pub(super) subject: String,
    pub(super) word: &'static str,
    pub(super) why: String,
}

/// Findings that only a report shows, not stderr: extensions and files that are not results.
pub(super) fn of_results(gathered: &GatheredInputs) -> impl Iterator<Item = Finding> {
    asides(gathered).map(|aside| Finding {
        place: aside.place,
        ..of_run(
            Severity::Note,
            format!("{}: {}, {}", aside.subject, aside.word, aside.why),
        )
    })
}

/// The removed extensions, the files of the base that nothing is compared with, and the inputs that a tool has yet to
/// render.
pub(super) fn asides(gathered: &GatheredInputs) -> impl Iterator<Item = Aside> {
    let removed = gathered.removed().map(|(place, one)| {
        let filter = one.filter();
        let package = filter.map(|filter| &*filter.package);
        Aside {
            subject: format!("{place}: {}", one.name().unwrap_or_default()),
            place: Place::Named(place),
            word: "removed",
            why: plain::removed(package, filter.and_then(Filter::range)),
        }
    });
    let passed_over = gathered.passed_over().iter().map(|one| Aside {
        place: Place::Named(one.file.clone()),
        subject: one.place(),
        word: "not compared",
        why: plain::not_compared(&one.why()),
    });
    let skipped = gathered.skipped.iter().map(|skipped| {
        let CasePlace { file, at, .. } = &skipped.place;
        Aside {
            place: Place::File(file.clone(), Some((at.line, at.column))),
            subject: skipped.place.to_string(),
            word: "skipped",
            why: skipped.words(),
        }
    });
    removed.chain(passed_over).chain(skipped)
}

/// The finding that the inputs have no extension: an error with `--require-match`, otherwise a warning. An extension
/// that only the base has prevents the warning.
fn no_extension(args: &CheckArgs, gathered: &GatheredInputs) -> Option<Finding> {
    let is_none = gathered.cases.is_empty() && gathered.unchanged == 0;
    let none = if gathered.skipped.is_empty() {
        NONE_FOUND
    } else {
        ALL_SKIPPED
    };
    if is_none && args.require_match {
        return Some(of_run(Severity::Error, format!("{none}{EXPECTED}")));
    }
    let has_other = gathered.removed().next().is_some() || !gathered.errors.is_empty();
    (is_none && !has_other).then(|| of_run(Severity::Warning, format!("{none}{UNCHECKED}")))
}

/// The note that no input states what is installed, if an extension is allowed because of this.
pub(super) fn nothing_installed(
    args: &CheckArgs,
    gathered: &GatheredInputs,
    answers: &[Answer],
) -> Option<Finding> {
    let mut results = gathered.cases.iter().zip(answers);
    let is_unknown = results.all(|(case, answer)| is_unknown(case, answer, args));
    let is_allowed = answers
        .iter()
        .any(|answer| answer.verdict() == Verdict::Allow);
    (is_unknown && is_allowed).then(|| of_run(Severity::Note, plain::nothing_known_installed()))
}

fn of_run(severity: Severity, text: impl Into<String>) -> Finding {
    Finding::of_run(TITLE, severity, text)
}

fn of_input(error: &BadInput) -> Finding {
    let file = error.file.clone();
    let at = error.at().map(|at| (at.line, at.column));
    Finding {
        place: match error.lies {
            Lies::OnDisk if file.is_empty() => Place::Run,
            Lies::OnDisk => Place::File(file, at),
            Lies::InRevision => Place::Named(file),
        },
        ..of_run(Severity::Error, error.to_string())
    }
}

/// A warning about an unknown field of a catalog.
fn of_hint((file, hint): &(String, Hint)) -> Finding {
    Finding {
        place: Place::File(file.clone(), hint.at),
        ..of_run(Severity::Warning, format!("{file}:{}", of_catalog(hint)))
    }
}

/// The subject of findings that are about the run, not about one of its inputs.
pub(super) const TITLE: &str = "olmguard check";

/// The reason why nothing is checked if no extension is found.
const NONE_FOUND: &str = "the inputs have no ClusterExtension";

/// The reason if a tool has yet to render every extension.
const ALL_SKIPPED: &str = "every ClusterExtension of the inputs still has to be rendered";

/// The end of the error with `--require-match`.
const EXPECTED: &str = ": --require-match expects at least one";

/// The end of the warning without it.
const UNCHECKED: &str = ", so nothing is checked; with --require-match that is an error";
