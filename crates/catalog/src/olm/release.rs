//! The releases of OLM v1, their names, and the table of their differences.

use std::fmt;
use std::str::FromStr;

use super::{EmptyPackage, InstalledReader, ReleaseKey};
use crate::selector::SelectorTexts;
use crate::version::{LegacyRelease, Masterminds, ReleaseLimit};

/// A supported release of OLM v1. The default is the newest.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct OlmRelease(&'static ReleaseRow);

/// A release name that is not in the table.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("unknown OLM release {found:?}: expected {}", known())]
pub struct UnknownRelease {
    /// The name as given.
    pub found: String,
}

/// The oldest and the newest name of each vendor.
fn known() -> String {
    let names = OlmRelease::names();
    let (openshift, upstream): (Vec<_>, Vec<_>) = names
        .into_iter()
        .partition(|name| name.starts_with("openshift-"));
    let ranges = [upstream, openshift].map(|names| {
        let ends = names.first().zip(names.last());
        ends.map_or_else(String::new, |(oldest, newest)| {
            format!("{oldest} to {newest}")
        })
    });
    ranges.join(", ")
}

/// The behaviour of one release. The columns are explained at [`super::Rules`].
#[derive(Debug, Eq, PartialEq)]
pub(super) struct ReleaseRow {
    names: &'static [&'static str],
    /// The upstream minor release, for rules of the CRD.
    minor: u8,
    pub(super) masterminds: Masterminds,
    pub(super) selector_texts: SelectorTexts,
    pub(super) legacy_release: LegacyRelease,
    pub(super) release_limit: ReleaseLimit,
    pub(super) release_key: ReleaseKey,
    pub(super) installed: InstalledReader,
    pub(super) empty_package: EmptyPackage,
}

impl OlmRelease {
    /// The best-known name of the release, such as `1.11`.
    pub fn name(self) -> &'static str {
        self.0.names.first().copied().unwrap_or_default()
    }

    /// The minor number of the upstream release 1.x that this release is, or is built from.
    pub fn minor(self) -> u8 {
        self.0.minor
    }

    /// All accepted names, oldest release first.
    pub fn names() -> Vec<&'static str> {
        TABLE.iter().flat_map(|row| row.names).copied().collect()
    }

    /// All releases in the table, oldest first.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(Self)
    }

    pub(super) fn row(self) -> &'static ReleaseRow {
        self.0
    }
}

impl Default for OlmRelease {
    fn default() -> Self {
        Self(&NEWEST)
    }
}

impl FromStr for OlmRelease {
    type Err = UnknownRelease;

    fn from_str(name: &str) -> Result<Self, UnknownRelease> {
        TABLE
            .iter()
            .find(|row| row.names.contains(&name))
            .map(Self)
            .ok_or_else(|| UnknownRelease {
                found: name.to_owned(),
            })
    }
}

impl fmt::Display for OlmRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

const NEWEST: ReleaseRow = ReleaseRow {
    names: &["1.11", "openshift-4.23", "openshift-5.0", "openshift-5.1"],
    minor: 11,
    masterminds: Masterminds::V3_5,
    selector_texts: SelectorTexts::JsonBytes,
    legacy_release: LegacyRelease::Read(ReleaseLimit::Bytes20),
    release_limit: ReleaseLimit::Bytes20,
    release_key: ReleaseKey::Typed,
    installed: InstalledReader::BlangTogether,
    empty_package: EmptyPackage::Skipped,
};

const V1_9: ReleaseRow = ReleaseRow {
    names: &["1.9"],
    minor: 9,
    selector_texts: SelectorTexts::Json,
    legacy_release: LegacyRelease::Read(ReleaseLimit::Unlimited),
    release_limit: ReleaseLimit::Unlimited,
    installed: InstalledReader::BlangApart,
    ..NEWEST
};

const V1_8: ReleaseRow = ReleaseRow {
    names: &["1.8", "openshift-4.22"],
    minor: 8,
    masterminds: Masterminds::V3_4,
    installed: InstalledReader::Blang,
    ..V1_9
};

const V1_6: ReleaseRow = ReleaseRow {
    names: &["1.6"],
    minor: 6,
    legacy_release: LegacyRelease::Ignored,
    release_key: ReleaseKey::Unknown,
    installed: InstalledReader::MastermindsThenBlang,
    ..V1_8
};

const V1_4: ReleaseRow = ReleaseRow {
    names: &["1.4", "openshift-4.20"],
    minor: 4,
    selector_texts: SelectorTexts::GoSyntax,
    ..V1_6
};

const V1_2: ReleaseRow = ReleaseRow {
    names: &["1.2"],
    minor: 2,
    masterminds: Masterminds::V3_3_1,
    ..V1_4
};

const V1_1: ReleaseRow = ReleaseRow {
    names: &["1.1"],
    minor: 1,
    empty_package: EmptyPackage::Walked,
    ..V1_2
};

const V1_0: ReleaseRow = ReleaseRow {
    names: &["1.0"],
    minor: 0,
    masterminds: Masterminds::V3_3_0,
    ..V1_1
};

/// Oldest release first. Releases that differ only in their CRD still have separate rows, because a
/// name identifies one release.
static TABLE: [ReleaseRow; 13] = [
    V1_0,
    ReleaseRow {
        names: &["openshift-4.18"],
        empty_package: EmptyPackage::Skipped,
        ..V1_0
    },
    V1_1,
    V1_2,
    ReleaseRow {
        names: &["1.3", "openshift-4.19"],
        minor: 3,
        ..V1_2
    },
    V1_4,
    ReleaseRow {
        names: &["1.5"],
        minor: 5,
        ..V1_4
    },
    V1_6,
    ReleaseRow {
        names: &["1.7", "openshift-4.21"],
        minor: 7,
        ..V1_6
    },
    V1_8,
    V1_9,
    ReleaseRow {
        names: &["1.10"],
        minor: 10,
        ..V1_9
    },
    NEWEST,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_its_own_release() {
        let names = OlmRelease::names();
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
        for name in names {
            assert!(name.parse::<OlmRelease>().is_ok(), "{name}");
        }
    }

    #[test]
    fn upstream_releases_are_1_0_to_1_11() {
        for minor in 0..=11_u8 {
            let release: OlmRelease = format!("1.{minor}").parse().unwrap();
            assert_eq!(release.minor(), minor);
            assert_eq!(release.name(), format!("1.{minor}"));
        }
        assert_eq!(OlmRelease::default().name(), "1.11");
    }

    #[test]
    fn openshift_names_stand_for_upstream_releases() {
        for (openshift, minor) in [
            ("4.18", 0),
            ("4.19", 3),
            ("4.20", 4),
            ("4.21", 7),
            ("4.22", 8),
            ("4.23", 11),
            ("5.0", 11),
            ("5.1", 11),
        ] {
            let release: OlmRelease = format!("openshift-{openshift}").parse().unwrap();
            assert_eq!(release.minor(), minor, "openshift-{openshift}");
        }
    }

    #[test]
    fn what_shipped_before_the_v1_api_is_refused_with_the_choices() {
        let error = "openshift-4.17"
            .parse::<OlmRelease>()
            .unwrap_err()
            .to_string();
        let expected = "unknown OLM release \"openshift-4.17\": expected 1.0 to 1.11, openshift-4.18 to openshift-5.1";
        assert_eq!(error, expected);
    }
}
