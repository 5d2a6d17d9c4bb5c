//! The shipped manifests as a real API server takes them, without a pod behind them.
//!
//! With `failurePolicy: Fail` and no pod, an edit that is sent to the webhook fails, and one that is
//! kept away from it passes: that tells the two apart.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use kube::api::DynamicObject;
use serde_json::{Deserializer, Value, json};

use crate::cluster::Cluster;
use crate::deployment::rendered;
use crate::extension::{self, Extensions};
use crate::kubectl::Kubectl;
use crate::until::until;

/// Each profile and mode after another, in one cluster: taken as it is written, and the same again.
pub(crate) async fn are_stored_as_written(cluster: &mut Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    for namespace in ["olmv1-system", "openshift-operator-controller"] {
        kubectl
            .run(&format!("create namespace {namespace}"), "")
            .await?;
    }
    for name in RENDERED {
        let objects = without_cert_manager(&rendered(name)?);
        for server_side in ["", " --server-side --force-conflicts"] {
            let apply = format!("apply{server_side} -f -");
            kubectl.run(&apply, &objects).await?;
            kubectl.run(&apply, &objects).await?;
            let diff = format!("diff{server_side} -f -");
            let printed = kubectl.try_run(&diff, &objects).await?;
            ensure!(printed.code == Some(0), "{name}: {diff}: {printed:?}");
        }
        as_written(&kubectl, &objects).await.context(name)?;
    }
    Ok(())
}

