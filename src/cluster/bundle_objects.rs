//! What a cluster has of the CRDs and kinds of bundles, for commands, which do not watch it.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::ApiResource;
use kube::{Api, Client};
use serde_json::Value;

use crate::cluster::fault::WatchFault;
use crate::cluster::line;
use crate::cluster::object::{WatchedObject, served};
use olmguard_catalog::dns1123::is_subdomain;
use olmguard_catalog::version::go;
use olmguard_preflight::bundle::BundledKind;
use olmguard_preflight::content::{BundleContents, ClusterObjects};

/// Why that is not known.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("cannot read {what}: {}", .fault.words)]
pub struct ClusterObjectsError {
    what: String,
    fault: WatchFault,
}

/// What the cluster has of these bundles.
///
/// # Errors
/// If one answer of the API server is missing: then it is not known whether something is there.
pub async fn of_bundles(
    client: Client,
    contents: &BundleContents,
) -> Result<ClusterObjects, ClusterObjectsError> {
    let (client, _) = line::open(client);
    Ok(ClusterObjects {
        crds: crds(&client, &contents.crd_names()).await?,
        unserved: unserved(&client, contents.kinds()).await?,
    })
}

/// The CRDs of these names that are there, as the API server returns them.
async fn crds(
    client: &Client,
    names: &BTreeSet<&str>,
) -> Result<BTreeMap<String, Value>, ClusterObjectsError> {
    let resource = ApiResource::erase::<CustomResourceDefinition>(&());
    let api: Api<WatchedObject> = Api::all_with(client.clone(), &resource);
    let mut crds = BTreeMap::new();
    for name in names {
        let found = api.get_opt(name).await;
        let found = found.map_err(|error| ClusterObjectsError {
            what: format!("CustomResourceDefinition {}", go::quote(name)),
            fault: WatchFault::from(&error),
        })?;
        crds.extend(found.map(|crd| ((*name).to_owned(), crd.content)));
    }
    Ok(crds)
}

/// Those of the kinds that are not served. What cannot be the name of an API is not asked for.
async fn unserved(
    client: &Client,
    kinds: BTreeSet<BundledKind>,
) -> Result<BTreeSet<BundledKind>, ClusterObjectsError> {
    let mut unserved = BTreeSet::new();
    for kind in kinds {
        let parts = kind.api_version.split_once('/');
        let (group, version) = parts.unwrap_or(("", &kind.api_version));
        let is_name = (group.is_empty() || is_subdomain(group)) && is_subdomain(version);
        let is_served = is_name && is_served(client, (group, version, &kind.kind)).await?;
        if !is_served {
            unserved.insert(kind);
        }
    }
    Ok(unserved)
}

async fn is_served(client: &Client, name: (&str, &str, &str)) -> Result<bool, ClusterObjectsError> {
    let found = served(client, &[name]).await;
    let found = found.map_err(|error| ClusterObjectsError {
        what: format!("the kinds of {}/{}", name.0, name.1),
        fault: WatchFault::from(&error),
    })?;
    Ok(found.is_some())
}

#[cfg(test)]
mod tests {
    use hyper::StatusCode;
    use serde_json::json;

    use super::*;
    use olmguard_preflight::bundle::RegistryBundle;
    use olmguard_support::api::{ApiServer, Trouble};

    const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

    fn cluster() -> ApiServer {
        let api = ApiServer::start();
        let resource = ApiResource::erase::<CustomResourceDefinition>(&());
        api.serve(&resource.api_version, &resource.plural, &resource.kind);
        api.serve("policy/v1", "poddisruptionbudgets", "PodDisruptionBudget");
        let crd = json!({"metadata": {"name": "a.example.com"}, "spec": {"scope": "Cluster"}});
        api.put(CRDS, crd);
        api
    }

    /// A bundle with these CRDs and objects of these kinds.
    fn contents(crds: &[&str], kinds: &[(&str, &str)]) -> BundleContents {
        let csv = json!({"kind": "ClusterServiceVersion"});
        let crds = crds
            .iter()
            .map(|name| json!({"kind": "CustomResourceDefinition", "metadata": {"name": name}}));
        let others = kinds
            .iter()
            .map(|(api_version, kind)| json!({"apiVersion": api_version, "kind": kind}));
        let objects = [csv].into_iter().chain(crds).chain(others);
        let bundle = RegistryBundle::of("p", objects).unwrap();
        BundleContents::of([("image".to_owned(), Ok(bundle))])
    }

    #[tokio::test]
    async fn crds_that_are_there_are_read_by_name() {
        let api = cluster();
        let contents = contents(&["a.example.com", "b.example.com", "../x"], &[]);
        let found = of_bundles(api.client(), &contents).await.unwrap();
        let scope = |name: &str| found.crds.get(name)?.pointer("/spec/scope")?.as_str();
        assert_eq!(scope("a.example.com"), Some("Cluster"));
        assert_eq!(found.crds.len(), 1);
        assert!(api.asked().iter().all(|asked| !asked.path.contains("..")));
    }

    #[tokio::test]
    async fn kinds_that_are_not_served_are_found() {
        let kinds = [
            ("policy/v1", "PodDisruptionBudget"),
            ("policy/v1", "Other"),
            ("monitoring.coreos.com/v1", "ServiceMonitor"),
            ("../../api/v1", "Secret"),
            ("", "ConfigMap"),
        ];
        let api = cluster();
        let found = of_bundles(api.client(), &contents(&[], &kinds)).await;
        let unserved = found.unwrap().unserved;
        let found: BTreeSet<_> = unserved.iter().map(|kind| &*kind.kind).collect();
        let expected: BTreeSet<_> = kinds[1..].iter().map(|(_, kind)| *kind).collect();
        assert_eq!(found, expected);
        assert!(api.asked().iter().all(|asked| !asked.path.contains("..")));
    }

    #[tokio::test]
    async fn an_answer_that_is_missing_leaves_open_what_is_there() {
        let api = cluster();
        api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
            asked.path.starts_with(CRDS)
        });
        let error = of_bundles(api.client(), &contents(&["a.example.com"], &[])).await;
        assert_eq!(
            error.unwrap_err().to_string(),
            "cannot read CustomResourceDefinition \"a.example.com\": the API server answers 403: as the test says"
        );
    }
}
