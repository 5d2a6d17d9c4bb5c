//! Audit of all installed extensions at an interval, by the replica that leads.
//!
//! ```text
//! extensions::list --chunks--> a thread that is not the admission's --Audit--> findings --> gauges
//!   catalogs and policies of the moment ------^                          '--> ClusterReport objects, if wanted
//! ```
//!
//! Invariants: no answer waits for any of this; an audit begins when the facts are known, and is by the catalogs and
//! policies of one moment, which are kept until it ends; an audit ends within `LONGEST` and reads at most `MOST_EXTENSIONS`; what fails is counted, and the
//! figures of the last audit that ended stay.

mod reports;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use kube::Client;
use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tracing::{info, warn};

use crate::cluster::extensions::ExtensionsError;
use crate::cluster::lease::Leadership;
use crate::cluster::{extensions, line};
use crate::live_facts::{FactsOfMoment, LiveFacts, moment};
use crate::once_per_change::OncePerChange;
use crate::telemetry::metrics::{AuditFigures, AuditMetrics};
use crate::tls::Clock;
use olmguard_engine::audit::{Audit, Concern, as_set_now};
use olmguard_engine::extension::Extension;
use olmguard_engine::judge::Requester;
use olmguard_policy::Moment;
use olmguard_views::audit_report::ExtensionReport;
use reports::ReportWriter;

/// How is audited.
#[derive(Clone, Debug)]
pub struct AuditConfig {
    /// The time from one audit to the next.
    pub interval: Duration,
    /// Whether the `ClusterReport` objects are written.
    pub writes_reports: bool,
    /// What edits are judged by.
    pub facts: LiveFacts,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// What is counted.
    pub metrics: Arc<AuditMetrics>,
}

/// Why an audit did not end.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
enum AuditRunError {
    #[error(transparent)]
    Installed(#[from] IncompleteListError),
    #[error("it takes more than {} s", LONGEST.as_secs())]
    TooLong,
    #[error("the thread that audits panicked; please report this")]
    Panicked,
}

/// Why the extensions are not known, or not all of them.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
enum IncompleteListError {
    #[error(transparent)]
    List(#[from] ExtensionsError),
    #[error("the API server answers with another kind of object")]
    OtherKind,
    #[error("there are more than {MOST_EXTENSIONS} ClusterExtensions")]
    TooMany,
}

/// Audits whenever this replica leads and `is_ready` says that the facts are known, for as long as it is polled.
pub async fn audit(
    client: Client,
    leadership: Leadership,
    is_ready: impl Fn() -> bool,
    config: AuditConfig,
) -> Infallible {
    let (client, _) = line::open(client);
    let duty = || {
        info!(interval = ?config.interval, "Auditing what is installed from now on");
        Auditor::new(client.clone(), config.clone()).run(&is_ready)
    };
    leadership.lead(duty).await
}

struct Auditor {
    client: Client,
    config: AuditConfig,
    reports: ReportWriter,
    fault: OncePerChange,
}

/// The figures are shown until this is dropped.
struct Shown(Arc<AuditMetrics>);

impl Drop for Shown {
    fn drop(&mut self) {
        self.0.withdraw();
    }
}

impl Auditor {
    fn new(client: Client, config: AuditConfig) -> Self {
        let metrics = Arc::clone(&config.metrics);
        Self {
            reports: ReportWriter::new(client.clone(), metrics),
            client,
            config,
            fault: OncePerChange::default(),
        }
    }

    async fn run(mut self, is_ready: &impl Fn() -> bool) {
        let _shown = Shown(Arc::clone(&self.config.metrics));
        let mut turns = interval(self.config.interval);
        turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            turns.tick().await;
            // Before that, every extension would be undecided.
            while !is_ready() {
                sleep(READY).await;
            }
            self.turn().await;
        }
    }

    async fn turn(&mut self) {
        let (begun, at) = (Instant::now(), moment(self.config.clock.now()));
        let ended = timeout(LONGEST, self.audited(at)).await;
        match ended.unwrap_or(Err(AuditRunError::TooLong)) {
            Ok(audited) => {
                self.ended(&audited, begun.elapsed());
                if self.config.writes_reports {
                    self.reports.write(audited.reports, at).await;
                }
            }
            Err(error) => self.failed(&error),
        }
    }

