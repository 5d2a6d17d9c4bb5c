//! What a cluster has of the CRDs and kinds of bundles, for commands, which do not watch it.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::ApiResource;
use kube::{Api, Client};
use serde_json::Value;

use crate::cluster::fault::WatchFault;
use crate::cluster::line;
use crate::cluster::object::WatchedObject;
use olmguard_catalog::dns1123::is_subdomain;
use olmguard_catalog::version::go;
use olmguard_preflight::bundle::BundledKind;
use olmguard_preflight::content::{BundleContents, ClusterObjects};

/// Why that is not known.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("cannot read {what}: {why}")]
pub struct ClusterObjectsError {
    what: String,
    why: String,
}

impl ClusterObjectsError {
    fn of(what: impl Into<String>, error: &kube::Error) -> Self {
        Self {
            what: what.into(),
            why: WatchFault::from(error).words,
        }
    }

    fn too_many(what: &str, most: usize) -> Self {
        Self {
            what: format!("the {what} of the bundles"),
            why: format!("there are more than {most}"),
        }
    }
}

/// What the cluster has of these bundles, and what is not known of their kinds: then all count as served.
///
/// # Errors
/// If a CRD cannot be read: then it is not known whether it is there.
pub async fn of_bundles(
    client: Client,
    contents: &BundleContents,
) -> Result<(ClusterObjects, Option<ClusterObjectsError>), ClusterObjectsError> {
    let (client, _) = line::open(client);
    let crds = crds(&client, &contents.crd_names()).await?;
    let (unserved, error) = match unserved(&client, contents.kinds()).await {
        Ok(unserved) => (unserved, None),
        Err(error) => (BTreeSet::new(), Some(error)),
    };
    Ok((ClusterObjects { crds, unserved }, error))
}

/// The CRDs of these names that are there, as the API server returns them.
async fn crds(
    client: &Client,
    names: &BTreeSet<&str>,
) -> Result<BTreeMap<String, Value>, ClusterObjectsError> {
    if names.len() > MOST_CRDS {
        return Err(ClusterObjectsError::too_many("CRDs", MOST_CRDS));
    }
    let resource = ApiResource::erase::<CustomResourceDefinition>(&());
    let api: Api<WatchedObject> = Api::all_with(client.clone(), &resource);
    let mut crds = BTreeMap::new();
    for name in names {
        let found = api.get_opt(name).await.map_err(|error| {
            let what = format!("CustomResourceDefinition {}", go::quote(name));
            ClusterObjectsError::of(what, &error)
        })?;
        crds.extend(found.map(|crd| ((*name).to_owned(), crd.content)));
    }
    Ok(crds)
}

/// The kinds that are not served. Each version of an API is requested once.
async fn unserved(
    client: &Client,
    kinds: BTreeSet<BundledKind>,
) -> Result<BTreeSet<BundledKind>, ClusterObjectsError> {
    let versions: BTreeSet<_> = kinds.iter().map(|kind| kind.api_version.clone()).collect();
    if versions.len() > MOST_VERSIONS {
        return Err(ClusterObjectsError::too_many("API versions", MOST_VERSIONS));
    }
    let mut served = BTreeSet::new();
    for version in versions {
        let listed = resources(client, &version).await;
        let listed = listed.map_err(|error| {
            ClusterObjectsError::of(format!("the kinds of {}", go::quote(&version)), &error)
        })?;
        served.extend(listed.iter().map(|kind| BundledKind::of(&version, kind)));
    }
    Ok(kinds.difference(&served).cloned().collect())
}

/// The kinds of a version of an API; none if it is not served, or cannot be the name of one: such a name is not put into
/// a path.
async fn resources(client: &Client, api_version: &str) -> Result<Vec<String>, kube::Error> {
    let listed = match api_version.split_once('/') {
        Some((group, version)) if is_subdomain(group) && is_subdomain(version) => {
            client.list_api_group_resources(api_version).await
        }
        None if is_subdomain(api_version) => client.list_core_api_resources(api_version).await,
        _ => return Ok(Vec::new()),
    };
    match listed {
        Ok(listed) => Ok(listed.resources.into_iter().map(|one| one.kind).collect()),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// How many CRDs are asked for, one by one: packages have dozens.
const MOST_CRDS: usize = 1000;

/// How many versions of APIs are asked for.
const MOST_VERSIONS: usize = 100;

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
        let (found, _) = of_bundles(api.client(), &contents).await.unwrap();
        let scope = |name: &str| found.crds.get(name)?.pointer("/spec/scope")?.as_str();
        assert_eq!(scope("a.example.com"), Some("Cluster"));
        assert_eq!(found.crds.len(), 1);
        assert!(api.asked().iter().all(|asked| !asked.path.contains("..")));
    }

    #[tokio::test]
    async fn kinds_that_are_not_served_are_found() {
        let kinds = [
            ("policy/v1", "PodDisruptionBudget"),
            ("policy/v1", "Role"),
            ("monitoring.coreos.com/v1", "ServiceMonitor"),
            ("../../api/v1", "Secret"),
            ("", "ConfigMap"),
        ];
        let api = cluster();
        let found = of_bundles(api.client(), &contents(&[], &kinds)).await;
        let (ClusterObjects { unserved, .. }, error) = found.unwrap();
        assert_eq!(error, None);
        let found: BTreeSet<_> = unserved.iter().map(|kind| &*kind.kind).collect();
        let expected: BTreeSet<_> = kinds[1..].iter().map(|(_, kind)| *kind).collect();
        assert_eq!(found, expected);
        assert!(api.asked().iter().all(|asked| !asked.path.contains("..")));
    }

    #[tokio::test]
    async fn kinds_that_are_not_known_count_as_served() {
        let api = cluster();
        api.trouble(Trouble::Status(StatusCode::SERVICE_UNAVAILABLE), |asked| {
            asked.path == "/apis/policy/v1"
        });
        let kinds = [("policy/v1", "PodDisruptionBudget")];
        let found = of_bundles(api.client(), &contents(&["a.example.com"], &kinds)).await;
        let (found, error) = found.unwrap();
        assert_eq!((found.crds.len(), found.unserved.len()), (1, 0));
        assert_eq!(
            error.unwrap().to_string(),
            "cannot read the kinds of \"policy/v1\": the API server answers 503: as the test says"
        );
    }

    #[tokio::test]
    async fn an_image_cannot_have_any_number_of_requests() {
        let api = cluster();
        let names: Vec<_> = (0..=MOST_CRDS)
            .map(|at| format!("a{at}.example.com"))
            .collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let error = of_bundles(api.client(), &contents(&names, &[])).await;
        assert_eq!(
            error.unwrap_err().to_string(),
            "cannot read the CRDs of the bundles: there are more than 1000"
        );
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
