//! Checks whether a CRD can replace the existing one, as operator-controller decides with crdify.
//!
//! ```text
//! old, new ──> versions with their schemas ──> paths of each ──┬─> the same version, old to new
//!                                                              └─> each served version of new to those above it
//! ```
//!
//! crdify iterates over maps in Go's random order. Here, findings are in the byte order of their lines. If that random
//! order affects the decision, a finding is [`FindingCertainty::Unsteady`].
//!
//! Upstream: kubernetes-sigs/crdify at the commit that operator-controller pins, in the configuration of
//! operator-controller's [`rukpak/preflights/crdupgradesafety`]: conversion is ignored, unhandled changes are errors,
//! and enum values may be added.
//!
//! [`rukpak/preflights/crdupgradesafety`]: https://github.com/operator-framework/operator-controller/tree/v1.11.0/internal/operator-controller/rukpak/preflights/crdupgradesafety

mod alternatives;
mod compare;
mod json;
mod paths;
mod property;
mod schema;

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::PreflightCheck;
use olmguard_catalog::memory::{self, Heap};
use olmguard_catalog::version::go;

pub use crate::crd::compare::compare;
pub use crate::crd::paths::{ComparisonBudget, ComparisonLimit};
pub use crate::crd::property::PropertyChange;

/// A generation of crdify, by the release of operator-controller.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum CrdGeneration {
    /// v1.5 to v1.8: a schema of `allOf`, `anyOf`, `oneOf` or `not` replaces the schema that contains it.
    V1_5,
    /// v1.9: every schema has a path of its own; `pattern` and `nullable` are handled.
    V1_9,
    /// v1.10 and v1.11: `oneOf` is handled.
    V1_10,
}

impl CrdGeneration {
    /// Returns the generation of operator-controller 1.`minor`, or the most similar one.
    pub fn of(minor: u8) -> Self {
        match minor {
            0..=8 => Self::V1_5,
            9 => Self::V1_9,
            _ => Self::V1_10,
        }
    }

    /// Whether operator-controller 1.`minor` compares exactly like a generation. Older releases differ in details.
    pub fn is_of(minor: u8) -> bool {
        minor >= 5
    }
}

/// The compared parts of a `CustomResourceDefinition`.
#[derive(Clone, Debug)]
pub struct ComparedCrd<'a> {
    /// The name, such as `widgets.example.com`.
    pub name: &'a str,
    scope: &'a str,
    stored: Vec<&'a str>,
    converts_by_webhook: bool,
    versions: Vec<CrdVersion<'a>>,
}

#[derive(Clone, Debug)]
struct CrdVersion<'a> {
    name: &'a str,
    is_served: bool,
    /// Whether new objects are stored in this version.
    is_storage: bool,
    /// The field `schema`, whether or not it contains an `openAPIV3Schema`.
    schema: Option<&'a Map<String, Value>>,
}

/// The reason why an object cannot be compared as a CRD.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CrdError {
    /// A field is missing or has the wrong type.
    #[error("{field}: expected {expected}")]
    Field {
        /// The path of the field.
        field: String,
        /// The expected value.
        expected: &'static str,
    },
    /// A version exceeds a limit of comparisons.
    #[error("CRD {crd}: {}", .limit.exceeded_by(version))]
    Limit {
        /// The name of the CRD.
        crd: String,
        /// The version that exceeds the limit.
        version: String,
        /// The limit.
        limit: ComparisonLimit,
    },
    /// The CRD has more versions than can be compared with each other.
    #[error("CRD {crd}: spec.versions: expected at most {MOST_VERSIONS} versions, found {found}")]
    TooManyVersions {
        /// The name of the CRD.
        crd: String,
        /// The number of versions found.
        found: usize,
    },
}

