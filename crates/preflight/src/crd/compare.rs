//! Two CRDs, version by version.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::crd::property::{self, PropertyChange};
use crate::crd::{
    ComparedCrd, ComparedVersions, CrdChange, CrdComparison, CrdError, CrdFinding, CrdGeneration,
    CrdVersion,
};

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
pub(super) fn by_kubernetes(one: &str, other: &str) -> Ordering {
    match (VersionRank::of(one), VersionRank::of(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        (Some(_), None) => Ordering::Greater,
        (None, Some(_)) => Ordering::Less,
        (None, None) => other.cmp(one),
    }
}

/// The rank of `v1`, `v1beta2` and the like.
#[derive(Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct VersionRank {
    maturity: u8,
    major: u64,
    minor: u64,
}

impl VersionRank {
    pub(super) fn of(name: &str) -> Option<Self> {
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
