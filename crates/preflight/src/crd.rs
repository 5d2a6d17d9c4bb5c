//! Whether a CRD can replace the one in the cluster, as operator-controller decides by crdify.
//!
//! ```text
//! old, new ──> versions with their schemas ──> paths of each ──┬─> the same version, old to new
//!                                                              └─> each served version of new to those above it
//! ```
//!
//! crdify walks maps in Go's random order; here findings are in byte order of their lines. Where that order changes
//! what is refused, a finding is [`FindingCertainty::Unsteady`].
//!
//! Upstream: kubernetes-sigs/crdify at the commit that operator-controller pins, in the configuration of
//! operator-controller's [`rukpak/preflights/crdupgradesafety`]: conversion is ignored, what is not understood is an
//! error, values may be added to an enum.
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
pub use crate::crd::property::PropertyChange;

/// Which crdify compares, by the release of operator-controller.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum CrdGeneration {
    /// v1.5 to v1.8: a schema of `allOf`, `anyOf`, `oneOf` or `not` takes the place of the one that it is in.
    V1_5,
    /// v1.9: every schema has a path of its own; `pattern` and `nullable` are understood.
    V1_9,
    /// v1.10 and v1.11: `oneOf` is understood.
    V1_10,
}

impl CrdGeneration {
    /// The generation of operator-controller 1.`minor`, or the one that is most like it.
    pub fn of(minor: u8) -> Self {
        match minor {
            0..=8 => Self::V1_5,
            9 => Self::V1_9,
            _ => Self::V1_10,
        }
    }

    /// Whether operator-controller 1.`minor` compares exactly so. Older releases have the same ideas, and differ in details.
    pub fn is_of(minor: u8) -> bool {
        minor >= 5
    }
}

/// What of a `CustomResourceDefinition` is compared.
#[derive(Clone, Debug)]
pub struct ComparedCrd<'a> {
    /// Its name, such as `widgets.example.com`.
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
    /// Whether new objects are stored in it.
    is_storage: bool,
    /// `schema`, whether or not there is an `openAPIV3Schema` in it.
    schema: Option<&'a Map<String, Value>>,
}

/// Why an object cannot be compared as a CRD.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CrdError {
    /// A field is missing, or of another type.
    #[error("{field}: expected {expected}")]
    Field {
        /// The path of the field.
        field: String,
        /// What is expected.
        expected: &'static str,
    },
    /// A schema is nested deeper than any API server takes.
    #[error(
        "CRD {crd}: the schema of version {version} is nested too deep: expected at most {most} levels"
    )]
    TooDeep {
        /// The name of the CRD.
        crd: String,
        /// The version.
        version: String,
        /// How many levels are read.
        most: usize,
    },
    /// The names of fields, each with the names of all that it is in, take more memory than a comparison may.
    #[error(
        "CRD {crd}: the paths of version {version} are too long: expected at most {most} bytes"
    )]
    TooLarge {
        /// The name of the CRD.
        crd: String,
        /// The version that is one too many.
        version: String,
        /// How many bytes of text a comparison may make.
        most: usize,
    },
    /// There are more versions than can be compared with each other.
    #[error("CRD {crd}: spec.versions: expected at most {most} versions, found {found}")]
    TooManyVersions {
        /// The name of the CRD.
        crd: String,
        /// How many there are.
        found: usize,
        /// How many are read.
        most: usize,
    },
}

impl<'a> ComparedCrd<'a> {
    /// Reads an object of `apiextensions.k8s.io/v1`, with its status if it has one.
    ///
    /// # Errors
    /// If it has no name, or its versions are not a list of versions with names, or there are too many of them.
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
                most: MOST_VERSIONS,
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

    /// The same with objects that a webhook converts, which OLM writes into a CRD that a bundle names so.
    pub fn converted_by_webhook(self) -> Self {
        Self {
            converts_by_webhook: true,
            ..self
        }
    }

    /// The same in a cluster, where objects may be stored in its storage version. A manifest does not say so.
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

/// What is wrong with a replacement.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct CrdComparison {
    /// The findings, in byte order of their lines. operator-controller accepts a CRD without any.
    pub findings: Vec<CrdFinding>,
    /// Whether operator-controller fails while it compares, because a version has no schema: it writes no status then.
    pub panics: bool,
}

/// One reason against a replacement; printed as upstream prints it, without what it adds to `unhandled` and `oneOf`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CrdFinding {
    /// The versions that it is found in.
    pub versions: ComparedVersions,
    /// What changes.
    pub change: CrdChange,
    /// Whether operator-controller finds it, too.
    pub certainty: FindingCertainty,
}

/// Whether operator-controller finds what is found here.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FindingCertainty {
    /// It does.
    Certain,
    /// It does in about half of the runs: names of required fields in random order decide.
    Unsteady,
    /// It may: its release compares in another way.
    OfOtherRelease,
}

/// The versions that a finding is about.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ComparedVersions {
    /// The CRD as a whole.
    All,
    /// This one, old to new.
    Same(String),
    /// Two served versions of the new CRD, the lower one first.
    Served(String, String),
}

/// What changes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum CrdChange {
    /// A field is no longer there.
    FieldRemoved {
        /// The version.
        version: String,
        /// The path of the field.
        path: String,
    },
    /// The scope.
    Scope {
        /// The old one.
        from: String,
        /// The new one.
        to: String,
    },
    /// Versions in which objects may be stored are gone.
    StoredVersionsRemoved(Vec<String>),
    /// A property.
    Property {
        /// Its path, which begins with `^`.
        path: String,
        /// What changes of it.
        change: PropertyChange,
    },
}

impl CrdComparison {
    /// The same for a release that compares in another way: only what the API server refuses is certain.
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

    /// [`Self::worst_first`] without what a removed field entails: all that is found of the field says it once more.
    pub fn of_people(&self) -> Vec<&CrdFinding> {
        let removed = self.removed();
        let mut findings = self.worst_first();
        findings.retain(|found| !found.is_repeated(&removed));
        findings
    }

    /// The fields that are removed: version and path of each.
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

    /// The findings for people: what the API server refuses, too, comes first, then what breaks objects or clients, then
    /// what may be harmless, and last what only some runs find. Findings of one kind are in byte order.
    pub fn worst_first(&self) -> Vec<&CrdFinding> {
        let mut findings: Vec<_> = self.findings.iter().collect();
        findings.sort_by_key(|found| found.rank());
        findings
    }
}

impl Heap for CrdFinding {
    /// Twice the text of its line: lists of findings have spare capacity.
    fn heap_bytes(&self) -> usize {
        memory::allocated(self.to_string().len() * 2)
    }
}

impl CrdFinding {
    /// The place of its kind among all, the worst first; what is not certain comes last.
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

    /// Whether operator-controller refuses the CRD for it in every run.
    pub fn is_certain(&self) -> bool {
        self.certainty == FindingCertainty::Certain
    }

    /// Whether the API server refuses the CRD for it, too.
    pub fn is_refused_by_server(&self) -> bool {
        self.rank() == (false, 0)
    }

    /// Whether it is about a field of which another finding says that it is removed.
    pub fn is_repeated(&self, removed: &BTreeSet<(&str, &str)>) -> bool {
        match (&self.versions, &self.change) {
            (ComparedVersions::Same(version), CrdChange::Property { path, .. }) => {
                removed.contains(&(&**version, &**path))
            }
            _ => false,
        }
    }

    /// The line of operator-controller, if it is known whole.
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

/// The versions that are compared, each served one with those above it. CRDs have three or four.
const MOST_VERSIONS: usize = 32;

#[cfg(test)]
mod tests;
