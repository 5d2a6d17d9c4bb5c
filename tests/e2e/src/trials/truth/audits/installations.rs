//! The extensions in the cluster: the state that the controller finds at its start, and the state in which it comes to
//! rest.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use futures_util::{StreamExt, TryStreamExt, stream};
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::wait::await_condition;
use serde_json::json;
use tokio::time::timeout;

use super::command::AuditedExtension;
use super::running::RunningExtension;
use crate::cluster::Cluster;
use crate::extension::Extensions;
use crate::olm::controller::{extension, home};
use crate::olm::progress::{Progress, installed_of, settled};
use crate::olm::release::record;
use crate::until::PATIENCE;

/// The cluster with the extensions.
pub(super) struct Installations<'c> {
    cluster: &'c Cluster,
    extensions: Extensions,
}

/// The state of an extension at rest.
#[derive(Debug, Clone)]
pub(super) struct RestingState {
    /// The name of the installed bundle.
    pub(super) bundle: String,
    /// Whether the spec is applied, and not retried.
    pub(super) is_done: bool,
}

impl<'c> Installations<'c> {
    pub(super) fn new(cluster: &'c Cluster) -> Self {
        let extensions = Extensions::of(&cluster.client);
        Self {
            cluster,
            extensions,
        }
    }

    /// Creates all extensions, as a controller would have left them.
    pub(super) async fn set(&self, all: &[RunningExtension]) -> Result<()> {
        stream::iter(all)
            .map(|running| self.install(running))
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }

    async fn install(&self, running: &RunningExtension) -> Result<()> {
        let (name, bundle) = (&running.name, &running.bundle);
        home(self.cluster, name).await?;
        record(self.cluster, name, &running.package, bundle).await?;
        let object = serde_json::from_value(extension(name, &running.asked))?;
        let create = PostParams::default();
        self.extensions.api.create(&create, &object).await?;
        let installed = self
            .extensions
            .installed(name, &bundle.name, &bundle.version);
        installed.await
    }

    /// Returns the state of all extensions, one after another. The controller gets time to do what is expected. Then an
    /// edit of the preflight checks makes it reconcile each extension again.
    pub(super) async fn rest(
        &self,
        all: &[RunningExtension],
        expected: &BTreeMap<String, AuditedExtension>,
        enforcement: &str,
    ) -> Result<BTreeMap<String, RestingState>> {
        for running in all {
            let bundle = expected
                .get(&running.name)
                .and_then(AuditedExtension::bundle);
            self.reaches(&running.name, bundle).await?;
        }
        let mut outcomes = BTreeMap::new();
        for RunningExtension { name, .. } in all {
            let outcome = self.looked_at_again(name, enforcement).await;
            outcomes.insert(name.clone(), outcome.with_context(|| name.clone())?);
        }
        Ok(outcomes)
    }

    /// Waits until this bundle is installed. If that never happens, the comparison reports it.
    async fn reaches(&self, name: &str, bundle: Option<&str>) -> Result<()> {
        let is_there = await_condition(self.extensions.api.clone(), name, |object: Option<&_>| {
            let installed = object.and_then(installed_of);
            installed.is_some_and(|installed| Some(installed.name.as_str()) == bundle)
        });
        match timeout(PATIENCE, is_there).await {
            Ok(there) => there.map(|_| ()).map_err(Into::into),
            Err(_) => Ok(()),
        }
    }

    async fn looked_at_again(&self, name: &str, enforcement: &str) -> Result<RestingState> {
        let api = &self.extensions.api;
        let checks = json!({ "crdUpgradeSafety": { "enforcement": enforcement } });
        let patch = json!({ "spec": { "install": { "preflight": checks } } });
        api.patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await?;
        let progress = settled(&self.extensions, name).await?;
        let bundle = installed_of(&api.get(name).await?).context("nothing is installed")?;
        Ok(RestingState {
            bundle: bundle.name,
            is_done: matches!(progress, Progress::Done(_)),
        })
    }
}

/// The number of simultaneous requests to the API server.
const AT_ONCE: usize = 8;
