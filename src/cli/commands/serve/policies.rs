//! The upgrade policies of the cluster: the flag about them, and the tasks that follow them.

use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use tokio::sync::watch;
use tokio::time::sleep;
use tracing::error;

use crate::cli::args::heading;
use crate::cli::shipped;
use crate::cluster::Cluster;
use crate::cluster::policies::{PolicyBoard, PolicyListener, PolicyStore, Reports, follow, report};
use crate::server::Check;
use crate::telemetry::Metrics;
use crate::tls::SystemClock;

/// The flag.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct PolicyArgs {
    /// What to do with the upgrade policies of the cluster [default: apply]
    #[arg(long, value_name = "WHAT", value_enum, help_heading = heading::DECISIONS)]
    cluster_policies: Option<ClusterPolicies>,
}

/// What becomes of the policies of the cluster.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum ClusterPolicies {
    /// Check changes by its `UpgradePolicy` and `UpgradeGuardrails` objects
    #[default]
    Apply,
    /// Do not read them
    Ignore,
}

/// The policies of a cluster that is known, about to be followed.
#[derive(Debug)]
pub(super) struct Policies {
    cluster: Cluster,
    board: Arc<PolicyBoard>,
}

impl PolicyArgs {
    /// The flag, if it is given: it means nothing without a cluster.
    pub(super) fn given(self) -> Option<&'static str> {
        self.cluster_policies.map(|_| "--cluster-policies")
    }

    /// The policies of this cluster; none if they are ignored, or there is no cluster.
    pub(super) fn of(self, cluster: Option<&Cluster>) -> Option<Policies> {
        match self.cluster_policies.unwrap_or_default() {
            ClusterPolicies::Ignore => None,
            ClusterPolicies::Apply => Some(Policies {
                cluster: cluster?.clone(),
                board: Arc::default(),
            }),
        }
    }
}

impl Policies {
    /// What must be known before edits are sent here.
    pub(super) fn check(&self) -> Arc<dyn Check> {
        Arc::new(PoliciesCheck(Arc::clone(&self.board)))
    }

    /// Follows them in tasks of their own, for as long as the runtime lasts. What olmguard reports in the objects is
    /// apart from what edits are judged by.
    pub(super) fn follow(self, store: Arc<PolicyStore>, metrics: &Metrics) {
        let listener = PolicyListener {
            store,
            board: self.board,
            metrics: Arc::clone(&metrics.policies),
            watches: Arc::clone(&metrics.watches),
            clock: Arc::new(SystemClock),
        };
        let (sender, reports) = watch::channel(Reports::default());
        let Cluster {
            client, namespace, ..
        } = self.cluster;
        let reporting = report(client.clone(), namespace, Arc::new(SystemClock), reports);
        tokio::spawn(reporting);
        tokio::spawn(async move {
            loop {
                let expected = shipped::permission();
                let following = follow(client.clone(), expected, listener.clone(), sender.clone());
                following.await;
                error!("Policy watcher stopped unexpectedly, restarting it; please report this");
                sleep(AGAIN).await;
            }
        });
    }
}

/// Whether it is known which policies there are.
#[derive(Debug)]
struct PoliciesCheck(Arc<PolicyBoard>);

impl Check for PoliciesCheck {
    fn name(&self) -> &'static str {
        "policies"
    }

    fn state(&self) -> Result<String, String> {
        self.0.state()
    }
}

/// How long after a fault of ours all begins again.
const AGAIN: Duration = Duration::from_secs(5);
