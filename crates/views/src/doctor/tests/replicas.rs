//! The status that replicas report.

use super::scene::{Scene, check, replica, says, told, with_told};
use crate::doctor::{Check, DoctorFacts, Replica, ReplicaStatus};
use crate::readiness::{CatalogCounts, CheckReadiness, OlmEvidence, Readiness, ReadinessError};

/// A replica that reports this check, or no check.
fn saying(said: Option<CheckReadiness>) -> DoctorFacts {
    with_told(ReplicaStatus {
        readiness: Ok(Readiness::new(Ok(()), said.into_iter().collect())),
        ..told()
    })
}

fn counts(available: usize, loaded: usize, faulty: usize, held_back: usize) -> CatalogCounts {
    CatalogCounts {
        available,
        loaded,
        faulty,
        held_back,
    }
}

#[test]
fn nobody_to_ask_is_unknown() {
    let facts = DoctorFacts {
        replicas: Vec::new(),
        ..Scene::well()
    };
    let found = "there is no replica to check";
    says(&facts, Check::Replica, &[["unknown", found, "", ""]]);
    says(&facts, Check::Version, &[]);
}

#[test]
fn one_that_is_not_ready_says_why() {
    let facts = with_told(ReplicaStatus {
        is_ready: false,
        readiness: Ok(Readiness::new(
            Err("certificate: expired".to_owned()),
            Vec::new(),
        )),
        ..told()
    });
    says(
        &facts,
        Check::Replica,
        &[[
            "fail",
            "olmguard-1: not ready: certificate: expired",
            "the replica reports not ready, but the Service still sends it requests",
            "kubectl logs olmguard-1 -n olmguard-system",
        ]],
    );
}

#[test]
fn replicas_that_say_the_same_share_a_line() {
    let mut facts = Scene::well();
    let other = ReplicaStatus {
        version: Some("0.2.0".to_owned()),
        ..told()
    };
    let none = ReplicaStatus {
        version: None,
        ..told()
    };
    let named = |name: &str, told| Replica {
        name: name.to_owned(),
        told: Ok(told),
    };
    facts.replicas = vec![replica(1), named("a", other), replica(2), named("b", none)];
    says(
        &facts,
        Check::Version,
        &[
            ["unknown", "b: not reported", "", ""],
            ["ok", "olmguard-1, olmguard-2: 0.1.0", "", ""],
            [
                "warn",
                "a: 0.2.0; this program is 0.1.0",
                "the shipped objects and the messages differ between releases",
                "kubectl get deployment olmguard -n olmguard-system -o wide",
            ],
        ],
    );
}

#[test]
fn catalogs_are_told_as_the_replica_tells_them() {
    let lacking = "edits that need a missing catalog are undecided";
    for (words, counts, cause, command) in [
        (
            "0 of 0 loaded",
            Some(counts(0, 0, 0, 0)),
            "no ClusterCatalog is available, so edits are undecided [NoCatalogs]",
            "kubectl get clustercatalogs",
        ),
        (
            "1 of 2 loaded; hub: not loaded: 502",
            Some(counts(2, 1, 1, 0)),
            lacking,
            "olmguard catalogs",
        ),
        (
            "2 of 2 loaded; hub: cannot be read again: 502",
            Some(counts(2, 2, 1, 0)),
            lacking,
            "olmguard catalogs",
        ),
        (
            "1 of 1 loaded; hub: newer content cannot be loaded for 5s: held back: it has no bundle",
            Some(counts(1, 1, 1, 1)),
            "catalogd serves content that is probably not the catalog, so olmguard does not load \
             it",
            "olmguard catalogs",
        ),
        ("being read", None, lacking, "olmguard catalogs"),
    ] {
        let facts = saying(Some(CheckReadiness {
            catalogs: counts,
            ..check("catalogs", words)
        }));
        let found = format!("olmguard-1: {words}");
        says(&facts, Check::Catalogs, &[["warn", &found, cause, command]]);
    }
    let untold = ["unknown", "olmguard-1: not reported", "", ""];
    says(&saying(None), Check::Catalogs, &[untold]);
}

#[test]
fn an_olm_that_was_assumed_is_told() {
    for (words, evidence) in [
        (
            "OLM 1.11 (assumed), no feature gates, of Deployment a/b; the image has no release",
            OlmEvidence::Assumed,
        ),
        (
            "checked as OLM 1.11, the newest known release: no operator-controller",
            OlmEvidence::Assumed,
        ),
        (
            "OLM 1.11 (image tag v1.11.0), no feature gates; the cluster cannot be asked now: 502",
            OlmEvidence::Earlier,
        ),
        ("not known yet", OlmEvidence::Pending),
    ] {
        let facts = saying(Some(CheckReadiness {
            olm: Some(evidence),
            ..check("olm", words)
        }));
        says(
            &facts,
            Check::Olm,
            &[[
                "warn",
                &format!("olmguard-1: {words}"),
                "OLM releases resolve differently, and olmguard had to assume the release, in part \
                 or completely",
                "kubectl get deployments -A -l app.kubernetes.io/name=operator-controller -o wide",
            ]],
        );
    }
    let found = "olmguard-1: not reported, because it reads its catalogs from files";
    says(&saying(None), Check::Olm, &[["unknown", found, "", ""]]);
}

#[test]
fn a_replica_that_answers_in_text_only_is_of_another_release() {
    let text = |is_ready| {
        with_told(ReplicaStatus {
            is_ready,
            readiness: Err(ReadinessError::NoJson),
            ..told()
        })
    };
    let found =
        "olmguard-1: cannot read the answer to /readyz?format=json: the answer has no JSON form";
    let release = [
        "unknown",
        found,
        "the replica is of another release: run the olmguard of that release, or upgrade the \
         replica",
        "kubectl get deployment olmguard -n olmguard-system -o wide",
    ];
    says(&text(true), Check::Replica, &[release]);
    let ill = [
        "fail",
        found,
        "the replica reports not ready, but the Service still sends it requests",
        "kubectl logs olmguard-1 -n olmguard-system",
    ];
    says(&text(false), Check::Replica, &[ill]);
    for check in [Check::Catalogs, Check::Olm] {
        says(&text(true), check, &[]);
    }
    says(
        &text(true),
        Check::Version,
        &[["ok", "olmguard-1: 0.1.0", "", ""]],
    );
}

/// The replica stays ready, but its edits can be undecided.
#[test]
fn a_replica_that_does_not_know_all_policies_is_a_warning() {
    let unlisted = CheckReadiness {
        known: false,
        ..check("policies", "UpgradePolicy not listed yet")
    };
    let facts = with_told(ReplicaStatus {
        readiness: Ok(Readiness::new(Ok(()), vec![unlisted])),
        ..told()
    });
    let warning = [
        "warn",
        "olmguard-1: policies: UpgradePolicy not listed yet",
        "a replica that does not know all policies can leave edits undecided [PoliciesUnknown]",
        "kubectl logs olmguard-1 -n olmguard-system",
    ];
    says(&facts, Check::Replica, &[warning]);
}
