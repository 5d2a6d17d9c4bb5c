//! The one edit after which OLM makes all steps of an upgrade path automatically.

use crate::extension::Fields;
use crate::judge::advice::prover::Prover;
use crate::judge::advice::{MOST_BUNDLES, pin};
use crate::judge::{Basis, Request};
use crate::resolve::{Choice, Effort, Origin, Stop};

/// A range with which OLM upgrades to the end of a path automatically.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OneEdit {
    /// The path of the field for the version, in the object's own shape.
    pub field: String,
    /// The range: from the installed version to the end of the path.
    pub range: String,
    /// What OLM installs one after the other, the end of the path last.
    pub through: Vec<String>,
}

impl OneEdit {
    /// The edit for a path of several steps, if OLM then comes to its end and stays there.
    pub fn of(
        basis: Basis<'_>,
        request: &Request<'_>,
        fields: &Fields,
        path: &[Choice<'_>],
    ) -> Option<Self> {
        let stop = Stop::default();
        let effort = Effort::of(MOST_BUNDLES, &stop);
        of(&Prover::of(basis, request, &effort), fields, path)
    }
}

/// The edit for a path of several steps, if OLM then comes to its end and stays there.
pub(super) fn of(prover: &Prover<'_, '_>, fields: &Fields, path: &[Choice<'_>]) -> Option<OneEdit> {
    let (goal, [_, ..]) = path.split_last()? else {
        return None;
    };
    let range = range(prover.origin()?, *goal)?;
    let steps = prover.walk(&range)?;
    if steps.last() != Some(goal) {
        return None;
    }
    let through = steps.into_iter().map(pin).collect::<Option<_>>()?;
    Some(OneEdit {
        field: fields.version(),
        range,
        through,
    })
}

/// The range from what is installed to a bundle.
fn range(origin: &Origin<'_>, to: Choice<'_>) -> Option<String> {
    let from = origin.version()?.version.without_build();
    Some(format!(">={from} <={}", pin(to)?))
}
