//! `spec.source.catalog.version`: a range in the grammar of Masterminds/semver v3.
//!
//! Mirrors `NewConstraint` and `Check` ([`constraints.go`]), odd results included: `^*` is only
//! 0.0.0, `<=*` only 0.0.z, `~0.0.0` everything. A bundle's version has been read by blang before
//! and never passes through Masterminds' own parser; its release plays no part.
//!
//! Invariant: whether a comparator admits prereleases is settled when the constraint is parsed, so
//! that matching knows nothing of library releases.
//!
//! [`constraints.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/constraints.go

mod compile;
mod error;
mod group;
mod hyphen;

use std::iter;

use smallvec::{SmallVec, smallvec};

pub use self::error::{ConstraintError, ConstraintErrorKind};

use self::error::LocatedFault;
use self::hyphen::RewrittenConstraint;
use super::comparator::Comparator;
use super::fault::{ExpectedPart, Fault};
use super::hull::Hull;
use super::interval::Span;
use super::masterminds::Masterminds;
use super::semantic::Version;

/// A version range of a `ClusterExtension`, e.g. `>=1.2.3 <2.0.0 || 3.x`.
#[derive(Clone, Debug)]
pub struct Constraint {
    text: Box<str>,
    /// Nearly always one, which takes no list of its own.
    groups: SmallVec<[Group; 1]>,
}

/// Comparators that must all hold.
#[derive(Clone, Debug)]
pub(crate) struct Group(Box<[GatedComparator]>);

/// A comparator, and whether it lets versions with a prerelease pass at all.
#[derive(Clone, Debug)]
struct GatedComparator {
    comparator: Comparator,
    prereleases: Prereleases,
}

/// Whether versions with a prerelease have a chance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prereleases {
    Admitted,
    Refused,
}

impl Constraint {
    /// Reads `text` as `NewConstraint` of that release. The empty text is an error.
    ///
    /// # Errors
    ///
    /// The first fault in upstream's order: length, count of groups, then group by group.
    pub fn parse(text: &str, release: Masterminds) -> Result<Self, ConstraintError> {
        Self::pin(text).map_or_else(|| Self::compile(text, release), Ok)
    }

    /// The result of [`Self::compile`] for one whole version such as `1.2.3-rc.1`, which all releases of Masterminds
    /// read in the same way.
    fn pin(text: &str) -> Option<Self> {
        let starts = text.starts_with(|first: char| first.is_ascii_digit());
        let can_be = starts && text.len() <= MOST_OF_A_PIN && !text.contains('+');
        let version = can_be.then(|| Version::parse(text).ok())??;
        let prereleases = if version.is_prerelease() {
            Prereleases::Admitted
        } else {
            Prereleases::Refused
        };
        let only = GatedComparator {
            comparator: Comparator::Within(Span::exactly(version.point().clone())),
            prereleases,
        };
        Some(Self {
            text: text.into(),
            groups: smallvec![Group(Box::new([only]))],
        })
    }

    fn compile(text: &str, release: Masterminds) -> Result<Self, ConstraintError> {
        let fail = |kind, fault| ConstraintError::new(kind, fault, release);
        let rules = release.rules();
        if text.len() > rules.constraint_bytes {
            let fault = Fault::new(text, rules.constraint_bytes, ExpectedPart::End);
            return Err(fail(
                ConstraintErrorKind::TooLong(rules.constraint_bytes),
                fault,
            ));
        }
        let rewritten = RewrittenConstraint::of(text);
        if let Some((at, _)) = parts(&rewritten.text).nth(rules.groups) {
            let kind = ConstraintErrorKind::TooManyGroups(rules.groups);
            return Err(fail(kind, rewritten.fault(at, ExpectedPart::End)));
        }
        let mut groups = SmallVec::with_capacity(parts(&rewritten.text).count());
        for (start, part) in parts(&rewritten.text) {
            let group = compile::group(part, release);
            let located = |LocatedFault { kind, at, expected }| {
                fail(kind, rewritten.fault(start + at, expected))
            };
            groups.push(group.map_err(located)?);
        }
        Ok(Self {
            text: text.into(),
            groups,
        })
    }

