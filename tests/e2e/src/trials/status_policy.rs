//! The shipped `ValidatingAdmissionPolicy`: only operator-controller can write the status that edits are compared with.

use std::time::Duration;

use anyhow::{Result, ensure};

use crate::assets;
use crate::cluster::Cluster;
use crate::deployment::rendered;
use crate::extension::extension;
use crate::kubectl::{Kubectl, Printed};
use crate::trials::stand_in;
use crate::until::within;

/// In the namespace of OLM's own installation, and then in that of OpenShift.
pub(crate) async fn keeps_the_status_to_the_controller(cluster: &mut Cluster) -> Result<()> {
    let admin = cluster.kubectl()?;
    admin.apply(stand_in::NAMESPACES).await?;
    let demo = extension("demo", "lantern-operator", "1.0.0").to_string();
    admin.run("create -f -", &demo).await?;
    let usual = account(cluster, &admin, "olmv1-system").await?;
    let openshift = account(cluster, &admin, "openshift-operator-controller").await?;
    is_taken(&admin, STATUS).await?;
    for (manifest, namespace, controller, others) in [
        (
            "enforcing-self-managed",
            "olmv1-system",
            &usual,
            [&admin, &openshift],
        ),
        (
            "enforcing-service-ca",
            "openshift-operator-controller",
            &openshift,
            [&admin, &usual],
        ),
    ] {
        admin.apply(&policy(&rendered(manifest)?)).await?;
        for other in others {
            is_refused(other, namespace).await?;
        }
        is_taken(controller, STATUS).await?;
        is_taken(controller, OTHER_STATUS).await?;
    }
    for edit in OTHER_EDITS {
        is_taken(&admin, edit).await?;
    }
    Ok(())
}

/// Creates a service account with the controller's name and administrator rights in this namespace.
async fn account(cluster: &Cluster, admin: &Kubectl, namespace: &str) -> Result<Kubectl> {
    let create = format!("create serviceaccount {ACCOUNT} -n {namespace}");
    admin.run(&create, "").await?;
    let bind = format!(
        "create clusterrolebinding {namespace} --clusterrole=cluster-admin --serviceaccount={namespace}:{ACCOUNT}"
    );
    admin.run(&bind, "").await?;
    let kubeconfig = cluster.service_account(namespace, ACCOUNT).await?;
    let program = assets::program("kubectl")?;
    Ok(Kubectl::new(program, kubeconfig, cluster.dir()))
}

/// Returns the policy and its binding from the objects of a profile.
fn policy(manifest: &str) -> String {
    let objects = manifest.split("\n---\n");
    let of_policy = objects.filter(|object| object.contains("\nkind: ValidatingAdmissionPolicy"));
    of_policy.collect::<Vec<_>>().join("\n---\n")
}

async fn is_taken(account: &Kubectl, edit: &str) -> Result<()> {
    account.run(edit, "").await.map(drop)
}

/// Waits until the edit is refused: API servers apply a policy a moment after it is written.
async fn is_refused(account: &Kubectl, namespace: &str) -> Result<()> {
    let controller = format!("system:serviceaccount:{namespace}:{ACCOUNT}");
    let expected = format!(
        "ValidatingAdmissionPolicy 'olmguard-status' with binding 'olmguard-status' denied request: \
         only {controller} can write this status: olmguard reads the installed version from it"
    );
    for edit in [STATUS, OTHER_STATUS, DRY_RUN] {
        let refused = async || {
            let printed: Printed = account.try_run(edit, "").await.ok()?;
            let says_why = printed.stderr.contains(&expected);
            (printed.code == Some(1) && says_why).then_some(printed)
        };
        let printed = within(Duration::from_secs(30), &expected, refused).await?;
        ensure!(
            printed.stderr.contains("is forbidden:"),
            "{edit}: {printed:?}"
        );
    }
    Ok(())
}

/// The account in OLM's own installation.
const ACCOUNT: &str = "operator-controller-controller-manager";

const STATUS: &str = r#"patch clusterextension demo --subresource=status --type=merge -p {"status":{"install":{"bundle":{"name":"lantern-operator.v1.0.0","version":"1.0.0"}}}}"#;
const OTHER_STATUS: &str = r#"patch clusterextension demo --subresource=status --type=merge -p {"status":{"install":{"bundle":{"name":"lantern-operator.v1.2.0","version":"1.2.0"}}}}"#;
const DRY_RUN: &str = r#"patch clusterextension demo --subresource=status --type=merge --dry-run=server -p {"status":{"install":{"bundle":{"name":"lantern-operator.v1.3.0","version":"1.3.0"}}}}"#;

/// Edits of the object itself, which the policy does not cover.
const OTHER_EDITS: [&str; 4] = [
    "label clusterextension demo team=lights",
    r#"patch clusterextension demo --type=merge -p {"metadata":{"finalizers":["e2e.test/a"]}}"#,
    r#"patch clusterextension demo --type=merge -p {"metadata":{"finalizers":null},"spec":{"source":{"catalog":{"version":"1.1.0"}}}}"#,
    "delete clusterextension demo",
];
