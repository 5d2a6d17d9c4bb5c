//! The commands of `docs/emergency.md`, as written there.

use std::time::Instant;

use anyhow::{Result, ensure};

use crate::cluster::Cluster;
use crate::deployment::{Deployment, rendered};
use crate::extension::Extensions;
use crate::guide::Page;
use crate::say::say;
use crate::until::until;

/// Turns the webhook off and on again while it answers, and lets it fail open while it does not.
pub(crate) async fn commands_do_what_they_say(cluster: &mut Cluster) -> Result<()> {
    let page = Page::read("emergency")?;
    let kubectl = cluster.kubectl()?;
    kubectl.run("create namespace olmv1-system", "").await?;
    let mut guard = Deployment::up(cluster, "hardened-self-managed").await?;
    let manifest = rendered("hardened-self-managed")?;
    let extensions = Extensions::of(&cluster.client);
    extensions
        .create("demo", "lantern-operator", "1.0.0")
        .await?;
    becomes(&extensions, Some("[InvalidVersionRange]")).await?;

    page.run(cluster, "Off").await?;
    let took = becomes(&extensions, None).await?;
    say(format_args!("off after {took} ms"));
    let named = page.run(cluster, "Is it off?").await?;
    ensure!(
        named.split_whitespace().any(|name| name == "switched-off"),
        "{named}"
    );
    page.run(cluster, "Off").await?;
    kubectl.apply(&manifest).await?;
    let by_the_server = "apply --server-side --force-conflicts -f -";
    kubectl.run(by_the_server, &manifest).await?;
    guard.restart().await?;
    let kept = page.run(cluster, "Is it off?").await?;
    ensure!(kept == named, "{kept}");
    becomes(&extensions, None).await?;

    page.run(cluster, "On").await?;
    let took = becomes(&extensions, Some("[InvalidVersionRange]")).await?;
    say(format_args!("on after {took} ms"));
    let named = page.run(cluster, "Is it off?").await?;
    ensure!(!named.contains("switched-off"), "{named}");

    guard.down().await?;
    guard.service.close().await;
    becomes(&extensions, Some("failed calling webhook")).await?;
    page.run(cluster, "Fail open temporarily").await?;
    let took = becomes(&extensions, None).await?;
    say(format_args!("half off after {took} ms"));
    kubectl.apply(&manifest).await?;
    becomes(&extensions, Some("failed calling webhook")).await?;
    Ok(())
}

/// Waits until an invalid edit is denied for this reason, or allowed. Returns the time in
/// milliseconds.
async fn becomes(extensions: &Extensions, refused: Option<&str>) -> Result<u128> {
    let since = Instant::now();
    until("the edit to be answered otherwise", async || {
        let answer = extensions.try_version("demo", "|").await;
        let is_so = match (refused, &answer) {
            (None, Ok(())) => true,
            (Some(why), Err(error)) => error.to_string().contains(why),
            _ => false,
        };
        is_so.then_some(())
    })
    .await?;
    Ok(since.elapsed().as_millis())
}
