//! The extensions of the pairs in the cluster: their start, and what the controller does with the edits.

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::guarded::DIRECT;
use super::pairs::{Pair, Start};
use crate::cluster::Cluster;
use crate::extension::Extensions;
use crate::olm::controller::{extension, home};
use crate::olm::progress::{Progress, settled};
use crate::olm::release::record;
use crate::until::PATIENCE;

/// The cluster, with a client whose edits bypass the webhook.
pub(super) struct Stage<'c> {
    cluster: &'c Cluster,
    extensions: Extensions,
}

impl<'c> Stage<'c> {
    pub(super) async fn new(cluster: &'c Cluster) -> Result<Self> {
        Ok(Self {
            cluster,
            extensions: Extensions::of(&cluster.administrator(DIRECT).await?),
        })
    }

    /// Installs the start of each pair.
    pub(super) async fn set(&self, pairs: &[Pair]) -> Result<()> {
        stream::iter(pairs)
            .map(|pair| async move { self.begin(pair).await.with_context(|| format!("{pair:#?}")) })
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }

    /// Writes each edit, and returns the result of the controller.
    pub(super) async fn play(&self, pairs: &[Pair]) -> Result<Vec<Progress>> {
        stream::iter(pairs)
            .map(|pair| async move { self.edit(pair).await.with_context(|| format!("{pair:#?}")) })
            .buffered(AT_ONCE)
            .try_collect()
            .await
    }

    /// Deletes all extensions, and waits until the controller releases them.
    pub(super) async fn strike(&self, pairs: &[Pair]) -> Result<()> {
        stream::iter(pairs)
            .map(|pair| self.delete(pair))
            .buffer_unordered(AT_ONCE)
            .try_collect()
            .await
    }

    async fn delete(&self, pair: &Pair) -> Result<()> {
        let api = &self.extensions.api;
        let deleted = api.delete(&pair.name, &DeleteParams::default()).await?;
        let Some(uid) = deleted.left().and_then(|object| object.metadata.uid) else {
            return Ok(());
        };
        let gone = await_condition(api.clone(), &pair.name, conditions::is_deleted(&uid));
        timeout(PATIENCE, gone)
            .await
            .with_context(|| format!("{} is not let go", pair.name))??;
        Ok(())
    }

    async fn begin(&self, pair: &Pair) -> Result<()> {
        home(self.cluster, &pair.name).await?;
        match &pair.start {
            Start::Nothing => Ok(()),
            Start::Installed { bundle, asked } => {
                self.create(&pair.name, asked).await?;
                let progress = settled(&self.extensions, &pair.name).await?;
                ensure!(progress == Progress::Done(bundle.clone()), "{progress:?}");
                Ok(())
            }
            Start::Recorded { bundle, asked } => {
                let package = asked.pointer("/packageName").and_then(Value::as_str);
                record(
                    self.cluster,
                    &pair.name,
                    package.unwrap_or_default(),
                    bundle,
                )
                .await?;
                self.create(&pair.name, asked).await?;
                let progress = settled(&self.extensions, &pair.name).await?;
                ensure!(matches!(progress, Progress::Retrying(_)), "{progress:?}");
                Ok(())
            }
        }
    }

    async fn edit(&self, pair: &Pair) -> Result<Progress> {
        if pair.installed().is_some() {
            let (parameters, patch) = (PatchParams::default(), replacement(&pair.asked));
            self.extensions
                .api
                .patch(&pair.name, &parameters, &patch)
                .await?;
        } else {
            self.create(&pair.name, &pair.asked).await?;
        }
        settled(&self.extensions, &pair.name).await
    }

    async fn create(&self, name: &str, asked: &Value) -> Result<()> {
        let object = serde_json::from_value(extension(name, asked))?;
        self.extensions
            .api
            .create(&PostParams::default(), &object)
            .await?;
        Ok(())
    }
}

/// Returns a patch that replaces the whole request for the catalog.
pub(super) fn replacement(asked: &Value) -> Patch<DynamicObject> {
    let replace = json!([{ "op": "replace", "path": "/spec/source/catalog", "value": asked }]);
    Patch::Json(serde_json::from_value(replace).unwrap_or_default())
}

/// The maximum number of extensions that wait for the controller, which handles them one after another.
const AT_ONCE: usize = 8;
