//! First installations with the Boxcutter runtime: whether operator-controller creates a revision. No revision is
//! rolled out here.

use anyhow::{Context, Result, ensure};
use kube::Api;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind};
use kube::runtime::wait::await_condition;
use serde_json::json;
use tokio::time::timeout;

use super::Stage;
use super::bundles::{crd, put, with_crd};
use super::cases::{Case, TO};
use super::table::Verdict;
use crate::cluster::Cluster;
use crate::olm::progress::{Progress, settled};
use crate::until::PATIENCE;

pub(super) fn all() -> Vec<Case> {
    let with_maps = |name: &'static str, count: usize| {
        let map = |at| json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": format!("map-{at}") } });
        Case::new(name, |bundle| bundle.beside.extend((0..count).map(map)))
    };
    let mut other = crd("crd-of-another-scope");
    put(&mut other, "/spec/scope", json!("Cluster"));
    let with_crd = |name| Case::of(name, with_crd(name, TO, crd(name)));
    vec![
        with_maps("fifty-objects", 50),
        with_maps("fifty-one-objects", 51),
        with_crd("crd-of-this-scope"),
        with_crd("crd-of-another-scope").there(other),
    ]
}

impl Verdict {
    /// Checks that the controller creates a revision if the edit is allowed, and otherwise gives the same reason for
    /// none.
    pub(super) async fn holds_for_revision(&self, stage: &Stage<'_>, case: &Case) -> Result<()> {
        stage.create(case.name, &case.edit()).await?;
        let revisions = revisions(stage.cluster);
        let revision = format!("{}-1", case.name);
        if self.allows() {
            // The controller does not report anything until the revision is rolled out.
            let made = await_condition(revisions, &revision, |made: Option<&_>| made.is_some());
            let made = timeout(PATIENCE, made).await;
            made.with_context(|| format!("waited {PATIENCE:?} for revision {revision}"))??;
            return Ok(());
        }
        let progress = settled(&stage.extensions, case.name).await?;
        let is_made = revisions.get_opt(&revision).await?.is_some();
        let is_why = matches!(&progress, Progress::Retrying(message) if self.is_why(message));
        ensure!(
            !is_made && is_why,
            "{}: {self:#?}\ncontroller: {progress:#?}",
            case.name
        );
        Ok(())
    }
}

fn revisions(cluster: &Cluster) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk("olm.operatorframework.io", "v1", "ClusterObjectSet");
    Api::all_with(cluster.client.clone(), &ApiResource::from_gvk(&kind))
}