impl<'a> ComparedCrd<'a> {
    /// Reads an object of `apiextensions.k8s.io/v1`, with its status if it has one.
    ///
    /// # Errors
    /// If the object has no name, or `spec.versions` is not a list of versions with names, or has too many versions.
    pub fn read(object: &'a Value) -> Result<Self, CrdError> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str);
        let name = text("/metadata/name").ok_or_else(|| field("metadata.name", "a string"))?;
        let stored = object.pointer("/status/storedVersions");
        let stored = stored.and_then(Value::as_array).into_iter().flatten();
        let versions = object.pointer("/spec/versions").and_then(Value::as_array);
        let versions = versions.ok_or_else(|| field("spec.versions", "a list"))?;
        if versions.len() > MOST_VERSIONS {
            return Err(CrdError::TooManyVersions {
                crd: name.to_owned(),
                found: versions.len(),
            });
        }
        let versions = versions.iter().enumerate();
        Ok(Self {
            name,
            scope: text("/spec/scope").unwrap_or_default(),
            stored: stored.filter_map(Value::as_str).collect(),
            converts_by_webhook: text("/spec/conversion/strategy") == Some("Webhook"),
            versions: versions
                .map(|(at, version)| CrdVersion::read(at, version))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Marks the CRD as converted by a webhook, as OLM does for the CRDs that a bundle's conversion webhooks name.
    pub fn converted_by_webhook(self) -> Self {
        Self {
            converts_by_webhook: true,
            ..self
        }
    }

    /// Treats a manifest as a created CRD: objects can be stored in its storage version, which the manifest does not
    /// show.
    pub fn created(self) -> Self {
        let stored = self.versions.iter().filter(|version| version.is_storage);
        Self {
            stored: stored.map(|version| version.name).collect(),
            ..self
        }
    }

    fn version(&self, name: &str) -> Option<&CrdVersion<'a>> {
        self.versions.iter().find(|version| version.name == name)
    }
}

impl<'a> CrdVersion<'a> {
    fn read(at: usize, version: &'a Value) -> Result<Self, CrdError> {
        let name = version.get("name").and_then(Value::as_str);
        let schema = version.get("schema");
        let is = |key: &str| {
            version
                .get(key)
                .and_then(Value::as_bool)
                .unwrap_or_default()
        };
        Ok(Self {
            name: name.ok_or_else(|| field(&format!("spec.versions[{at}].name"), "a string"))?,
            is_served: is("served"),
            is_storage: is("storage"),
            schema: schema.and_then(Value::as_object),
        })
    }
}

fn field(field: &str, expected: &'static str) -> CrdError {
    CrdError::Field {
        field: field.to_owned(),
        expected,
    }
}

/// The differences that prevent a replacement.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CrdComparison {
    /// The findings, in the byte order of their lines. operator-controller accepts a CRD without findings.
    pub findings: Vec<CrdFinding>,
    /// Whether operator-controller crashes during the comparison because a version has no schema. It then writes no
    /// status.
    pub panics: bool,
}

/// One reason against a replacement. Printed as upstream prints it, without the details of `unhandled` and `oneOf`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CrdFinding {
    /// The compared versions.
    pub versions: ComparedVersions,
    /// The change.
    pub change: CrdChange,
    /// Whether operator-controller reports the finding, too.
    pub certainty: FindingCertainty,
}

/// Whether operator-controller reports a finding of this crate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FindingCertainty {
    /// operator-controller reports the finding in every run.
    Certain,
    /// operator-controller reports the finding in about half of its runs, depending on the random order of required
    /// fields.
    Unsteady,
    /// operator-controller may report the finding, because its release compares differently.
    OfOtherRelease,
}

/// The versions that a finding concerns.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ComparedVersions {
    /// The CRD as a whole.
    All,
    /// One version, in the old and the new CRD.
    Same(String),
    /// Two served versions of the new CRD, the lower one first.
    Served(String, String),
}

/// A change between two schemas or CRDs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CrdChange {
    /// A field is removed.
    FieldRemoved {
        /// The version.
        version: String,
        /// The path of the field.
        path: String,
    },
    /// The scope changes.
    Scope {
        /// The old scope.
        from: String,
        /// The new scope.
        to: String,
    },
    /// Versions in which objects may be stored are removed.
    StoredVersionsRemoved(Vec<String>),
    /// A property changes.
    Property {
        /// The path of the property, which starts with `^`.
        path: String,
        /// The change of the property.
        change: PropertyChange,
    },
}

impl CrdComparison {
    /// Marks the findings as those of a release that compares differently: only those that the API server enforces are
    /// certain.
    pub(crate) fn of_other_release(mut self) -> Self {
        for found in &mut self.findings {
            if !found.is_refused_by_server() {
                found.certainty = FindingCertainty::OfOtherRelease;
            }
        }
        Self {
            panics: false,
            ..self
        }
    }

    /// Like [`Self::worst_first`], without the findings that only follow from the removal of their field.
    pub fn of_people(&self) -> Vec<&CrdFinding> {
        let removed = self.removed();
        let mut findings = self.worst_first();
        findings.retain(|found| !found.is_repeated(&removed));
        findings
    }

