//! The differences between the profiles.

use std::collections::BTreeSet;

use olmguard::manifest::documents;
use serde_json::Value;

use crate::manifests::rendered;

/// Each difference is given by kind and name.
#[test]
fn each_profile_has_what_the_docs_say() {
    for mode in ["self-managed", "cert-manager", "service-ca"] {
        let of = |profile: &str| objects(&format!("{profile}-{mode}.yaml"));
        let usual = names(&of("default"));
        for (profile, more, failure_policy, on_undecided) in [
            ("default", &[][..], "Ignore", None),
            ("hardened", &["PriorityClass olmguard"], "Fail", None),
            ("enforcing", &ENFORCING, "Fail", Some("deny")),
        ] {
            let objects = of(profile);
            let expected: BTreeSet<_> = more.iter().map(|&name| name.to_owned()).collect();
            let found: BTreeSet<_> = names(&objects).difference(&usual).cloned().collect();
            assert_eq!(found, expected, "{profile}-{mode}");
            let webhook = text(
                &objects,
                "ValidatingWebhookConfiguration",
                "/webhooks/0/failurePolicy",
            );
            assert_eq!(webhook, Some(failure_policy), "{profile}-{mode}");
            assert_eq!(setting(&objects, "OLMGUARD_ON_UNDECIDED"), on_undecided);
        }
        let single = names(&of("single-node"));
        let without: Vec<_> = usual.difference(&single).collect();
        assert_eq!(without, ["PodDisruptionBudget olmguard"], "{mode}");
    }
}

/// The namespace is the one that the other manifests use for OLM.
#[test]
fn the_status_policy_names_the_account_of_the_olm_that_is_watched() {
    for mode in ["self-managed", "cert-manager", "service-ca"] {
        let objects = objects(&format!("enforcing-{mode}.yaml"));
        let namespace = setting(&objects, "OLMGUARD_OLM_NAMESPACE").expect("a namespace");
        let is_of_status = |object: &Value| object["metadata"]["name"] == "olmguard-status";
        let policies: Vec<_> = objects
            .iter()
            .filter(|one| is_of_status(one))
            .cloned()
            .collect();
        let account = text(
            &policies,
            "ValidatingAdmissionPolicy",
            "/spec/variables/0/expression",
        );
        let expected =
            format!("'system:serviceaccount:{namespace}:operator-controller-controller-manager'");
        assert_eq!(account, Some(&*expected), "{mode}");
    }
}

/// Every profile limits the traffic of the pods, which need only these ports.
#[test]
fn every_profile_has_the_network_policy() {
    for (name, manifest) in rendered() {
        let objects = parsed(&manifest);
        let policy = objects
            .iter()
            .find(|object| object["kind"] == "NetworkPolicy");
        let policy = policy.unwrap_or_else(|| panic!("{name} has no NetworkPolicy"));
        let types = &policy["spec"]["policyTypes"];
        assert_eq!(types.to_string(), r#"["Ingress","Egress"]"#, "{name}");
        let egress = policy["spec"]["egress"].as_array().expect("a list").iter();
        let ports = egress.flat_map(|rule| rule["ports"].as_array().expect("ports"));
        let ports: BTreeSet<_> = ports.filter_map(|port| port["port"].as_u64()).collect();
        assert_eq!(ports, BTreeSet::from([53, 443, 5353, 6443, 8443]), "{name}");
    }
}

fn objects(file: &str) -> Vec<Value> {
    let found = rendered().into_iter().find(|(name, _)| name == file);
    let (_, manifest) = found.unwrap_or_else(|| panic!("no {file}"));
    parsed(&manifest)
}

fn parsed(manifest: &str) -> Vec<Value> {
    let objects = documents(manifest.as_bytes());
    objects.map(|object| object.expect("YAML").value).collect()
}

fn names(objects: &[Value]) -> BTreeSet<String> {
    let field = |object: &Value, at: &str| {
        let text = object.pointer(at).and_then(Value::as_str);
        text.expect("every object has a kind and a name").to_owned()
    };
    let named = objects.iter().map(|object| {
        let (kind, name) = (field(object, "/kind"), field(object, "/metadata/name"));
        format!("{kind} {name}")
    });
    named.collect()
}

fn text<'a>(objects: &'a [Value], kind: &str, at: &str) -> Option<&'a str> {
    let object = objects.iter().find(|object| object["kind"] == kind)?;
    object.pointer(at)?.as_str()
}

fn setting<'a>(objects: &'a [Value], variable: &str) -> Option<&'a str> {
    let deployment = objects
        .iter()
        .find(|object| object["kind"] == "Deployment")?;
    let variables = deployment.pointer("/spec/template/spec/containers/0/env")?;
    let found = variables
        .as_array()?
        .iter()
        .find(|one| one["name"] == variable)?;
    found["value"].as_str()
}

const ENFORCING: [&str; 5] = [
    "PriorityClass olmguard",
    "ValidatingAdmissionPolicy olmguard-bypass",
    "ValidatingAdmissionPolicy olmguard-status",
    "ValidatingAdmissionPolicyBinding olmguard-bypass",
    "ValidatingAdmissionPolicyBinding olmguard-status",
];
