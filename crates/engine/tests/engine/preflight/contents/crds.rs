//! Row 15a on CRDs that would replace existing ones.

use olmguard_catalog::olm::PreflightMode;

use super::*;

#[test]
fn a_crd_of_the_cluster_that_cannot_be_replaced_is_denied() {
    let contents = newer(&Value::Null, &[crd("Namespaced", &["a"])]);
    let contents = there(contents, Some(crd("Namespaced", &["a", "b"])));
    let answer = upgraded(&cluster(contents.clone()));
    assert_eq!(
        answer.message.unwrap(),
        "P: 1.0.0 -> 1.1.0 refused: P.v1.1.0 cannot replace CRD ws.example.com: field b of v1 is removed [Preflight]\n\
         Check: crd-field-removed\n\
         Choose another version, or set spec.install.preflight.crdUpgradeSafety.enforcement to None: then objects of \
         this CRD may become invalid.\n\
         Catalog: c\n\
         Help: olmguard explain Preflight"
    );
    // The setting of the extension skips the comparison, and the warning says so.
    let edit = |range| unguarded(range);
    let answer = cluster(contents).updated(&edit("1.0.0"), &edit("1.1.0"), "1.0.0");
    assert_eq!(answer.token, Token::Resolved);
    assert_eq!(
        answer.warnings,
        [
            "OLM does not check this, as crdUpgradeSafety is None: CRD ws.example.com: field b of v1 is removed \
             [crd-field-removed]"
        ]
    );
}

#[test]
fn a_comparison_that_is_skipped_hides_nothing() {
    let contents = newer(&Value::Null, &[crd("Namespaced", &["a"])]);
    let contents = there(contents, Some(crd("Namespaced", &["a", "b"])));
    for gates in [UNKNOWN, Some(&["BoxcutterRuntime=true"][..])] {
        let cluster = Cluster::new(gates, &modes(&["AllNamespaces"]));
        let cluster = cluster.with_contents(contents.clone());
        // An extension that exists without an installed bundle.
        let new = unguarded("1.1.0");
        let answer = cluster.answer(&new, Some(&unguarded("1.0.0")), &Installed::Nothing);
        assert_eq!(
            (answer.token, checks(&answer).as_slice()),
            (Token::Preflight, &["exists-unowned"][..])
        );
    }
}

#[test]
fn what_the_api_server_refuses_is_denied_whatever_the_extension_says() {
    let contents = newer(&Value::Null, &[crd("Cluster", &["a"])]);
    let contents = there(contents, Some(crd("Namespaced", &["a"])));
    let cluster = cluster(contents);
    let answer = cluster.updated(&unguarded("1.0.0"), &unguarded("1.1.0"), "1.0.0");
    assert_eq!(
        (answer.token, checks(&answer).as_slice()),
        (Token::Preflight, &["crd-scope"][..])
    );
    assert_eq!(
        answer.needed.as_deref(),
        Some("Only a version with another CRD can be installed.")
    );
    let answer = upgraded(&cluster);
    let expected = "error for resolved bundle \"P.v1.1.0\" with version \"1.1.0\": validating upgrade for CRD \
                    \"ws.example.com\": scope: scope changed : \"Namespaced\" -> \"Cluster\"";
    assert_eq!(answer.upstream.as_deref(), Some(expected));
}

#[test]
fn crds_of_the_installed_bundle_stand_in_for_the_cluster_and_only_warn() {
    let old = bundle("1.0.0", &Value::Null, &[crd("Namespaced", &["a", "b"])]);
    let new = bundle("1.1.0", &Value::Null, &[crd("Namespaced", &["a"])]);
    let contents = BundleContents::of([(OLD.to_owned(), Ok(old)), (NEW.to_owned(), Ok(new))]);
    let answer = upgraded(&cluster(contents.clone()));
    assert_eq!(
        (answer.token, checks(&answer).as_slice()),
        (
            Token::Resolved,
            &["crd-field-removed", "crd-approximate"][..]
        )
    );
    assert_eq!(
        answer.warnings,
        [
            "OLM might not install this: CRD ws.example.com: field b of v1 is removed [crd-field-removed]"
        ]
    );
    // A cluster without the CRD has nothing to replace.
    let answer = upgraded(&cluster(there(contents, None)));
    assert_eq!((answer.token, checks(&answer).len()), (Token::Resolved, 0));
}

#[test]
fn a_crd_that_cannot_be_compared_only_warns() {
    let contents = newer(&Value::Null, &[crd("Namespaced", &["a"])]);
    let odd = json!({"metadata": {"name": "ws.example.com"}, "spec": {"versions": 5}});
    let answer = upgraded(&cluster(there(contents, Some(odd))));
    assert_eq!(answer.token, Token::Resolved);
    assert_eq!(
        answer.warnings,
        [
            "OLM might not install this: bundle P.v1.1.0: a CRD cannot be compared: spec.versions: expected a list \
             [crd-approximate]"
        ]
    );
}