    /// Returns the removed fields: the version and the path of each.
    pub fn removed(&self) -> BTreeSet<(&str, &str)> {
        let removed = self
            .findings
            .iter()
            .filter_map(|found| match &found.change {
                CrdChange::FieldRemoved { version, path } => Some((&**version, &**path)),
                _ => None,
            });
        removed.collect()
    }

    /// Returns the findings in the order for users. Findings that the API server also refuses are first. Then follow
    /// those that break objects or clients, those that may be harmless, and those that only some runs report. Findings
    /// of one kind are in byte order.
    pub fn worst_first(&self) -> Vec<&CrdFinding> {
        let mut findings: Vec<_> = self.findings.iter().collect();
        findings.sort_by_key(|found| found.rank());
        findings
    }
}

impl Heap for CrdFinding {
    /// An estimate: twice the text of the line, because lists of findings have spare capacity.
    fn heap_bytes(&self) -> usize {
        memory::allocated(self.to_string().len() * 2)
    }
}

impl CrdFinding {
    /// The memory of the finding in a list.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>() + self.heap_bytes()
    }

    /// The sort key of the finding: the worst kind first, uncertain findings last.
    pub fn rank(&self) -> (bool, u8) {
        let rank = match self.check() {
            PreflightCheck::CrdScope | PreflightCheck::CrdStoredVersion => 0,
            PreflightCheck::CrdFieldRemoved => 1,
            PreflightCheck::CrdUnhandled => 3,
            PreflightCheck::CrdServedVersions => 4,
            _ => 2,
        };
        (!self.is_certain(), rank)
    }

    /// Whether operator-controller refuses the CRD for this finding in every run.
    pub fn is_certain(&self) -> bool {
        self.certainty == FindingCertainty::Certain
    }

    /// Whether the API server refuses the CRD for this finding, too.
    pub fn is_refused_by_server(&self) -> bool {
        self.rank() == (false, 0)
    }

    /// Whether the finding concerns a field that another finding reports as removed.
    pub fn is_repeated(&self, removed: &BTreeSet<(&str, &str)>) -> bool {
        match (&self.versions, &self.change) {
            (ComparedVersions::Same(version), CrdChange::Property { path, .. }) => {
                removed.contains(&(&**version, &**path))
            }
            _ => false,
        }
    }

    /// The line that operator-controller prints, if all of it is known.
    pub fn upstream(&self) -> Option<String> {
        let is_cut = matches!(
            &self.change,
            CrdChange::Property {
                change: PropertyChange::OneOf(_) | PropertyChange::Unhandled { .. },
                ..
            }
        );
        (!is_cut && self.is_certain()).then(|| self.to_string())
    }

    /// The check that fails.
    pub fn check(&self) -> PreflightCheck {
        match (&self.versions, &self.change) {
            (_, CrdChange::FieldRemoved { .. }) => PreflightCheck::CrdFieldRemoved,
            (_, CrdChange::Scope { .. }) => PreflightCheck::CrdScope,
            (_, CrdChange::StoredVersionsRemoved(_)) => PreflightCheck::CrdStoredVersion,
            (ComparedVersions::Served(..), _) => PreflightCheck::CrdServedVersions,
            (_, CrdChange::Property { change, .. }) => match change {
                PropertyChange::Unhandled { .. } => PreflightCheck::CrdUnhandled,
                _ => PreflightCheck::CrdProperty,
            },
        }
    }
}

impl fmt::Display for CrdFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.versions {
            ComparedVersions::All => {}
            ComparedVersions::Same(version) => write!(f, "{version}: ")?,
            ComparedVersions::Served(lower, higher) => write!(f, "{lower} -> {higher}: ")?,
        }
        match &self.change {
            CrdChange::FieldRemoved { version, path } => {
                write!(f, "existingFieldRemoval: removed field : {version}.{path}")
            }
            CrdChange::Scope { from, to } => {
                let (from, to) = (go::quote(from), go::quote(to));
                write!(f, "scope: scope changed : {from} -> {to}")
            }
            CrdChange::StoredVersionsRemoved(versions) => {
                let versions = versions.join(" ");
                write!(
                    f,
                    "storedVersionRemoval: stored versions removed : [{versions}]"
                )
            }
            CrdChange::Property { path, change } => write!(f, "{path}: {change}"),
        }
    }
}

/// The maximum number of versions. Each served version is compared with all higher ones. CRDs have three or four.
const MOST_VERSIONS: usize = 32;

#[cfg(test)]
mod tests;
