//! Metrics over TLS: the shipped component, and the answers that accounts of the cluster get with their tokens.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::cluster::Cluster;
use crate::component::with_component;
use crate::deployment::Deployment;
use crate::kubectl::{Kubectl, Printed};
use crate::trials::stand_in;
use crate::until::until;

/// kubectl reads the metrics as a scraper does: over TLS, with the CA that API servers trust, and with a token.
pub(crate) async fn are_answered_by_the_rights_of_the_token(cluster: &mut Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    kubectl.apply(stand_in::NAMESPACES).await?;
    kubectl
        .apply(
            &with_component(
                cluster,
                &kubectl,
                "single-node-self-managed",
                "secure-metrics",
            )
            .await?,
        )
        .await?;
    kubectl.apply(ACCOUNTS).await?;
    kubectl.apply(&fs::read_to_string(READER)?).await?;
    let listen = [("OLMGUARD_METRICS_LISTEN", ADDRESS)];
    let mut guard = Deployment::start(cluster, &listen).await?;
    let ca = cluster.dir().join("metrics-ca.crt");
    fs::write(&ca, kubectl.run(CA, "").await?)?;

    are_for_the_reader_alone(&kubectl, &ca, &guard).await?;

    kubectl
        .run("delete clusterrolebinding olmguard-metrics", "")
        .await?;
    refused(&kubectl, &ca, READS, UNAVAILABLE).await?;
    guard.down().await
}

/// One account can read the metrics, another is refused, an unknown user is rejected, and the plain port has no
/// metrics.
async fn are_for_the_reader_alone(kubectl: &Kubectl, ca: &Path, guard: &Deployment) -> Result<()> {
    let scraped = until("metrics", async || {
        let printed = scrape(kubectl, ca, READS).await.ok()?;
        (printed.code == Some(0)).then_some(printed)
    });
    let scraped = scraped.await?;
    ensure!(
        scraped.stdout.contains("\nolmguard_build_info{"),
        "{scraped:?}"
    );
    refused(
        kubectl,
        ca,
        "default",
        "user \"system:serviceaccount:monitoring:default\" cannot get",
    )
    .await?;
    let unknown = get(kubectl, ca, "not-a-token").await?;
    ensure!(
        unknown
            .stderr
            .contains("asked for the client to provide credentials"),
        "{unknown:?}"
    );
    for pod in &guard.pods {
        let (code, text) = pod.ops("/metrics").await?;
        ensure!(
            code == 404 && !text.contains("olmguard_build_info"),
            "{text}"
        );
    }
    Ok(())
}

/// Waits until new tokens of the account get this answer, which takes a moment after rights have changed.
async fn refused(kubectl: &Kubectl, ca: &Path, account: &str, why: &str) -> Result<()> {
    let is_refused = async || {
        let printed = scrape(kubectl, ca, account).await.ok()?;
        printed.stderr.contains(why).then_some(())
    };
    until(why, is_refused).await
}

/// Scrapes with a new token each time, because the answer to an earlier token is cached for a while.
async fn scrape(kubectl: &Kubectl, ca: &Path, account: &str) -> Result<Printed> {
    let create = format!("create token {account} -n monitoring");
    let token = kubectl.run(&create, "").await?;
    get(kubectl, ca, token.trim()).await
}

async fn get(kubectl: &Kubectl, ca: &Path, token: &str) -> Result<Printed> {
    let get = format!(
        "get --raw /metrics --server=https://{ADDRESS} --kubeconfig=/dev/null --certificate-authority={} \
         --tls-server-name=olmguard.olmguard-system.svc --token={token}",
        ca.display()
    );
    kubectl.try_run(&get, "").await
}

const READER: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../deploy/monitoring-secure/reader.yaml"
);

/// The message of kubectl for a 503.
const UNAVAILABLE: &str = "the server is currently unable to handle the request";

/// The port of the manifests is used by other programs of the trial.
const ADDRESS: &str = "127.0.0.1:18443";

/// The account in the shipped binding.
const READS: &str = "prometheus-k8s";
const ACCOUNTS: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: monitoring}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: prometheus-k8s, namespace: monitoring}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: default, namespace: monitoring}}
";
const CA: &str = "get validatingwebhookconfiguration olmguard \
    -o go-template={{range.webhooks}}{{.clientConfig.caBundle|base64decode}}{{end}}";
