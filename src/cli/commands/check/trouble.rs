//! What a run has to tell beside its results: inputs and catalogs that could not be read, and what is
//! worth knowing about the OLM that is judged by, and what is there no more or was passed over.

use crate::cli::commands::check::args::CheckArgs;
use crate::cli::commands::check::bad::{BadInput, Lies};
use crate::cli::commands::check::inputs::GatheredInputs;
use crate::cli::commands::check::installed::is_unknown;
use crate::cli::facts::loading::Fault;
use crate::manifest::Position;
use olmguard_engine::explain::{Answer, of_catalog, one_line, plain};
use olmguard_engine::extension::{Filter, Hint};
use olmguard_engine::judge::Verdict;

/// One thing to tell.
#[derive(Clone, Debug)]
pub(super) struct Trouble {
    pub(super) weight: Weight,
    pub(super) about: About,
    pub(super) text: String,
}

/// What it is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum About {
    Run,
    /// An input, and where in it.
    File(String, Option<Position>),
    /// What no input has: a place in the base, by its name.
    Base(String),
}

/// How much it weighs that something is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Weight {
    /// The run ends badly for it.
    Error,
    /// It is worth knowing.
    Warning,
    /// It stands there for the record.
    Note,
}

/// All of it, as it is said on standard error.
pub(super) fn troubles(
    args: &CheckArgs,
    gathered: &GatheredInputs,
    faults: &[Fault],
    warnings: &[String],
) -> Vec<Trouble> {
    let inputs = gathered.errors.iter().map(Trouble::of_input);
    let none = no_extension(args, gathered);
    let faults_told = faults.iter().map(Trouble::of_fault);
    let is_asked = !faults.iter().any(Fault::is_of_cluster);
    let warnings = warnings.iter().filter(|_| is_asked);
    let warnings = warnings.map(|warning| Trouble::new(Weight::Warning, warning));
    let hints = gathered.hints.iter().map(Trouble::of_catalog);
    let all = inputs
        .chain(hints)
        .chain(none)
        .chain(faults_told)
        .chain(warnings);
    all.chain(removed(gathered))
        .chain(passed_over(gathered))
        .chain(skipped(gathered))
        .collect()
}

/// That there is no extension, if there is none: an error with `--require-match`, otherwise a warning. An
/// extension that only the base has is one.
pub(super) fn no_extension(args: &CheckArgs, gathered: &GatheredInputs) -> Option<Trouble> {
    let is_none = gathered.cases.is_empty() && gathered.unchanged == 0;
    if is_none && args.require_match {
        return Some(Trouble::new(Weight::Error, NO_EXTENSION));
    }
    let has_other = gathered.removed().next().is_some() || !gathered.errors.is_empty();
    let none = if gathered.skipped.is_empty() {
        NONE_FOUND
    } else {
        ALL_SKIPPED
    };
    (is_none && !has_other).then(|| Trouble::new(Weight::Warning, none))
}

/// That no input says what is installed of any extension, if one is allowed for that.
pub(super) fn nothing_installed(
    args: &CheckArgs,
    gathered: &GatheredInputs,
    answers: &[Answer],
) -> Option<Trouble> {
    let mut results = gathered.cases.iter().zip(answers);
    let is_unknown = results.all(|(case, answer)| is_unknown(case, answer, args));
    let is_allowed = answers
        .iter()
        .any(|answer| answer.verdict == Verdict::Allow);
    (is_unknown && is_allowed).then(|| Trouble::new(Weight::Note, plain::nothing_known_installed()))
}

/// Extensions that are there no more.
fn removed(gathered: &GatheredInputs) -> impl Iterator<Item = Trouble> {
    gathered.removed().map(|(place, one)| {
        let filter = one.filter();
        let package = filter.map(|filter| &*filter.package);
        let asked = plain::removed(package, filter.and_then(Filter::range));
        let name = one.name().unwrap_or_default();
        let text = format!("{place}: {name}: removed, {asked}");
        Trouble {
            about: About::Base(place),
            ..Trouble::new(Weight::Note, &text)
        }
    })
}

/// Files of the base that could not be read, and with which nobody compares anything.
fn passed_over(gathered: &GatheredInputs) -> impl Iterator<Item = Trouble> {
    gathered.passed_over().iter().map(|one| {
        let why = plain::not_compared(&one.why());
        Trouble {
            about: About::Base(one.file.clone()),
            ..Trouble::new(
                Weight::Note,
                &format!("{}: not compared, {why}", one.place()),
            )
        }
    })
}

/// What a tool still makes manifests of.
fn skipped(gathered: &GatheredInputs) -> impl Iterator<Item = Trouble> {
    gathered.skipped.iter().map(|skipped| {
        let place = &skipped.place;
        Trouble {
            about: About::File(place.file.clone(), Some(place.at)),
            ..Trouble::new(
                Weight::Note,
                &format!("{place}: skipped, {}", skipped.words()),
            )
        }
    })
}

impl Trouble {
    /// The input that it is about, and where in it.
    pub(super) fn place(&self) -> Option<(&str, Option<Position>)> {
        match &self.about {
            About::File(file, at) => Some((file, *at)),
            About::Run | About::Base(_) => None,
        }
    }

    /// The text on one line.
    pub(super) fn line(&self) -> String {
        one_line(&self.text)
    }

    fn new(weight: Weight, text: &str) -> Self {
        Self {
            weight,
            about: About::Run,
            text: text.to_owned(),
        }
    }

    fn of_input(error: &BadInput) -> Self {
        let file = error.file.clone();
        Self {
            about: match error.lies {
                Lies::OnDisk if file.is_empty() => About::Run,
                Lies::OnDisk => About::File(file, error.at()),
                Lies::InRevision => About::Base(file),
            },
            ..Self::new(Weight::Error, &error.to_string())
        }
    }

    /// A field that a catalog does not have.
    pub(super) fn of_catalog((file, hint): &(String, Hint)) -> Self {
        let at = hint.at.map(|(line, column)| Position { line, column });
        Self {
            about: About::File(file.clone(), at),
            ..Self::new(Weight::Warning, &format!("{file}:{}", of_catalog(hint)))
        }
    }

    fn of_fault(fault: &Fault) -> Self {
        let weight = if fault.is_warning() {
            Weight::Warning
        } else {
            Weight::Error
        };
        Self::new(weight, &fault.to_string())
    }
}

/// The warning if nothing is checked.
const NONE_FOUND: &str = "the inputs have no ClusterExtension, so nothing is checked; with \
     --require-match that is an error";

/// The same if there would be one after a tool has made it.
const ALL_SKIPPED: &str = "every ClusterExtension of the inputs still has to be rendered, so nothing is \
     checked; with --require-match that is an error";

/// The error if `--require-match` is not kept.
const NO_EXTENSION: &str =
    "the inputs have no ClusterExtension: --require-match expects at least one";
