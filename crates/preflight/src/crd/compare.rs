//! Compares two CRDs, version by version.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::Value;

use crate::crd::paths::{ComparisonBudget, ComparisonLimit, Paths};
use crate::crd::property::{self, NodeChange, PropertyChange};
use crate::crd::{
    ComparedCrd, ComparedVersions, CrdChange, CrdComparison, CrdError, CrdFinding, CrdGeneration,
    CrdVersion, FindingCertainty,
};

/// Compares the CRD of a cluster with its replacement, and subtracts the bytes that this takes from the budget of the
/// bundle.
///
/// # Errors
/// If a schema is nested too deeply, the paths and findings of all schemas together are too long, or the schemas take
/// too long to compare.
pub fn compare(
    old: &ComparedCrd<'_>,
    new: &ComparedCrd<'_>,
    generation: CrdGeneration,
    budget: &mut ComparisonBudget,
) -> Result<CrdComparison, CrdError> {
    let mut comparison = Comparing {
        crd: new.name,
        generation,
        budget: budget.of_crd(),
        result: CrdComparison::default(),
    };
    let compared = comparison.versions(old, new);
    let CrdComparison {
        mut findings,
        panics,
    } = comparison.result;
    if panics || compared.is_err() {
        findings.clear();
    }
    budget.settle(
        &comparison.budget,
        findings.iter().map(CrdFinding::bytes).sum(),
    );
    compared?;
    findings.sort_by_cached_key(ToString::to_string);
    Ok(CrdComparison { findings, panics })
}

/// A version with the paths of its schema.
struct WalkedVersion<'a> {
    name: &'a str,
    is_served: bool,
    /// `None` if the version has no `schema`, which upstream cannot compare.
    paths: Option<Paths<'a>>,
}

/// Returns the served versions, the lowest first; none if there are fewer than two.
fn served<'w, 'a>(versions: &'w [WalkedVersion<'a>]) -> Vec<&'w WalkedVersion<'a>> {
    let mut served: Vec<_> = versions.iter().filter(|it| it.is_served).collect();
    if served.len() < 2 {
        served.clear();
    }
    served.sort_by(|one, other| by_kubernetes(one.name, other.name));
    served
}

struct Comparing<'a> {
    crd: &'a str,
    generation: CrdGeneration,
    budget: ComparisonBudget,
    result: CrdComparison,
}

