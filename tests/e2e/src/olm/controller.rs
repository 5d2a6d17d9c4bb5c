//! operator-controller, and the objects that an extension needs to be installed.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use kube::Api;
use kube::api::PostParams;
use serde_json::{Value, json};

use super::SYSTEM;
use crate::assets;
use crate::cluster::Cluster;
use crate::cluster::apiserver::free_port;
use crate::program::Program;
use crate::until::until;

/// A running operator-controller.
#[derive(Debug)]
pub(crate) struct Controller {
    _program: Program,
}

impl Controller {
    /// Starts it and waits until it is ready. It installs with the rights of the service account of
    /// an extension, so every service account gets all rights.
    pub(super) async fn start(cluster: &Cluster, authorities: &Path, gates: &str) -> Result<Self> {
        let bindings: Api<ClusterRoleBinding> = Api::all(cluster.client.clone());
        bindings.create(&PostParams::default(), &serde_json::from_value(json!({
            "metadata": { "name": "e2e-installers" },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin" },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:serviceaccounts" }],
        }))?).await?;
        let health = free_port()?;
        let program = spawn(cluster, authorities, gates, health)?;
        until("operator-controller", async || {
            super::is_ready(health).await.then_some(())
        })
        .await?;
        Ok(Self { _program: program })
    }
}

/// Returns an extension with this catalog source, installed in the namespace of the same name.
pub(crate) fn extension(name: &str, catalog: &Value) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": { "name": name },
        "spec": {
            "namespace": name,
            "serviceAccount": { "name": INSTALLER },
            "source": { "sourceType": "Catalog", "catalog": catalog },
        },
    })
}

/// Creates the namespace of such an extension, and its service account.
pub(crate) async fn home(cluster: &Cluster, name: &str) -> Result<()> {
    let namespaces: Api<Namespace> = Api::all(cluster.client.clone());
    let accounts: Api<ServiceAccount> = Api::namespaced(cluster.client.clone(), name);
    let named = |name: &str| json!({ "metadata": { "name": name } });
    let create = PostParams::default();
    namespaces
        .create(&create, &serde_json::from_value(named(name))?)
        .await?;
    accounts
        .create(&create, &serde_json::from_value(named(INSTALLER))?)
        .await?;
    Ok(())
}

/// Starts the program. It empties its cache directory at the start, whose default is shared by the
/// machine.
fn spawn(cluster: &Cluster, authorities: &Path, gates: &str, health: u16) -> Result<Program> {
    let mut command = Command::new(assets::program("operator-controller")?);
    let path = |flag: &str, path: &Path| format!("--{flag}={}", path.display());
    command.args([
        path("kubeconfig", cluster.admin()),
        path(
            "cache-path",
            &cluster.dir().join("operator-controller-cache"),
        ),
        path("catalogd-cas-dir", authorities),
        path("pull-cas-dir", authorities),
        format!("--system-namespace={SYSTEM}"),
        format!("--feature-gates={gates}"),
        format!("--health-probe-bind-address=127.0.0.1:{health}"),
    ]);
    Program::start(cluster.dir(), "operator-controller", command)
}

const INSTALLER: &str = "installer";
