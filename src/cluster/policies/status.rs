//! What olmguard reports in the objects: whether it accepts them, and how many ClusterExtensions a policy matches.
//!
//! One replica writes, the one that leads ([`Leadership`]). Only it watches ClusterExtensions. Nothing else waits for
//! any of this: a cluster in which nobody can write is judged in the same way.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;
use tracing::{info, warn};

use super::matched::Extensions;
use super::report::{ObjectReport, Reports, due};
use crate::cluster::extensions;
use crate::cluster::fault;
use crate::cluster::kind_watch::{self, WatchedKind};
use crate::cluster::lease::Leadership;
use crate::cluster::line;
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
        let writer = StatusWriter {
            client: client.clone(),
            clock: Arc::clone(&clock),
            reports: reports.clone(),
            extensions: Extensions::default(),
        };
        writer.run()
    };
    leadership.lead(duty).await
}

struct StatusWriter {
    client: Client,
    clock: Arc<dyn Clock>,
    reports: watch::Receiver<Reports>,
    extensions: Extensions,
}

impl StatusWriter {
    async fn run(mut self) {
        let (events, mut received) = mpsc::channel(BACKLOG);
        let kind = WatchedKind {
            names: extensions::NAMES,
            only: None,
        };
        let watching = kind_watch::watch(self.client.clone(), kind, events);
        let mut watching = std::pin::pin!(watching);
        // What is known by now is a change, too.
        self.reports.mark_changed();
        loop {
            tokio::select! {
                () = &mut watching => return,
                changed = self.reports.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                Some(event) = received.recv() => {
                    if !self.extensions.take(event) {
                        continue;
                    }
                }
            }
            if self.extensions.is_asked() {
                self.settle(&mut received).await;
                self.write().await;
            }
        }
    }

    /// Takes what comes in the next moment, so that many changes are one write.
    async fn settle(&mut self, received: &mut mpsc::Receiver<kind_watch::KindEvent>) {
        let mut pause = std::pin::pin!(sleep(SETTLE));
        loop {
            tokio::select! {
                () = &mut pause => return,
                Some(event) = received.recv() => drop(self.extensions.take(event)),
            }
        }
    }

    async fn write(&mut self) {
        let reports = self.reports.borrow_and_update().clone();
        let now = rfc3339(self.clock.now());
        for report in reports.0.iter() {
            let matched = report.policy.as_ref();
            let matched = matched.and_then(|policy| self.extensions.matched(policy));
            if let Some(status) = due(report, matched, &now) {
                self.patch(report, &status).await;
            }
        }
    }

    async fn patch(&self, report: &ObjectReport, status: &Value) {
        let name = &*report.state.name;
        let kind = GroupVersionKind::gvk(GROUP, VERSION, report.kind);
        let resource = ApiResource::from_gvk_with_plural(&kind, report.plural());
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let object = json!({
            "apiVersion": format!("{GROUP}/{VERSION}"), "kind": report.kind,
            "metadata": {"name": name}, "status": status,
        });
        let params = PatchParams::apply(MANAGER).force();
        let patched = api
            .patch_status(name, &params, &Patch::Apply(&object))
            .await;
        match patched {
            Ok(_) => {}
            // It was deleted meanwhile.
            Err(kube::Error::Api(status)) if status.code == 404 => {}
            Err(error) => warn!(
                kind = report.kind,
                name,
                error = fault::words(&error),
                "Failed to report the status, trying again with the next change"
            ),
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
const SETTLE: Duration = Duration::from_millis(500);
