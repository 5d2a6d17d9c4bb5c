//! The latency that the webhook adds to an edit.
//!
//! Edits are made in pairs: one by a user whose edits the webhook checks, and one by a user whose edits a match
//! condition excludes. They alternate, so other load on the machine affects both. In each row of pairs, only the
//! quickest edit of each user counts, because a process that waits for a core says nothing about the webhook. The
//! result is the median of these differences.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::work::{self, EXTENSION, PACKAGE, Site};
use crate::assets;
use crate::cluster::{ADMINISTRATORS, Cluster};
use crate::deployment::NAME;
use crate::extension::{Extensions, extension};
use crate::kubectl::Kubectl;
use crate::say::say;
use crate::until::until;

/// The maximum latency that the webhook may add for a client that keeps its connection. Measured are 2 ms.
const MOST: Duration = Duration::from_millis(5);

/// The number of pairs in a row, of which the quickest count.
const IN_A_ROW: usize = 16;

/// The number of rows of dry runs, and of `kubectl apply`, which takes much longer.
const DRY_RUNS: usize = 25;
const APPLIES: usize = 2;

pub(crate) async fn of_an_edit(cluster: &mut Cluster) -> Result<()> {
    let mut site = Site::hardened(cluster).await?;
    work::install(cluster).await?;
    let with = User::of(cluster, "e2e-checked").await?;
    let without = User::of(cluster, KEPT_AWAY).await?;
    keep_away(cluster, KEPT_AWAY).await?;
    let passes = async || (!without.is_denied().await).then_some(());
    until("the webhook not to be asked", passes).await?;
    ensure!(with.is_denied().await, "the webhook is not asked");

    let mut applies = Pairs::default();
    for _ in 0..APPLIES * IN_A_ROW {
        // The version differs from the previous one, so that the edit changes something.
        let checked = with.apply("1.1.0").await?;
        applies.add(checked, without.apply(">=1.0.0 <1.2.0").await?);
    }
    say(format_args!("kubectl apply: {}", applies.in_words()));
    let mut dry_runs = Pairs::default();
    for _ in 0..DRY_RUNS * IN_A_ROW {
        dry_runs.add(with.dry_run().await?, without.dry_run().await?);
    }
    say(format_args!("a dry-run: {}", dry_runs.in_words()));
    let added = dry_runs.added();
    ensure!(added <= MOST, "the webhook adds {added:.1?} to a dry-run");
    site.guard.down().await
}

/// A user who edits the extension.
struct User {
    extensions: Extensions,
    kubectl: Kubectl,
}

impl User {
    async fn of(cluster: &Cluster, name: &str) -> Result<Self> {
        let kubectl = assets::program("kubectl")?;
        let kubeconfig = cluster.certified(name, ADMINISTRATORS)?;
        Ok(Self {
            extensions: Extensions::of(&cluster.administrator(name).await?),
            kubectl: Kubectl::new(kubectl, kubeconfig, cluster.dir()),
        })
    }

    async fn is_denied(&self) -> bool {
        self.extensions
            .try_version(EXTENSION, "1.2.0")
            .await
            .is_err()
    }

    /// Makes an edit that the webhook allows, with a client that keeps its connection.
    async fn dry_run(&self) -> Result<Duration> {
        let start = Instant::now();
        self.extensions.try_version(EXTENSION, "1.1.0").await?;
        Ok(start.elapsed())
    }

    async fn apply(&self, version: &str) -> Result<Duration> {
        let manifest = extension(EXTENSION, PACKAGE, version).to_string();
        let start = Instant::now();
        let apply = "apply --server-side --force-conflicts -f -";
        self.kubectl.run(apply, &manifest).await?;
        Ok(start.elapsed())
    }
}

/// Excludes the edits of this user from the webhook.
async fn keep_away(cluster: &Cluster, user: &str) -> Result<()> {
    let expression = format!("request.userInfo.username != '{user}'");
    let condition = json!({ "name": "not-of-this-user", "expression": expression });
    let add = json!([{ "op": "add", "path": "/webhooks/0/matchConditions/-", "value": condition }]);
    let patch =
        format!("patch validatingwebhookconfiguration {NAME} --type=json --patch-file=/dev/stdin");
    cluster.kubectl()?.run(&patch, &add.to_string()).await?;
    Ok(())
}

/// The durations of edits, in pairs.
#[derive(Default)]
struct Pairs {
    with: Vec<Duration>,
    without: Vec<Duration>,
}

impl Pairs {
    fn add(&mut self, with: Duration, without: Duration) {
        self.with.push(with);
        self.without.push(without);
    }

    /// Returns the latency that the webhook adds.
    fn added(&self) -> Duration {
        let with = self.with.chunks(IN_A_ROW).map(quickest);
        let without = self.without.chunks(IN_A_ROW).map(quickest);
        let added = with.zip(without);
        median(added.map(|(with, without)| with.saturating_sub(without)))
    }

    fn in_words(&self) -> String {
        format!(
            "{:.1?} with the webhook and {:.1?} without, medians of {}; of the quickest of {IN_A_ROW} in a row, {:.1?} more",
            median(self.with.iter().copied()),
            median(self.without.iter().copied()),
            self.with.len(),
            self.added(),
        )
    }
}

fn quickest(row: &[Duration]) -> Duration {
    row.iter().min().copied().unwrap_or_default()
}

fn median(of: impl Iterator<Item = Duration>) -> Duration {
    let mut of: Vec<Duration> = of.collect();
    of.sort();
    of.get(of.len() / 2).copied().unwrap_or_default()
}

/// The user whose edits the webhook does not check.
const KEPT_AWAY: &str = "e2e-kept-away";
