//! `docs/get-started.md` from start to end: each of its commands must print what the page shows.
//!
//! The commands of kind, Docker and curl are skipped, because the cluster, OLM and the image exist already. The catalog
//! replaces the public one, with the versions that the page mentions.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::cluster::Cluster;
use crate::deployment::Deployment;
use crate::guide::{Page, Session, shell};
use crate::image::Image;
use crate::olm::Olm;
use crate::olm::catalog::Catalog;
use crate::say::say;
use crate::steady::steady;

pub(crate) async fn prints_what_the_page_shows(cluster: &mut Cluster) -> Result<()> {
    let olm = Olm::start(cluster).await?;
    olm.serve(cluster, &Catalog::of("operatorhubio", &argocd(&olm).await?))
        .await?;
    certify(cluster).await?;
    let mut guard = None;
    let (mut compared, mut left_out) = (0, 0);
    for session in Page::read("get-started")?.sessions() {
        if !session.command.starts_with("kubectl ") {
            ensure!(is_elsewhere(&session.command), "{}", session.command);
            left_out += 1;
            continue;
        }
        if session.command.starts_with("kubectl rollout status ") {
            trusts_olm(cluster).await?;
            guard = Some(Deployment::start(cluster, &[]).await?);
        }
        follow(cluster, &session).await?;
        compared += 1;
    }
    ensure!(compared > 8, "only {compared} commands ran");
    say(format_args!(
        "docs/get-started.md: {compared} compared, {left_out} left out (kind, Docker and curl)"
    ));
    let mut guard = guard.context("the page waits for the rollout")?;
    guard.down().await
}

/// Whether a command creates something that exists here already.
fn is_elsewhere(command: &str) -> bool {
    let program = command.split(' ').next().unwrap_or_default();
    ["kind", "docker", "curl"].contains(&program)
}

/// Runs a command at the root of the repository, and compares its output.
async fn follow(cluster: &Cluster, session: &Session) -> Result<()> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let commands = format!("cd '{root}'\n{}", session.command);
    let printed = shell(cluster, &commands).await?;
    let code = match printed.code {
        Some(0) => String::new(),
        code => format!("# exit code {}\n", code.unwrap_or(-1)),
    };
    let printed = steady(&format!("{}{}{code}", printed.stdout, printed.stderr));
    ensure!(
        is_shown(&lines(&session.shown), &lines(&printed)),
        "{}\nthe page shows\n{}\nit printed\n{printed}",
        session.command,
        session.shown
    );
    Ok(())
}

fn lines(text: &str) -> Vec<&str> {
    text.trim_end().lines().collect()
}

/// Whether these lines match those of the page, where `...` stands for any number of lines.
fn is_shown(page: &[&str], printed: &[&str]) -> bool {
    match (page, printed) {
        ([], printed) => printed.is_empty(),
        (["...", rest @ ..], printed) => {
            (0..=printed.len()).any(|from| is_shown(rest, printed.get(from..).unwrap_or_default()))
        }
        ([line, page @ ..], [found, printed @ ..]) => line == found && is_shown(page, printed),
        ([_, ..], []) => false,
    }
}

/// Checks that the `ConfigMap` of the page has OLM's CA certificate: the test harness would otherwise write it.
async fn trusts_olm(cluster: &Cluster) -> Result<()> {
    let read = "get configmap olmguard-catalogd-ca -n olmguard-system -o jsonpath={.data.ca\\.crt}";
    let found = cluster.kubectl()?.run(read, "").await?;
    let expected = std::fs::read_to_string(cluster.pki.ca())?;
    ensure!(found.trim() == expected.trim(), "{found}");
    Ok(())
}

/// Creates the part of OLM's installation that has its CA, in the namespace of cert-manager.
async fn certify(cluster: &Cluster) -> Result<()> {
    let kubectl = cluster.kubectl()?;
    kubectl.run("create namespace cert-manager", "").await?;
    let secret = format!(
        "create secret generic olmv1-ca -n cert-manager --from-file=tls.crt={}",
        cluster.pki.ca().display()
    );
    kubectl.run(&secret, "").await?;
    Ok(())
}

/// Returns 0.5.0 <- 0.6.0 <- 0.7.0, with images.
async fn argocd(olm: &Olm) -> Result<Vec<Value>> {
    let mut blobs = vec![
        json!({ "schema": "olm.package", "name": PACKAGE, "defaultChannel": "alpha" }),
        json!({ "schema": "olm.channel", "package": PACKAGE, "name": "alpha", "entries": [
            { "name": "argocd-operator.v0.5.0" },
            { "name": "argocd-operator.v0.6.0", "replaces": "argocd-operator.v0.5.0" },
            { "name": "argocd-operator.v0.7.0", "replaces": "argocd-operator.v0.6.0" },
        ] }),
    ];
    for version in ["0.5.0", "0.6.0", "0.7.0"] {
        let name = format!("{PACKAGE}.v{version}");
        let image = Image::bundle(PACKAGE, &name, version)?;
        let reference = olm.registry.push("bundles/argocd", &image).await?;
        blobs.push(json!({
            "schema": "olm.bundle", "package": PACKAGE, "name": name, "image": reference,
            "properties": [{ "type": "olm.package", "value": { "packageName": PACKAGE, "version": version } }],
        }));
    }
    Ok(blobs)
}

const PACKAGE: &str = "argocd-operator";