    async fn audited(&self, at: Moment) -> Result<Audited, AuditRunError> {
        let extensions = installed(self.client.clone()).await?;
        let requester = Requester {
            at,
            ..Requester::unknown().clone()
        };
        let facts = self.config.facts.now();
        let audited = audited(facts, extensions, requester, self.config.writes_reports);
        audited.await.ok_or(AuditRunError::Panicked)
    }

    fn ended(&mut self, audited: &Audited, took: Duration) {
        self.config.metrics.ended(&AuditFigures {
            at: self.config.clock.now(),
            took,
            extensions: audited.extensions,
            findings: audited.findings.clone(),
        });
        if self.fault.is_gone() {
            info!("Auditing what is installed again");
        }
    }

    fn failed(&mut self, error: &AuditRunError) {
        self.config.metrics.failed();
        let error = error.to_string();
        if self.fault.is_new(&error) {
            warn!(
                error,
                "Failed to audit what is installed, keeping the figures of the last audit"
            );
        }
    }
}

/// All extensions, each with its status.
async fn installed(client: Client) -> Result<Vec<Extension>, IncompleteListError> {
    let count = AtomicUsize::new(0);
    // What is too much is not kept while the list comes to its end.
    let take = |object: Value| {
        let before = count.fetch_add(1, Ordering::Relaxed);
        let read = (before < MOST_EXTENSIONS)
            .then(|| Extension::recognised(&object).ok_or(IncompleteListError::OtherKind));
        read.unwrap_or(Err(IncompleteListError::TooMany))
    };
    let listed = extensions::list(client, take).await;
    if let Some(fault) = listed.fault {
        return Err(fault.into());
    }
    listed.all.into_iter().collect()
}

/// How long an audit may take.
const LONGEST: Duration = Duration::from_mins(5);

/// How often it is asked whether the facts are known.
const READY: Duration = Duration::from_secs(1);

/// How many extensions are audited.
const MOST_EXTENSIONS: usize = 5000;

// === The audit itself: chunk by chunk, on a thread that no edit waits for, with a pause after each chunk ===

/// What is found of all extensions.
#[derive(Debug, Default)]
struct Audited {
    extensions: usize,
    /// How many extensions have each finding.
    findings: BTreeMap<Concern, usize>,
    /// The extensions in words, if they are reported.
    reports: Vec<ExtensionReport>,
}

/// Audits all of them by the same facts; none if that panics.
///
/// After each chunk there is a pause as long as the chunk took, so an audit has at most half of a core.
async fn audited(
    facts: FactsOfMoment,
    extensions: Vec<Extension>,
    requester: Requester,
    in_words: bool,
) -> Option<Audited> {
    let requester = Arc::new(requester);
    let mut all = Audited::default();
    let mut left = extensions.into_iter();
    loop {
        let chunk: Vec<_> = left.by_ref().take(CHUNK).collect();
        if chunk.is_empty() {
            return Some(all);
        }
        let (facts, requester) = (facts.clone(), Arc::clone(&requester));
        let begun = Instant::now();
        let auditing = move || Audited::of(&facts, &chunk, &requester, in_words);
        all.add(spawn_blocking(auditing).await.ok()?);
        sleep(begun.elapsed()).await;
    }
}

impl Audited {
    fn of(
        facts: &FactsOfMoment,
        extensions: &[Extension],
        requester: &Requester,
        in_words: bool,
    ) -> Self {
        let basis = facts.basis(&facts.snapshot);
        let mut all = Self::default();
        for extension in extensions {
            let edit = as_set_now(extension, requester);
            let audit = Audit::of(basis, &edit);
            all.count(&audit.concerns());
            let report = in_words.then(|| ExtensionReport::of(&edit, &audit));
            all.reports.extend(report);
        }
        all
    }

    fn count(&mut self, concerns: &[Concern]) {
        self.extensions += 1;
        for concern in concerns {
            *self.findings.entry(*concern).or_default() += 1;
        }
    }

    fn add(&mut self, other: Self) {
        self.extensions += other.extensions;
        for (concern, count) in other.findings {
            *self.findings.entry(concern).or_default() += count;
        }
        self.reports.extend(other.reports);
    }
}

/// How many extensions are audited without a pause: some milliseconds.
const CHUNK: usize = 10;
