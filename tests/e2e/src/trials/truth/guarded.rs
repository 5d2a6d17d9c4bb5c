//! A webhook on loopback that the API server calls by URL.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use k8s_openapi::ByteString;
use k8s_openapi::api::admissionregistration::v1::{
    MatchCondition, ValidatingWebhookConfiguration as Configuration,
};
use kube::Api;
use kube::api::PostParams;

use crate::ask;
use crate::assets;
use crate::cluster::Cluster;
use crate::cluster::apiserver::free_port;
use crate::extension::{Extensions, extension};
use crate::program::Program;
use crate::until::until;

/// The user whose edits are not sent to the webhook.
pub(super) const DIRECT: &str = "e2e-direct";

/// A running webhook that watches the cluster.
pub(super) struct Guard {
    reviews: u16,
    ops: u16,
    program: Program,
}

impl Guard {
    /// Starts it with these flags in addition to the required ones, and waits until it is ready.
    pub(super) async fn start(cluster: &Cluster, flags: &[&str]) -> Result<Self> {
        let (reviews, ops) = (free_port()?, free_port()?);
        let serving = cluster.pki.server("guard", &["127.0.0.1"])?;
        let path = |flag: &str, path: &Path| format!("--{flag}={}", path.display());
        let mut command = Command::new(assets::guard()?);
        command.arg("serve").args(flags).args([
            path("kubeconfig", cluster.admin()),
            path("catalogd-ca", &cluster.pki.ca()),
            path("tls-cert", &serving.cert),
            path("tls-key", &serving.key),
            "--certs=files".to_owned(),
            "--log-level=debug".to_owned(),
            format!("--listen=127.0.0.1:{reviews}"),
            format!("--ops-listen=127.0.0.1:{ops}"),
        ]);
        let program = Program::start(cluster.dir(), "guard", command)?;
        let guard = Self {
            reviews,
            ops,
            program,
        };
        until("the guard", async || guard.is_ready().await.then_some(())).await?;
        Ok(guard)
    }

    /// Applies this configuration without the edits of [`DIRECT`], and waits until the webhook is called.
    pub(super) async fn configure(
        &self,
        cluster: &Cluster,
        mut configuration: Configuration,
    ) -> Result<()> {
        let ca = fs::read(cluster.pki.ca())?;
        for webhook in configuration.webhooks.iter_mut().flatten() {
            webhook.failure_policy = Some("Fail".to_owned());
            webhook.client_config.service = None;
            webhook.client_config.url =
                Some(format!("https://127.0.0.1:{}/validate", self.reviews));
            webhook.client_config.ca_bundle = Some(ByteString(ca.clone()));
            webhook
                .match_conditions
                .get_or_insert_default()
                .push(MatchCondition {
                    name: "not-past-the-guard".to_owned(),
                    expression: format!("request.userInfo.username != '{DIRECT}'"),
                });
        }
        let api: Api<Configuration> = Api::all(cluster.client.clone());
        api.create(&PostParams::default(), &configuration).await?;
        let before = self.calls().await?;
        until("the configuration to be in force", async || {
            try_out(cluster).await;
            let calls = self.calls().await.ok()?;
            (calls > before).then_some(())
        })
        .await
    }

    /// Runs `doing`, and checks that the API server does not call the webhook meanwhile.
    pub(super) async fn is_not_asked<T>(
        &self,
        doing: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let (before, told) = (self.calls().await?, self.program.log().len());
        let done = doing.await?;
        let calls = self.calls().await? - before;
        let log = self.program.log();
        ensure!(
            calls == 0,
            "the guard was asked {calls} times: {}",
            log.get(told..).unwrap_or_default()
        );
        Ok(done)
    }

    /// Returns the number of reviews that it has answered.
    pub(super) async fn calls(&self) -> Result<usize> {
        let (status, page) = ask::get(self.ops(), "/metrics").await?;
        ensure!(status == 200, "{page}");
        page.lines().filter_map(reviews).sum::<Result<usize>>()
    }

    async fn is_ready(&self) -> bool {
        let asked = ask::get(self.ops(), "/readyz").await;
        asked.is_ok_and(|(status, _)| status == 200)
    }

    fn ops(&self) -> SocketAddr {
        ([127, 0, 0, 1], self.ops).into()
    }
}

/// Returns the value of a line of the metrics that counts reviews.
fn reviews(line: &str) -> Option<Result<usize>> {
    let sample = line.strip_prefix("olmguard_requests_total{")?;
    let (_, value) = sample.rsplit_once(' ')?;
    Some(value.parse().with_context(|| line.to_owned()))
}

/// Makes a dry run of a new extension, for which the webhook is always called. The result does not matter.
async fn try_out(cluster: &Cluster) {
    let parameters = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    if let Ok(object) = serde_json::from_value(extension("nobody", "no-such-package", "1.0.0")) {
        let _answer = Extensions::of(&cluster.client)
            .api
            .create(&parameters, &object)
            .await;
    }
}

/// Returns the shipped configuration, including its match conditions.
pub(super) async fn shipped(cluster: &Cluster) -> Result<Configuration> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../deploy/base/validating-webhook-configuration.yaml");
    let read = format!("create --dry-run=client -o json -f {}", path.display());
    Ok(serde_json::from_str(
        &cluster.kubectl()?.run(&read, "").await?,
    )?)
}
