//! `spec.source.catalog.version`: a range in the grammar of Masterminds/semver v3.
//!
//! Mirrors `NewConstraint` and `Check` ([`constraints.go`]), odd results included: `^*` matches
//! only 0.0.0, `<=*` only 0.0.z, `~0.0.0` everything. Bundle versions are read by blang and never
//! pass through Masterminds' own parser. A bundle's release has no effect.
//!
//! Invariant: whether a comparator admits prereleases is decided when the constraint is parsed, so
//! matching does not depend on library releases.
//!
//! [`constraints.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/constraints.go

mod compile;

use std::{fmt, iter};

use smallvec::{SmallVec, smallvec};

use crate::version::comparator::{Comparator, Hull, Span};
use crate::version::constraint::compile::RewrittenConstraint;
use crate::version::masterminds::{
    ImproperText, Masterminds, ScannedVersion, is_component_byte, scan,
};
use crate::version::semantic::Version;
use crate::version::{ExpectedPart, RangeCursor, RangeFault, go};

/// A version range of a `ClusterExtension`, e.g. `>=1.2.3 <2.0.0 || 3.x`.
#[derive(Clone, Debug)]
pub struct Constraint {
    text: Box<str>,
    /// Nearly always one group, which needs no separate list.
    groups: SmallVec<[Group; 1]>,
}

/// Comparators that must all match.
#[derive(Clone, Debug)]
pub(crate) struct Group(Box<[GatedComparator]>);

/// A comparator, and whether it admits versions with a prerelease at all.
#[derive(Clone, Debug)]
struct GatedComparator {
    comparator: Comparator,
    prereleases: Prereleases,
}

/// Whether versions with a prerelease can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prereleases {
    Admitted,
    Refused,
}

impl Constraint {
    /// Parses `text` as `NewConstraint` of that release. An empty text is an error.
    ///
    /// # Errors
    ///
    /// The first fault in upstream's order: length, number of groups, then group by group.
    pub fn parse(text: &str, release: Masterminds) -> Result<Self, ConstraintError> {
        Self::pin(text).map_or_else(|| Self::compile(text, release), Ok)
    }

    /// Returns the result of [`Self::compile`] for one complete version such as `1.2.3-rc.1`. All
    /// releases of Masterminds read such a text in the same way.
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
            let fault = RangeFault::new(text, rules.constraint_bytes, ExpectedPart::End);
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

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the version satisfies all comparators of some group. Does not allocate.
    pub fn matches(&self, version: &Version) -> bool {
        self.groups.iter().any(|group| group.matches(version))
    }

    /// Whether some group matches versions without an upper limit.
    ///
    /// A group has no upper limit exactly if each of its comparators has none. Contradictory
    /// comparators need no special case.
    pub fn is_open_above(&self) -> bool {
        self.groups
            .iter()
            .any(|group| group.comparators().all(Comparator::is_open_above))
    }

    /// The version, without build metadata, if the range is one comparator that matches only this
    /// version: `1.2.3`, `=v1.2.3`.
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

    /// Whether versions with a prerelease can match.
    pub(crate) fn admits_prereleases(&self) -> bool {
        let mut prereleases = self.0.iter().map(|gated| gated.prereleases);
        prereleases.all(|prereleases| prereleases == Prereleases::Admitted)
    }

    /// Whether a version satisfies all comparators.
    pub(crate) fn matches(&self, version: &Version) -> bool {
        self.0.iter().all(|gated| gated.admits(version))
    }

    /// An interval that includes all versions of the group.
    pub(crate) fn hull(&self) -> Hull<'_> {
        Hull::of_group(self.comparators())
    }

    /// Whether all versions of [`Self::hull`] match, apart from prereleases.
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

/// Maximum length of a pin, in bytes. No release of Masterminds rejects a version of this length.
const MOST_OF_A_PIN: usize = 64;

/// Splits at `||`, and returns the texts with their byte offsets. A plain loop, because the texts
/// are short and the search of `split` takes longer to set up.
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

// === The syntax of one AND group: `>=1.2, <2.0.0 !=1.5` ===
//
// Mirrors `validConstraintRegex` and `findConstraintRegex` ([`constraints.go`]). Comparators are
// separated by white space, or by exactly one comma with optional white space. White space may
// follow an operator.
//
// [`constraints.go`]: https://github.com/Masterminds/semver/blob/v3.5.0/constraints.go

/// An operator; synonyms are one operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    /// `=`, or no operator.
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Tilde,
    Caret,
}

