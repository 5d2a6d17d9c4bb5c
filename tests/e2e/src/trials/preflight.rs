//! Comparison of `olmguard check --pull` with what the real operator-controller does with the same image.
//!
//! Each case is an extension with its own package. Some objects exist in the cluster, an earlier version may be
//! installed, and then an edit requests a bundle. The command predicts the results of all edits from the images in the
//! registry and the state of the cluster. The webhook is called for the upgrades. Then the edits are made.
//!
//! ```text
//! cases --> images, catalog --> objects that are there, earlier versions --+--> olmguard check --pull --+--> table
//!                                                                          '--> the edits themselves ---'
//! ```

mod bundles;
mod cases;
mod configs;
mod crds;
mod revisions;
mod table;
mod webhook;
mod webhooks;

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt, TryStreamExt, stream};
use kube::api::{Patch, PatchParams, PostParams};
use kube::runtime::wait::await_condition;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::stand_in;
use crate::cluster::Cluster;
use crate::extension::Extensions;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::olm::controller::{extension, home};
use crate::olm::progress::{Progress, is_done, settled};
use crate::registry::Registry;
use crate::say::say;
use crate::until::PATIENCE;
use cases::Case;
use table::{CheckCommand, Table, Verdict};
use webhook::PullingWebhook;

/// The release of the controller.
const RELEASE: &str = "1.11";

/// Without a certificate provider: first installations, and upgrades of CRDs.
pub(crate) async fn foretells_what_is_installed(cluster: &mut Cluster) -> Result<()> {
    let cases = [cases::all(), crds::all()].concat();
    let mut olm = Olm::without_controller(cluster).await?;
    let gates = "WebhookProviderCertManager=false,WebhookProviderOpenshiftServiceCA=false";
    let table = compare(cluster, &mut olm, gates, &cases).await?;
    table.holds(LEAST, &CHECKS, &["field-removed-unchecked"])
}

/// With a certificate provider and watch namespaces.
pub(crate) async fn foretells_what_gates_allow(cluster: &mut Cluster) -> Result<()> {
    let gates = "WebhookProviderCertManager=true,SingleOwnNamespaceInstallSupport=true";
    let mut olm = Olm::without_controller(cluster).await?;
    let table = compare(cluster, &mut olm, gates, &webhooks::without_cert_manager()).await?;
    table.holds(2, &["webhook-provider-missing"], &[])?;
    cluster.kubectl()?.apply(stand_in::CERT_MANAGER).await?;
    let table = compare(cluster, &mut olm, gates, &webhooks::all()).await?;
    table.holds(LEAST_WITH_GATES, &CHECKS_WITH_GATES, &[])
}

/// With the gates for configurations, and their field of the experimental API.
pub(crate) async fn foretells_what_a_configuration_does(cluster: &mut Cluster) -> Result<()> {
    cluster.kubectl()?.run(ADD_CONFIG, "").await?;
    let mut olm = Olm::without_controller(cluster).await?;
    let gates = "SingleOwnNamespaceInstallSupport=true,DeploymentConfig=true";
    let table = compare(cluster, &mut olm, gates, &configs::all()).await?;
    table.holds(
        LEAST_WITH_CONFIGS,
        &["config-invalid", "config-required"],
        &[],
    )
}

/// Keeps the field from being pruned.
const ADD_CONFIG: &str = r#"patch crd clusterextensions.olm.operatorframework.io --type=json -p=[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/config","value":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}]"#;

/// With the Boxcutter runtime, up to the revision that it creates.
pub(crate) async fn foretells_which_revisions_are_made(cluster: &mut Cluster) -> Result<()> {
    let group = "olm.operatorframework.io";
    cluster
        .define_resources(&["clusterobjectsets"], group)
        .await?;
    let gates = "BoxcutterRuntime=true";
    let mut olm = Olm::without_controller(cluster).await?;
    let cases = revisions::all();
    let (stage, verdicts) = judged(cluster, &mut olm, gates, &cases).await?;
    for (case, verdict) in cases.iter().zip(&verdicts) {
        verdict.holds_for_revision(&stage, case).await?;
    }
    let denied = verdicts.iter().filter(|verdict| verdict.denies());
    ensure!(denied.count() == 2, "{verdicts:#?}");
    Ok(())
}

/// Runs all cases, and compares the reports with what the controller does.
async fn compare(cluster: &Cluster, olm: &mut Olm, gates: &str, cases: &[Case]) -> Result<Table> {
    let begun = Instant::now();
    let (stage, verdicts) = judged(cluster, olm, gates, cases).await?;
    let pairs: Vec<_> = cases.iter().zip(&verdicts).collect();
    let upgrades = || pairs.iter().filter(|(case, _)| case.from.is_some());
    if upgrades().next().is_some() {
        let webhook = PullingWebhook::start(cluster, gates).await?;
        for (case, verdict) in upgrades() {
            webhook.agrees(case, verdict).await?;
        }
        webhook.down().await?;
        say(format_args!(
            "the webhook answers {} upgrades alike",
            upgrades().count()
        ));
    }
    let outcomes = stream::iter(&pairs)
        .map(|(case, verdict)| stage.play(case, verdict))
        .buffered(AT_ONCE)
        .try_collect::<Vec<_>>()
        .await?;
    let mut table = Table::default();
    for ((case, verdict), outcome) in pairs.into_iter().zip(outcomes) {
        table.add(case.name, verdict, &outcome);
    }
    say(format_args!("{gates}, {:.0?}\n{table}", begun.elapsed()));
    Ok(table)
}

