//! The audit of all installed extensions, run at an interval by the leading replica.
//!
//! ```text
//! extensions::list --chunks--> a thread outside of admission --Audit--> findings --> gauges
//!   current catalogs and policies ------------^                   '--> ClusterReport objects, if configured
//! ```
//!
//! Invariants: no answer waits for an audit; an audit starts when the facts are known, and uses the catalogs and
//! policies of one moment, which are kept until it ends; an audit ends within `LONGEST` and covers at most
//! `MOST_EXTENSIONS`; a failure is counted, and the results of the last complete audit stay.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use kube::api::{DeleteParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};
use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tracing::{info, warn};

use crate::cluster::extensions::{self, ExtensionsError};
use crate::cluster::lease::Leadership;
use crate::cluster::{FaultClass, WatchFault, in_chunks, line};
use olmguard_engine::audit::{Audit, Concern, as_set_now};
use olmguard_engine::extension::Extension;
use olmguard_engine::judge::Requester;
use olmguard_policy::Moment;
use olmguard_server::live_facts::{FactsOfMoment, LiveFacts, moment};
use olmguard_server::telemetry::OncePerChange;
use olmguard_server::telemetry::metrics::{AuditFigures, AuditMetrics, ReportFate};
use olmguard_server::tls::Clock;
use olmguard_views::audit_report::{AuditReport, ClusterReport, ExtensionReport};

/// The configuration of audits.
#[derive(Clone, Debug)]
pub struct AuditConfig {
    /// The time between the starts of two audits.
    pub interval: Duration,
    /// Whether the `ClusterReport` objects are written.
    pub writes_reports: bool,
    /// The facts that edits are judged by.
    pub facts: LiveFacts,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
    /// The metrics of audits.
    pub metrics: Arc<AuditMetrics>,
}

/// The reason why an audit did not complete.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
enum AuditRunError {
    /// The extensions are not known, or not all of them.
    #[error(transparent)]
    List(#[from] ExtensionsError),
    #[error("the API server answers with another kind of object")]
    OtherKind,
    #[error("there are more than {MOST_EXTENSIONS} ClusterExtensions")]
    TooMany,
    #[error("it takes more than {} s", LONGEST.as_secs())]
    TooLong,
    #[error("the thread that audits panicked; please report this")]
    Panicked,
}

/// Audits while this replica leads and `is_ready` reports that the facts are known, for as long as it is polled.
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
    leadership.lead("Audit", duty).await
}

struct Auditor {
    client: Client,
    config: AuditConfig,
    reports: ReportWriter,
    fault: OncePerChange,
}

/// The visibility of the gauges, which ends when this is dropped.
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
            // Without the facts, every extension would be undecided.
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

/// Lists all extensions, each with its status.
async fn installed(client: Client) -> Result<Vec<Extension>, AuditRunError> {
    let mut left = MOST_EXTENSIONS;
    // Entries beyond the limit are dropped while the rest of the list is read.
    let take = |object: Value| {
        left = left.checked_sub(1).ok_or(AuditRunError::TooMany)?;
        Extension::recognised(&object).ok_or(AuditRunError::OtherKind)
    };
    let listed = extensions::list(client, take).await;
    if let Some(fault) = listed.fault {
        return Err(fault.into());
    }
    listed.all.into_iter().collect()
}

/// The time limit of an audit.
const LONGEST: Duration = Duration::from_mins(5);

/// The interval to check whether the facts are known.
const READY: Duration = Duration::from_secs(1);

/// The most extensions in an audit.
const MOST_EXTENSIONS: usize = 5000;

// === The audit itself: in chunks, on a thread that no edit waits for, with a pause after each chunk ===

/// The findings of all extensions.
#[derive(Debug, Default)]
struct Audited {
    extensions: usize,
    /// The number of extensions with each finding.
    findings: BTreeMap<Concern, usize>,
    /// The reports of the extensions, if they are written.
    reports: Vec<ExtensionReport>,
}