/// An operator and its operand, with the operand's byte offset in the group.
struct WrittenComparator<'t> {
    operator: Operator,
    operand: ScannedVersion<'t>,
    at: usize,
}

/// The comparators of a group: nearly always one or two, which need no allocation.
type WrittenGroup<'t> = SmallVec<[WrittenComparator<'t>; 2]>;

/// Reads a group. An error is a byte offset and the part that is missing there.
fn read(text: &str) -> Result<WrittenGroup<'_>, (usize, ExpectedPart)> {
    let mut cursor = RangeCursor::new(text);
    let mut comparators = WrittenGroup::new();
    cursor.eat_blanks();
    loop {
        comparators.push(comparator(&mut cursor)?);
        let blanks = cursor.eat_blanks();
        if cursor.is_at_end() {
            return Ok(comparators);
        }
        if cursor.eat(",") {
            cursor.eat_blanks();
        } else if blanks == 0 {
            return Err((cursor.at(), ExpectedPart::Separator));
        }
    }
}

/// Scans the operand of a comparator, and moves the cursor past it.
fn operand<'t>(cursor: &mut RangeCursor<'t>) -> Option<ScannedVersion<'t>> {
    scan(cursor, is_component_byte)
}

fn comparator<'t>(
    cursor: &mut RangeCursor<'t>,
) -> Result<WrittenComparator<'t>, (usize, ExpectedPart)> {
    let start = cursor.at();
    let operator = operator(cursor);
    let expected = if cursor.at() == start {
        ExpectedPart::Comparator
    } else {
        ExpectedPart::Version
    };
    cursor.eat_blanks();
    let at = cursor.at();
    let operand = operand(cursor).ok_or((at, expected))?;
    Ok(WrittenComparator {
        operator,
        operand,
        at,
    })
}

fn operator(cursor: &mut RangeCursor<'_>) -> Operator {
    SPELLINGS
        .into_iter()
        .find(|(spelling, _)| cursor.eat(spelling))
        .map_or(Operator::Equal, |(_, operator)| operator)
}

/// Spellings of the operators. A longer spelling comes before its prefixes.
const SPELLINGS: [(&str, Operator); 11] = [
    ("!=", Operator::NotEqual),
    (">=", Operator::GreaterOrEqual),
    ("=>", Operator::GreaterOrEqual),
    ("<=", Operator::LessOrEqual),
    ("=<", Operator::LessOrEqual),
    ("~>", Operator::Tilde),
    ("=", Operator::Equal),
    (">", Operator::Greater),
    ("<", Operator::Less),
    ("~", Operator::Tilde),
    ("^", Operator::Caret),
];

/// The reason why Masterminds rejects a constraint, displayed in the wording of its release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConstraintError {
    kind: ConstraintErrorKind,
    fault: RangeFault,
    release: Masterminds,
}

impl ConstraintError {
    fn new(kind: ConstraintErrorKind, fault: RangeFault, release: Masterminds) -> Self {
        Self {
            kind,
            fault,
            release,
        }
    }

    /// The position of the fault in the text as typed.
    pub fn fault(&self) -> RangeFault {
        self.fault
    }

    /// Returns the same error in the wording of another release.
    pub fn worded_by(&self, release: Masterminds) -> Self {
        Self::new(self.kind.clone(), self.fault, release)
    }
}

impl fmt::Display for ConstraintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = self.release.rules();
        match &self.kind {
            ConstraintErrorKind::TooLong(most) => {
                write!(f, "constraint string is too long (max {most} bytes)")
            }
            ConstraintErrorKind::TooManyGroups(most) => {
                write!(f, "too many constraint groups (max {most})")
            }
            ConstraintErrorKind::Improper(group) => match rules.improper {
                ImproperText::AsWritten => write!(f, "improper constraint: {group}"),
                ImproperText::Quoted => write!(f, "improper constraint: {}", go::quote(group)),
            },
            ConstraintErrorKind::Operand => f.write_str(rules.texts.operand),
        }
    }
}

impl std::error::Error for ConstraintError {}

/// Faults that Masterminds finds in a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConstraintErrorKind {
    /// The text has more bytes than this limit.
    TooLong(usize),
    /// The text has more OR groups than this limit.
    TooManyGroups(usize),
    /// This group is not a list of comparators. The text is the group after hyphen ranges were
    /// rewritten.
    Improper(Box<str>),
    /// An operand is not a version.
    Operand,
}

/// A fault within one group, with the byte offset in the group's text.
struct LocatedFault {
    kind: ConstraintErrorKind,
    at: usize,
    expected: ExpectedPart,
}

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
