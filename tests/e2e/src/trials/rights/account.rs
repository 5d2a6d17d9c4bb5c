//! All rights of the service account, as the API server lists them, for each certificate mode.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::assets;
use crate::cluster::Cluster;
use crate::deployment::{NAME, NAMESPACE, rendered};
use crate::kubectl::Kubectl;
use crate::trials::{golden, stand_in};
use crate::until::within;

/// The lists are files of `golden/`, without the rights of every service account.
pub(crate) async fn of_the_service_account(cluster: &mut Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    kubectl.apply(stand_in::CERT_MANAGER).await?;
    kubectl.apply(stand_in::NAMESPACES).await?;
    for mode in ["service-ca", "cert-manager", "self-managed"] {
        let manifest = rendered(&format!("hardened-{mode}"))?;
        kubectl.apply(&manifest).await?;
        are_as_written(&kubectl, mode).await?;
        if mode == "self-managed" {
            refuse_all_else(cluster, &kubectl).await?;
        }
        let delete = kubectl.run("delete -f - --ignore-not-found", &manifest);
        tokio::try_join!(delete, cluster.empty_namespace(NAMESPACE))?;
    }
    Ok(())
}

/// Compares the rights, which take effect a moment after they are written.
async fn are_as_written(kubectl: &Kubectl, mode: &str) -> Result<()> {
    let name = format!("rights-{mode}");
    let mut last = String::new();
    let settled = within(Duration::from_secs(10), "rights", async || {
        last = lists(kubectl).await.ok()?;
        golden::compare(&name, &last, "auth can-i").ok()
    });
    // The comparison reports the difference.
    let _late = settled.await;
    golden::compare(&name, &last, "auth can-i")
}

async fn lists(kubectl: &Kubectl) -> Result<String> {
    let mut text = String::new();
    for namespace in [
        NAMESPACE,
        "olmv1-system",
        "openshift-operator-controller",
        "default",
    ] {
        let everyone = list(kubectl, namespace, "default:nobody").await?;
        let ours = list(kubectl, namespace, &format!("{NAMESPACE}:{NAME}")).await?;
        writeln!(text, "# in {namespace}")?;
        text.extend(ours.difference(&everyone).map(|line| format!("{line}\n")));
    }
    Ok(text)
}

/// Returns the lines of the list.
async fn list(kubectl: &Kubectl, namespace: &str, account: &str) -> Result<BTreeSet<String>> {
    let list = format!(
        "auth can-i --list --no-headers -n {namespace} --as=system:serviceaccount:{account}"
    );
    let printed = kubectl.run(&list, "").await?;
    Ok(printed.lines().map(columns).collect())
}

/// Returns a line with one space between columns. Verbs from two roles have no fixed order, so they
/// are sorted.
fn columns(line: &str) -> String {
    let words: Vec<_> = line.split_whitespace().collect();
    let line = words.join(" ");
    match line.rsplit_once('[') {
        None => line,
        Some((columns, verbs)) => {
            let mut verbs: Vec<_> = verbs.trim_end_matches(']').split(' ').collect();
            verbs.sort_unstable();
            format!("{columns}[{}]", verbs.join(" "))
        }
    }
}

/// Checks that requests with the account's own token are refused, too.
async fn refuse_all_else(cluster: &Cluster, admin: &Kubectl) -> Result<()> {
    let create = format!("create secret generic other -n {NAMESPACE} --from-literal=a=b");
    admin.run(&create, "").await?;
    let kubeconfig = cluster.service_account(NAMESPACE, NAME).await?;
    let account = Kubectl::new(assets::program("kubectl")?, kubeconfig, cluster.dir());
    account.run("get clustercatalogs", "").await?;
    for command in REFUSED {
        let printed = account.try_run(command, CONFIGURATION).await?;
        ensure!(
            printed.code == Some(1) && printed.stderr.contains("is forbidden: User"),
            "{command}: {printed:?}"
        );
    }
    Ok(())
}

const REFUSED: [&str; 14] = [
    "get secret other",
    "get secrets",
    "delete secret olmguard-tls",
    "get secrets -n olmv1-system",
    "create secret generic mine -n default --from-literal=a=b",
    "get configmaps",
    "get pods",
    "create token olmguard",
    "get clusterextension demo",
    "delete clusterextension demo",
    "delete clustercatalog hub",
    "get deployments -n olmv1-system",
    "create -f -",
    "delete validatingwebhookconfiguration olmguard",
];

/// A configuration that is not its own.
const CONFIGURATION: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: another}
";
