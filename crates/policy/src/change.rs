//! The facts about one edit that a policy reads, including its time.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;

use crate::limits;
use olmguard_catalog::version::{Constraint, Version};
use olmguard_catalog::word_set;

/// The extension under edit, as far as `match` reads it.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The package, e.g. `argocd-operator`.
    pub package: &'a str,
    /// `spec.namespace` of the `ClusterExtension`.
    pub namespace: &'a str,
    /// The labels of the `ClusterExtension`.
    pub labels: &'a BTreeMap<String, String>,
}

/// A bundle that is installed or resolved to.
#[derive(Clone, Copy, Debug)]
pub struct PolicyBundle<'a> {
    /// The name of the bundle, e.g. `argocd-operator.v0.6.0`.
    pub name: &'a str,
    /// The version of the bundle.
    pub version: &'a Version,
}

/// The installed bundle before a change.
#[derive(Clone, Copy, Debug)]
pub enum PolicyOrigin<'a> {
    /// Nothing: the change is a first installation.
    Nothing,
    /// A bundle whose version is unknown or cannot be read.
    Unknown,
    /// A bundle with a known version.
    Bundle(PolicyBundle<'a>),
}

/// The maker of a change.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Maker {
    /// A user, by an edit of the extension.
    User,
    /// OLM, automatically after an edit: the rules about the edit itself do not apply.
    Olm,
}

/// The person or program that makes the edit, as the API server identifies it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct UserInfo {
    /// The user name; empty if it is not known.
    pub name: String,
    /// The groups of the user, in the order of the request.
    pub groups: Vec<String>,
}

word_set! {
    /// The operation on the `ClusterExtension`.
    pub enum Operation {
        /// The extension is created.
        Create => "CREATE",
        /// The extension is updated.
        Update => "UPDATE",
    }
}

/// The checker of the user's permission for the verb `bypass`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum BypassPermission {
    /// The API server: by the `ValidatingAdmissionPolicy` that olmguard ships.
    AskedByApiServer,
    /// Unknown, as in a check offline.
    Unknown,
}

/// One step that an edit of a `ClusterExtension` makes, or that OLM makes automatically after it.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// The extension.
    pub subject: Subject<'a>,
    /// The maker of the change.
    pub maker: Maker,
    /// The installed bundle before the change.
    pub from: PolicyOrigin<'a>,
    /// The bundle that the change resolves to.
    pub to: PolicyBundle<'a>,
    /// Whether the change resolves to another bundle than the installed one; a first install is a move.
    pub is_move: bool,
    /// The catalog of the resolved bundle.
    pub catalog: &'a str,
    /// The channels that the extension requests.
    pub channels: &'a [String],
    /// `spec.source.catalog.version`; `None` if it is not set.
    pub range: Option<&'a Constraint>,
    /// Whether the upgrade constraint policy is `SelfCertified` (`Ignore` in early releases of OLM).
    pub bypass: bool,
    /// The checker of the permission to bypass.
    pub permission: BypassPermission,
    /// Whether the bundle, channel or package is deprecated.
    pub deprecated: bool,
    /// Whether the extension is created or updated.
    pub operation: Operation,
    /// The user who makes the edit. `None` if there is no particular user, as in an audit: then conditions that read
    /// the user are not evaluated.
    pub user: Option<&'a UserInfo>,
    /// The time of the edit.
    pub now: Moment,
}

// === A point in time, as a fact: this crate never reads a clock ===

/// Seconds since the Unix epoch. Printed as RFC 3339 in UTC: `2026-11-23T21:00:00Z`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Moment(i64);

/// The error for a text that is not a time.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{found:?} is not a time: expected RFC 3339, such as 2026-11-23T21:00:00Z")]
pub struct MomentError {
    found: String,
}

impl Moment {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// Returns the moment `s` seconds after 1970-01-01T00:00:00Z, or before it if `s` is negative.
    pub fn from_unix_seconds(s: i64) -> Self {
        Self(s)
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    pub fn unix_seconds(self) -> i64 {
        self.0
    }

    /// Reads RFC 3339, with any offset; a fraction of a second is dropped.
    /// # Errors
    /// If the text is not such a time.
    pub fn parse(rfc3339: &str) -> Result<Self, MomentError> {
        let time = Some(rfc3339).filter(|text| has_shape(text));
        let time = time.and_then(|text| text.parse::<Timestamp>().ok());
        let found = || limits::beginning(rfc3339, limits::ECHOED_BYTES);
        let time = time.ok_or_else(|| MomentError { found: found() })?;
        let before_epoch = i64::from(time.subsec_nanosecond() < 0);
        Ok(Self(time.as_second() - before_epoch))
    }
}

/// Whether the text has the separators of RFC 3339: jiff also reads ISO 8601 and annotated zones.
fn has_shape(text: &str) -> bool {
    let bytes = text.as_bytes();
    let separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    bytes.len() <= limits::MOMENT_BYTES
        && separators
            .iter()
            .all(|(at, byte)| bytes.get(*at) == Some(byte))
        && bytes.get(10).is_some_and(|byte| b"Tt ".contains(byte))
        && !bytes.contains(&b'[')
}

impl fmt::Display for Moment {
    /// A moment outside the years -9999 to 9999 is printed as seconds: `@99999999999999`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Timestamp::from_second(self.0) {
            Ok(time) => time.fmt(f),
            Err(_) => write!(f, "@{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_seconds() {
        for (text, seconds, printed) in [
            (
                "2026-11-23T21:00:00Z",
                1_795_467_600,
                "2026-11-23T21:00:00Z",
            ),
            (
                "2026-11-23T22:00:00+01:00",
                1_795_467_600,
                "2026-11-23T21:00:00Z",
            ),
            (
                "2026-11-23t21:00:00.999z",
                1_795_467_600,
                "2026-11-23T21:00:00Z",
            ),
            (
                "2026-11-23 21:00:00Z",
                1_795_467_600,
                "2026-11-23T21:00:00Z",
            ),
            ("1970-01-01T00:00:00Z", 0, "1970-01-01T00:00:00Z"),
            ("1969-12-31T23:59:59.5Z", -1, "1969-12-31T23:59:59Z"),
        ] {
            let moment = Moment::parse(text).unwrap();
            assert_eq!(moment.unix_seconds(), seconds, "{text}");
            assert_eq!(moment.to_string(), printed, "{text}");
        }
        assert_eq!(
            Moment::from_unix_seconds(i64::MAX).to_string(),
            "@9223372036854775807"
        );
    }

    #[test]
    fn what_is_not_a_time_is_refused() {
        let long = "2".repeat(99);
        for text in [
            "",
            "now",
            "1795467600",
            "2026-11-23",
            "2026-11-23T21:00:00",
            "20261123T210000Z",
            "2026-11-23T21:00:00Z[UTC]",
            "2026-13-23T21:00:00Z",
            "2026-11-23T25:00:00Z",
            &long,
        ] {
            assert!(Moment::parse(text).is_err(), "{text}");
        }
        assert_eq!(
            Moment::parse("tomorrow").unwrap_err().to_string(),
            "\"tomorrow\" is not a time: expected RFC 3339, such as 2026-11-23T21:00:00Z"
        );
    }
}
