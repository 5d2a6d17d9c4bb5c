//! The image as a node runs it: a read-only root with the program and no shell, the user of the image, and the name
//! server of the cluster.

use std::fs;
use std::io::ErrorKind;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use tokio::process::Command;

use crate::assets;
use crate::cluster::Cluster;
use crate::container::Container;
use crate::container::layout::Layout;
use crate::container::names::Names;
use crate::say::say;

pub(crate) async fn runs_from_its_own_root(cluster: &mut Cluster) -> Result<()> {
    let folder = cluster.dir().join("image");
    fs::create_dir(&folder)?;
    let image = Layout::read(&assets::image()?)?;
    let files = image.unpack(&folder)?;
    ensure!(files == FILES, "{files:?}");
    ensure!(image.size <= LARGEST, "{} bytes", image.size);
    be_a_pod(cluster, &folder).await?;
    let _names =
        Names::knowing("kubernetes.default.svc.cluster.local", Ipv4Addr::LOCALHOST).await?;
    let container = Container::seal(folder.clone(), &image.user)?;
    let written = fs::write(folder.join("tmp"), "").map_err(|error| error.kind());
    ensure!(written == Err(ErrorKind::ReadOnlyFilesystem), "{written:?}");

    let guard = |arguments: &'static str| run(&container, &image.entrypoint, arguments, cluster);
    let version = guard("--version").await?;
    ensure!(version.starts_with("olmguard "), "{version}");
    let demo = guard("demo").await?;
    ensure!(demo.contains("[NotASuccessor]"), "{demo}");
    let catalogs = guard("catalogs -o json").await?;
    ensure!(catalogs.contains("\"lantern-hub\""), "{catalogs}");
    say(format_args!("the image has {} bytes", image.size));
    Ok(())
}

/// Creates the files of a kubelet in the root, for a service account with all rights.
async fn be_a_pod(cluster: &Cluster, root: &Path) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    kubectl.apply(OBJECTS).await?;
    let token = kubectl.run("create token in-image", "").await?;
    let account = root.join("var/run/secrets/kubernetes.io/serviceaccount");
    fs::create_dir_all(&account)?;
    fs::write(account.join("token"), token.trim_end())?;
    fs::write(account.join("namespace"), "default")?;
    fs::copy(cluster.pki.ca(), account.join("ca.crt"))?;
    fs::write(root.join("etc/hosts"), "127.0.0.1 localhost\n")?;
    let nameserver = Names::ADDRESS;
    fs::write(
        root.join("etc/resolv.conf"),
        format!(
            "search default.svc.cluster.local svc.cluster.local cluster.local\nnameserver {nameserver}\noptions ndots:5\n"
        ),
    )?;
    Ok(())
}

/// Runs the program, which must succeed, and returns its output.
async fn run(
    container: &Container,
    program: &str,
    arguments: &str,
    cluster: &Cluster,
) -> Result<String> {
    let (_, port) = cluster
        .api
        .url()
        .rsplit_once(':')
        .context("the API server has a port")?;
    let command = container.command(program);
    let output = Command::from(command)
        .args(arguments.split_whitespace())
        .env("KUBERNETES_SERVICE_HOST", "kubernetes.default.svc")
        .env("KUBERNETES_SERVICE_PORT", port)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await?;
    ensure!(output.status.success(), "{arguments}: {output:?}");
    Ok(String::from_utf8(output.stdout)?)
}

/// All files of the image: no shell, no loader, no library.
const FILES: [&str; 4] = ["etc/", "etc/group", "etc/passwd", "olmguard"];

/// The largest compressed size of an image in bytes.
const LARGEST: u64 = 20_000_000;

const OBJECTS: &str = "\
apiVersion: v1
kind: ServiceAccount
metadata: {name: in-image, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: in-image}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: in-image, namespace: default}]
---
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: lantern-hub}
spec:
  availabilityMode: Unavailable
  source: {type: Image, image: {ref: registry.test/lantern/hub:v1}}
";
