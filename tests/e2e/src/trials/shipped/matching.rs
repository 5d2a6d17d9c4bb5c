//! The edits that API servers send to the webhook and those that they do not, according to the audit log and to the
//! webhook's own count. The count can be higher, because an API server with an outdated cache calls again for the same
//! edit.
//!
//! The webhook has `failurePolicy: Fail`, so a match condition with an error refuses the edit. The API server's count
//! of such errors must stay empty as well.

use anyhow::{Context, Result, ensure};

use super::edits::{self, Edit};
use crate::cluster::Cluster;
use crate::deployment::Deployment;
use crate::say::say;
use crate::until::until;

/// An extension is created, edited in every way, and deleted.
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

/// Makes one edit, and compares the number of its requests with an answer of the webhook.
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

/// Returns the number of requests since then that have an answer of the webhook.
fn answered(cluster: &Cluster, since: usize) -> Result<usize> {
    let requests = cluster.audited()?.into_iter().skip(since);
    Ok(requests.filter(|it| it.token().is_some()).count())
}

/// Checks the metrics of the API server, in which each evaluated condition has left its duration.
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

/// Adds a second source type, which no OLM defines yet. The match condition is prepared for it.
const ANOTHER_SOURCE: &str = r#"[{
    "op": "add",
    "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/source/properties/sourceType/enum/-",
    "value": "Image"
}]"#;
