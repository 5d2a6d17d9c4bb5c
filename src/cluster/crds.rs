//! The CRDs of a cluster that bundles would replace, for commands, which do not watch them.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::ApiResource;
use kube::{Api, Client};
use serde_json::Value;

use crate::cluster::fault::WatchFault;
use crate::cluster::line;
use crate::cluster::object::WatchedObject;

/// Why a CRD of the cluster is not known.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("cannot read CustomResourceDefinition {name:?}: {}", .fault.words)]
pub struct CrdReadError {
    name: String,
    fault: WatchFault,
}

/// The CRDs of these names that the cluster has, as the API server returns them.
///
/// # Errors
/// If one of them cannot be read: then it is not known whether it is there.
pub async fn named(
    client: Client,
    names: &BTreeSet<&str>,
) -> Result<BTreeMap<String, Value>, CrdReadError> {
    let (client, _) = line::open(client);
    let resource = ApiResource::erase::<CustomResourceDefinition>(&());
    let api: Api<WatchedObject> = Api::all_with(client, &resource);
    let mut crds = BTreeMap::new();
    for name in names {
        let found = api.get_opt(name).await.map_err(|error| CrdReadError {
            name: (*name).to_owned(),
            fault: WatchFault::from(&error),
        })?;
        crds.extend(found.map(|crd| ((*name).to_owned(), crd.content)));
    }
    Ok(crds)
}

#[cfg(test)]
mod tests {
    use hyper::StatusCode;
    use serde_json::json;

    use super::*;
    use olmguard_support::api::{ApiServer, Trouble};

    const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

    fn cluster() -> ApiServer {
        let api = ApiServer::start();
        let resource = ApiResource::erase::<CustomResourceDefinition>(&());
        api.serve(&resource.api_version, &resource.plural, &resource.kind);
        let crd = json!({"metadata": {"name": "a.example.com"}, "spec": {"scope": "Cluster"}});
        api.put(CRDS, crd);
        api
    }

    #[tokio::test]
    async fn those_that_are_there_are_read_by_name() {
        let api = cluster();
        let names = BTreeSet::from(["a.example.com", "b.example.com"]);
        let crds = named(api.client(), &names).await.unwrap();
        let scope = |name: &str| crds.get(name)?.pointer("/spec/scope")?.as_str();
        assert_eq!(scope("a.example.com"), Some("Cluster"));
        assert_eq!(crds.len(), 1);
    }

    #[tokio::test]
    async fn one_that_cannot_be_read_leaves_open_what_is_there() {
        let api = cluster();
        api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
            asked.path.starts_with(CRDS)
        });
        let error = named(api.client(), &BTreeSet::from(["a.example.com"])).await;
        assert_eq!(
            error.unwrap_err().to_string(),
            "cannot read CustomResourceDefinition \"a.example.com\": the API server answers 403: as the test says"
        );
    }
}