/// What puts a `caBundle` there is not undone by who applies the manifests again.
pub(crate) async fn leave_the_bundle_alone(cluster: &mut Cluster) -> Result<()> {
    let kubectl = hardened(cluster).await?;
    let ca = fs::read_to_string(cluster.pki.ca())?;
    let bundle = k8s_openapi::ByteString(ca.into_bytes());
    let put = json!([{"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle}]);
    patch(
        &kubectl,
        CONFIGURATION,
        &["--type=json", "-p", &put.to_string()],
    )
    .await?;
    let objects = rendered("hardened-self-managed")?;
    for apply in ["apply -f -", "apply --server-side --force-conflicts -f -"] {
        kubectl.run(apply, &objects).await?;
        let path = "jsonpath={.webhooks[0].clientConfig.caBundle}";
        let found = kubectl
            .run(&format!("get {CONFIGURATION} -o {path}"), "")
            .await?;
        ensure!(json!(found) == json!(bundle), "{apply}: {found:?}");
    }
    Ok(())
}

/// What is never judged does not need the webhook.
pub(crate) async fn send_only_what_is_judged(cluster: &mut Cluster) -> Result<()> {
    Extensions::of(&cluster.client)
        .create(NAME, "lantern-operator", "1.0.0")
        .await?;
    let kubectl = hardened(cluster).await?;
    for (merge, expected) in edits() {
        let arguments = [
            "patch",
            OBJECT,
            NAME,
            "--type=merge",
            "-p",
            &merge.to_string(),
        ];
        let printed = kubectl.run_with(&arguments, "", &[]).await?;
        let found = is_sent(&printed.stderr);
        ensure!(found || printed.code == Some(0), "{merge}: {printed:?}");
        ensure!(
            found == expected,
            "{merge}: sent: {found}, expected {expected}"
        );
    }
    kubectl
        .run(&format!("delete {OBJECT} {NAME} --wait=false"), "")
        .await?;
    for merge in [
        catalog(&json!({"version": "9.0.0"})),
        json!({"metadata": {"finalizers": null}}),
    ] {
        patch(
            &kubectl,
            &format!("{OBJECT} {NAME}"),
            &["--type=merge", "-p", &merge.to_string()],
        )
        .await
        .context("while it is being deleted")?;
    }
    Ok(())
}

/// The commands of docs/emergency.md, as they stand there.
pub(crate) async fn are_switched_off_and_on(cluster: &mut Cluster) -> Result<()> {
    let kubectl = hardened(cluster).await?;
    let page = document("docs/emergency.md")?;
    let [off, on, half] = payloads(&page)?;
    for meanwhile in [
        "get namespaces",
        "apply -f -",
        "apply --server-side --force-conflicts -f -",
    ] {
        patch(&kubectl, CONFIGURATION, &["-p", off]).await?;
        patch(&kubectl, CONFIGURATION, &["-p", off])
            .await
            .context("again")?;
        kubectl
            .run(meanwhile, &rendered("hardened-self-managed")?)
            .await?;
        takes(cluster, "off", true).await?;
        patch(&kubectl, CONFIGURATION, &["-p", on]).await?;
        takes(cluster, "on", false).await?;
    }
    patch(&kubectl, CONFIGURATION, &["-p", half]).await?;
    takes(cluster, "half off", true).await
}

/// First the configuration, then the rest, as docs/install.md says: nothing of it stays.
pub(crate) async fn are_uninstalled(cluster: &mut Cluster) -> Result<()> {
    let kubectl = hardened(cluster).await?;
    let before = left(&kubectl).await?;
    ensure!(before.contains("deployment.apps/olmguard"), "{before}");
    kubectl.run(&format!("delete {CONFIGURATION}"), "").await?;
    takes(cluster, "uninstalled", true).await?;
    let objects = rendered("hardened-self-managed")?;
    kubectl
        .run("delete --ignore-not-found --wait=false -f -", &objects)
        .await?;
    let after = left(&kubectl).await?;
    ensure!(after.is_empty(), "left: {after}");
    Ok(())
}

/// The strictest profile, applied and in force.
async fn hardened(cluster: &Cluster) -> Result<Kubectl> {
    let kubectl = cluster.kubectl()?;
    kubectl.run("create namespace olmv1-system", "").await?;
    kubectl.apply(&rendered("hardened-self-managed")?).await?;
    takes(cluster, "applied", false).await?;
    Ok(kubectl)
}

/// Waits until a new extension is taken, or is not.
async fn takes(cluster: &Cluster, what: &str, expected: bool) -> Result<()> {
    let extensions = Extensions::of(&cluster.client);
    let object = extension::extension("another", "lantern-operator", "1.0.0");
    let object: DynamicObject = serde_json::from_value(object)?;
    let dry_run = kube::api::PostParams {
        dry_run: true,
        ..kube::api::PostParams::default()
    };
    let begin = tokio::time::Instant::now();
    until(what, async || {
        let taken = extensions.api.create(&dry_run, &object).await.is_ok();
        (taken == expected).then_some(())
    })
    .await?;
    println!("{what}: after {} ms", begin.elapsed().as_millis());
    Ok(())
}

async fn patch(kubectl: &Kubectl, object: &str, how: &[&str]) -> Result<()> {
    let words = ["patch"].into_iter().chain(object.split(' '));
    let words: Vec<_> = words.chain(how.iter().copied()).collect();
    let printed = kubectl.run_with(&words, "", &[]).await?;
    ensure!(printed.code == Some(0), "{words:?}: {printed:?}");
    Ok(())
}

/// Every field that was written is there as it was written; what was added does not count.
async fn as_written(kubectl: &Kubectl, objects: &str) -> Result<()> {
    let written = kubectl.run(
        "create --dry-run=client --validate=false -o json -f -",
        objects,
    );
    let written = written.await?;
    let stored: Value = serde_json::from_str(&kubectl.run("get -o json -f -", objects).await?)?;
    let stored = stored
        .get("items")
        .and_then(Value::as_array)
        .context("a list")?;
    let written: Vec<Value> = Deserializer::from_str(&written)
        .into_iter()
        .collect::<Result<_, _>>()?;
    ensure!(
        written.len() == stored.len(),
        "{} of {}",
        stored.len(),
        written.len()
    );
    for (written, stored) in written.iter().zip(stored) {
        holds(stored, written).with_context(|| format!("{:?}", written.get("kind")))?;
    }
    Ok(())
}

fn holds(stored: &Value, written: &Value) -> Result<()> {
    match (stored, written) {
        (Value::Object(stored), Value::Object(written)) => {
            for (key, written) in written {
                let stored = stored.get(key).with_context(|| format!("no {key}"))?;
                holds(stored, written).with_context(|| key.clone())?;
            }
        }
        (Value::Array(stored), Value::Array(written)) => {
            ensure!(stored.len() == written.len(), "{stored:?} for {written:?}");
            for (stored, written) in stored.iter().zip(written) {
                holds(stored, written)?;
            }
        }
        _ => ensure!(stored == written, "{stored} for {written}"),
    }
    Ok(())
}

/// Edits one after another, and whether each asks for something else.
fn edits() -> [(Value, bool); 9] {
    [
        (json!({"metadata": {"labels": {"a": "b"}}}), false),
        (
            json!({"metadata": {"finalizers": ["example.com/keep"]}}),
            false,
        ),
        (
            json!({"spec": {"install": {"preflight": {"crdUpgradeSafety": {"enforcement": "None"}}}}}),
            false,
        ),
        (catalog(&json!({"version": "1.0.0"})), false),
        (catalog(&json!({"upgradeConstraintPolicy": null})), false),
        (catalog(&json!({"version": "1.1.0"})), true),
        (catalog(&json!({"channels": ["stable"]})), true),
        (
            catalog(&json!({"selector": {"matchLabels": {"a": "b"}}})),
            true,
        ),
        (
            catalog(&json!({"upgradeConstraintPolicy": "SelfCertified"})),
            true,
        ),
    ]
}

fn catalog(fields: &Value) -> Value {
    json!({"spec": {"source": {"catalog": fields}}})
}

/// What kubectl prints when the webhook was asked and did not answer.
fn is_sent(stderr: &str) -> bool {
    stderr.contains("failed calling webhook \"validate.olmguard.dev\"")
}

/// What each patch on the page says: off, on, and half off.
fn payloads(page: &str) -> Result<[&str; 3]> {
    let quoted = page.split("```sh").skip(1).filter_map(|block| {
        let block = block.split("```").next()?;
        block
            .contains("kubectl patch")
            .then(|| block.split('\'').nth(1))?
    });
    let quoted: Vec<_> = quoted.collect();
    <[&str; 3]>::try_from(quoted).map_err(|found| anyhow::anyhow!("patches: {found:?}"))
}

/// Everything with our label, by kind and name.
async fn left(kubectl: &Kubectl) -> Result<String> {
    let list = format!("get {KINDS} -A -l app.kubernetes.io/part-of=olmguard -o name");
    kubectl.run(&list, "").await
}

/// cert-manager's definitions are not there.
fn without_cert_manager(objects: &str) -> String {
    let kept = objects.split("\n---\n");
    let kept = kept.filter(|object| !object.contains("apiVersion: cert-manager.io/"));
    kept.collect::<Vec<_>>().join("\n---\n")
}

fn document(path: &str) -> Result<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(path);
    fs::read_to_string(&path).with_context(|| path.display().to_string())
}

const NAME: &str = "demo";
const OBJECT: &str = "clusterextension";
const CONFIGURATION: &str = "validatingwebhookconfiguration olmguard";
const KINDS: &str = "clusterroles,clusterrolebindings,configmaps,deployments,networkpolicies,\
    poddisruptionbudgets,priorityclasses,rolebindings,roles,secrets,serviceaccounts,services,\
    validatingwebhookconfigurations";
const RENDERED: [&str; 9] = [
    "default-self-managed",
    "hardened-self-managed",
    "single-node-self-managed",
    "default-cert-manager",
    "hardened-cert-manager",
    "single-node-cert-manager",
    "default-service-ca",
    "hardened-service-ca",
    "single-node-service-ca",
];
