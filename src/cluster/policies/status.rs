//! The status of policies: whether olmguard accepts them, and how many ClusterExtensions a policy matches.
//!
//! Only the leading replica writes ([`Leadership`]), and only it watches ClusterExtensions. Nothing else waits for
//! this: verdicts are the same in a cluster in which no replica can write.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until};
use tracing::{info, warn};

use super::follow::SETTLE;
use super::read::{ObjectReport, Reports, due};
use crate::cluster::lease::Leadership;
use crate::cluster::object::name;
use crate::cluster::watch::{WatchEvent, WatchedKind};
use crate::cluster::{extensions, fault_words, in_chunks, line};
use crate::source::http::Retry;
use olmguard_engine::extension::{Extension, PolicySubject};
use olmguard_policy::{GROUP, Subject, UpgradePolicy};
use olmguard_server::telemetry::OncePerChange;
use olmguard_server::tls::Clock;

/// Writes the status of objects while this replica holds the lease, for as long as it is polled.
pub async fn report(
    client: Client,
    leadership: Leadership,
    clock: Arc<dyn Clock>,
    reports: watch::Receiver<Reports>,
) -> Infallible {
    let (client, _) = line::open(client);
    let duty = || {
        info!("Reporting the status of policies from now on");
        StatusWriter::new(client.clone(), Arc::clone(&clock), reports.clone()).run()
    };
    leadership.lead("Policy status writer", duty).await
}

struct StatusWriter {
    client: Client,
    clock: Arc<dyn Clock>,
    reports: watch::Receiver<Reports>,
    events: mpsc::Receiver<WatchEvent<NamedSubject>>,
    extensions: MatchedExtensions,
    /// Whether there may be something to write.
    is_changed: bool,
    failures: u32,
    fault: OncePerChange,
    /// The task that watches ClusterExtensions, which is aborted when this is dropped.
    _watching: JoinSet<()>,
}

/// A status to write.
pub(super) struct DueStatus {
    kind: &'static str,
    plural: &'static str,
    name: Box<str>,
    status: Value,
}

/// The failed writes.
struct FailedWrites {
    count: usize,
    /// The name of the first object, and the reason.
    first: (Box<str>, String),
}

impl StatusWriter {
    fn new(client: Client, clock: Arc<dyn Clock>, reports: watch::Receiver<Reports>) -> Self {
        let (sender, events) = mpsc::channel(BACKLOG);
        let kind = WatchedKind::optional(extensions::NAMES);
        let mut watching = JoinSet::new();
        watching.spawn(kind.watch(client.clone(), NamedSubject::read, sender));
        Self {
            client,
            clock,
            reports,
            events,
            extensions: MatchedExtensions::default(),
            // The facts at the start count as a change.
            is_changed: true,
            failures: 0,
            fault: OncePerChange::default(),
            _watching: watching,
        }
    }

    /// Writes changes until the watch or the reports end. A failed write is tried again after a pause, or at the next
    /// change.
    async fn run(mut self) {
        let mut again = None;
        while self.changed(again).await {
            self.meanwhile(sleep(SETTLE)).await;
            let failed = match self.due() {
                Some(due) => self.meanwhile(write(self.client.clone(), due)).await,
                None => None,
            };
            again = self.note(failed);
        }
    }

    /// Waits for a change, or until this time. Returns false if no more changes can come.
    async fn changed(&mut self, again: Option<Instant>) -> bool {
        while !self.is_changed {
            tokio::select! {
                changed = self.reports.changed() => {
                    if changed.is_err() {
                        return false;
                    }
                    self.is_changed = true;
                }
                event = self.events.recv() => match event {
                    Some(event) => self.is_changed |= self.extensions.take(event),
                    None => return false,
                },
                () = sleep_until(again.unwrap_or_else(Instant::now)), if again.is_some() => return true,
            }
        }
        true
    }

    /// Runs a future, and processes the events that arrive until it completes.
    async fn meanwhile<T>(&mut self, doing: impl Future<Output = T>) -> T {
        let mut doing = std::pin::pin!(doing);
        loop {
            tokio::select! {
                done = &mut doing => return done,
                Some(event) = self.events.recv() => self.is_changed |= self.extensions.take(event),
            }
        }
    }

    /// Returns the status to write; none until it is known which extensions the policies match.
    fn due(&mut self) -> Option<impl Future<Output = Vec<DueStatus>> + use<>> {
        self.is_changed = false;
        if !self.extensions.is_asked {
            return None;
        }
        let reports = self.reports.borrow_and_update().clone();
        let now = rfc3339(self.clock.now());
        Some(all_due(reports, self.extensions.clone(), now))
    }

    /// Reports failures, and returns the time of the next attempt.
    fn note(&mut self, failed: Option<FailedWrites>) -> Option<Instant> {
        let Some(FailedWrites { count, first }) = failed else {
            self.failures = 0;
            if self.fault.is_gone() {
                info!("Reporting the status of policies again");
            }
            return None;
        };
        self.failures += 1;
        let pause = RETRY.delay(self.failures);
        let (name, error) = first;
        if self.fault.is_new(&error) {
            warn!(
                name = &*name, error, objects = count, next_try = ?pause,
                "Failed to report the status of policies, trying again"
            );
        }
        Some(Instant::now() + pause)
    }
}

