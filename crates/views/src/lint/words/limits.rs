//! About what is not checked or not reported.

use super::{Words, q};
use crate::lint::Rule;

pub(in crate::lint) fn too_many_ranges(package: &str) -> Words {
    Words::own(format!(
        "package {} has too many skipRanges and versions to compare them all: lint does not check what the \
         ranges match, which versions are cut off or stranded, or which deprecations have no replacement",
        q(package)
    ))
}

pub(in crate::lint) fn too_many_ways(package: &str) -> Words {
    Words::own(format!(
        "package {} has too many channels and edges to follow every upgrade path: lint does not check which \
         versions are cut off",
        q(package)
    ))
}

pub(in crate::lint) fn too_many_guarded_steps(package: &str) -> Words {
    Words::own(format!(
        "package {} has too many edges and guardrails to compare them all: lint does not check what its \
         guardrails forbid",
        q(package)
    ))
}

pub(in crate::lint) fn too_many_guarded_packages(package: &str) -> Words {
    Words::own(format!(
        "the catalog has too many edges and guardrails to compare them all: lint does not check what the \
         guardrails of package {} forbid",
        q(package)
    ))
}

pub(in crate::lint) fn too_many_circles(package: &str, followed: usize) -> Words {
    Words::own(format!(
        "package {} has more than {followed} edges that do not go to a higher version: lint does not check \
         whether the others form a cycle",
        q(package)
    ))
}

pub(in crate::lint) fn too_many_findings(rule: Rule, left_out: usize) -> Words {
    Words::own(format!(
        "{left_out} more findings of {rule} are not shown from here on; fix the ones above first"
    ))
}
