//! Whether a CRD can replace the one in the cluster, as operator-controller decides by crdify.
//!
//! ```text
//! old, new ──> versions with their schemas ──> paths of each ──┬─> the same version, old to new
//!                                                              └─> each served version of new to those above it
//! ```
//!
//! crdify walks maps in Go's random order; here findings are in byte order of their lines. Where that order changes
//! what is refused, a finding is [`CrdFinding::is_unsteady`].
//!
//! Upstream: kubernetes-sigs/crdify at the commit that operator-controller pins, in the configuration of
//! operator-controller's [`rukpak/preflights/crdupgradesafety`]: conversion is ignored, what is not understood is an
//! error, values may be added to an enum.
//!
//! [`rukpak/preflights/crdupgradesafety`]: https://github.com/operator-framework/operator-controller/tree/v1.11.0/internal/operator-controller/rukpak/preflights/crdupgradesafety

mod json;
mod property;
mod schema;

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;

use serde_json::{Map, Value};

use crate::PreflightCheck;
use crate::crd::schema::{Paths, TooDeep};
use olmguard_catalog::version::go;

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
    /// That of operator-controller 1.`minor`; releases before 1.5 compare in another way.
    pub fn of(minor: u8) -> Option<Self> {
        match minor {
            0..=4 => None,
            5..=8 => Some(Self::V1_5),
            9 => Some(Self::V1_9),
            _ => Some(Self::V1_10),
        }
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
    #[error("the schema of version {version} is nested too deep: expected at most {most} levels")]
    TooDeep {
        /// The version.
        version: String,
        /// How many levels are read.
        most: usize,
    },
}