/// Returns the status to write. Comparing hundreds of policies with thousands of extensions takes too long for a thread
/// that serves.
pub(super) async fn all_due(
    reports: Reports,
    extensions: MatchedExtensions,
    now: String,
) -> Vec<DueStatus> {
    let due = move |reports: Vec<ObjectReport>| {
        let due = reports.iter();
        due.filter_map(|report| DueStatus::of(report, &extensions, &now))
            .collect::<Vec<_>>()
    };
    let due = in_chunks(reports.0.to_vec(), due).await;
    match due.map_err(JoinError::try_into_panic) {
        Ok(due) => due.into_iter().flatten().collect(),
        // The duty is started again after a pause.
        Err(Ok(panic)) => resume_unwind(panic),
        // The runtime is shutting down.
        Err(Err(_)) => Vec::new(),
    }
}

/// Writes all status, one object after the other. Returns the failures, if any.
async fn write(client: Client, due: impl Future<Output = Vec<DueStatus>>) -> Option<FailedWrites> {
    let mut failed = None::<FailedWrites>;
    for status in due.await {
        let Err(error) = status.write(&client).await else {
            continue;
        };
        match &mut failed {
            Some(failed) => failed.count += 1,
            None => {
                failed = Some(FailedWrites {
                    count: 1,
                    first: (status.name, fault_words(&error)),
                });
            }
        }
    }
    failed
}

impl DueStatus {
    fn of(report: &ObjectReport, extensions: &MatchedExtensions, now: &str) -> Option<Self> {
        let policy = report.policy.as_ref();
        let matched = policy.and_then(|policy| extensions.matched(policy));
        Some(Self {
            kind: report.kind,
            plural: report.plural(),
            name: report.state.name.clone(),
            status: due(report, matched, now)?,
        })
    }

    async fn write(&self, client: &Client) -> Result<(), kube::Error> {
        let kind = GroupVersionKind::gvk(GROUP, VERSION, self.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, self.plural);
        let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
        let object = json!({
            "apiVersion": format!("{GROUP}/{VERSION}"), "kind": self.kind,
            "metadata": {"name": self.name}, "status": self.status,
        });
        let params = PatchParams::apply(MANAGER).force();
        let patch = Patch::Apply(&object);
        match api.patch_status(&self.name, &params, &patch).await {
            // The object was deleted in the meantime.
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            written => written.map(drop),
        }
    }
}

/// Formats a time as API servers do.
fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    let time = Timestamp::from_second(seconds).unwrap_or_default();
    time.to_string()
}

const VERSION: &str = "v1alpha1";

/// The field manager that owns the status.
const MANAGER: &str = "olmguard";

const BACKLOG: usize = 16;

/// The delays between attempts, which never end.
const RETRY: Retry = Retry {
    base: Duration::from_secs(1),
    cap: Duration::from_mins(5),
};

// === The number of ClusterExtensions that a policy matches ===

/// The facts of the extensions that policies match.
#[derive(Clone, Debug, Default)]
pub(super) struct MatchedExtensions {
    subjects: Option<Arc<BTreeMap<String, ExtensionSubject>>>,
    /// Whether the API server was asked, successfully or not.
    is_asked: bool,
}

#[derive(Clone, Debug, Eq, PartialEq)]
struct ExtensionSubject {
    package: String,
    subject: PolicySubject,
}

/// The relevant part of an object: its name, and the facts of an extension that policies match.
pub(super) struct NamedSubject {
    name: String,
    subject: Option<ExtensionSubject>,
}

impl NamedSubject {
    /// Reads an object. An extension without a package matches no policy that names packages.
    #[expect(clippy::needless_pass_by_value, reason = "what is not kept is dropped")]
    pub(super) fn read(object: Value) -> Self {
        let extension = Extension::recognised(&object);
        let subject = extension.map(|extension| ExtensionSubject {
            package: extension
                .filter
                .map(|filter| filter.package)
                .unwrap_or_default(),
            subject: extension.subject,
        });
        Self {
            name: name(&object).to_owned(),
            subject,
        }
    }
}

impl MatchedExtensions {
    /// Processes an event. Returns true if the counts may have changed.
    pub(super) fn take(&mut self, event: WatchEvent<NamedSubject>) -> bool {
        let was_asked = std::mem::replace(&mut self.is_asked, true);
        let is_other = match event {
            WatchEvent::Listed(objects) => {
                let objects = objects.into_iter();
                let listed = objects.filter_map(|object| Some((object.name, object.subject?)));
                let listed = Some(Arc::new(listed.collect()));
                let is_other = self.subjects != listed;
                self.subjects = listed;
                is_other
            }
            WatchEvent::Applied(object) => match (object.subject, &mut self.subjects) {
                (Some(subject), Some(known)) => {
                    let is_other = known.get(&object.name) != Some(&subject);
                    Arc::make_mut(known).insert(object.name, subject);
                    is_other
                }
                _ => false,
            },
            WatchEvent::Deleted(object) => {
                let known = self.subjects.as_mut();
                known.is_some_and(|known| Arc::make_mut(known).remove(&object.name).is_some())
            }
            WatchEvent::Absent => {
                let known = self.subjects.replace(Arc::default());
                known.is_none_or(|known| !known.is_empty())
            }
            WatchEvent::Alive | WatchEvent::Found | WatchEvent::Lost(_) => false,
        };
        is_other || !was_asked
    }

    /// Returns the number of extensions that a policy matches; none if that is unknown.
    pub(super) fn matched(&self, policy: &UpgradePolicy) -> Option<i64> {
        let subjects = self.subjects.as_ref()?.values();
        let matching = subjects.filter(|extension| {
            policy.matches(&Subject {
                package: &extension.package,
                namespace: &extension.subject.namespace,
                labels: &extension.subject.labels,
            })
        });
        i64::try_from(matching.count()).ok()
    }
}
