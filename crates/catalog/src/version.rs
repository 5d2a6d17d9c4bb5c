//! Versions, releases and the two range grammars, as OLM's Go libraries read them.
//!
//! Two libraries decide, and they agree on little. `github.com/blang/semver/v4` reads every bundle
//! version ([`Version`]) and `skipRange` ([`SkipRange`]); `github.com/Masterminds/semver/v3` reads
//! `spec.source.catalog.version` ([`Constraint`]). Both answer here as upstream does, error texts
//! included, and the two grammars never mix: what they share is only the order of versions
//! (`point`, `interval`), onto which both compile their comparators.
//!
//! ```text
//! text -> Constraint (Masterminds) --+
//!                                    +--> comparators over the order --> matches, takes
//! text -> SkipRange (blang) ---------+                                \-> meaning (for words)
//! ```
//!
//! Invariants: build metadata never takes part in an order or a match; a value that exists was
//! accepted by upstream's parser; nothing is parsed or allocated while a version is matched.

pub mod comparator;
mod constraint;
pub mod crd;
mod cursor;
pub mod go;
mod masterminds;
pub mod meaning;
mod semantic;
mod skip_range;
pub mod suggestion;
mod version_release;

pub(crate) use self::comparator::Hull;
pub(crate) use self::constraint::Group;

pub use self::constraint::{Constraint, ConstraintError, ConstraintErrorKind};
pub use self::cursor::{ExpectedPart, RangeFault};
pub use self::masterminds::{
    Masterminds, MastermindsError, MastermindsErrorKind, MastermindsVersion,
};
pub use self::meaning::Extent;
pub use self::semantic::{Component, Version, VersionError, VersionErrorKind};
pub use self::skip_range::{
    ComparatorError, Membership, SkipRange, SkipRangeError, SkipRangeErrorKind,
};
pub use self::version_release::{
    BundleReleaseSupport, LegacyRelease, RecordedVersion, Release, ReleaseError, ReleaseLimit,
    VersionRelease, VersionReleaseError,
};
pub use crate::version::semantic::IdentifierError;
