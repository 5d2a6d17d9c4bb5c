//! All objects of a cluster, of every kind; and the part of the namespace controller.

use std::collections::BTreeSet;

use anyhow::Result;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, ListParams, PostParams};
use kube::discovery::{Discovery, Scope, verbs};

use super::Cluster;
use crate::until::until;

impl Cluster {
    /// Returns every object as `KIND.GROUP NAMESPACE/NAME`, except events, which describe the past.
    pub(crate) async fn inventory(&self) -> Result<BTreeSet<String>> {
        let mut found = BTreeSet::new();
        for (kind, _) in self.kinds(verbs::LIST).await? {
            let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &kind);
            for object in api.list(&ListParams::default()).await? {
                let namespace = object.metadata.namespace.unwrap_or_default();
                let name = object.metadata.name.unwrap_or_default();
                found.insert(format!("{}.{} {namespace}/{name}", kind.kind, kind.group));
            }
        }
        Ok(found)
    }

    /// Waits until a namespace is being deleted.
    pub(crate) async fn is_leaving(&self, name: &str) -> Result<Namespace> {
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        until("the namespace to be deleted", async || {
            let found = namespaces.get(name).await.ok()?;
            found.metadata.deletion_timestamp.is_some().then_some(found)
        })
        .await
    }

    /// Waits until a namespace is being deleted, and completes its deletion with all its objects.
    pub(crate) async fn empty_namespace(&self, name: &str) -> Result<()> {
        let mut leaving = self.is_leaving(name).await?;
        for (kind, scope) in self.kinds("deletecollection").await? {
            if scope == Scope::Namespaced {
                let api: Api<DynamicObject> =
                    Api::namespaced_with(self.client.clone(), name, &kind);
                let (delete, all) = (DeleteParams::default(), ListParams::default());
                match api.delete_collection(&delete, &all).await {
                    // The API server does not serve this definition yet, or no longer, so it has no objects.
                    Err(kube::Error::Api(answer)) if answer.code == 404 => {}
                    deleted => drop(deleted?),
                }
            }
        }
        leaving.spec.get_or_insert_default().finalizers = None;
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        namespaces
            .replace_subresource("finalize", name, &PostParams::default(), &leaving)
            .await?;
        Ok(())
    }

    /// Returns the resources that support this verb, each once.
    async fn kinds(&self, verb: &str) -> Result<Vec<(ApiResource, Scope)>> {
        // In a single request, because a definition can be deleted meanwhile.
        let discovery = Discovery::new(self.client.clone());
        let discovery = discovery.run_aggregated().await?;
        let kinds = discovery
            .groups()
            .flat_map(kube::discovery::ApiGroup::resources_by_stability);
        Ok(kinds
            .filter(|(kind, can)| can.supports_operation(verb) && kind.kind != "Event")
            .map(|(kind, can)| (kind, can.scope))
            .collect())
    }
}