impl Comparing<'_> {
    fn versions(&mut self, old: &ComparedCrd<'_>, new: &ComparedCrd<'_>) -> Result<(), CrdError> {
        self.whole(old, new);
        let (before, after) = (self.walked(old)?, self.walked(new)?);
        self.same_versions(&before, &after)?;
        if new.converts_by_webhook {
            return Ok(());
        }
        self.served_versions(&before, &after)
    }

    fn walked<'a>(&mut self, crd: &ComparedCrd<'a>) -> Result<Vec<WalkedVersion<'a>>, CrdError> {
        let versions = crd.versions.iter();
        versions
            .map(|version| self.walked_version(version))
            .collect()
    }

    fn walked_version<'a>(
        &mut self,
        version: &CrdVersion<'a>,
    ) -> Result<WalkedVersion<'a>, CrdError> {
        let paths = version.schema.map(|schema| {
            let root = schema.get("openAPIV3Schema").and_then(Value::as_object);
            Paths::of(root, self.generation, &mut self.budget)
        });
        let paths = paths.transpose();
        Ok(WalkedVersion {
            name: version.name,
            is_served: version.is_served,
            paths: paths.map_err(|limit| self.error(version.name, limit))?,
        })
    }

    fn error(&self, version: &str, limit: ComparisonLimit) -> CrdError {
        CrdError::Limit {
            crd: self.crd.to_owned(),
            version: version.to_owned(),
            limit,
        }
    }

    fn whole(&mut self, old: &ComparedCrd<'_>, new: &ComparedCrd<'_>) {
        let mut add = |change| {
            self.result.findings.push(CrdFinding {
                versions: ComparedVersions::All,
                change,
                certainty: FindingCertainty::Certain,
            });
        };
        if old.scope != new.scope {
            let (from, to) = (old.scope.to_owned(), new.scope.to_owned());
            add(CrdChange::Scope { from, to });
        }
        let gone = old.stored.iter().filter(|name| new.version(name).is_none());
        let gone: Vec<String> = gone.map(|name| (*name).to_owned()).collect();
        if !gone.is_empty() {
            add(CrdChange::StoredVersionsRemoved(gone));
        }
    }

    /// Compares each version of the old CRD that the new CRD still has.
    fn same_versions(
        &mut self,
        old: &[WalkedVersion<'_>],
        new: &[WalkedVersion<'_>],
    ) -> Result<(), CrdError> {
        for before in old {
            let Some(after) = new.iter().find(|after| after.name == before.name) else {
                continue;
            };
            match (&before.paths, &after.paths) {
                (Some(old), Some(new)) => self.same(before.name, old, new)?,
                _ => self.result.panics = true,
            }
        }
        Ok(())
    }

    fn same(&mut self, version: &str, old: &Paths<'_>, new: &Paths<'_>) -> Result<(), CrdError> {
        let removed = old.beside(new).filter(|(_, _, new)| new.is_none());
        for (path, ..) in removed {
            self.spend(path, &[version])?;
            let (version, path) = (version.to_owned(), path.to_owned());
            self.result.findings.push(CrdFinding {
                versions: ComparedVersions::All,
                change: CrdChange::FieldRemoved { version, path },
                certainty: FindingCertainty::Certain,
            });
        }
        for found in self.changes(version, old, new)? {
            self.spend(found.path, &[version])?;
            let versions = ComparedVersions::Same(version.to_owned());
            self.add(versions, found, FindingCertainty::Certain);
        }
        Ok(())
    }

    /// Reports incompatibilities between served versions of the new CRD, unless the old CRD had
    /// them, too.
    fn served_versions(
        &mut self,
        old: &[WalkedVersion<'_>],
        new: &[WalkedVersion<'_>],
    ) -> Result<(), CrdError> {
        let (old, new) = (served(old), served(new));
        if old
            .iter()
            .chain(&new)
            .any(|version| version.paths.is_none())
        {
            self.result.panics = true;
            return Ok(());
        }
        for (at, lower) in new.iter().enumerate() {
            for higher in new.iter().skip(at + 1) {
                self.served_pair(&old, lower, higher)?;
            }
        }
        Ok(())
    }

    fn served_pair(
        &mut self,
        old: &[&WalkedVersion<'_>],
        lower: &WalkedVersion<'_>,
        higher: &WalkedVersion<'_>,
    ) -> Result<(), CrdError> {
        let names = [lower.name, higher.name];
        let before = names.map(|name| old.iter().find(|version| version.name == name));
        let known = match before {
            [Some(lower), Some(higher)] => self.pair_changes(lower, higher)?,
            _ => Vec::new(),
        };
        let known: HashMap<(&str, &PropertyChange), &NodeChange<'_, '_>> = known
            .iter()
            .map(|change| ((change.path, &change.change), change))
            .collect();
        for found in self.pair_changes(lower, higher)? {
            let before = known.get(&(found.path, &found.change));
            let is_known = before.is_some_and(|before| before.has_values_of(&found));
            let certainty = match (is_known, found.change.is_in_random_order()) {
                (false, _) => FindingCertainty::Certain,
                (true, true) => FindingCertainty::Unsteady,
                (true, false) => continue,
            };
            self.spend(found.path, &names)?;
            let [lower, higher] = names.map(str::to_owned);
            self.add(ComparedVersions::Served(lower, higher), found, certainty);
        }
        Ok(())
    }

    fn pair_changes<'w, 'a>(
        &mut self,
        lower: &'w WalkedVersion<'a>,
        higher: &'w WalkedVersion<'a>,
    ) -> Result<Vec<NodeChange<'w, 'a>>, CrdError> {
        match (&lower.paths, &higher.paths) {
            (Some(from), Some(to)) => self.changes(higher.name, from, to),
            _ => Ok(Vec::new()),
        }
    }

    /// Returns the changes between two schemas, and subtracts their bytes from the budget.
    fn changes<'w, 'a>(
        &mut self,
        version: &str,
        from: &'w Paths<'a>,
        to: &'w Paths<'a>,
    ) -> Result<Vec<NodeChange<'w, 'a>>, CrdError> {
        let changes = property::changes(from, to, self.generation, &mut self.budget);
        changes.map_err(|limit| self.error(version, limit))
    }

    fn add(
        &mut self,
        versions: ComparedVersions,
        found: NodeChange<'_, '_>,
        certainty: FindingCertainty,
    ) {
        let path = found.path.to_owned();
        let change = found.change;
        self.result.findings.push(CrdFinding {
            versions,
            change: CrdChange::Property { path, change },
            certainty,
        });
    }

    /// Subtracts a finding from the budget, without the text of its change. The factor of two is for the line of the
    /// finding.
    fn spend(&mut self, path: &str, versions: &[&str]) -> Result<(), CrdError> {
        let names: usize = versions.iter().map(|name| name.len()).sum();
        let bytes = size_of::<CrdFinding>() + 2 * (path.len() + names);
        let version = versions.last().copied().unwrap_or_default();
        let spent = self.budget.spend_text(bytes);
        spent.map_err(|limit| self.error(version, limit))
    }
}

/// Compares two names in Kubernetes' order of versions, the lowest first: other names in descending
/// byte order, then alpha, beta and stable versions. Upstream: apimachinery,
/// `pkg/version/helpers.go`.
pub(super) fn by_kubernetes(one: &str, other: &str) -> Ordering {
    match (rank(one), rank(other)) {
        (None, None) => other.cmp(one),
        // Names without a rank are the lowest.
        (one, other) => one.cmp(&other),
    }
}

/// Returns the rank of a name such as `v1` or `v1beta2`: its maturity, and its numbers.
pub(super) fn rank(name: &str) -> Option<(u8, i64, i64)> {
    let rest = name.strip_prefix('v')?;
    let (major, maturity, minor) = match (rest.split_once("alpha"), rest.split_once("beta")) {
        (Some((major, minor)), _) => (major, 0, Some(minor)),
        (None, Some((major, minor))) => (major, 1, Some(minor)),
        (None, None) => (rest, 2, None),
    };
    Some((maturity, number(major)?, minor.map_or(Some(0), number)?))
}

/// Parses digits, possibly with leading zeros, that fit into a signed number.
fn number(text: &str) -> Option<i64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok())?
}