#[test]
fn only_the_comparison_switched_on_or_off_is_judged_as_the_same_request() {
    let contents = newer(&Value::Null, &[crd("Namespaced", &["a"])]);
    let cluster = cluster(there(contents, Some(crd("Namespaced", &["a", "b"]))));
    let strict = || extension("ext", ">=1.0.0", &Value::Null);
    let off = cluster.updated(&strict(), &unguarded(">=1.0.0"), "1.0.0");
    assert_eq!(off.exemption.unwrap().kind, ExemptionKind::Reconfigured);
    let on = cluster.updated(&unguarded(">=1.0.0"), &strict(), "1.0.0");
    assert_eq!(on.token, Token::Preflight);
    // A fault that exists anyway is not the fault of the edit.
    let modes = json!({"installModes": [{"type": "OwnNamespace", "supported": true}]});
    let other = self::cluster(newer(&modes, &[crd("Namespaced", &["a"])]));
    for (old, new) in [
        (strict(), unguarded(">=1.0.0")),
        (unguarded(">=1.0.0"), strict()),
    ] {
        let edited = other.updated(&old, &new, "1.0.0");
        assert_eq!(edited.exemption.unwrap().kind, ExemptionKind::Reconfigured);
        assert!(!edited.checks.is_empty(), "a warning says so");
    }
    // The installed bundle stays.
    let on = cluster.updated(&unguarded(">=1.0.0"), &strict(), "1.1.0");
    assert_eq!(
        (on.exemption.unwrap().kind, on.checks.len()),
        (ExemptionKind::Reconfigured, 0)
    );
}

#[test]
fn the_worst_change_of_all_crds_is_the_reason() {
    let named = |name: &str, scope: &str, fields: &[&str]| {
        let mut crd = crd(scope, fields);
        crd["metadata"]["name"] = name.into();
        crd
    };
    let contents = newer(
        &Value::Null,
        &[
            named("a.example.com", "Cluster", &["a"]),
            named("b.example.com", "Namespaced", &["a"]),
        ],
    );
    let objects = ClusterObjects {
        crds: [
            named("a.example.com", "Cluster", &["a", "b"]),
            named("b.example.com", "Cluster", &["a"]),
        ]
        .map(|crd| (crd["metadata"]["name"].as_str().unwrap().to_owned(), crd))
        .into(),
        ..ClusterObjects::default()
    };
    let cluster = cluster(in_cluster(contents, objects));
    let reason = "CRD b.example.com: the scope changes from Cluster to Namespaced";
    for (answer, expected) in [
        (upgraded(&cluster), &["crd-scope", "crd-field-removed"][..]),
        (
            cluster.updated(&unguarded("1.0.0"), &unguarded("1.1.0"), "1.0.0"),
            &["crd-scope"],
        ),
    ] {
        assert_eq!(
            (answer.token, checks(&answer).as_slice()),
            (Token::Preflight, expected)
        );
        assert!(answer.message.unwrap().contains(reason));
        let needed = "Only a version with another CRD can be installed.";
        assert_eq!(answer.needed.as_deref(), Some(needed));
    }
}

#[test]
fn a_crd_that_cannot_be_compared_hides_no_other() {
    let mut old = crd("Namespaced", &["a"]);
    old["apiVersion"] = "apiextensions.k8s.io/v1beta1".into();
    old["metadata"]["name"] = "a.example.com".into();
    let mut odd = crd("Namespaced", &["a"]);
    odd["metadata"]["name"] = "b.example.com".into();
    let contents = newer(&Value::Null, &[old, odd, crd("Cluster", &["a"])]);
    let crds = [
        ("a.example.com", json!({})),
        (
            "b.example.com",
            json!({"metadata": {"name": "b.example.com"}}),
        ),
        ("ws.example.com", crd("Namespaced", &["a"])),
    ];
    let objects = ClusterObjects {
        crds: crds.map(|(name, crd)| (name.to_owned(), crd)).into(),
        ..ClusterObjects::default()
    };
    let answer = upgraded(&cluster(in_cluster(contents, objects)));
    assert_eq!(
        (answer.token, checks(&answer).as_slice()),
        (Token::Preflight, &["crd-scope"][..])
    );
}

/// This release compares differently.
#[test]
fn of_an_older_release_only_what_the_api_server_refuses_is_certain() {
    const OLDER: u8 = 3;
    let answered = |new: Value| {
        let mut contents = newer(&json!({}), &[new]);
        contents.compare("ws.example.com", &crd("Namespaced", &["a", "b"]), OLDER);
        let cluster = cluster(contents.with_cluster(ClusterObjects::default()));
        let olm = format!("1.{OLDER}").parse().expect("a release");
        let rules = Rules::new(olm, Gates::default()).with_preflight(PreflightMode::Deny);
        upgraded(&Cluster { rules, ..cluster })
    };
    let scope = answered(crd("Cluster", &["a", "b"]));
    assert_eq!(
        (
            scope.token,
            checks(&scope).as_slice(),
            scope.upstream.clone()
        ),
        (Token::Preflight, &["crd-scope"][..], None)
    );
    let removed = answered(crd("Namespaced", &["a"]));
    assert_eq!(removed.token, Token::Resolved);
    assert_eq!(
        removed.warnings,
        [
            "OLM might not install this: CRD ws.example.com: field b of v1 is removed [crd-field-removed]"
        ]
    );
}
