//! The commands that users run outside the cluster, with the real API server and catalogd.
//!
//! `check --from-cluster` fetches the catalog from catalogd. If the name of catalogd's Service cannot be resolved, it
//! uses the service proxy of the API server. `snapshot save` writes the catalog to a file. All of these give the same
//! reason codes, and if none works, the edit is undecided.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::work::{self, EXTENSION, PACKAGE};
use crate::assets;
use crate::cluster::Cluster;
use crate::extension::extension;
use crate::kubectl::Kubectl;
use crate::namespace::POD_ADDRESSES;
use crate::olm::catalogd::External;
use crate::olm::{Olm, SYSTEM};
use crate::say::say;

/// Reads from catalogd itself: for an answer, and into a file and from there for an answer.
pub(crate) async fn commands_read_from_catalogd(cluster: &mut Cluster) -> Result<()> {
    let (mut olm, digest) = work::serve(cluster).await?;
    work::install(cluster).await?;
    let olmguard = cluster.kubectl()?.by(assets::guard()?);
    let trust = format!("--catalogd-ca {}", cluster.pki.ca().display());
    let from_cluster = format!("--from-cluster {trust}");
    are_right(&olmguard, &from_cluster, &digest).await?;

    let save = format!("snapshot save {FILE} {trust}");
    olmguard.run(&save, "").await?;
    let from_file = format!("--snapshot {FILE} --installed {EXTENSION}=1.0.0");
    are_right(&olmguard, &from_file, &digest).await?;

    olm.catalogd.kill().await?;
    is_undecided(&olmguard, &from_cluster, "connect").await?;
    let saved = olmguard.try_run(&save, "").await?;
    ensure!(saved.code == Some(4), "{saved:?}");
    Ok(())
}

/// Reads through the API server, as a user who has only the right to do so.
pub(crate) async fn commands_read_through_the_api_server(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::without_controller_at(cluster, External::Service(NAME)).await?;
    let digest = olm.serve(cluster, &work::hub("", &work::FIRST)).await?;
    work::install(cluster).await?;
    lead_to(cluster, olm.catalogd.content).await?;
    let kubectl = cluster.kubectl()?;
    kubectl.apply(READER).await?;
    let kubeconfig = cluster.certified("reader", "people")?;
    let olmguard = Kubectl::new(assets::guard()?, kubeconfig, cluster.dir());
    is_undecided(&olmguard, "--from-cluster", "services/proxy").await?;
    kubectl.apply(PROXY).await?;
    are_right(&olmguard, "--from-cluster", &digest).await
}

/// Checks that one edit is allowed by an upgrade edge of the catalog, and another is denied for lack of one.
async fn are_right(olmguard: &Kubectl, facts: &str, digest: &str) -> Result<()> {
    for (version, code, token) in [("1.1.0", 0, "Resolved"), ("1.2.0", 1, "NotASuccessor")] {
        let (ended, report) = check(olmguard, facts, version).await?;
        let found = report.pointer("/results/0/token");
        ensure!(
            ended == Some(code) && found == Some(&token.into()),
            "{facts}, {version}: {ended:?} {report:#}"
        );
        let content = report.pointer("/catalogs/0/digest");
        ensure!(content == Some(&digest.into()), "{report:#}");
    }
    say(format_args!(
        "olmguard check {facts}: Resolved, NotASuccessor"
    ));
    Ok(())
}

/// Checks that the catalog cannot be fetched, for the reason in the report.
async fn is_undecided(olmguard: &Kubectl, facts: &str, why: &str) -> Result<()> {
    let (ended, report) = check(olmguard, facts, "1.2.0").await?;
    let error = report.pointer("/catalogs/0/error").and_then(Value::as_str);
    ensure!(
        ended == Some(4) && error.is_some_and(|error| error.contains(why)),
        "{ended:?} {report:#}"
    );
    let token = report.pointer("/results/0/token");
    ensure!(token == Some(&"CatalogNotLoaded".into()), "{report:#}");
    Ok(())
}

/// Returns the exit code and the report of `olmguard check` for an edit to this version.
async fn check(olmguard: &Kubectl, facts: &str, version: &str) -> Result<(Option<i32>, Value)> {
    let manifest = extension(EXTENSION, PACKAGE, version).to_string();
    let printed = olmguard
        .try_run(&format!("check -o json -f - {facts}"), &manifest)
        .await?;
    let report = serde_json::from_str(&printed.stdout).context(printed.stderr)?;
    Ok((printed.code, report))
}

/// The part of the controllers: makes catalogd a pod, and an endpoint of its Service.
async fn lead_to(cluster: &Cluster, port: u16) -> Result<()> {
    let [address, ..] = POD_ADDRESSES;
    let pod = json!({ "kind": "Pod", "name": "catalogd", "namespace": SYSTEM });
    let objects = json!({ "apiVersion": "v1", "kind": "List", "items": [
        object("ServiceAccount", "catalogd", json!({})),
        object("Pod", "catalogd", json!({ "spec": {
            "nodeName": "e2e", "serviceAccountName": "catalogd", "automountServiceAccountToken": false,
            "containers": [{ "name": "catalogd", "image": "none/catalogd:1" }],
        }})),
        object("Service", NAME, json!({ "spec": {
            "ports": [{ "name": "https", "port": 443, "targetPort": port }],
        }})),
        // API servers before 1.37 use the first one for the address of a Service, later ones the second.
        object("Endpoints", NAME, json!({ "subsets": [{
            "addresses": [{ "ip": address, "targetRef": pod }],
            "ports": [{ "name": "https", "port": port }],
        }]})),
        json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": { "name": NAME, "namespace": SYSTEM, "labels": { "kubernetes.io/service-name": NAME } },
            "endpoints": [{ "addresses": [address], "targetRef": pod }],
            "ports": [{ "name": "https", "port": port }],
        }),
    ]});
    cluster.kubectl()?.apply(&objects.to_string()).await?;
    let pods: Api<Pod> = Api::namespaced(cluster.client.clone(), SYSTEM);
    let status = json!({ "status": { "phase": "Running", "podIP": address, "podIPs": [{ "ip": address }] } });
    let as_told = PatchParams::default();
    pods.patch_status("catalogd", &as_told, &Patch::Merge(status))
        .await?;
    Ok(())
}

fn object(kind: &str, name: &str, mut fields: Value) -> Value {
    let metadata = json!({ "name": name, "namespace": SYSTEM });
    let head = [
        ("apiVersion", "v1".into()),
        ("kind", kind.into()),
        ("metadata", metadata),
    ];
    if let Some(fields) = fields.as_object_mut() {
        fields.extend(head.map(|(key, value)| (key.to_owned(), value)));
    }
    fields
}

/// The Service of catalogd, as OLM names it.
const NAME: &str = "catalogd-service";

const FILE: &str = "catalogs.snapshot";

/// The rights for `check --from-cluster`.
const READER: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- {apiGroups: [olm.operatorframework.io], resources: [clustercatalogs, clusterextensions], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
";

/// The right to use the proxy of the API server.
const PROXY: &str = "\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: catalog-reader, namespace: olmv1-system}
rules:
- {apiGroups: [''], resources: [services/proxy], verbs: [get]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: catalog-reader, namespace: olmv1-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: catalog-reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]
";
