//! Gathers facts about olmguard from its cluster, without changing the cluster.
//!
//! ```text
//! configuration, service, endpoints, deployment   objects, read once
//! replicas     each ready endpoint, through the API server's proxy, otherwise at its address
//! permissions  SubjectAccessReviews for the service account of olmguard
//! policies     UpgradePolicies and UpgradeGuardrails, read with their status
//! round trip   a dry run of a creation that must be denied
//! ```
//!
//! A failed request is a fact, too, and affects only its own fact.

mod replicas;
mod serving;

use std::sync::Arc;

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};
use serde_json::Value;

use crate::cluster::configuration::{self, ExpectedConfiguration};
use crate::cluster::object::name;
use crate::cluster::policies::list_whole;
use crate::cluster::{FaultClass, WatchFault, line};
use crate::policy_objects::{PolicyObject, refusal};
use olmguard_server::tls::{Authorities, Clock};
use olmguard_views::doctor::{
    Configuration, DoctorFacts, MissingAnswer, Names, Need, Permission, PolicyState,
};
use serving::{ServingDeployment, send_probe};

/// The subject of an examination, and the expectations.
#[derive(Debug)]
pub struct Examination {
    /// The names of the examined objects.
    pub names: Names,
    /// The webhook configuration as shipped.
    pub expected: ExpectedConfiguration,
    /// The health port of a replica.
    pub ops_port: u16,
    /// The release of this program.
    pub version: String,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

/// The cluster does not answer at all.
#[derive(Debug, thiserror::Error)]
#[error("cannot ask the API server: {0}")]
pub struct NoAnswer(String);

/// Gathers the facts.
///
/// # Errors
/// Fails if the API server does not answer, or does not authenticate the client.
pub async fn gather(client: &Client, of: &Examination) -> Result<DoctorFacts, NoAnswer> {
    let (client, _) = line::open(client.clone());
    greet(&client).await?;
    let names = &of.names;
    let read = read_configuration(&client, of).await;
    let (configuration, bundle) = match read {
        Ok(Some((configuration, bundle))) => (Ok(Some(configuration)), bundle),
        Ok(None) => (Ok(None), None),
        Err(unasked) => (Err(unasked), None),
    };
    let server_name = configuration.as_ref().ok().and_then(Option::as_ref);
    let server_name = server_name.and_then(|one| one.webhook.as_ref()?.server_name.clone());
    let endpoints = serving::endpoints(&client, names).await;
    let trusted = replicas::CertificateTrust {
        authorities: bundle.map(|bundle| Authorities::from_pem(&bundle)),
        server_name,
    };
    let ready = endpoints.iter().flatten().filter(|one| one.is_ready);
    let asked = ready.map(|one| replicas::ask(&client, of, &trusted, one));
    let replicas = futures_util::future::join_all(asked).await;
    let found = serving::deployment(&client, names).await;
    let permissions = permissions(&client, names, found.as_ref().ok()).await;
    Ok(DoctorFacts {
        names: names.clone(),
        version: of.version.clone(),
        configuration,
        service: serving::service(&client, names).await,
        endpoints,
        deployment: found.map(|found| found.counts),
        replicas,
        permissions,
        policies: policy_states(&client).await,
        round_trip: send_probe(&client, names).await,
    })
}

/// Checks whether the API server answers and authenticates the client.
async fn greet(client: &Client) -> Result<(), NoAnswer> {
    let Err(error) = client.apiserver_version().await else {
        return Ok(());
    };
    let WatchFault { class, words } = WatchFault::from(&error);
    match class {
        FaultClass::Unreachable
        | FaultClass::Silent
        | FaultClass::Unauthorized
        | FaultClass::Undecodable => Err(NoAnswer(words)),
        // The server answers, but the client may not be allowed to read its version.
        _ => Ok(()),
    }
}

/// Converts an error of a request that needs a permission.
fn unasked(need: Need, error: &kube::Error) -> MissingAnswer {
    let WatchFault { class, words } = WatchFault::from(error);
    MissingAnswer {
        need,
        is_forbidden: class == FaultClass::Forbidden,
        why: words,
    }
}

fn need(verb: &'static str, resource: &str, namespace: Option<&str>, name: Option<&str>) -> Need {
    Need {
        verb,
        resource: resource.to_owned(),
        name: name.map(str::to_owned),
        namespace: namespace.map(str::to_owned),
    }
}

// === The webhook configuration of olmguard ===

/// Reads the configuration, and the bundle of its webhook.
async fn read_configuration(
    client: &Client,
    of: &Examination,
) -> Result<Option<(Configuration, Option<Vec<u8>>)>, MissingAnswer> {
    let read = configuration::read(client, &of.expected).await;
    read.map_err(|error| {
        let resource = "validatingwebhookconfigurations";
        let name = Some(of.expected.name.as_str());
        unasked(need("get", resource, None, name), &error)
    })
}

// === The policies of the cluster, and whether olmguard accepts them ===

/// Reads every object of both kinds; none if the cluster does not serve them.
async fn policy_states(client: &Client) -> Result<Vec<PolicyState>, MissingAnswer> {
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

/// Returns the fault that this program finds, or otherwise the one that the replicas report, because they know the
/// other objects of the cluster.
fn fault(object: &Value, read: &PolicyObject) -> Option<String> {
    let unread = read.faults().into_iter().next();
    unread.map(|fault| fault.why).or_else(|| reported(object))
}

fn reported(object: &Value) -> Option<String> {
    let condition = refusal(object)?;
    Some(condition["message"].as_str().unwrap_or_default().to_owned())
}

// === Whether the service account of olmguard has the permissions that `docs/webhook.md` lists ===

/// Returns each needed permission, and whether the account has it.
async fn permissions(
    client: &Client,
    names: &Names,
    found: Option<&ServingDeployment>,
) -> Result<Vec<Permission>, MissingAnswer> {
    let nothing = ServingDeployment::default();
    let found = found.unwrap_or(&nothing);
    let user = format!(
        "system:serviceaccount:{}:{}",
        names.namespace,
        found.account.as_deref().unwrap_or(ACCOUNT)
    );
    let api: Api<SubjectAccessReview> = Api::all(client.clone());
    let mut permissions = Vec::new();
    for wanted in needs(names, found) {
        let review = review(&user, &names.namespace, &wanted);
        let answered = api.create(&PostParams::default(), &review).await;
        let answered = answered.map_err(|error| {
            let resource = "subjectaccessreviews.authorization.k8s.io";
            unasked(need("create", resource, None, None), &error)
        })?;
        permissions.push(Permission {
            account: user.clone(),
            need: wanted,
            is_allowed: answered.status.is_some_and(|status| status.allowed),
        });
    }
    Ok(permissions)
}

fn needs(names: &Names, found: &ServingDeployment) -> Vec<Need> {
    let follow = ["get", "list", "watch"];
    let catalogs = "clustercatalogs.olm.operatorframework.io";
    let mut needs: Vec<_> = follow.map(|verb| need(verb, catalogs, None, None)).into();
    let of_configuration = |verb| {
        let name = Some(names.configuration.as_str());
        let resource = "validatingwebhookconfigurations.admissionregistration.k8s.io";
        need(verb, resource, None, name)
    };
    needs.push(of_configuration("get"));
    if !found.ignores_policies {
        let policies = ["upgradepolicies", "upgradeguardrails"];
        for resource in policies.map(|plural| format!("{plural}.olmguard.dev")) {
            needs.extend(["list", "watch"].map(|verb| need(verb, &resource, None, None)));
        }
    }
    if let Some(olm) = found.olm_namespace.as_deref() {
        let of_olm = |verb| need(verb, "deployments.apps", Some(olm), Some(OLM));
        needs.extend(follow.map(of_olm));
    }
    if found.is_self_managed {
        let keep = ["get", "list", "patch", "watch"];
        let (namespace, secret) = secret(names, found);
        needs.push(need("create", "secrets", Some(namespace), None));
        for verb in keep {
            needs.push(need(verb, "secrets", Some(namespace), Some(secret)));
        }
        needs.extend(["list", "patch", "watch"].map(of_configuration));
    }
    if found.checks_tokens {
        let reviews = [
            "tokenreviews.authentication.k8s.io",
            "subjectaccessreviews.authorization.k8s.io",
        ];
        needs.extend(reviews.map(|review| need("create", review, None, None)));
    }
    needs
}

/// Returns the location of the authority: `[NAMESPACE/]NAME`.
fn secret<'a>(names: &'a Names, found: &'a ServingDeployment) -> (&'a str, &'a str) {
    let secret = found.secret.as_deref().unwrap_or(SECRET);
    secret.split_once('/').unwrap_or((&names.namespace, secret))
}

fn review(user: &str, namespace: &str, need: &Need) -> SubjectAccessReview {
    let (resource, group) = need
        .resource
        .split_once('.')
        .unwrap_or((&need.resource, ""));
    SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: Some(user.to_owned()),
            groups: Some(vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
                "system:authenticated".to_owned(),
            ]),
            resource_attributes: Some(ResourceAttributes {
                verb: Some(need.verb.to_owned()),
                group: Some(group.to_owned()),
                resource: Some(resource.to_owned()),
                name: need.name.clone(),
                namespace: need.namespace.clone(),
                ..ResourceAttributes::default()
            }),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    }
}

