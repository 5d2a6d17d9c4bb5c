//! The upgrade policies of the cluster: the flag about them, and the tasks that follow them.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tracing::error;

use crate::cli::args::heading;
use crate::cli::shipped;
use crate::cluster::policies::{PolicyBoard, PolicyListener, PolicyStore, Reports, follow, report};
use crate::cluster::{Cluster, Leadership};
use crate::server::Check;
use crate::telemetry::Metrics;
use crate::tls::SystemClock;
use olmguard_views::readiness::CheckReadiness;

/// The flag.
#[derive(clap::Args, Clone, Copy, Debug)]
pub(super) struct PolicyArgs {
    /// Do not apply the upgrade policies of the cluster
    #[arg(long, help_heading = heading::DECISIONS)]
    ignore_policies: bool,
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
        self.ignore_policies.then_some("--ignore-policies")
    }

    /// The policies of this cluster; none if they are ignored, or there is no cluster.
    pub(super) fn of(self, cluster: Option<&Cluster>) -> Option<Policies> {
        let cluster = cluster.filter(|_| !self.ignore_policies)?;
        Some(Policies {
            cluster: cluster.clone(),
            board: Arc::default(),
        })
    }
}

impl Policies {
    /// What must be known before edits are sent here.
    pub(super) fn check(&self) -> Arc<dyn Check> {
        Arc::new(PoliciesCheck(Arc::clone(&self.board)))
    }

    /// Follows them in tasks of their own, for as long as the runtime lasts. What olmguard reports in the objects is
    /// apart from what edits are judged by.
    pub(super) fn follow(self, store: Arc<PolicyStore>, metrics: &Metrics, leadership: Leadership) {
        let listener = PolicyListener {
            store,
            board: self.board,
            metrics: Arc::clone(&metrics.policies),
            watches: Arc::clone(&metrics.watches),
            clock: Arc::new(SystemClock),
        };
        listener.begin();
        let (sender, reports) = watch::channel(Reports::default());
        let client = self.cluster.client;
        let reporting = report(client.clone(), leadership, Arc::new(SystemClock), reports);
        tokio::spawn(reporting);
        tokio::spawn(restarted(move || {
            let expected = shipped::permission();
            follow(client.clone(), expected, listener.clone(), sender.clone())
        }));
    }
}

/// Follows for good: a fault of ours, a panic too, ends one try. What it published stays in use until the next one
/// knows as much.
async fn restarted<F>(mut follow: impl FnMut() -> F) -> Infallible
where
    F: Future<Output = ()> + Send + 'static,
{
    loop {
        let mut following = JoinSet::new();
        following.spawn(follow());
        following.join_next().await;
        error!("Policy watcher stopped unexpectedly, restarting it; please report this");
        sleep(AGAIN).await;
    }
}

/// Whether it is known which policies there are.
#[derive(Debug)]
struct PoliciesCheck(Arc<PolicyBoard>);

impl Check for PoliciesCheck {
    fn readiness(&self) -> CheckReadiness {
        let state = self.0.state();
        let words = state.map(|listed| listed.to_string());
        CheckReadiness::new(
            "policies",
            words.map_err(|unlisted| unlisted.to_string()),
            None,
        )
    }
}

/// How long after a fault of ours all begins again.
const AGAIN: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::time::timeout;

    use super::*;

    #[test]
    fn without_policies_to_follow_none_is_unknown() {
        let ignored = PolicyArgs {
            ignore_policies: true,
        };
        assert!(ignored.of(None).is_none());
        let store = PolicyStore::default();
        assert_eq!(store.current().load().unlisted, None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_try_that_ends_or_panics_is_followed_by_another() {
        let tries = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&tries);
        let following = restarted(move || {
            let before = counted.fetch_add(1, Ordering::Relaxed);
            async move { assert!(before.is_multiple_of(2), "a fault of ours") }
        });
        let ended = timeout(AGAIN * 10, following).await;
        assert!(ended.is_err(), "it goes on");
        assert!(tries.load(Ordering::Relaxed) >= 10);
    }
}
