//! Row 15a on the CRDs of a bundle that its catalog lists, without the image.

use super::*;

/// A catalog whose 1.1.0 owns the CRD `ws.example.com`, and whose 1.0.0 owns nothing or is not described.
fn cataloged(there: Value, gates: Option<&[&str]>) -> Cluster {
    let mut csv = modes(&["AllNamespaces"]);
    csv["crdDescriptions"] =
        json!({"owned": [{"name": "ws.example.com", "kind": "W", "version": "v1"}]});
    let objects = ClusterObjects {
        crds: [("ws.example.com".to_owned(), there)].into(),
        ..ClusterObjects::default()
    };
    Cluster::new(gates, &csv).with_contents(in_cluster(BundleContents::default(), objects))
}

fn owned_by(owner: &str) -> Value {
    json!({"metadata": {"name": "ws.example.com", "labels": {
        "olm.operatorframework.io/owner-kind": "ClusterExtension",
        "olm.operatorframework.io/owner-name": owner}}})
}

#[test]
fn a_crd_of_another_extension_is_known_by_the_catalog() {
    let cluster = cataloged(owned_by("other"), UNKNOWN);
    let answer = upgraded(&cluster);
    assert_eq!(
        (answer.token, checks(&answer).as_slice()),
        (Token::Preflight, &["owned-elsewhere"][..])
    );
    let own = cataloged(owned_by("ext"), UNKNOWN);
    assert_eq!(upgraded(&own).token, Token::Resolved);
}

/// 1.0.0 has no description, so it may have made the CRD.
#[test]
fn a_crd_without_owner_can_be_of_an_installed_bundle_without_description() {
    let plain = json!({"metadata": {"name": "ws.example.com"}});
    let cluster = cataloged(plain, UNKNOWN);
    assert_eq!(upgraded(&cluster).token, Token::Resolved);
    assert_eq!(checks(&cluster.created(&Value::Null)), ["exists-unowned"]);
    let described = cluster.describing(&modes(&["AllNamespaces"]));
    assert_eq!(checks(&upgraded(&described)), ["exists-unowned"]);
}

/// A revision that is rolling out has created the CRD, and the edit may have to repair it.
#[test]
fn boxcutter_may_have_made_a_crd_with_the_label_of_the_extension() {
    let own = cataloged(owned_by("ext"), Some(&["BoxcutterRuntime=true"]));
    assert_eq!(own.created(&Value::Null).token, Token::Resolved);
}

#[test]
fn a_crd_of_olm_v0_is_moved_and_not_marked() {
    let mut of_v0 =
        json!({"metadata": {"name": "ws.example.com", "labels": {"olm.managed": "true"}}});
    let needed = |there: &Value| {
        let answer = cataloged(there.clone(), UNKNOWN).created(&Value::Null);
        answer.message.unwrap().lines().nth(2).map(str::to_owned)
    };
    assert_eq!(
        needed(&of_v0).as_deref(),
        Some("OLM v0 has installed it: olmguard migrate lists the steps of the move.")
    );
    of_v0["metadata"]["labels"] = Value::Null;
    assert_eq!(
        needed(&of_v0).as_deref(),
        Some(
            "Mark the CRD so that OLM adopts it, as olmguard explain Preflight says. Deleting it deletes all its objects."
        )
    );
}