/// The service account if no Deployment names one.
const ACCOUNT: &str = "olmguard";
/// The Deployment of OLM.
const OLM: &str = "operator-controller-controller-manager";
/// The Secret of a self-managed authority if the Deployment names none.
const SECRET: &str = "olmguard-tls";

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
        assert_eq!(policy_states(&api.client()).await, Ok(Vec::new()));
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
        let found = policy_states(&api.client()).await.expect("an answer");
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
        let unasked = policy_states(&api.client()).await.expect_err("no right");
        assert!(unasked.is_forbidden);
        assert_eq!(unasked.need.resource, "upgradepolicies.olmguard.dev");
    }

    /// The replicas apply the same limit, even before they have written a status.
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
        let found = policy_states(&api.client()).await.expect("an answer");
        let refused = found
            .iter()
            .filter_map(|one| Some((&*one.name, one.fault.as_deref()?)));
        let why = "spec.rules.conditions: the conditions of all UpgradePolicies are too costly together: expected \
                   fewer, simpler or over smaller lists";
        assert_eq!(refused.collect::<Vec<_>>(), [("h", why)]);
    }

    #[test]
    fn reviews_are_needed_where_tokens_are_checked() {
        let names = Names {
            namespace: "a".to_owned(),
            service: String::new(),
            deployment: String::new(),
            configuration: String::new(),
        };
        let reviews = |checks_tokens| {
            let found = ServingDeployment {
                checks_tokens,
                ..ServingDeployment::default()
            };
            let needs = needs(&names, &found).into_iter();
            let created = needs.filter(|need| need.verb == "create");
            created.map(|need| need.resource).collect::<Vec<_>>()
        };
        let both = [
            "tokenreviews.authentication.k8s.io",
            "subjectaccessreviews.authorization.k8s.io",
        ];
        assert_eq!(reviews(true), both);
        assert_eq!(reviews(false), [""; 0]);
    }

    #[test]
    fn the_secret_is_the_one_that_is_named() {
        let names = Names {
            namespace: "a".to_owned(),
            service: String::new(),
            deployment: String::new(),
            configuration: String::new(),
        };
        for (named, expected) in [
            (None, ("a", SECRET)),
            (Some("x"), ("a", "x")),
            (Some("b/x"), ("b", "x")),
        ] {
            let found = ServingDeployment {
                secret: named.map(str::to_owned),
                ..ServingDeployment::default()
            };
            assert_eq!(secret(&names, &found), expected, "{named:?}");
        }
    }
}
