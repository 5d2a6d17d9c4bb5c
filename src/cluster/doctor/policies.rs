//! The policies of the cluster, and whether olmguard accepts them.

use kube::api::ListParams;
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client};
use serde_json::Value;

use crate::cluster::doctor::{need, unasked};
use crate::cluster::kind_watch::name;
use crate::cluster::object::WatchedObject;
use olmguard_catalog::guardrail::GuardrailsObject;
use olmguard_policy::{GROUP, KIND, UpgradePolicy};
use olmguard_views::doctor::{MissingAnswer, PolicyState};

/// Every object of both kinds; none where the cluster does not have them.
pub(super) async fn ask(client: &Client) -> Result<Vec<PolicyState>, MissingAnswer> {
    let mut policies = Vec::new();
    for (kind, plural) in KINDS {
        let resource = GroupVersionKind::gvk(GROUP, "v1alpha1", kind);
        let resource = ApiResource::from_gvk_with_plural(&resource, plural);
        let api = Api::all_with(client.clone(), &resource);
        let objects = list(&api).await.map_err(|error| {
            let resource = format!("{plural}.{GROUP}");
            unasked(need("list", &resource, None, None), &error)
        })?;
        policies.extend(objects.iter().map(|object| PolicyState {
            kind,
            name: name(object).to_owned(),
            fault: fault(kind, object),
        }));
    }
    Ok(policies)
}

async fn list(api: &Api<WatchedObject>) -> kube::Result<Vec<Value>> {
    let mut params = ListParams::default().limit(PAGE);
    let mut objects = Vec::new();
    loop {
        let page = match api.list(&params).await {
            Err(kube::Error::Api(status)) if status.code == 404 => return Ok(objects),
            page => page?,
        };
        objects.extend(page.items.into_iter().map(|object| object.content));
        params.continue_token = page.metadata.continue_.filter(|token| !token.is_empty());
        if params.continue_token.is_none() {
            return Ok(objects);
        }
    }
}

/// What this program cannot read of it, or what the replicas report: they know what else the cluster has.
fn fault(kind: &str, object: &Value) -> Option<String> {
    let unread = if kind == KIND {
        let policy = UpgradePolicy::read(object);
        policy.faults().first().map(ToString::to_string)
    } else {
        let stated = GuardrailsObject::read(object).stated;
        stated.err().map(|unread| unread.to_string())
    };
    unread.or_else(|| reported(object))
}

fn reported(object: &Value) -> Option<String> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    let mut refused = conditions
        .iter()
        .filter(|one| one["type"] == "Accepted" && one["status"] == "False");
    let condition = refused.next()?;
    let generation = object.pointer("/metadata/generation");
    let is_current = condition.get("observedGeneration") == generation;
    is_current.then(|| condition["message"].as_str().unwrap_or_default().to_owned())
}

const KINDS: [(&str, &str); 2] = [
    (KIND, "upgradepolicies"),
    ("UpgradeGuardrails", "upgradeguardrails"),
];
const PAGE: u32 = 100;

#[cfg(test)]
mod tests {
    use hyper::StatusCode;
    use serde_json::json;

    use super::*;
    use olmguard_support::api::{ApiServer, Trouble};

    const COLLECTION: &str = "/apis/olmguard.dev/v1alpha1/upgradepolicies";

    fn policy(name: &str, step: &str, status: &Value) -> Value {
        json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
            "metadata": {"name": name, "generation": 2},
            "spec": {"rules": {"step": step}}, "status": status,
        })
    }

    #[tokio::test]
    async fn what_is_not_accepted_says_why() {
        let api = ApiServer::start();
        assert_eq!(ask(&api.client()).await, Ok(Vec::new()));
        for (kind, plural) in KINDS {
            api.serve("olmguard.dev/v1alpha1", plural, kind);
        }
        let refused = |generation: i64| {
            json!({"conditions": [{
                "type": "Accepted", "status": "False", "message": "told", "observedGeneration": generation,
            }]})
        };
        api.put(COLLECTION, policy("bad", "Tiny", &json!({})));
        api.put(COLLECTION, policy("good", "Minor", &refused(1)));
        api.put(COLLECTION, policy("told", "Minor", &refused(2)));
        let found = ask(&api.client()).await.expect("an answer");
        let found: Vec<_> = found
            .iter()
            .map(|one| (&*one.name, one.fault.as_deref()))
            .collect();
        let why = "spec.rules.step: unknown value \"Tiny\": expected one of Patch, Minor, Major";
        assert_eq!(
            found,
            [("bad", Some(why)), ("good", None), ("told", Some("told"))]
        );
        api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
        let unasked = ask(&api.client()).await.expect_err("no right");
        assert!(unasked.is_forbidden);
        assert_eq!(unasked.need.resource, "upgradepolicies.olmguard.dev");
    }
}
