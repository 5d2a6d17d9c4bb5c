//! Differences between a webhook and the shipped one, as far as an API server sees them.
//!
//! Upstream: the defaults of `admissionregistration.k8s.io/v1` (Kubernetes,
//! [`pkg/apis/admissionregistration/v1/defaults.go`]). The order of rules, and of what is in them, means
//! nothing.
//!
//! [`pkg/apis/admissionregistration/v1/defaults.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/pkg/apis/admissionregistration/v1/defaults.go

use k8s_openapi::api::admissionregistration::v1::{
    RuleWithOperations, ValidatingWebhook, WebhookClientConfig,
};
use serde::Serialize;
use serde_json::{Value, json};

use olmguard_views::doctor::Difference;

/// The fields that differ from the form that differs least, the first of those.
pub(super) fn least_differences<'s>(
    found: &ValidatingWebhook,
    forms: impl Iterator<Item = &'s ValidatingWebhook>,
) -> Vec<Difference> {
    let differences = forms.map(|form| differences(found, form));
    differences.min_by_key(Vec::len).unwrap_or_default()
}

/// What there is beside our webhook and is not shipped as it is, if there is anything.
///
/// Another webhook in our configuration is called for whatever its own rules name, wherever its own
/// `clientConfig` leads. A further one of ours that is missing takes nothing away from edits.
pub(super) fn others(
    found: &[ValidatingWebhook],
    ours: &str,
    further: &[ValidatingWebhook],
) -> Option<Difference> {
    let mut names: Vec<_> = found.iter().map(|one| one.name.clone()).collect();
    let mut is_other = false;
    for (name, webhook) in names
        .iter_mut()
        .zip(found)
        .filter(|(_, one)| one.name != ours)
    {
        let shipped = further.iter().find(|shipped| shipped.name == webhook.name);
        let changed = shipped.map(|shipped| differences(webhook, shipped));
        match changed.as_deref() {
            Some([]) => {}
            None => is_other = true,
            Some([first, ..]) => {
                is_other = true;
                *name = format!("{name}: {} {}", first.field, first.found);
            }
        }
    }
    let shipped = further.iter().map(|one| one.name.as_str());
    let shipped: Vec<_> = [ours].into_iter().chain(shipped).collect();
    is_other.then(|| Difference {
        field: WEBHOOKS,
        found: json!(names).to_string(),
        shipped: json!(shipped).to_string(),
    })
}

/// The fields that differ; `caBundle`, `failurePolicy` and `timeoutSeconds` are facts of their own.
fn differences(found: &ValidatingWebhook, shipped: &ValidatingWebhook) -> Vec<Difference> {
    let pairs = fields(found).into_iter().zip(fields(shipped));
    let differing = pairs.filter(|((_, found), (_, shipped))| found != shipped);
    differing
        .map(|((field, found), (_, shipped))| Difference {
            field,
            found: found.to_string(),
            shipped: shipped.to_string(),
        })
        .collect()
}

/// `timeoutSeconds`.
pub(super) fn timeout(webhook: &ValidatingWebhook) -> i32 {
    webhook.timeout_seconds.unwrap_or(10)
}

/// The field that is all webhooks of a configuration.
const WEBHOOKS: &str = "webhooks";

