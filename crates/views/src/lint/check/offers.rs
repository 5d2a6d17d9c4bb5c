//! Packages that several of the given catalogs offer.

use crate::lint::Rule;
use crate::lint::finding::Findings;
use crate::lint::view::{PackageView, View};
use crate::lint::words;

pub(super) fn check(
    view: &View<'_>,
    package: &PackageView<'_>,
    all: &[View<'_>],
    report: &mut Findings<'_>,
) {
    let offers = |other: &&View<'_>| {
        let found = other.packages.get(package.name);
        !std::ptr::eq(other.written, view.written)
            && found.is_some_and(|found| !found.bundles.is_empty())
    };
    let others = all.iter().filter(offers);
    let others: Vec<_> = others.map(|other| &*other.written.name).collect();
    if !others.is_empty() && !package.bundles.is_empty() && !package.name.is_empty() {
        let words = words::ambiguous_package(package.name, &others);
        report.say(Rule::AmbiguousPackage, package.spot(), package.name, words);
    }
}
