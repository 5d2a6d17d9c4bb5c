//! Whether the service account of olmguard has the permissions that `docs/webhook.md` lists.

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};

use crate::cluster::doctor::serving::ServingDeployment;
use crate::cluster::doctor::{need, unasked};
use olmguard_views::doctor::{MissingAnswer, Names, Need, Permission};

/// Each right, and whether the account has it.
pub(super) async fn ask(
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

/// Where the authority is kept: `[NAMESPACE/]NAME`.
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

/// The service account where no Deployment names one.
const ACCOUNT: &str = "olmguard";
/// The Deployment of OLM.
const OLM: &str = "operator-controller-controller-manager";
/// The Secret of a self-managed authority where the Deployment names none.
const SECRET: &str = "olmguard-tls";

#[cfg(test)]
mod tests {
    use super::*;

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