/// Each field as an API server takes it.
fn fields(webhook: &ValidatingWebhook) -> [(&'static str, Value); 8] {
    let selector = |selector: &Option<_>| selector.as_ref().map_or_else(|| json!({}), json);
    [
        ("rules", rules(webhook.rules.as_deref().unwrap_or_default())),
        ("clientConfig", client_config(&webhook.client_config)),
        (
            "matchConditions",
            json(&webhook.match_conditions.as_deref().unwrap_or_default()),
        ),
        (
            "matchPolicy",
            json!(webhook.match_policy.as_deref().unwrap_or("Equivalent")),
        ),
        ("sideEffects", json!(webhook.side_effects)),
        (
            "admissionReviewVersions",
            json!(webhook.admission_review_versions),
        ),
        ("namespaceSelector", selector(&webhook.namespace_selector)),
        ("objectSelector", selector(&webhook.object_selector)),
    ]
}

fn rules(rules: &[RuleWithOperations]) -> Value {
    let mut rules: Vec<_> = rules.iter().map(rule).collect();
    rules.sort_by_cached_key(ToString::to_string);
    Value::Array(rules)
}

fn rule(rule: &RuleWithOperations) -> Value {
    let sorted = |list: &Option<Vec<String>>| {
        let mut list = list.clone().unwrap_or_default();
        list.sort();
        list
    };
    json!({
        "apiGroups": sorted(&rule.api_groups),
        "apiVersions": sorted(&rule.api_versions),
        "operations": sorted(&rule.operations),
        "resources": sorted(&rule.resources),
        "scope": rule.scope.as_deref().unwrap_or("*"),
    })
}

/// Whom it asks, without whom it trusts.
fn client_config(config: &WebhookClientConfig) -> Value {
    match &config.service {
        None => json!({"url": config.url}),
        Some(service) => json!({"service": {
            "namespace": service.namespace,
            "name": service.name,
            "path": service.path.as_deref().unwrap_or("/"),
            "port": service.port.unwrap_or(443),
        }}),
    }
}

fn json(value: &impl Serialize) -> Value {
    serde_json::to_value(value).expect("texts, lists and maps of texts are JSON")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::metrics::ConfigurationField;

    fn webhook(change: impl FnOnce(&mut Value)) -> ValidatingWebhook {
        let mut webhook = json!({
            "name": "validate.olmguard.dev",
            "clientConfig": {"service": {
                "namespace": "olmguard-system", "name": "olmguard", "path": "/validate", "port": 443,
            }},
            "rules": [
                {"apiGroups": ["a"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"],
                 "resources": ["x"], "scope": "*"},
                {"apiGroups": ["b"], "apiVersions": ["v1"], "operations": ["CREATE"],
                 "resources": ["y"], "scope": "Cluster"},
            ],
            "matchConditions": [{"name": "one", "expression": "true"}],
            "matchPolicy": "Equivalent", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "failurePolicy": "Ignore", "timeoutSeconds": 5,
        });
        change(&mut webhook);
        serde_json::from_value(webhook).unwrap()
    }

    #[track_caller]
    fn differs(change: impl FnOnce(&mut Value), expected: &[(&str, &str, &str)]) {
        let found = differences(&webhook(change), &webhook(|_| {}));
        let found = found.iter().map(|one| {
            let texts = (one.found.as_str(), one.shipped.as_str());
            (one.field, texts.0, texts.1)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_an_api_server_fills_in_or_does_not_care_about_is_no_difference() {
        differs(
            |found| {
                found["namespaceSelector"] = json!({});
                found["objectSelector"] = json!({});
                found["matchPolicy"] = Value::Null;
                found["clientConfig"]["service"]["port"] = Value::Null;
                found["clientConfig"]["caBundle"] = json!("YQ==");
                found["rules"].as_array_mut().unwrap().reverse();
                found["rules"][1]["operations"] = json!(["UPDATE", "CREATE"]);
                found["rules"][1]["scope"] = Value::Null;
            },
            &[],
        );
    }

    #[test]
    fn what_is_a_fact_of_its_own_is_no_difference() {
        differs(
            |found| {
                found["failurePolicy"] = json!("Fail");
                found["timeoutSeconds"] = json!(30);
            },
            &[],
        );
    }

    #[test]
    fn every_other_field_counts() {
        differs(
            |found| {
                found["rules"] = json!([]);
                found["clientConfig"] = json!({"url": "https://a/"});
                found["matchConditions"] = Value::Null;
                found["matchPolicy"] = json!("Exact");
                found["sideEffects"] = json!("NoneOnDryRun");
                found["admissionReviewVersions"] = json!(["v1beta1", "v1"]);
                found["namespaceSelector"] = json!({"matchLabels": {"a": "b"}});
                found["objectSelector"] = json!({"matchLabels": {"c": "d"}});
            },
            &[
                (
                    "rules",
                    "[]",
                    r#"[{"apiGroups":["a"],"apiVersions":["v1"],"operations":["CREATE","UPDATE"],"resources":["x"],"scope":"*"},{"apiGroups":["b"],"apiVersions":["v1"],"operations":["CREATE"],"resources":["y"],"scope":"Cluster"}]"#,
                ),
                (
                    "clientConfig",
                    r#"{"url":"https://a/"}"#,
                    r#"{"service":{"name":"olmguard","namespace":"olmguard-system","path":"/validate","port":443}}"#,
                ),
                (
                    "matchConditions",
                    "[]",
                    r#"[{"expression":"true","name":"one"}]"#,
                ),
                ("matchPolicy", r#""Exact""#, r#""Equivalent""#),
                ("sideEffects", r#""NoneOnDryRun""#, r#""None""#),
                (
                    "admissionReviewVersions",
                    r#"["v1beta1","v1"]"#,
                    r#"["v1"]"#,
                ),
                ("namespaceSelector", r#"{"matchLabels":{"a":"b"}}"#, "{}"),
                ("objectSelector", r#"{"matchLabels":{"c":"d"}}"#, "{}"),
            ],
        );
    }

    #[test]
    fn the_form_that_differs_least_is_compared_with() {
        let older = webhook(|form| {
            form["rules"] = json!([]);
            form["matchPolicy"] = json!("Exact");
        });
        let usual = webhook(|_| {});
        let forms = || [&usual, &older].into_iter();
        assert_eq!(least_differences(&older, forms()), []);
        assert_eq!(least_differences(&usual, forms()), []);
        let found = webhook(|found| {
            found["rules"] = json!([]);
            found["matchPolicy"] = json!("Exact");
            found["sideEffects"] = json!("Some");
        });
        let fields = least_differences(&found, forms());
        let fields: Vec<_> = fields.iter().map(|one| one.field).collect();
        assert_eq!(fields, ["sideEffects"]);
    }

    #[test]
    fn a_webhook_beside_ours_is_a_difference() {
        let ours = webhook(|_| {});
        let alone = std::slice::from_ref(&ours);
        assert_eq!(others(alone, &ours.name, &[]), None);
        let another = webhook(|found| found["name"] = json!("all.example.com"));
        let found = others(&[ours.clone(), another], &ours.name, &[]).unwrap();
        assert_eq!(
            (found.field, &*found.found, &*found.shipped),
            (
                "webhooks",
                r#"["validate.olmguard.dev","all.example.com"]"#,
                r#"["validate.olmguard.dev"]"#,
            )
        );
    }

    #[test]
    fn a_further_webhook_is_as_shipped_or_a_difference() {
        let ours = webhook(|_| {});
        let further = webhook(|found| found["name"] = json!("further"));
        let shipped = std::slice::from_ref(&further);
        let both = [ours.clone(), further.clone()];
        assert_eq!(others(&both, &ours.name, shipped), None);
        let alone = std::slice::from_ref(&ours);
        assert_eq!(others(alone, &ours.name, shipped), None);
        let mut changed = further.clone();
        changed.match_policy = Some("Exact".to_owned());
        let found = others(&[ours.clone(), changed], &ours.name, shipped).unwrap();
        assert_eq!(
            (&*found.found, &*found.shipped),
            (
                r#"["validate.olmguard.dev","further: matchPolicy \"Exact\""]"#,
                r#"["validate.olmguard.dev","further"]"#
            )
        );
    }

    /// The metric has a label value for each of them.
    #[test]
    fn every_field_is_counted_by_its_name() {
        let fields = fields(&webhook(|_| {})).map(|(field, _)| field);
        for field in fields.into_iter().chain([WEBHOOKS]) {
            let counted = ConfigurationField::of(field).map(ConfigurationField::as_str);
            assert_eq!(counted, Some(field));
        }
        assert_eq!(ConfigurationField::of("news"), None);
    }
}
