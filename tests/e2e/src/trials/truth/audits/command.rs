//! The output of `olmguard audit`, parsed from its JSON.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::installations::RestingState;
use crate::assets;
use crate::cluster::Cluster;
use crate::kubectl::Kubectl;
use crate::olm::catalog::Catalog;
use crate::trials::truth::RELEASE;

/// The command, with its access to the cluster.
pub(super) struct AuditCommand {
    olmguard: Kubectl,
    arguments: String,
}

/// The audit of one extension.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct AuditedExtension {
    name: String,
    verdict: String,
    /// The reason code.
    pub(super) token: String,
    installed: Option<BundleName>,
    automatic: Vec<BundleName>,
}

#[derive(Debug, Clone, Deserialize)]
struct BundleName {
    bundle: String,
}

impl AuditedExtension {
    /// Whether OLM upgrades it without an edit.
    pub(super) fn moves(&self) -> bool {
        !self.automatic.is_empty()
    }

    /// Whether OLM would refuse its spec.
    pub(super) fn is_denied(&self) -> bool {
        self.verdict == "deny"
    }

    /// Returns the bundle at the end of the automatic upgrades, or the installed one.
    pub(super) fn bundle(&self) -> Option<&str> {
        let last = self.automatic.last().or(self.installed.as_ref());
        last.map(|named| named.bundle.as_str())
    }

    /// Whether the controller has reached the predicted state. The verdict is that of the first step. An audit at rest
    /// gives that of the last step.
    pub(super) fn holds(&self, found: &RestingState) -> bool {
        let is_denied = match self.verdict.as_str() {
            "allow" => false,
            "deny" => true,
            _ => return false,
        };
        self.bundle() == Some(found.bundle.as_str()) && (self.moves() || is_denied != found.is_done)
    }
}

#[derive(Deserialize)]
struct Report {
    extensions: Vec<AuditedExtension>,
}

#[derive(Deserialize)]
struct Preview {
    extensions: Vec<PreviewedExtension>,
}

#[derive(Deserialize)]
struct PreviewedExtension {
    after: AuditedExtension,
}

impl AuditCommand {
    pub(super) fn new(cluster: &Cluster) -> Result<Self> {
        let authority = cluster.pki.ca();
        Ok(Self {
            olmguard: cluster.kubectl()?.by(assets::guard()?),
            arguments: format!(
                "audit --from-cluster --olm-release {RELEASE} --catalogd-ca {}",
                authority.display()
            ),
        })
    }

    /// Audits the current state.
    pub(super) async fn audit(&self) -> Result<BTreeMap<String, AuditedExtension>> {
        let report: Report = self.read("-o json").await?;
        Ok(by_name(report.extensions))
    }

    /// Audits the state that these contents of catalogs would lead to.
    pub(super) async fn preview(
        &self,
        changed: &[Catalog],
    ) -> Result<BTreeMap<String, AuditedExtension>> {
        let mut more = "-o json".to_owned();
        for catalog in changed {
            let file = format!("{}-new.jsonl", catalog.name);
            fs::write(self.olmguard.home().join(&file), &catalog.fbc)?;
            write!(more, " --catalog {}={file}", catalog.name)?;
        }
        let preview: Preview = self.read(&more).await?;
        Ok(by_name(preview.extensions.into_iter().map(|it| it.after)))
    }

    /// Checks that the API server accepts the reports, and that they have at least one result for each extension.
    pub(super) async fn reports(&self, cluster: &Cluster, least: usize) -> Result<()> {
        cluster
            .define_resources(&["clusterreports"], "openreports.io")
            .await?;
        let command = format!("{} --report", self.arguments);
        let printed = self.olmguard.try_run(&command, "").await?;
        let kubectl = cluster.kubectl()?;
        let apply = "apply --server-side --validate=strict -f -";
        kubectl.run(apply, &printed.stdout).await?;
        let kept = kubectl.run("get clusterreports -o json", "").await?;
        let kept: Value = serde_json::from_str(&kept)?;
        let items = kept.pointer("/items").and_then(Value::as_array);
        let results = items
            .into_iter()
            .flatten()
            .filter_map(|item| item.get("results")?.as_array());
        let count = results.map(Vec::len).sum::<usize>();
        ensure!(count >= least, "{count} results: {kept:#}");
        Ok(())
    }

    async fn read<T: DeserializeOwned>(&self, more: &str) -> Result<T> {
        let command = format!("{} {more}", self.arguments);
        let printed = self.olmguard.try_run(&command, "").await?;
        ensure!(
            matches!(printed.code, Some(0 | 1)),
            "{command}: {printed:?}"
        );
        serde_json::from_str(&printed.stdout).context(printed.stderr)
    }
}

fn by_name(all: impl IntoIterator<Item = AuditedExtension>) -> BTreeMap<String, AuditedExtension> {
    all.into_iter().map(|it| (it.name.clone(), it)).collect()
}
