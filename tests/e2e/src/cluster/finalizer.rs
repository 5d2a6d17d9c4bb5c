//! Deletion of CRDs, which an API server can neglect for minutes.
//!
//! Its finalizer gives up on a conflict with its own last write and ignores the event of that write, so it retries only
//! at the next resync. Any other change makes it retry immediately. A trial that waits for the end of a CRD would have
//! to make such a change, so a task does it for all trials.
//!
//! Upstream: apiextensions-apiserver, `pkg/controller/finalizer/crd_finalizer.go`.

use std::time::{Duration, SystemTime};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, ListParams, Patch, PatchParams};
use serde_json::json;
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

/// Changes every deleted CRD until it is gone. The task ends when the returned set is dropped.
pub(super) fn start(client: kube::Client) -> JoinSet<()> {
    let mut task = JoinSet::new();
    task.spawn(async move {
        let crds: Api<CustomResourceDefinition> = Api::all(client);
        let mut pace = interval(PACE);
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            pace.tick().await;
            // The API server can be away, because some trials stop it.
            let _later = change_deleted(&crds).await;
        }
    });
    task
}

async fn change_deleted(crds: &Api<CustomResourceDefinition>) -> kube::Result<()> {
    for crd in crds.list_metadata(&ListParams::default()).await? {
        let (Some(name), Some(_)) = (&crd.metadata.name, &crd.metadata.deletion_timestamp) else {
            continue;
        };
        let uid = &crd.metadata.uid;
        let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let changed = json!({ "metadata": { "uid": uid, "annotations": { "e2e.test/changed": now.as_millis().to_string() } } });
        crds.patch_metadata(name, &PatchParams::default(), &Patch::Merge(changed))
            .await?;
    }
    Ok(())
}

/// The time between two changes. A finalizer that works needs less than that.
const PACE: Duration = Duration::from_secs(2);
