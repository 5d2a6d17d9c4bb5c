//! The report of an audit as `ClusterReport` objects of openreports.io, kept as the last audit has it.

use std::sync::Arc;

use kube::api::{DeleteParams, Patch, PatchParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};
use tokio::task::spawn_blocking;
use tracing::{info, warn};

use crate::cluster::fault::{FaultClass, WatchFault};
use crate::once_per_change::OncePerChange;
use crate::telemetry::metrics::{AuditMetrics, ReportFate};
use olmguard_policy::Moment;
use olmguard_views::audit_report::{AuditReport, ClusterReport, ExtensionReport};

pub(super) struct ReportWriter {
    api: Api<DynamicObject>,
    metrics: Arc<AuditMetrics>,
    fault: OncePerChange,
    omission: OncePerChange<()>,
}

/// A report as far as it is written.
pub(super) struct ReportObjects {
    pub(super) all: Vec<ClusterReport>,
    /// Whether there are more.
    pub(super) is_cut: bool,
}

impl ReportObjects {
    pub(super) fn of(extensions: Vec<ExtensionReport>, at: Moment) -> Self {
        let report = AuditReport::of(extensions);
        let mut objects = report.cluster_reports(at.unix_seconds());
        let all = objects.by_ref().take(MOST_OBJECTS).collect();
        let is_cut = objects.next().is_some();
        Self { all, is_cut }
    }
}

impl ReportWriter {
    pub(super) fn new(client: Client, metrics: Arc<AuditMetrics>) -> Self {
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

    /// Writes what is found of these extensions, and deletes what an earlier report had beyond that.
    pub(super) async fn write(&mut self, extensions: Vec<ExtensionReport>, at: Moment) {
        // To sort and measure a long report takes a while.
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
            // The answer without the results.
            let patched = self.api.patch_metadata(object.name(), &params, &patch);
            patched.await?;
            self.metrics.reported(ReportFate::Written);
        }
        self.delete_from(objects.len() + 1).await
    }

    /// Deletes the object of this number and those after it.
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

/// What the API server did, and what to do about it.
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
/// How many objects are written. `deploy/components/audit` grants the rights on as many names.
pub(super) const MOST_OBJECTS: usize = 10;
