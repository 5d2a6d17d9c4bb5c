//! The objects of OLM v0 in a cluster that a move to OLM v1 depends on, for commands, which do not watch them.

use kube::api::ListParams;
use kube::{Api, Client};
use serde_json::Value;

use crate::cluster::fault::WatchFault;
use crate::cluster::line;
use crate::cluster::object::{MOST_PAGES, Names, named, pages_of, served};

/// Why the objects of a kind are not known, or not all of them.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("cannot list all {resource}: {}{}", .fault.words, .fault.way_out_of_list())]
pub struct ClassicListError {
    resource: String,
    fault: WatchFault,
}

/// Hands every object of OLM v0 to `take`. A kind that cannot be listed costs the objects of that kind; of a kind that
/// the cluster does not have there are none.
pub async fn list(client: Client, mut take: impl FnMut(Value)) -> Vec<ClassicListError> {
    let (client, _) = line::open(client);
    let mut errors = Vec::new();
    for (plural, names) in KINDS {
        let listed = list_kind(&client, names, &mut take).await;
        errors.extend(listed.err().map(|fault| ClassicListError {
            resource: format!("{plural}.{GROUP}"),
            fault,
        }));
    }
    errors
}

async fn list_kind(
    client: &Client,
    names: &Names,
    take: &mut impl FnMut(Value),
) -> Result<(), WatchFault> {
    let found = served(client, names).await;
    let Some(resource) = found.map_err(|error| WatchFault::from(&error))? else {
        return Ok(());
    };
    let api = Api::all_with(client.clone(), &resource);
    // OLM v0 copies the CSV of an operator that watches all namespaces into each of them.
    let own = ListParams::default().limit(PAGE).labels(NOT_COPIED);
    pages_of(&api, own, MOST_PAGES, |object| {
        take(named(&resource, object));
    })
    .await
}

const GROUP: &str = "operators.coreos.com";

/// The kinds by their plurals, each in the version that OLM v0 stores.
const KINDS: [(&str, &Names); 4] = [
    ("subscriptions", &[(GROUP, "v1alpha1", "Subscription")]),
    (
        "clusterserviceversions",
        &[(GROUP, "v1alpha1", "ClusterServiceVersion")],
    ),
    (
        "operatorgroups",
        &[
            (GROUP, "v1", "OperatorGroup"),
            (GROUP, "v1alpha2", "OperatorGroup"),
        ],
    ),
    ("catalogsources", &[(GROUP, "v1alpha1", "CatalogSource")]),
];

const NOT_COPIED: &str = "!olm.copiedFrom";

/// How many objects are asked for at once: a CSV can have a megabyte.
const PAGE: u32 = 40;

#[cfg(test)]
mod tests {
    use hyper::StatusCode;
    use serde_json::json;

    use super::*;
    use olmguard_support::api::{ApiServer, Trouble};

    const V1ALPHA1: &str = "operators.coreos.com/v1alpha1";

    fn cluster() -> ApiServer {
        let api = ApiServer::start();
        for (plural, kind) in [
            ("subscriptions", "Subscription"),
            ("clusterserviceversions", "ClusterServiceVersion"),
            ("catalogsources", "CatalogSource"),
        ] {
            api.serve(V1ALPHA1, plural, kind);
            let collection = format!("/apis/{V1ALPHA1}/{plural}");
            api.put(&collection, json!({"metadata": {"name": plural}}));
        }
        api
    }

    async fn listed(api: &ApiServer) -> (Vec<String>, Vec<String>) {
        let mut objects = Vec::new();
        let take = |object: Value| {
            let text = |path| object.pointer(path).and_then(Value::as_str);
            let (kind, name) = (text("/kind"), text("/metadata/name"));
            objects.push(format!("{} {}", kind.unwrap(), name.unwrap()));
        };
        let errors = list(api.client(), take).await;
        let errors = errors.iter().map(ToString::to_string).collect();
        (objects, errors)
    }

    #[tokio::test]
    async fn every_kind_that_is_served_is_listed_without_copies() {
        let api = cluster();
        let expected = [
            "Subscription subscriptions",
            "ClusterServiceVersion clusterserviceversions",
            "CatalogSource catalogsources",
        ];
        assert_eq!(
            listed(&api).await,
            (expected.map(str::to_owned).to_vec(), Vec::new())
        );
        let asked = api.asked();
        let csvs = asked
            .iter()
            .find(|asked| asked.path.ends_with("/clusterserviceversions"));
        assert_eq!(
            csvs.unwrap().param("labelSelector"),
            Some("!olm.copiedFrom")
        );
        let none = listed(&ApiServer::start()).await;
        assert_eq!(none, (Vec::new(), Vec::new()));
    }

    #[tokio::test]
    async fn a_kind_that_cannot_be_listed_costs_that_kind_alone() {
        let api = cluster();
        api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |asked| {
            asked.path.ends_with("/catalogsources")
        });
        let (objects, errors) = listed(&api).await;
        assert_eq!(objects.len(), 2);
        assert_eq!(
            errors,
            [
                "cannot list all catalogsources.operators.coreos.com: the API server answers 403: as the test says; \
              grant the verb \"list\" on them"
            ]
        );
    }
}
