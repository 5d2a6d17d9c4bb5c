//! What olmguard reports in the objects: whether it accepts them, and how many ClusterExtensions a policy matches.
//!
//! One replica writes, the one that leads ([`Leadership`]). Only it watches ClusterExtensions. Nothing else waits for
//! any of this: a cluster in which nobody can write is judged in the same way.

use std::convert::Infallible;
use std::num::NonZero;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};
use tracing::{info, warn};

use super::follow::SETTLE;
use super::matched::Extensions;
use super::report::{Reports, due};
use crate::cluster::extensions;
use crate::cluster::fault;
use crate::cluster::lease::Leadership;
use crate::cluster::line;
use crate::cluster::watch::{WatchEvent, WatchedKind, trimmed};
use crate::once_per_change::OncePerChange;
use crate::source::catalogd::retry::Retry;
use crate::tls::Clock;
use olmguard_policy::GROUP;

/// Reports in the objects, whenever this replica holds the lease, for as long as it is polled.
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
    leadership.lead(duty).await
}

struct StatusWriter {
    client: Client,
    clock: Arc<dyn Clock>,
    reports: watch::Receiver<Reports>,
    events: mpsc::Receiver<WatchEvent<Value>>,
    extensions: Extensions,
    /// Whether there can be something to write.
    is_changed: bool,
    failures: u32,
    fault: OncePerChange,
    /// The watch of ClusterExtensions, which ends with this.
    _watching: JoinSet<()>,
}

/// A status that an object does not have yet.
struct DueStatus {
    kind: &'static str,
    plural: &'static str,
    name: Box<str>,
    status: Value,
}

/// What could not be written.
struct FailedWrites {
    count: usize,
    /// The name of the first object, and why.
    first: (Box<str>, String),
}

impl StatusWriter {
    fn new(client: Client, clock: Arc<dyn Clock>, reports: watch::Receiver<Reports>) -> Self {
        let (sender, events) = mpsc::channel(BACKLOG);
        let kind = WatchedKind::optional(extensions::NAMES);
        let mut watching = JoinSet::new();
        watching.spawn(kind.watch(client.clone(), trimmed, sender));
        Self {
            client,
            clock,
            reports,
            events,
            extensions: Extensions::default(),
            // What is known by now is a change, too.
            is_changed: true,
            failures: 0,
            fault: OncePerChange::default(),
            _watching: watching,
        }
    }

    /// Writes what changes, for as long as the watch and the reports go on. What fails is tried again after a pause, or
    /// with the next change.
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

    /// Waits for a change, or for this time; false if none comes any more.
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

    /// Does something, and takes the events that come until it is done.
    async fn meanwhile<T>(&mut self, doing: impl Future<Output = T>) -> T {
        let mut doing = std::pin::pin!(doing);
        loop {
            tokio::select! {
                done = &mut doing => return done,
                Some(event) = self.events.recv() => self.is_changed |= self.extensions.take(event),
            }
        }
    }

    /// What is to be written; none before it is known what the policies match.
    fn due(&mut self) -> Option<Vec<DueStatus>> {
        self.is_changed = false;
        if !self.extensions.is_asked() {
            return None;
        }
        let reports = self.reports.borrow_and_update().clone();
        let now = rfc3339(self.clock.now());
        let due = reports.0.iter().filter_map(|report| {
            let policy = report.policy.as_ref();
            let matched = policy.and_then(|policy| self.extensions.matched(policy));
            Some(DueStatus {
                kind: report.kind,
                plural: report.plural(),
                name: report.state.name.clone(),
                status: due(report, matched, &now)?,
            })
        });
        Some(due.collect())
    }

    /// When to try again what has failed.
    fn note(&mut self, failed: Option<FailedWrites>) -> Option<Instant> {
        let Some(FailedWrites { count, first }) = failed else {
            self.failures = 0;
            if self.fault.is_gone() {
                info!("Reporting the status of policies again");
            }
            return None;
        };
        self.failures += 1;
        let pause = RETRY.delay(self.failures, fastrand::f64());
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

/// Writes one after the other; what failed, if anything did.
async fn write(client: Client, due: Vec<DueStatus>) -> Option<FailedWrites> {
    let mut failed = None::<FailedWrites>;
    for status in due {
        let Err(error) = status.write(&client).await else {
            continue;
        };
        match &mut failed {
            Some(failed) => failed.count += 1,
            None => {
                failed = Some(FailedWrites {
                    count: 1,
                    first: (status.name, fault::words(&error)),
                });
            }
        }
    }
    failed
}

impl DueStatus {
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
            // It was deleted meanwhile.
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            written => written.map(drop),
        }
    }
}

/// As API servers write it.
fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let seconds = i64::try_from(since.as_secs()).unwrap_or_default();
    let time = Timestamp::from_second(seconds).unwrap_or_default();
    time.to_string()
}

const VERSION: &str = "v1alpha1";
/// Who owns the status, as server-side apply has it.
const MANAGER: &str = "olmguard";
const BACKLOG: usize = 16;
/// How what fails is tried again. It is never given up.
const RETRY: Retry = Retry {
    base: Duration::from_secs(1),
    cap: Duration::from_mins(5),
    tries: NonZero::<u32>::MAX,
};
