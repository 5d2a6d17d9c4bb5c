//! Checks the status that each replica reports: readiness, release, catalogs, and OLM.

use std::collections::BTreeMap;

use crate::doctor::facts::{DoctorFacts, Names, ReplicaStatus};
use crate::doctor::{Check, Finding};
use crate::readiness::{CatalogCounts, OlmEvidence, Readiness};

pub(super) fn findings(facts: &DoctorFacts) -> Vec<Finding> {
    if facts.replicas.is_empty() {
        return vec![Check::Replica.unknown("there is no replica to check")];
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

fn readiness(facts: &DoctorFacts, name: &str, told: &ReplicaStatus) -> Finding {
    let found = match &told.readiness {
        Ok(readiness) => format!("{name}: {}", readiness.line()),
        Err(error) => format!("{name}: cannot read the answer to {READYZ}: {error}"),
    };
    match &told.readiness {
        _ if !told.is_ready => Check::Replica
            .fail(found)
            .since("the replica reports not ready, but the Service still sends it requests")
            .run(format!("kubectl logs {name} -n {}", facts.names.namespace)),
        Ok(readiness) => match readiness.check("policies").filter(|check| !check.known) {
            None => Check::Replica.ok(found),
            Some(check) => Check::Replica
                .warn(format!("{name}: {}: {}", check.name, check.message))
                .since("a replica that does not know all policies can leave edits undecided [PoliciesUnknown]")
                .run(format!("kubectl logs {name} -n {}", facts.names.namespace)),
        },
        Err(_) => Check::Replica
            .unknown(found)
            .since(
                "the replica is of another release: run the olmguard of that release, or upgrade \
                 the replica",
            )
            .run(deployment_images(facts)),
    }
}

/// Returns the command that shows the release of the replicas.
fn deployment_images(facts: &DoctorFacts) -> String {
    let Names {
        deployment,
        namespace,
        ..
    } = &facts.names;
    format!("kubectl get deployment {deployment} -n {namespace} -o wide")
}

fn versions(facts: &DoctorFacts) -> Vec<Finding> {
    let version = |told: &ReplicaStatus| Some(told.version.clone());
    let finding = |(version, replicas): (Option<String>, String)| {
        let Some(version) = version else {
            return Check::Version.unknown(format!("{replicas}: not reported"));
        };
        if version == facts.version {
            return Check::Version.ok(format!("{replicas}: {version}"));
        }
        Check::Version
            .warn(format!(
                "{replicas}: {version}; this program is {}",
                facts.version
            ))
            .since("the shipped objects and the messages differ between releases")
            .run(deployment_images(facts))
    };
    grouped(facts, version).map(finding).collect()
}

fn catalogs(facts: &DoctorFacts) -> Vec<Finding> {
    let said = |readiness: &Readiness| {
        let check = readiness.check("catalogs")?;
        Some((check.message.clone(), check.catalogs))
    };
    let finding = |(said, replicas): (Option<(String, _)>, String)| {
        let Some((words, counts)) = said else {
            return Check::Catalogs.unknown(format!("{replicas}: not reported"));
        };
        let found = format!("{replicas}: {words}");
        match counts {
            Some(CatalogCounts { available: 0, .. }) => Check::Catalogs
                .warn(found)
                .since("no ClusterCatalog is available, so edits are undecided [NoCatalogs]")
                .run("kubectl get clustercatalogs"),
            Some(counts) if counts.loaded == counts.available && counts.faulty == 0 => {
                Check::Catalogs.ok(found)
            }
            Some(counts) if counts.held_back > 0 => Check::Catalogs
                .warn(found)
                .since(
                    "catalogd serves content that is probably not the catalog, so olmguard does \
                     not load it",
                )
                .run("olmguard catalogs"),
            _ => Check::Catalogs
                .warn(found)
                .since("edits that need a missing catalog are undecided")
                .run("olmguard catalogs"),
        }
    };
    by_readiness(facts, said).map(finding).collect()
}

fn olm(facts: &DoctorFacts) -> Vec<Finding> {
    let said = |readiness: &Readiness| {
        let check = readiness.check("olm")?;
        Some((check.message.clone(), check.olm))
    };
    let finding = |(said, replicas): (Option<(String, _)>, String)| {
        let Some((words, evidence)) = said else {
            return Check::Olm.unknown(format!(
                "{replicas}: not reported, because it reads its catalogs from files"
            ));
        };
        let found = format!("{replicas}: {words}");
        if evidence == Some(OlmEvidence::Found) {
            return Check::Olm.ok(found);
        }
        Check::Olm
            .warn(found)
            .since(
                "OLM releases resolve differently, and olmguard had to assume the release, in part \
                 or completely",
            )
            .run("kubectl get deployments -A -l app.kubernetes.io/name=operator-controller -o wide")
    };
    by_readiness(facts, said).map(finding).collect()
}

/// Groups the replicas by what they report about a check. Replicas whose answer cannot be read have other findings.
fn by_readiness<K: Ord>(
    facts: &DoctorFacts,
    said: impl Fn(&Readiness) -> Option<K>,
) -> impl Iterator<Item = (Option<K>, String)> {
    let said = move |told: &ReplicaStatus| told.readiness.as_ref().ok().map(&said);
    grouped(facts, said)
}

/// Groups the names of the replicas by a key, if they have it.
fn grouped<K: Ord>(
    facts: &DoctorFacts,
    key: impl Fn(&ReplicaStatus) -> Option<K>,
) -> impl Iterator<Item = (K, String)> {
    let mut groups: BTreeMap<K, Vec<&str>> = BTreeMap::new();
    for replica in &facts.replicas {
        if let Some(key) = replica.told.as_ref().ok().and_then(&key) {
            groups.entry(key).or_default().push(&replica.name);
        }
    }
    let groups = groups.into_iter();
    groups.map(|(key, replicas)| (key, replicas.join(", ")))
}

const READYZ: &str = "/readyz?format=json";
