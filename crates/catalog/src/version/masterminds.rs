//! The releases of Masterminds/semver v3 that OLM was built with, and its tolerant version parser.
//!
//! `spec.source.catalog.version` is read by this library, and so is the installed version in OLM
//! 1.0 to 1.7. What changed from release to release is data here ([`Rules`]); the parsers are the
//! same.

pub(crate) mod operand;
mod parse;

pub use self::parse::{MastermindsError, MastermindsErrorKind, MastermindsVersion};

/// A release of Masterminds/semver v3, as far as its answers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Masterminds {
    /// v3.3.0: OLM 1.0.
    V3_3_0,
    /// v3.3.1: OLM 1.1 to 1.3. Refuses leading zeros.
    V3_3_1,
    /// v3.4.0: OLM 1.4 to 1.8. Prereleases are admitted by group.
    V3_4,
    /// v3.5.0: OLM 1.9 and later. Limits lengths and counts.
    V3_5,
}

impl Masterminds {
    pub(crate) const fn rules(self) -> &'static Rules {
        match self {
            Self::V3_3_0 => &V3_3_0,
            Self::V3_3_1 => &V3_3_1,
            Self::V3_4 => &V3_4,
            Self::V3_5 => &V3_5,
        }
    }
}

/// How one release reads versions and constraints.
#[derive(Debug)]
pub(crate) struct Rules {
    /// The longest constraint, in bytes.
    pub(crate) constraint_bytes: usize,
    /// The most OR groups.
    pub(crate) groups: usize,
    /// The longest version, in bytes.
    pub(crate) version_bytes: usize,
    pub(crate) leading_zeros: LeadingZeros,
    pub(crate) gate: PrereleaseGate,
    pub(crate) texts: &'static Texts,
    pub(crate) improper: ImproperText,
}

/// What happens to leading zeros of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeadingZeros {
    Dropped,
    /// They, and those of prerelease identifiers, make the text no version at all.
    Refused,
}

/// What has to name a prerelease before versions with one are admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrereleaseGate {
    /// The comparator itself; `!=` with a full version always admits them.
    Comparator,
    /// Any comparator of the AND group.
    Group,
}

/// The wording of the release's messages.
#[derive(Debug)]
pub(crate) struct Texts {
    pub(crate) invalid: &'static str,
    pub(crate) segment: &'static str,
    pub(crate) leading_zero: &'static str,
    pub(crate) operand: &'static str,
}

/// How `improper constraint:` shows the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImproperText {
    AsWritten,
    Quoted,
}

/// Ours where the library has no limit: looking for hyphen ranges takes the square of the length.
/// The API server lets 64 characters through.
const OWN_CONSTRAINT_BYTES: usize = 16 * 1024;

const CAPITAL: Texts = Texts {
    invalid: "Invalid Semantic Version",
    segment: "Error parsing version segment",
    leading_zero: "Version segment starts with 0",
    operand: "constraint Parser Error",
};

const LOWER: Texts = Texts {
    invalid: "invalid semantic version",
    segment: "error parsing version segment",
    leading_zero: "version segment starts with 0",
    operand: "constraint parser error",
};

static V3_3_0: Rules = Rules {
    constraint_bytes: OWN_CONSTRAINT_BYTES,
    groups: usize::MAX,
    version_bytes: usize::MAX,
    leading_zeros: LeadingZeros::Dropped,
    gate: PrereleaseGate::Comparator,
    texts: &CAPITAL,
    improper: ImproperText::AsWritten,
};

static V3_3_1: Rules = Rules {
    leading_zeros: LeadingZeros::Refused,
    ..V3_3_0
};

static V3_4: Rules = Rules {
    constraint_bytes: OWN_CONSTRAINT_BYTES,
    groups: usize::MAX,
    version_bytes: usize::MAX,
    leading_zeros: LeadingZeros::Dropped,
    gate: PrereleaseGate::Group,
    texts: &LOWER,
    improper: ImproperText::AsWritten,
};

static V3_5: Rules = Rules {
    constraint_bytes: 512,
    groups: 32,
    version_bytes: 256,
    improper: ImproperText::Quoted,
    ..V3_4
};
