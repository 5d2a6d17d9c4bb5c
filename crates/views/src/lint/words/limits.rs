//! About what is left out.

use super::{Words, q};
use crate::lint::Rule;

pub(in crate::lint) fn too_many_ranges(package: &str) -> Words {
    Words::own(format!(
        "package {} has too many skipRanges and versions to try each on each: nothing is said of what \
         ranges take, of versions that are cut off or stranded and of deprecations without a way out",
        q(package)
    ))
}

pub(in crate::lint) fn too_many_ways(package: &str) -> Words {
    Words::own(format!(
        "package {} has too many channels and edges to follow every way: nothing is said of versions that \
         are cut off",
        q(package)
    ))
}

pub(in crate::lint) fn too_many_guarded_steps(package: &str) -> Words {
    Words::own(format!(
        "package {} has too many edges and guardrails to try each on each: nothing is said of what its \
         guardrails forbid",
        q(package)
    ))
}

pub(in crate::lint) fn too_many_guarded_packages(package: &str) -> Words {
    Words::own(format!(
        "the catalog has too many edges and guardrails to try each on each: nothing is said of what the \
         guardrails of package {} forbid",
        q(package)
    ))
}

pub(in crate::lint) fn too_many_circles(package: &str, followed: usize) -> Words {
    Words::own(format!(
        "package {} has more than {followed} edges that do not lead up: the others are not followed to \
         look for circles",
        q(package)
    ))
}

pub(in crate::lint) fn too_many_findings(rule: Rule, left_out: usize) -> Words {
    Words::own(format!(
        "{left_out} more findings of {rule} are left out from here on; mend those that are told first"
    ))
}
