//! All loads of the webhook at the same time, for an hour or more: its memory must not grow.
//!
//! ```text
//! every 10 s     a sample of each pod, then new content of the catalog
//! every 30 s     an audit, and another policy
//! every minute   hostile clients, three times at 10 s from each other
//! all the time   edits of people, each of which depends on the catalog
//! ```
//!
//! All loads except the edits can come several times as often. The printed times are then those of the same events at
//! the usual speed. Audits are at least 10 s apart.
//!
//! `cargo xtask soak` runs this trial, and makes a table and a curve of its samples.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::future::join_all;
use olmguard_figures::{SoakSample, SoakWork};
use tokio::net::TcpStream;
use tokio::time::{MissedTickBehavior, interval};
use tokio_rustls::client::TlsStream;

use super::away::ballast;
use super::faults::site::Site;
use super::policies::policy;
use super::work;
use crate::assets;
use crate::cluster::Cluster;
use crate::kubectl::Kubectl;
use crate::pod::Pod;
use crate::review::Reviewer;
use crate::say::say;

/// Prints the samples and the counts. `cargo xtask soak` decides whether a pod grows, or whether an answer was wrong.
pub(crate) async fn holds_what_it_held(cluster: &mut Cluster) -> Result<()> {
    let asked = assets::soak()?;
    let (length, speed) = asked.context("`cargo xtask soak` says how long it takes")?;
    let mut soak = Soak::begin(cluster, speed).await?;
    let people = work::begin_while_it_changes(cluster).await?.load;
    let mut ticks = interval(TICK / speed);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for tick in 0.. {
        ticks.tick().await;
        soak.sample().await?;
        if soak.begun.elapsed() >= length {
            break;
        }
        soak.tick(cluster, tick).await?;
    }
    let counts = people.count().await?;
    for wrong in counts.wrong.iter().take(5) {
        say(format_args!("{wrong:?}"));
    }
    let work = SoakWork {
        speed,
        edits: counts.asked,
        pace: counts.pace(),
        wrong: counts.wrong.len(),
        contents: soak.contents,
        policies: soak.policies,
        audits: soak.audits().await?,
        audits_due: soak.begun.elapsed().div_duration_f64(soak.between_audits),
        hostile: soak.hostile,
    };
    say(format_args!("soak: {}", serde_json::to_string(&work)?));
    soak.site.is_followed(cluster).await?;
    soak.site.guard.down().await
}

/// The running soak.
struct Soak {
    site: Site,
    kubectl: Kubectl,
    reviewer: Reviewer,
    ballast: String,
    /// Hostile clients, each in the middle of its request.
    slow: Vec<TlsStream<TcpStream>>,
    begun: Instant,
    speed: u32,
    between_audits: Duration,
    contents: usize,
    policies: usize,
    hostile: usize,
}

impl Soak {
    async fn begin(cluster: &Cluster, speed: u32) -> Result<Self> {
        let between_audits = (AUDITS / speed).max(SHORTEST);
        let site = Site::audited(cluster, between_audits).await?;
        Ok(Self {
            kubectl: cluster.kubectl()?,
            reviewer: site.reviewer(cluster).await?,
            site,
            ballast: ballast::of(BODY),
            slow: Vec::new(),
            begun: Instant::now(),
            speed,
            between_audits,
            contents: 0,
            policies: 0,
            hostile: 0,
        })
    }

    /// Runs the events of one tick.
    async fn tick(&mut self, cluster: &Cluster, tick: usize) -> Result<()> {
        self.contents += 1;
        self.site.change(cluster, &self.ballast).await?;
        if tick % 6 < 3 {
            self.hostility().await?;
        } else {
            // Half of the samples of a minute are taken without them.
            self.slow.clear();
        }
        if tick % 3 == 1 {
            // Both policies allow the edits of users.
            let rules = if tick.is_multiple_of(2) {
                "step: Minor"
            } else {
                "step: Major"
            };
            self.kubectl.apply(&policy("soak", rules)).await?;
            self.policies += 1;
        }
        Ok(())
    }

    /// Starts slow clients, and clients that send invalid bodies.
    async fn hostility(&mut self) -> Result<()> {
        let slow = join_all((0..SLOW).map(|_| self.reviewer.begin())).await;
        self.slow = slow.into_iter().collect::<Result<_>>()?;
        let nonsense = join_all((0..NONSENSE).map(|_| self.reviewer.send_nonsense(1 << 20)));
        nonsense.await.into_iter().collect::<Result<Vec<_>>>()?;
        self.hostile += SLOW + NONSENSE;
        Ok(())
    }

    /// Returns how many audit reports have been written.
    async fn audits(&self) -> Result<f64> {
        let mut written = 0.0;
        for pod in &self.site.guard.pods {
            written += pod
                .metric_sum("olmguard_audit_reports_total", r#"result="written""#)
                .await?;
        }
        Ok(written)
    }

    async fn sample(&self) -> Result<()> {
        let passed = self.begun.elapsed() * self.speed;
        for (number, pod) in self.site.guard.pods.iter().enumerate() {
            let sample = sample(number, pod, passed).await?;
            say(format_args!("sample: {}", serde_json::to_string(&sample)?));
        }
        Ok(())
    }
}

async fn sample(number: usize, pod: &Pod, passed: Duration) -> Result<SoakSample> {
    Ok(SoakSample {
        pod: number,
        seconds: passed.as_secs_f64(),
        resident: pod.metric_lowest("process_resident_memory_bytes").await?,
        descriptors: pod.metric_lowest("process_open_fds").await?,
        tasks: pod.metric_lowest("olmguard_tokio_alive_tasks").await?,
    })
}

const TICK: Duration = Duration::from_secs(10);
const AUDITS: Duration = Duration::from_secs(30);

/// The shortest interval of audits that olmguard accepts.
const SHORTEST: Duration = Duration::from_secs(10);

/// The size of the catalog in bytes, that of a catalog with some hundred bundles.
const BODY: usize = 1 << 20;

/// The number of clients that send only the start of a request.
const SLOW: usize = 50;

/// The number of clients that send a megabyte that is not a review.
const NONSENSE: usize = 4;
