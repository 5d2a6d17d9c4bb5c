//! What API servers send to the webhook, and what they keep to themselves: by the answers in the audit
//! log, and by the webhook's own count. The count may be higher: an API server whose cache is late asks
//! again about the same edit.
//!
//! It stands under `failurePolicy: Fail`, so that a condition that errs refuses the edit; the API
//! server's own count of such errors stays empty as well.

use anyhow::{Context, Result, ensure};

use super::edits::{self, Edit};
use crate::cluster::Cluster;
use crate::deployment::Deployment;
use crate::say::say;
use crate::until::until;

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

/// Makes one edit, and compares how many requests of it have an answer of the webhook.
async fn counts(cluster: &Cluster, guard: &Deployment, edit: &Edit) -> Result<()> {
    let (before, since) = (guard.reviews().await?, cluster.audited()?.len());
    edit.make(cluster).await?;
    let asked = guard.reviews().await? - before;
    let expected = usize::from(edit.sent);
    let mut sent = 0;
    let as_expected = until("the answers in the audit log", async || {
        sent = answered(cluster, since).ok()?;
        (sent == expected).then_some(())
    });
    as_expected
        .await
        .with_context(|| format!("{sent} requests were sent instead of {expected}"))?;
    ensure!(
        asked > f64::from(edit.sent) - 0.5 && (asked < 0.5) == (expected == 0),
        "{asked} reviews of {expected} requests"
    );
    Ok(())
}

/// How many requests have an answer of the webhook since then.
fn answered(cluster: &Cluster, since: usize) -> Result<usize> {
    let requests = cluster.audited()?.into_iter().skip(since);
    Ok(requests.filter(|it| it.token().is_some()).count())
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