    /// The text as given.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the version satisfies all comparators of some group. Allocates nothing.
    pub fn matches(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| group.matches(version))
    }

    /// Whether some group holds versions without limit above.
    ///
    /// Comparators that are each open above still are so together, and where one is not, the group
    /// ends there; so contradictions need no care.
    pub fn is_open_above(&self) -> bool {
        self.groups
            .iter()
            .any(|group| group.comparators().all(Comparator::is_open_above))
    }

    /// The version without build metadata, where the range is one comparator and holds no other:
    /// `1.2.3`, `=v1.2.3`.
    pub fn only(&self) -> Option<String> {
        let [group] = self.groups.as_slice() else {
            return None;
        };
        let [gated] = &*group.0 else {
            return None;
        };
        gated.comparator.only().map(ToString::to_string)
    }

    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }
}

impl Group {
    pub(crate) fn comparators(&self) -> impl Iterator<Item = &Comparator> {
        self.0.iter().map(|gated| &gated.comparator)
    }

    /// Whether versions with a prerelease have a chance.
    pub(crate) fn admits_prereleases(&self) -> bool {
        let mut prereleases = self.0.iter().map(|gated| gated.prereleases);
        prereleases.all(|prereleases| prereleases == Prereleases::Admitted)
    }

    /// Whether a version satisfies all comparators.
    pub(crate) fn matches(&self, version: &Version) -> bool {
        self.0.iter().all(|gated| gated.admits(version))
    }

    /// An interval that includes all versions of it.
    pub(crate) fn hull(&self) -> Hull<'_> {
        Hull::of_group(self.comparators())
    }

    /// Whether the versions of [`Self::hull`] match, apart from prereleases.
    pub(crate) fn is_interval(&self) -> bool {
        self.comparators()
            .all(|comparator| matches!(comparator, Comparator::Within(_)))
    }
}

impl GatedComparator {
    fn admits(&self, version: &Version) -> bool {
        (self.prereleases == Prereleases::Admitted || !version.is_prerelease())
            && self.comparator.admits(version.point())
    }
}

/// No release of Masterminds refuses a version of this length, in bytes.
const MOST_OF_A_PIN: usize = 64;

/// The texts between the double bars, each with its byte offset. Plain, because the texts are short: the search of
/// `split` takes longer to set up.
fn parts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = Some((0, text));
    iter::from_fn(move || {
        let (at, text) = rest.take()?;
        let mut windows = text.as_bytes().windows(BARS.len());
        let Some(end) = windows.position(|window| window == BARS) else {
            return Some((at, text));
        };
        let behind = end + BARS.len();
        rest = text.get(behind..).map(|text| (at + behind, text));
        Some((at, text.get(..end)?))
    })
}

const BARS: &[u8] = b"||";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const RELEASES: [Masterminds; 4] = [
        Masterminds::V3_3_0,
        Masterminds::V3_3_1,
        Masterminds::V3_4,
        Masterminds::V3_5,
    ];

    proptest! {
        #[test]
        fn a_pin_is_what_the_grammar_of_ranges_makes_of_it(
            text in r"[0-9]{1,21}\.(0|1|x|[0-9]{2})\.[0-9]{1,2}(-[0-9a-zx.-]{0,6})?",
        ) {
            for release in RELEASES {
                if let Some(pin) = Constraint::pin(&text) {
                    let compiled = Constraint::compile(&text, release).expect("a range");
                    prop_assert_eq!(format!("{pin:?}"), format!("{compiled:?}"));
                }
            }
        }
    }

    #[test]
    fn a_limit_within_a_character_is_placed_before_it() {
        let rules = Masterminds::V3_5.rules();
        let before = rules.constraint_bytes - 1;
        let text = format!("{}éé", " ".repeat(before));
        let error = Constraint::parse(&text, Masterminds::V3_5).unwrap_err();
        let fault = error.fault();
        assert_eq!((fault.at, fault.found), (before, Some('é')));
    }

    #[test]
    fn a_range_of_one_version_knows_it() {
        for (range, expected) in [
            ("1.2.3", Some("1.2.3")),
            (" =v1.2.3 ", Some("1.2.3")),
            ("1.2.3-rc.1", Some("1.2.3-rc.1")),
            ("1.2.3+4", Some("1.2.3")),
            ("1.2.3 || 1.2.3", None),
            (">=1.2.3, <=1.2.3", None),
            ("!=1.2.3", None),
            ("1.2", None),
            ("1.2.x", None),
            ("~1.2.3", None),
            ("^1.2.3", None),
            ("*", None),
        ] {
            let only = Constraint::parse(range, Masterminds::V3_5).unwrap().only();
            assert_eq!(only.as_deref(), expected, "{range}");
        }
    }
}
