//! Configurations of extensions.

use serde_json::{Value, json};

use super::bundles::support;
use super::cases::Case;

/// Returns the cases with both gates for configurations.
pub(super) fn all() -> Vec<Case> {
    let (all, own, single) = ("AllNamespaces", "OwnNamespace", "SingleNamespace");
    let watch = |name, modes: &[&str], namespace: Value| {
        configured(name, modes, &json!({ "watchNamespace": namespace }))
    };
    let deploy =
        |name, config: Value| configured(name, &[all], &json!({ "deploymentConfig": config }));
    vec![
        watch("own-is-own", &[own], json!("own-is-own")),
        watch("own-is-another", &[own], json!("default")),
        watch("own-is-null", &[own], Value::Null),
        watch("single-is-another", &[single], json!("default")),
        watch("single-is-own", &[single], json!("single-is-own")),
        watch(
            "own-or-single-is-own",
            &[own, single],
            json!("own-or-single-is-own"),
        ),
        watch("all-is-one", &[all], json!("default")),
        watch("all-or-single-is-another", &[all, single], json!("default")),
        watch("all-or-own-is-another", &[all, own], json!("default")),
        watch("a-number", &[own, single], json!(5)),
        watch("capitals", &[own, single], json!("Default")),
        watch("empty", &[own, single], json!("")),
        configured("unknown-field", &[all], &json!({ "watch": "default" })),
        configured(
            "nothing-to-watch",
            &[all, own],
            &json!({ "deploymentConfig": {} }),
        ),
        deploy(
            "variables",
            json!({ "env": [{ "name": "A", "value": "b" }] }),
        ),
        deploy("selector", json!({ "nodeSelector": { "a": "b" } })),
        deploy("unknown-in-deployment", json!({ "replicas": 2 })),
        deploy("wrong-type-in-deployment", json!({ "env": "A=b" })),
        deploy(
            "quantity",
            json!({ "resources": { "limits": { "cpu": "1m" } } }),
        ),
        deploy(
            "no-quantity",
            json!({ "resources": { "limits": { "cpu": "much" } } }),
        ),
    ]
}

fn configured(name: &'static str, modes: &[&str], inline: &Value) -> Case {
    let mut case = Case::new(name, |bundle| support(bundle, modes));
    case.spec = json!({ "config": { "configType": "Inline", "inline": inline } });
    case
}