impl<'a> ComparedCrd<'a> {
    /// Reads an object of `apiextensions.k8s.io/v1`, with its status if it has one.
    ///
    /// # Errors
    /// If it has no name or its versions are not a list of versions with names.
    pub fn read(object: &'a Value) -> Result<Self, CrdError> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str);
        let name = text("/metadata/name").ok_or_else(|| field("metadata.name", "a string"))?;
        let stored = object.pointer("/status/storedVersions");
        let stored = stored.and_then(Value::as_array).into_iter().flatten();
        let versions = object.pointer("/spec/versions").and_then(Value::as_array);
        let versions = versions.ok_or_else(|| field("spec.versions", "a list"))?;
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
    #[must_use]
    pub fn converted_by_webhook(self) -> Self {
        Self {
            converts_by_webhook: true,
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
        Ok(Self {
            name: name.ok_or_else(|| field(&format!("spec.versions[{at}].name"), "a string"))?,
            is_served: version
                .get("served")
                .and_then(Value::as_bool)
                .unwrap_or_default(),
            schema: schema.and_then(Value::as_object),
        })
    }

    fn paths(&self, generation: CrdGeneration) -> Result<Option<Paths<'a>>, CrdError> {
        let paths = self.schema.map(|schema| {
            let root = schema.get("openAPIV3Schema").and_then(Value::as_object);
            root.map_or_else(|| Ok(Paths::default()), |root| Paths::of(root, generation))
        });
        paths
            .transpose()
            .map_err(|TooDeep { most }| CrdError::TooDeep {
                version: self.name.to_owned(),
                most,
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
    /// Whether it is found in about half of the runs: names of required fields in random order decide.
    pub is_unsteady: bool,
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

/// Compares the CRD of a cluster with the one that is to replace it.
///
/// # Errors
/// If a schema is nested too deep.
pub fn compare(
    old: &ComparedCrd<'_>,
    new: &ComparedCrd<'_>,
    generation: CrdGeneration,
) -> Result<CrdComparison, CrdError> {
    let mut comparison = Comparing {
        generation,
        result: CrdComparison::default(),
    };
    comparison.whole(old, new);
    for before in &old.versions {
        if let Some(after) = new.version(before.name) {
            comparison.same(before, after)?;
        }
    }
    if !new.converts_by_webhook {
        comparison.served(old, new)?;
    }
    let CrdComparison {
        mut findings,
        panics,
    } = comparison.result;
    if panics {
        findings.clear();
    }
    findings.sort_by_cached_key(ToString::to_string);
    Ok(CrdComparison { findings, panics })
}

struct Comparing {
    generation: CrdGeneration,
    result: CrdComparison,
}

impl Comparing {
    fn add(&mut self, versions: ComparedVersions, change: CrdChange) {
        self.result.findings.push(CrdFinding {
            versions,
            change,
            is_unsteady: false,
        });
    }

    fn whole(&mut self, old: &ComparedCrd<'_>, new: &ComparedCrd<'_>) {
        if old.scope != new.scope {
            let (from, to) = (old.scope.to_owned(), new.scope.to_owned());
            self.add(ComparedVersions::All, CrdChange::Scope { from, to });
        }
        let gone = old.stored.iter().filter(|name| new.version(name).is_none());
        let gone: Vec<String> = gone.map(|name| (*name).to_owned()).collect();
        if !gone.is_empty() {
            self.add(
                ComparedVersions::All,
                CrdChange::StoredVersionsRemoved(gone),
            );
        }
    }

    fn same(&mut self, before: &CrdVersion<'_>, after: &CrdVersion<'_>) -> Result<(), CrdError> {
        let both = before
            .paths(self.generation)?
            .zip(after.paths(self.generation)?);
        let Some((old, new)) = both else {
            self.result.panics = true;
            return Ok(());
        };
        let version = before.name.to_owned();
        for path in old.names().filter(|path| !new.has(path)) {
            let (version, path) = (version.clone(), path.to_owned());
            self.add(
                ComparedVersions::All,
                CrdChange::FieldRemoved { version, path },
            );
        }
        for (path, change) in property::changes(&old, &new, self.generation) {
            let versions = ComparedVersions::Same(version.clone());
            self.add(versions, CrdChange::Property { path, change });
        }
        Ok(())
    }

    /// What served versions of the new CRD lack of those below them, unless the old CRD lacked it, too.
    fn served(&mut self, old: &ComparedCrd<'_>, new: &ComparedCrd<'_>) -> Result<(), CrdError> {
        let before = self.served_changes(old)?;
        let after = self.served_changes(new)?;
        let (Some(before), Some(after)) = (before, after) else {
            self.result.panics = true;
            return Ok(());
        };
        let known: HashSet<_> = before.iter().map(ServedChange::key).collect();
        for found in after {
            let is_known = known.contains(&found.key());
            let is_unsteady = is_known && found.change.is_in_random_order();
            if is_known && !is_unsteady {
                continue;
            }
            self.result.findings.push(CrdFinding {
                versions: ComparedVersions::Served(found.lower, found.higher),
                change: CrdChange::Property {
                    path: found.path,
                    change: found.change,
                },
                is_unsteady,
            });
        }
        Ok(())
    }

    /// The changes between each served version and those above it; `None` if one that is compared has no schema.
    fn served_changes(&self, crd: &ComparedCrd<'_>) -> Result<Option<Vec<ServedChange>>, CrdError> {
        let mut served: Vec<_> = crd.versions.iter().filter(|it| it.is_served).collect();
        if served.len() < 2 {
            return Ok(Some(Vec::new()));
        }
        served.sort_by(|one, other| by_kubernetes(one.name, other.name));
        let mut all = Vec::new();
        for version in served {
            let Some(paths) = version.paths(self.generation)? else {
                return Ok(None);
            };
            all.push((version.name, paths));
        }
        let mut changes = Vec::new();
        for (at, (lower, from)) in all.iter().enumerate() {
            for (higher, to) in all.iter().skip(at + 1) {
                let found = property::changes(from, to, self.generation);
                changes.extend(found.into_iter().map(|(path, change)| ServedChange {
                    lower: (*lower).to_owned(),
                    higher: (*higher).to_owned(),
                    path,
                    change,
                }));
            }
        }
        Ok(Some(changes))
    }
}

struct ServedChange {
    lower: String,
    higher: String,
    path: String,
    change: PropertyChange,
}

impl ServedChange {
    /// All that upstream compares when it leaves out what was so before: its whole text.
    fn key(&self) -> (&str, &str, &str, &PropertyChange) {
        (&self.lower, &self.higher, &self.path, &self.change)
    }
}

/// Kubernetes' order of versions, the lowest first: other names, in descending byte order, then alpha, beta and
/// stable versions. Upstream: apimachinery, `pkg/version/helpers.go`.
fn by_kubernetes(one: &str, other: &str) -> Ordering {
    match (VersionRank::of(one), VersionRank::of(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => other.cmp(one),
    }
}

/// The rank of `v1`, `v1beta2` and the like.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
struct VersionRank {
    maturity: u8,
    major: u64,
    minor: u64,
}

impl VersionRank {
    fn of(name: &str) -> Option<Self> {
        let rest = name.strip_prefix('v')?;
        let (major, maturity, minor) = match (rest.split_once("alpha"), rest.split_once("beta")) {
            (Some((major, minor)), _) => (major, 0, Some(minor)),
            (None, Some((major, minor))) => (major, 1, Some(minor)),
            (None, None) => (rest, 2, None),
        };
        Some(Self {
            maturity,
            major: number(major)?,
            minor: minor.map_or(Some(0), number)?,
        })
    }
}

/// A number without leading zeros.
fn number(text: &str) -> Option<u64> {
    let is_number = !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}

impl CrdFinding {
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

#[cfg(test)]
mod tests;
