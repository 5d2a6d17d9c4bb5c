//! The policies of the cluster, and whether olmguard accepts them.

use kube::Client;
use serde_json::Value;

use crate::cluster::doctor::need;
use crate::cluster::fault::FaultClass;
use crate::cluster::object::name;
use crate::cluster::policies::list_whole;
use crate::policy_objects::{PolicyObject, refusal};
use olmguard_views::doctor::{MissingAnswer, PolicyState};

/// Every object of both kinds; none where the cluster does not have them.
pub(super) async fn ask(client: &Client) -> Result<Vec<PolicyState>, MissingAnswer> {
    let listed = list_whole(client).await.map_err(|error| MissingAnswer {
        need: need("list", &error.resource, None, None),
        is_forbidden: error.fault.class == FaultClass::Forbidden,
        why: error.fault.words,
    })?;
    let read = listed.iter().map(|one| PolicyObject::read(&one.object));
    let mut read: Vec<_> = read.collect();
    PolicyObject::bound_together(&mut read);
    let states = listed.iter().zip(&read).map(|(one, read)| PolicyState {
        kind: one.kind,
        name: name(&one.object).to_owned(),
        fault: fault(&one.object, read),
    });
    Ok(states.collect())
}

/// What this program cannot read of it, or what the replicas report: they know what else the cluster has.
fn fault(object: &Value, read: &PolicyObject) -> Option<String> {
    let unread = read.faults().into_iter().next();
    unread.map(|fault| fault.why).or_else(|| reported(object))
}

fn reported(object: &Value) -> Option<String> {
    let condition = refusal(object)?;
    Some(condition["message"].as_str().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use hyper::StatusCode;
    use serde_json::json;

    use super::*;
    use crate::policy_objects::KINDS;
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

    /// As the replicas bound them, also before they have written a status.
    #[tokio::test]
    async fn policies_that_are_too_costly_together_are_found() {
        let api = ApiServer::start();
        for (kind, plural) in KINDS {
            api.serve("olmguard.dev/v1alpha1", plural, kind);
        }
        let all = "user.groups.all(g, user.groups.all(h, g != h || true))";
        for name in ["h", "g", "f", "e", "d", "c", "b", "a"] {
            let mut costly = policy(name, "Minor", &json!({}));
            costly["spec"]["rules"] = json!({"conditions": [{"expression": all}]});
            api.put(COLLECTION, costly);
        }
        let found = ask(&api.client()).await.expect("an answer");
        let refused = found
            .iter()
            .filter_map(|one| Some((&*one.name, one.fault.as_deref()?)));
        let why = "spec.rules.conditions: the conditions of all UpgradePolicies are too costly together: expected \
                   fewer, simpler or over smaller lists";
        assert_eq!(refused.collect::<Vec<_>>(), [("h", why)]);
    }
}
