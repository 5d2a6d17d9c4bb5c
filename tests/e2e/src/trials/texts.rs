//! The whole output of kubectl for every way to edit, in every situation.
//!
//! Each situation has one file in `golden/`, the same for every kubectl. `OLMGUARD_BLESS=1` writes them again.

mod situation;
mod transcript;

use std::path::{Path, PathBuf};

use anyhow::Result;
use rustix::process::Signal;

use super::golden;
use crate::assets;
use crate::cluster::Cluster;
use crate::deployment::{Deployment, NAME};
use crate::extension::Extensions;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::say::say;
use crate::until::until;
use situation::Situation;

/// All ways to edit, while the webhook answers.
pub(crate) async fn of_a_guard_that_answers(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller(cluster).await?;
    olm.serve(cluster, &Catalog::new("hub", LANTERN)).await?;
    let mut guard = Deployment::up(cluster, "hardened-self-managed").await?;
    for situation in [
        situation::DENIAL,
        situation::NOT_THERE,
        situation::WARNING,
        situation::BYPASS,
    ] {
        show(cluster, &situation).await?;
    }
    cluster.kubectl()?.apply(NEVER_SERVED).await?;
    show(cluster, &situation::UNDECIDED).await?;
    guard.down().await
}

/// All ways to edit, while the webhook does not answer.
pub(crate) async fn of_a_guard_that_is_away(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller(cluster).await?;
    olm.serve(cluster, &Catalog::new("hub", LANTERN)).await?;
    let mut guard = Deployment::up(cluster, "single-node-self-managed").await?;
    situation::prepare(cluster).await?;
    guard.service.look_away().await;
    for pod in &guard.pods {
        pod.signal(Signal::STOP)?;
    }
    configure(
        cluster,
        r#"{"op": "replace", "path": "/webhooks/0/timeoutSeconds", "value": 1}"#,
    )
    .await?;
    configure(
        cluster,
        r#"{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Fail"}"#,
    )
    .await?;
    becomes(cluster, "context deadline exceeded").await?;
    show(cluster, &situation::SILENT).await?;
    guard.service.close().await;
    becomes(cluster, "connection refused").await?;
    show(cluster, &situation::DOWN_AND_FAIL).await?;
    configure(
        cluster,
        r#"{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}"#,
    )
    .await?;
    passes(cluster).await?;
    show(cluster, &situation::DOWN_AND_IGNORE).await
}

/// Waits until edits have this answer: an API server applies a change a little later.
async fn becomes(cluster: &Cluster, answer: &str) -> Result<()> {
    let extensions = Extensions::of(&cluster.client);
    until(answer, async || {
        let error = extensions.try_version("demo", "1.3.0").await.err()?;
        error.to_string().contains(answer).then_some(())
    })
    .await
}

async fn passes(cluster: &Cluster) -> Result<()> {
    let extensions = Extensions::of(&cluster.client);
    until("edits to pass", async || {
        extensions.try_version("demo", "1.3.0").await.ok()
    })
    .await
}

/// Tries every edit with every available kubectl, and compares the output.
async fn show(cluster: &Cluster, situation: &Situation) -> Result<()> {
    for program in kubectls()? {
        let transcript =
            transcript::of(cluster, &cluster.kubectl()?.by(program.clone()), situation).await?;
        golden::compare(situation.name, &transcript, program.display())?;
    }
    Ok(())
}

/// Returns the built kubectl, and that of the system if there is one.
fn kubectls() -> Result<Vec<PathBuf>> {
    let built = assets::program("kubectl")?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = std::env::split_paths(&path).map(|folder| folder.join("kubectl"));
    let system = system
        .filter(|path| path != &built)
        .find(|path| is_program(path));
    if system.is_none() {
        say("left out: the system's kubectl, there is none");
    }
    Ok([built].into_iter().chain(system).collect())
}

fn is_program(path: &Path) -> bool {
    path.is_file()
}

async fn configure(cluster: &Cluster, operation: &str) -> Result<()> {
    let patch =
        format!("patch validatingwebhookconfiguration {NAME} --type=json --patch-file=/dev/stdin");
    cluster
        .kubectl()?
        .run(&patch, &format!("[{operation}]"))
        .await?;
    Ok(())
}

/// A package with four versions, each the successor of the one before.
pub(super) const LANTERN: &str = include_str!("texts/lantern.jsonl");

/// A catalog whose image does not exist.
const NEVER_SERVED: &str = "\
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: spare, labels: {olm.operatorframework.io/metadata.name: spare}}
spec: {source: {type: Image, image: {ref: 127.0.0.1:1/catalogs/spare:none}}}
";
