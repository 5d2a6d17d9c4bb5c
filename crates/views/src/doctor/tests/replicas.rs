//! What replicas say of themselves.

use super::scene::{READY, Scene, replica, says, told, with_told};
use crate::doctor::{Check, Facts, Readiness, Replica, Told};

fn saying(ready: &str) -> Facts {
    with_told(Told {
        readiness: Readiness::read(true, ready),
        ..told()
    })
}

#[test]
fn nobody_to_ask_is_unknown() {
    let facts = Facts {
        replicas: Vec::new(),
        ..Scene::well()
    };
    let found = "there is no replica to ask";
    says(&facts, Check::Replica, &[["unknown", found, "", ""]]);
    says(&facts, Check::Version, &[]);
}

#[test]
fn one_that_is_not_ready_says_why() {
    let facts = with_told(Told {
        readiness: Readiness::read(false, "not ready: certificate: expired\n"),
        ..told()
    });
    says(
        &facts,
        Check::Replica,
        &[[
            "fail",
            "olmguard-1 says: not ready: certificate: expired",
            "it asks to be sent no edits, and the Service still names it as ready",
            "kubectl logs olmguard-1 -n olmguard-system",
        ]],
    );
}

#[test]
fn replicas_that_say_the_same_share_a_line() {
    let mut facts = Scene::well();
    let other = Told {
        version: Some("0.2.0".to_owned()),
        ..told()
    };
    let none = Told {
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
            ["unknown", "b: not told", "", ""],
            ["ok", "olmguard-1, olmguard-2: 0.1.0", "", ""],
            [
                "warn",
                "a: 0.2.0; this program is 0.1.0",
                "what is shipped and what is said differ between releases",
                "kubectl get deployment olmguard -n olmguard-system -o wide",
            ],
        ],
    );
}

#[test]
fn catalogs_are_told_as_the_replica_tells_them() {
    let lacking = "edits that need a catalog that is not loaded are undecided";
    for (words, cause, command) in [
        (
            "0 of 0 loaded",
            "no ClusterCatalog is available: edits are undecided, NoCatalogs",
            "kubectl get clustercatalogs",
        ),
        (
            "1 of 2 loaded; hub: not loaded: 502",
            lacking,
            "olmguard catalogs",
        ),
        (
            "2 of 2 loaded; hub: cannot be read anew: 502",
            lacking,
            "olmguard catalogs",
        ),
        (
            "1 of 1 loaded; hub: newer content cannot be loaded for 5s: held back: it has no bundle",
            "catalogd serves content that can hardly be the catalog, and it is not loaded",
            "olmguard catalogs",
        ),
        ("being read", lacking, "olmguard catalogs"),
    ] {
        let facts = saying(&format!("ready\n[+] catalogs: {words}\n"));
        let found = format!("olmguard-1: {words}");
        says(&facts, Check::Catalogs, &[["warn", &found, cause, command]]);
    }
    let untold = ["unknown", "olmguard-1: not told", "", ""];
    says(&saying("ready\n"), Check::Catalogs, &[untold]);
}

#[test]
fn an_olm_that_was_assumed_is_told() {
    for words in [
        "OLM 1.11 (assumed), no feature gates, of Deployment a/b; the image has no release",
        "judged as OLM 1.11, the newest that is known: no operator-controller",
        "being found out",
    ] {
        let facts = saying(&format!("ready\n[+] olm: {words}\n"));
        says(
            &facts,
            Check::Olm,
            &[[
                "warn",
                &format!("olmguard-1: {words}"),
                "releases of OLM resolve differently, and this one had to be assumed in part",
                "kubectl get deployments -A -l app.kubernetes.io/name=operator-controller -o wide",
            ]],
        );
    }
    let found = "olmguard-1: not told, as it reads its catalogs from files";
    says(
        &saying("ready\n"),
        Check::Olm,
        &[["unknown", found, "", ""]],
    );
}

#[test]
fn what_is_ready_is_read_line_by_line() {
    let read = Readiness::read(true, READY);
    assert_eq!(read.words, "ready");
    assert_eq!(read.of("watch"), Some("watched"));
    assert_eq!(
        read.of("certificate"),
        Some("for olmguard.olmguard-system.svc")
    );
    assert_eq!(read.of("other"), None);
    let read = Readiness::read(false, "no\n[-] watch: gone: 403\nwatch: x\n[+] half\n");
    assert_eq!(
        (read.of("watch"), read.of("half")),
        (Some("gone: 403"), None)
    );
}