/// Prepares the cluster before the edits, and returns the report of each edit.
async fn judged<'c>(
    cluster: &'c Cluster,
    olm: &mut Olm,
    gates: &str,
    cases: &[Case],
) -> Result<(Stage<'c>, Vec<Verdict>)> {
    olm.serve(cluster, &catalog(&olm.registry, cases).await?)
        .await?;
    if olm.controller.is_none() {
        olm.start_controller_with(cluster, gates).await?;
    }
    let stage = Stage::new(cluster);
    each(cases, |case| stage.set(case)).await?;
    let edits: Vec<_> = cases.iter().map(Case::edit).collect();
    let mut verdicts = CheckCommand::new(cluster, gates)?.check(&edits).await?;
    let verdict = |case: &Case| {
        let verdict = verdicts.remove(case.name);
        verdict.with_context(|| format!("nothing is said of {}", case.name))
    };
    let verdicts = cases.iter().map(verdict).collect::<Result<_>>()?;
    Ok((stage, verdicts))
}

async fn each<'c, F: Future<Output = Result<()>>>(
    cases: &'c [Case],
    play: impl Fn(&'c Case) -> F,
) -> Result<()> {
    stream::iter(cases)
        .map(play)
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await
}

/// Returns a catalog with the packages of all cases, whose images are in the registry.
async fn catalog(registry: &Registry, cases: &[Case]) -> Result<Catalog> {
    let mut blobs = Vec::new();
    for case in cases {
        blobs.extend(case.blobs(registry).await?);
    }
    Ok(Catalog::of("preflight", &blobs))
}

/// The extensions of the cases in the cluster.
struct Stage<'c> {
    cluster: &'c Cluster,
    extensions: Extensions,
}

impl<'c> Stage<'c> {
    fn new(cluster: &'c Cluster) -> Self {
        let extensions = Extensions::of(&cluster.client);
        Self {
            cluster,
            extensions,
        }
    }

    /// Prepares the state before the edit.
    async fn set(&self, case: &Case) -> Result<()> {
        let set = async {
            home(self.cluster, case.name).await?;
            for object in &case.there {
                self.cluster.kubectl()?.apply(&object.to_string()).await?;
            }
            if case.from.is_some() {
                self.create(case.name, &case.asked(cases::FROM)).await?;
                let progress = self.until_done(case.name).await?;
                ensure!(matches!(progress, Progress::Done(_)), "{progress:?}");
            }
            Ok(())
        };
        set.await.with_context(|| case.name)
    }

    /// Makes the edit and returns its result. The controller gets time to install what the verdict allows.
    async fn play(&self, case: &Case, verdict: &Verdict) -> Result<Progress> {
        let play = async {
            if case.from.is_some() {
                let spec = json!({ "spec": case.spec(cases::TO) });
                let api = &self.extensions.api;
                api.patch(case.name, &PatchParams::default(), &Patch::Merge(spec))
                    .await?;
            } else {
                self.create(case.name, &case.edit()).await?;
            }
            if verdict.allows() {
                self.until_done(case.name).await
            } else {
                settled(&self.extensions, case.name).await
            }
        };
        play.await.with_context(|| case.name)
    }

    async fn create(&self, name: &str, object: &Value) -> Result<()> {
        let (create, object) = (
            PostParams::default(),
            serde_json::from_value(object.clone())?,
        );
        let created = self.extensions.api.create(&create, &object).await;
        created.with_context(|| name.to_owned())?;
        Ok(())
    }

    /// Returns the result, and waits for an installation if possible.
    async fn until_done(&self, name: &str) -> Result<Progress> {
        let done = await_condition(self.extensions.api.clone(), name, |object: Option<&_>| {
            object.is_some_and(is_done)
        });
        if let Ok(done) = timeout(PATIENCE, done).await {
            done?;
        }
        settled(&self.extensions, name).await
    }
}

impl Case {
    /// Returns the extension with the edit.
    fn edit(&self) -> Value {
        self.asked(cases::TO)
    }

    fn asked(&self, version: &str) -> Value {
        let mut object = extension(self.name, &Value::Null);
        if let Some(spec) = object.get_mut("spec") {
            merge(spec, self.spec(version));
        }
        object
    }

    fn spec(&self, version: &str) -> Value {
        let mut spec = self.spec.clone();
        merge(
            &mut spec,
            json!({ "source": { "catalog": { "packageName": self.name, "version": version } } }),
        );
        spec
    }
}

/// Merges the members of one object into another.
fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// The maximum number of cases that wait for the controller, which handles them one after another.
const AT_ONCE: usize = 8;

const LEAST: usize = 97;
const LEAST_WITH_GATES: usize = 12;
const LEAST_WITH_CONFIGS: usize = 20;

/// The checks that must each be found at least once.
const CHECKS: [&str; 17] = [
    "image-ref-invalid",
    "bundle-format",
    "apiservices-unsupported",
    "webhooks-unsupported",
    "install-mode-unsupported",
    "deployment-names",
    "crd-manifests",
    "package-name-empty",
    "manifest-kind-unsupported",
    "release-name-too-long",
    "kind-not-served",
    "owned-elsewhere",
    "exists-unowned",
    "crd-scope",
    "crd-stored-version",
    "crd-field-removed",
    "crd-property",
];

const CHECKS_WITH_GATES: [&str; 2] = ["conversion-webhook", "webhook-definitions"];
