//! Duties that one replica of several does. All of them share one Lease.
//!
//! ```text
//! keep --Lease::round--> held or not --Leadership--> lead: the status of policies
//!                                              '---> lead: the audit of what is installed
//! ```
//!
//! Invariant: a duty is dropped before another replica can take the lease.

use std::convert::Infallible;
use std::future::{Future, pending};

use kube::Client;
use tokio::sync::watch;
use tokio::sync::watch::error::RecvError;
use tokio::time::{sleep, timeout_at};
use tracing::{info, warn};

use super::{Held, Lease, holder, pause};
use crate::once_per_change::OncePerChange;

/// Whether this replica holds the Lease `olmguard-policies`.
#[derive(Clone, Debug)]
pub struct Leadership(watch::Receiver<bool>);

impl Leadership {
    /// The leadership among the replicas in this namespace, and what tries to keep it for as long as it is polled.
    pub fn of(client: Client, namespace: &str) -> (Self, impl Future<Output = Infallible> + use<>) {
        let lease = Lease::new(client, namespace, LEASE, holder());
        let (sender, held) = watch::channel(false);
        (Self(held), keep(lease, sender))
    }

    /// Does a duty for as long as this replica leads, and again whenever it does. A duty that ends is begun again after
    /// a pause.
    pub(in crate::cluster) async fn lead<D>(mut self, mut duty: impl FnMut() -> D) -> Infallible
    where
        D: Future<Output = ()>,
    {
        loop {
            if until(&mut self.0, true).await.is_err() {
                // The lease is kept no more, so this replica never leads again.
                return pending().await;
            }
            tokio::select! {
                // What is lost is lost before anything more is done.
                biased;
                _ = until(&mut self.0, false) => {}
                () = duty() => sleep(pause()).await,
            }
        }
    }
}

async fn until(held: &mut watch::Receiver<bool>, is: bool) -> Result<(), RecvError> {
    held.wait_for(|held| *held == is).await.map(drop)
}

/// Takes the lease whenever it is free, and says so.
async fn keep(mut lease: Lease, held: watch::Sender<bool>) -> Infallible {
    let mut fault = OncePerChange::default();
    loop {
        match lease.round().await {
            Ok(Held::Yes) => {
                fault.is_gone();
                info!(lease = LEASE, "Acquired the lease");
                held.send_replace(true);
                hold(&mut lease).await;
                held.send_replace(false);
                info!(lease = LEASE, "Lost the lease, trying to get it again");
            }
            Ok(Held::No) => {
                fault.is_gone();
            }
            Err(error) => {
                if fault.is_new(&error) {
                    warn!(
                        lease = LEASE,
                        error,
                        "Failed to get the lease, so this replica neither reports the status of policies nor audits"
                    );
                }
            }
        }
        sleep(pause()).await;
    }
}

/// Renews the lease until it is lost.
async fn hold(lease: &mut Lease) {
    while let Some(until) = lease.until() {
        let round = async {
            sleep(pause()).await;
            lease.round().await
        };
        // A renewal that failed is tried again until the lease is no longer ours.
        if timeout_at(until, round).await.is_err() {
            return;
        }
    }
}

/// The name of the Lease.
const LEASE: &str = "olmguard-policies";

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use hyper::StatusCode;
    use tokio::time::Instant;

    use super::*;
    use olmguard_support::api::{ApiServer, Trouble};

    /// Counts itself while it is there.
    struct Present(Arc<AtomicUsize>);

    impl Present {
        fn new(count: &Arc<AtomicUsize>) -> Self {
            count.fetch_add(1, Ordering::Relaxed);
            Self(Arc::clone(count))
        }
    }

    impl Drop for Present {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn cluster() -> ApiServer {
        let api = ApiServer::start();
        api.serve("coordination.k8s.io/v1", "leases", "Lease");
        api
    }

    /// Leads with a duty that never ends; how many of it are done.
    fn leading(leadership: &Leadership) -> Arc<AtomicUsize> {
        let count = Arc::default();
        let duties = Arc::clone(&count);
        let leadership = leadership.clone();
        tokio::spawn(leadership.lead(move || {
            let present = Present::new(&duties);
            async move {
                let _present = present;
                pending::<()>().await;
            }
        }));
        count
    }

    async fn until(expected: usize, count: &AtomicUsize) {
        let begun = Instant::now();
        while count.load(Ordering::Relaxed) != expected {
            assert!(begun.elapsed() < Duration::from_mins(10), "{count:?}");
            sleep(Duration::from_millis(10)).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn all_duties_are_done_while_the_lease_is_held() {
        let api = cluster();
        let (leadership, keeping) = Leadership::of(api.client(), "olmguard");
        tokio::spawn(keeping);
        let duties = [leading(&leadership), leading(&leadership)];
        for duty in &duties {
            until(1, duty).await;
        }
        api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
        for duty in &duties {
            until(0, duty).await;
        }
        api.heal();
        for duty in &duties {
            until(1, duty).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_duty_that_ends_is_begun_again() {
        let api = cluster();
        let (leadership, keeping) = Leadership::of(api.client(), "olmguard");
        tokio::spawn(keeping);
        let begun = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&begun);
        tokio::spawn(leadership.lead(move || {
            count.fetch_add(1, Ordering::Relaxed);
            std::future::ready(())
        }));
        until(3, &begun).await;
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_keeper_no_replica_leads() {
        let (leadership, keeping) = Leadership::of(cluster().client(), "olmguard");
        let duty = leading(&leadership);
        drop(keeping);
        sleep(Duration::from_mins(1)).await;
        assert_eq!(duty.load(Ordering::Relaxed), 0);
    }
}
