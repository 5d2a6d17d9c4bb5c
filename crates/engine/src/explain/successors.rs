//! An answer with the names of all successors.

use std::collections::HashSet;

use crate::explain::Answer;
use crate::explain::answer::advised;
use crate::judge::{AcceptedBundles, Basis, Edit, Stop, judge, successors};

/// [`answer`](super::answer), and the names of all bundles that the successor rule accepts, best first: thousands in
/// some packages.
pub fn answer_with_successors(basis: Basis<'_>, edit: &Edit<'_>) -> (Answer, Option<Vec<String>>) {
    let judgement = judge(basis, edit);
    let request = edit.request();
    let accepted = request.and_then(|it| successors(basis, &it, &judgement.ruled.ruling));
    let answer = advised(basis, edit, &judgement, &Stop::default());
    (answer, accepted.as_deref().map(names))
}

/// By version and release descending, then by name, each name once.
fn names(accepted: &[AcceptedBundles<'_>]) -> Vec<String> {
    let mut bundles: Vec<_> = accepted
        .iter()
        .flat_map(|accepted| {
            accepted
                .bundles
                .iter()
                .map(|index| accepted.package.bundle(index))
        })
        .collect();
    bundles.sort_by(|a, b| a.cmp_preference(b).then_with(|| a.name.cmp(&b.name)));
    let mut seen = HashSet::with_capacity(bundles.len());
    bundles.retain(|bundle| seen.insert(&bundle.name));
    bundles
        .into_iter()
        .map(|bundle| String::from(&*bundle.name))
        .collect()
}
