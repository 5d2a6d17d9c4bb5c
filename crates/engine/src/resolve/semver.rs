//! The semver rules: steps that versions alone allow, regardless of the edges that an author wrote.
//!
//! OLM v1 before 1.2 applied these rules if `ForceSemverUpgradeConstraints` was on; current releases do not have them.
//! From a version C, the versions of the Masterminds range `^C, != C` can be reached:
//!
//! | installed | reachable |
//! | --- | --- |
//! | X.Y.Z, X at least 1 | higher versions with the same X |
//! | 0.Y.Z, Y at least 1 | higher versions with the same 0.Y |
//! | 0.0.Z | none; from a prerelease of 0.0.Z, its later prereleases and 0.0.Z itself |
//! | a release | no prerelease |
//!
//! Upstream: operator-controller, tags v0.7.0 to v1.1.0,
//! `internal/catalogmetadata/filter/successors.go`, `semverSuccessor`.

use std::cmp::Ordering;

use olmguard_catalog::version::Version;

/// Why versions alone do not allow a step. If there are several reasons, the first in this order.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Hindrance {
    /// The version is the same, build metadata aside.
    Same,
    /// The version is lower.
    Lower,
    /// The major version differs.
    Major,
    /// The minor version differs within major version 0, in which every minor version is its own compatibility line.
    ZeroMinor,
    /// The patch version differs within 0.0, in which no version is compatible with another.
    ZeroPatch,
    /// The step goes from a release to a prerelease.
    Prerelease,
}

/// Checks whether versions alone allow a step.
pub fn step(from: &Version, to: &Version) -> Result<(), Hindrance> {
    match to.cmp_precedence(from) {
        Ordering::Less => return Err(Hindrance::Lower),
        Ordering::Equal => return Err(Hindrance::Same),
        Ordering::Greater => {}
    }
    if let Some(left) = line_left(from, to) {
        return Err(left);
    }
    if to.is_prerelease() && !from.is_prerelease() {
        return Err(Hindrance::Prerelease);
    }
    Ok(())
}

/// The compatibility line that an upward step leaves, if it leaves one.
pub fn line_left(from: &Version, to: &Version) -> Option<Hindrance> {
    if from.major() != to.major() {
        return Some(Hindrance::Major);
    }
    if from.major() > 0 {
        return None;
    }
    if from.minor() != to.minor() {
        return Some(Hindrance::ZeroMinor);
    }
    (from.minor() == 0 && from.patch() != to.patch()).then_some(Hindrance::ZeroPatch)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use olmguard_catalog::version::{Constraint, Masterminds};

    fn version(text: &str) -> Version {
        Version::parse(text).expect("a version")
    }

    #[test]
    fn the_table_of_steps() {
        use Hindrance::{Lower, Major, Prerelease, Same, ZeroMinor, ZeroPatch};
        for (from, to, expected) in [
            ("0.0.1", "0.0.2", Err(ZeroPatch)),
            ("0.0.1", "0.1.0", Err(ZeroMinor)),
            ("0.0.1", "1.0.0", Err(Major)),
            ("0.1.0", "0.1.1", Ok(())),
            ("0.1.0", "0.2.0", Err(ZeroMinor)),
            ("0.1.0", "1.0.0", Err(Major)),
            ("0.9.9", "1.0.0", Err(Major)),
            ("1.0.0", "1.0.1", Ok(())),
            ("1.0.0", "1.2.0", Ok(())),
            ("1.99.9", "2.0.0", Err(Major)),
            ("1.0.0", "1.1.0-rc.1", Err(Prerelease)),
            ("1.1.0-rc.1", "1.1.0-rc.2", Ok(())),
            ("1.1.0-rc.1", "1.1.0", Ok(())),
            ("1.1.0-rc.1", "1.2.0-alpha", Ok(())),
            ("0.0.1-rc.1", "0.0.1", Ok(())),
            ("0.0.1-rc.1", "0.0.2", Err(ZeroPatch)),
            ("2.1.0", "2.0.9", Err(Lower)),
            ("2.1.0+a", "2.1.0+b", Err(Same)),
        ] {
            assert_eq!(step(&version(from), &version(to)), expected, "{from} {to}");
        }
    }

    fn any_version() -> impl Strategy<Value = Version> {
        let number = || 0_u64..3;
        let tail = prop::sample::select(vec!["", "", "-alpha", "-rc.1", "-rc.2", "+b"]);
        (number(), number(), number(), tail)
            .prop_map(|(x, y, z, tail)| version(&format!("{x}.{y}.{z}{tail}")))
    }

    proptest! {
        #[test]
        fn steps_are_those_of_the_caret_range(from in any_version(), to in any_version()) {
            let text = format!("^{from}, != {from}");
            for release in [Masterminds::V3_3_1, Masterminds::V3_4, Masterminds::V3_5] {
                let range = Constraint::parse(&text, release).expect("a range");
                prop_assert_eq!(step(&from, &to).is_ok(), range.matches(&to), "{} {}", from, to);
            }
        }
    }
}
