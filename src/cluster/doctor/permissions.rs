//! Whether the service account of the guard may do what `docs/webhook.md` says that it needs.

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use kube::api::PostParams;
use kube::{Api, Client};

use crate::cluster::doctor::serving::Found;
use crate::cluster::doctor::{need, unasked};
use crate::doctor::{Names, Need, Permission, Unasked};

/// Each right, and whether the account has it.
pub(super) async fn ask(
    client: &Client,
    names: &Names,
    found: Option<&Found>,
) -> Result<Vec<Permission>, Unasked> {
    let account = found.and_then(|found| found.account.as_deref());
    let user = format!(
        "system:serviceaccount:{}:{}",
        names.namespace,
        account.unwrap_or(ACCOUNT)
    );
    let is_self_managed = found.is_some_and(|found| found.is_self_managed);
    let api: Api<SubjectAccessReview> = Api::all(client.clone());
    let mut permissions = Vec::new();
    for wanted in needs(names, is_self_managed) {
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

fn needs(names: &Names, is_self_managed: bool) -> Vec<Need> {
    let catalogs = "clustercatalogs.olm.operatorframework.io";
    let mut needs: Vec<_> = ["get", "list", "watch"]
        .map(|verb| need(verb, catalogs, None, None))
        .into();
    if is_self_managed {
        let namespace = Some(names.namespace.as_str());
        needs.push(need("create", "secrets", namespace, None));
        for verb in ["get", "patch"] {
            needs.push(need(verb, "secrets", namespace, Some(SECRET)));
        }
        for verb in ["get", "patch"] {
            let name = Some(names.configuration.as_str());
            let resource = "validatingwebhookconfigurations.admissionregistration.k8s.io";
            needs.push(need(verb, resource, None, name));
        }
    }
    needs
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
/// The Secret of a self-managed authority.
const SECRET: &str = "olmguard-tls";
