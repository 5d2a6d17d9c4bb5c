//! The version that a bundle's name seems to speak of.

use crate::version::Version;

/// The version that follows the convention `PACKAGE.vX.Y.Z` in a name.
///
/// OLM never does this: a name is opaque to it. It serves to place names that no bundle has among
/// those that have one, and to generate graphs, where upstream's own tools read names in the same way.
pub fn version_in_name(name: &str) -> Option<Version> {
    let after_break = name
        .match_indices(['.', '-'])
        .map(|(at, mark)| at + mark.len());
    let starts = std::iter::once(0).chain(after_break);
    starts
        .filter_map(|at| name.get(at..))
        .find_map(|rest| Version::parse(rest.strip_prefix('v').unwrap_or(rest)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_what_follows_the_first_break_that_begins_one() {
        for (name, expected) in [
            ("lantern.v1.2.3", Some("1.2.3")),
            ("lantern-operator.1.2.3", Some("1.2.3")),
            ("lantern-operator-v0.1.0-rc.1", Some("0.1.0-rc.1")),
            ("v1.0.1", Some("1.0.1")),
            ("1.0.1+7", Some("1.0.1+7")),
            ("lantern2.v3.0.0", Some("3.0.0")),
            ("lantern", None),
            ("lantern.v1.2", None),
            ("", None),
        ] {
            let found = version_in_name(name).map(|version| version.to_string());
            assert_eq!(found.as_deref(), expected, "{name}");
        }
    }
}
