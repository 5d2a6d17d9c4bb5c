//! What a run has to tell beside its results: inputs and catalogs that could not be read, and what is
//! worth knowing about the OLM that is judged by, and what is there no more or was passed over.

use crate::cli::check::args::CheckArgs;
use crate::cli::check::bad::BadInput;
use crate::cli::check::inputs::Gathered;
use crate::cli::facts::loading::Fault;
use crate::explain::{one_line, plain};
use crate::extension::Filter;
use crate::manifest::Position;

/// One thing to tell.
#[derive(Clone, Debug)]
pub(super) struct Trouble {
    pub(super) weight: Weight,
    /// The input, where it is one.
    pub(super) file: Option<String>,
    pub(super) at: Option<Position>,
    pub(super) text: String,
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
    gathered: &Gathered,
    faults: &[Fault],
    warnings: &[String],
) -> Vec<Trouble> {
    let inputs = gathered.errors.iter().map(Trouble::of_input);
    let none = lacks_extension(args, gathered).then(|| Trouble::new(Weight::Error, NO_EXTENSION));
    let faults_told = faults.iter().map(Trouble::of_fault);
    let is_asked = !faults.iter().any(Fault::is_of_cluster);
    let warnings = warnings.iter().filter(|_| is_asked);
    let warnings = warnings.map(|warning| Trouble::new(Weight::Warning, warning));
    let all = inputs.chain(none).chain(faults_told).chain(warnings);
    all.chain(removed(gathered))
        .chain(skipped(gathered))
        .collect()
}

/// Whether there should be an extension, and is none.
pub(super) fn lacks_extension(args: &CheckArgs, gathered: &Gathered) -> bool {
    args.require_match && gathered.cases.is_empty() && gathered.unchanged == 0
}

/// Extensions that are there no more. Their files may be gone, so none is named as a place.
fn removed(gathered: &Gathered) -> impl Iterator<Item = Trouble> {
    gathered.removed().map(|(place, one)| {
        let filter = one.filter();
        let package = filter.map(|filter| &*filter.package);
        let asked = plain::removed(package, filter.and_then(Filter::range));
        let name = one.name().unwrap_or_default();
        Trouble::new(Weight::Note, &format!("{place}: {name}: removed, {asked}"))
    })
}

/// Templates that no one has rendered.
fn skipped(gathered: &Gathered) -> impl Iterator<Item = Trouble> {
    gathered.skipped.iter().map(|place| Trouble {
        file: Some(place.file.clone()),
        at: Some(place.at),
        ..Trouble::new(
            Weight::Note,
            &format!("{place}: skipped, {}", plain::skipped()),
        )
    })
}

impl Trouble {
    /// The text on one line.
    pub(super) fn line(&self) -> String {
        one_line(&self.text)
    }

    fn new(weight: Weight, text: &str) -> Self {
        Self {
            weight,
            file: None,
            at: None,
            text: text.to_owned(),
        }
    }

    fn of_input(error: &BadInput) -> Self {
        Self {
            file: Some(error.file().to_owned()).filter(|file| !file.is_empty()),
            at: error.at(),
            ..Self::new(Weight::Error, &error.to_string())
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

/// Said where `--require-match` is not kept.
pub(super) const NO_EXTENSION: &str =
    "the inputs hold no extension: expected one at least, since --require-match is given";
