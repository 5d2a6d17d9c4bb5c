//! What API servers send to the guard, and what they keep to themselves: by the guard's own count.
//!
//! It stands under `failurePolicy: Fail`, so that a condition that errs refuses the edit; the API
//! server's own count of such errors stays empty as well.

use anyhow::{Context, Result, ensure};

use super::edits::{self, Edit};
use crate::cluster::Cluster;
use crate::deployment::Deployment;
use crate::say::say;

/// An extension that is made, edited in every way, and deleted.
pub(crate) async fn matches_what_it_says(cluster: &mut Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    kubectl.run("create namespace olmv1-system", "").await?;
    kubectl
        .run(
            "patch crd clusterextensions.olm.operatorframework.io --type=json --patch-file=/dev/stdin",
            ANOTHER_SOURCE,
        )
        .await?;
    let mut guard = Deployment::up(cluster, "hardened-self-managed").await?;
    for edit in edits::OF_ONE {
        counts(cluster, &guard, edit)
            .await
            .with_context(|| edit.what)?;
    }
    has_not_erred(cluster).await?;
    say(format_args!(
        "{} kinds of edits, each sent or kept as it should be",
        edits::OF_ONE.len()
    ));
    guard.down().await
}

/// Makes one edit, and compares how many reviews there were before and after.
async fn counts(cluster: &Cluster, guard: &Deployment, edit: &Edit) -> Result<()> {
    let before = guard.reviews().await?;
    edit.make(cluster).await?;
    let sent = guard.reviews().await? - before;
    ensure!(
        (sent - f64::from(edit.sent)).abs() < 0.5,
        "{sent} reviews instead of {}",
        edit.sent
    );
    Ok(())
}

/// By the API server's own metrics, in which a condition that was asked has left its time.
pub(super) async fn has_not_erred(cluster: &Cluster) -> Result<()> {
    let metrics = cluster.kubectl()?.run("get --raw /metrics", "").await?;
    let of_conditions = |name: &str| {
        let name = format!("apiserver_admission_match_condition_{name}");
        metrics
            .lines()
            .find(|line| line.starts_with(&name))
            .map(ToOwned::to_owned)
    };
    let erred = of_conditions("evaluation_errors_total{");
    ensure!(erred.is_none(), "{erred:?}");
    ensure!(
        of_conditions("evaluation_seconds_count{").is_some(),
        "no condition was asked at all"
    );
    Ok(())
}

/// A second type of source, which the definition of no OLM has: the branch is there for the day it does.
const ANOTHER_SOURCE: &str = r#"[{
    "op": "add",
    "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/source/properties/sourceType/enum/-",
    "value": "Image"
}]"#;
