//! How each replica is by its own words: ready, of which release, with which catalogs, for which OLM.

use std::collections::BTreeMap;

use crate::doctor::facts::{Facts, Told};
use crate::doctor::finding::{Check, Finding};

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    if facts.replicas.is_empty() {
        return vec![Check::Replica.unknown("there is no replica to ask")];
    }
    let mut findings: Vec<_> = facts
        .replicas
        .iter()
        .map(|replica| match &replica.told {
            Err(unasked) => {
                let finding = Check::Replica.unasked(unasked);
                let found = format!("{} {}", replica.name, finding.found);
                Finding { found, ..finding }
            }
            Ok(told) => readiness(facts, &replica.name, told),
        })
        .collect();
    if facts.replicas.iter().any(|replica| replica.told.is_ok()) {
        findings.extend(versions(facts));
        findings.extend(catalogs(facts));
        findings.extend(olm(facts));
    }
    findings
}

fn readiness(facts: &Facts, name: &str, told: &Told) -> Finding {
    let found = format!("{name} says: {}", told.readiness.words);
    if told.readiness.is_ready {
        return Check::Replica.ok(found);
    }
    Check::Replica
        .fail(found)
        .since("it asks to be sent no edits, and the Service still names it as ready")
        .run(format!("kubectl logs {name} -n {}", facts.names.namespace))
}

fn versions(facts: &Facts) -> Vec<Finding> {
    let version = |told: &Told| told.version.clone();
    let by_version = grouped(facts, version);
    let finding = |(version, replicas): (Option<String>, Vec<&str>)| {
        let replicas = replicas.join(", ");
        let Some(version) = version else {
            return Check::Version.unknown(format!("{replicas}: not told"));
        };
        if version == facts.version {
            return Check::Version.ok(format!("{replicas}: {version}"));
        }
        Check::Version
            .warn(format!(
                "{replicas}: {version}; this program is {}",
                facts.version
            ))
            .since("what is shipped and what is said differ between releases")
            .run(format!(
                "kubectl get deployment {} -n {} -o wide",
                facts.names.deployment, facts.names.namespace
            ))
    };
    by_version.into_iter().map(finding).collect()
}

fn catalogs(facts: &Facts) -> Vec<Finding> {
    let words = |told: &Told| told.readiness.of("catalogs").map(str::to_owned);
    let finding = |(words, replicas): (Option<String>, Vec<&str>)| {
        let replicas = replicas.join(", ");
        let Some(words) = words else {
            return Check::Catalogs.unknown(format!("{replicas}: not told"));
        };
        let found = format!("{replicas}: {words}");
        match counts(&words) {
            Some((0, 0)) => Check::Catalogs
                .warn(found)
                .since("no ClusterCatalog is available: edits are undecided, NoCatalogs")
                .run("kubectl get clustercatalogs"),
            Some((loaded, all)) if loaded == all && !words.contains(';') => {
                Check::Catalogs.ok(found)
            }
            _ if words.contains("held back") => Check::Catalogs
                .warn(found)
                .since(
                    "catalogd serves content that can hardly be the catalog, and it is not loaded",
                )
                .run("olmguard catalogs"),
            _ => Check::Catalogs
                .warn(found)
                .since("edits that need a catalog that is not loaded are undecided")
                .run("olmguard catalogs"),
        }
    };
    grouped(facts, words).into_iter().map(finding).collect()
}

/// `2 of 3 loaded; ...`.
fn counts(words: &str) -> Option<(u64, u64)> {
    let (counts, _) = words.split_once(" loaded")?;
    let (loaded, all) = counts.split_once(" of ")?;
    Some((loaded.parse().ok()?, all.parse().ok()?))
}

fn olm(facts: &Facts) -> Vec<Finding> {
    let words = |told: &Told| told.readiness.of("olm").map(str::to_owned);
    let finding = |(words, replicas): (Option<String>, Vec<&str>)| {
        let replicas = replicas.join(", ");
        let Some(words) = words else {
            return Check::Olm.unknown(format!(
                "{replicas}: not told, as it reads its catalogs from files"
            ));
        };
        let found = format!("{replicas}: {words}");
        if words.starts_with("OLM ") && !words.contains(';') {
            return Check::Olm.ok(found);
        }
        Check::Olm
            .warn(found)
            .since("releases of OLM resolve differently, and this one had to be assumed in part")
            .run("kubectl get deployments -A -l app.kubernetes.io/name=operator-controller -o wide")
    };
    grouped(facts, words).into_iter().map(finding).collect()
}

/// The names of the replicas that say the same.
fn grouped<K: Ord>(facts: &Facts, key: impl Fn(&Told) -> K) -> BTreeMap<K, Vec<&str>> {
    let mut groups: BTreeMap<K, Vec<&str>> = BTreeMap::new();
    for replica in &facts.replicas {
        if let Ok(told) = &replica.told {
            groups.entry(key(told)).or_default().push(&replica.name);
        }
    }
    groups
}