/// Audits all extensions with the same facts; none if that panics.
async fn audited(
    facts: FactsOfMoment,
    extensions: Vec<Extension>,
    requester: Requester,
    in_words: bool,
) -> Option<Audited> {
    let auditing = move |chunk: Vec<Extension>| Audited::of(&facts, &chunk, &requester, in_words);
    let parts = in_chunks(extensions, auditing).await.ok()?;
    let mut all = Audited::default();
    for part in parts {
        all.add(part);
    }
    Some(all)
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

// === The `ClusterReport` objects of openreports.io, which match the last audit ===

struct ReportWriter {
    api: Api<DynamicObject>,
    metrics: Arc<AuditMetrics>,
    fault: OncePerChange,
    omission: OncePerChange<()>,
}

/// The objects of a report, up to the limit.
struct ReportObjects {
    all: Vec<ClusterReport>,
    /// Whether results were omitted.
    is_cut: bool,
}

impl ReportObjects {
    fn of(extensions: Vec<ExtensionReport>, at: Moment) -> Self {
        let report = AuditReport::of(extensions);
        let mut objects = report.cluster_reports(at.unix_seconds());
        let all = objects.by_ref().take(MOST_OBJECTS).collect();
        let is_cut = objects.next().is_some();
        Self { all, is_cut }
    }
}

impl ReportWriter {
    fn new(client: Client, metrics: Arc<AuditMetrics>) -> Self {
        let (group, version) = (ClusterReport::GROUP, ClusterReport::VERSION);
        let kind = GroupVersionKind::gvk(group, version, ClusterReport::KIND);
        let resource = ApiResource::from_gvk_with_plural(&kind, PLURAL);
        Self {
            api: Api::all_with(client, &resource),
            metrics,
            fault: OncePerChange::default(),
            omission: OncePerChange::default(),
        }
    }

    /// Writes the reports of these extensions, and deletes the remaining objects of an earlier report.
    async fn write(&mut self, extensions: Vec<ExtensionReport>, at: Moment) {
        // Sorting and measuring a long report takes a while.
        let Ok(objects) = spawn_blocking(move || ReportObjects::of(extensions, at)).await else {
            return self.note(Err(
                "the thread that makes it panicked; please report this".to_owned()
            ));
        };
        self.note_omission(objects.is_cut);
        let written = self.replace(&objects.all).await;
        self.note(written.map_err(|error| words(&WatchFault::from(&error))));
    }

    async fn replace(&self, objects: &[ClusterReport]) -> Result<(), kube::Error> {
        for object in objects {
            let params = PatchParams::apply(MANAGER).force();
            let patch = Patch::Apply(object);
            // Request only metadata in the response.
            let patched = self.api.patch_metadata(object.name(), &params, &patch);
            patched.await?;
            self.metrics.reported(ReportFate::Written);
        }
        self.delete_from(objects.len() + 1).await
    }

    /// Deletes the objects from this number on.
    async fn delete_from(&self, first: usize) -> Result<(), kube::Error> {
        for number in first..=MOST_OBJECTS {
            let name = ClusterReport::name_of(number);
            match self.api.delete(&name, &DeleteParams::default()).await {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 404 => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn note(&mut self, written: Result<(), String>) {
        let Err(error) = written else {
            if self.fault.is_gone() {
                info!("Writing the ClusterReport of the audit again");
            }
            return;
        };
        self.metrics.reported(ReportFate::Failed);
        if self.fault.is_new(&error) {
            warn!(
                error,
                "Failed to write the ClusterReport of the audit, trying again after the next audit"
            );
        }
    }

    fn note_omission(&mut self, is_cut: bool) {
        if !is_cut {
            self.omission.is_gone();
        } else if self.omission.is_new(&()) {
            warn!(
                objects = MOST_OBJECTS,
                "The report of the audit is too long, so the least severe results are omitted"
            );
        }
    }
}

/// Describes a fault, with its fix if it is known.
fn words(fault: &WatchFault) -> String {
    let way_out = match fault.class {
        FaultClass::NotServed => {
            "; install the definition of ClusterReport of openreports.io/v1alpha1, or unset --audit-cluster-report"
        }
        FaultClass::Forbidden => {
            "; grant the verbs \"create\", \"delete\" and \"patch\" on clusterreports.openreports.io, as \
             deploy/components/audit does"
        }
        _ => "",
    };
    format!("{}{way_out}", fault.words)
}

const PLURAL: &str = "clusterreports";
/// The field manager that owns the objects.
const MANAGER: &str = "olmguard";
/// The most objects that are written. `deploy/components/audit` grants permissions on as many names.
const MOST_OBJECTS: usize = 10;
