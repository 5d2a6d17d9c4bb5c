//! A Lease, which one of several replicas holds, and the duties of that replica.
//!
//! Upstream: client-go, [`tools/leaderelection/leaderelection.go`]. As in client-go, clocks of different replicas are
//! never compared: a lease is free if its record has not changed for its duration by the local clock. A writer names
//! the version that it has read, so only one of two concurrent writers succeeds.
//!
//! Invariant: [`Lease::round`] returns true only while no other replica can have taken the lease: for less than its
//! duration after a renewal.
//!
//! [`tools/leaderelection/leaderelection.go`]: https://github.com/kubernetes/client-go/blob/v0.35.4/tools/leaderelection/leaderelection.go

use std::convert::Infallible;
use std::future::{Future, pending};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::{Lease as LeaseObject, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::watch;
use tokio::sync::watch::error::RecvError;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::{info, warn};

use crate::cluster::{fault_words, line};
use olmguard_server::restart::until_lost;
use olmguard_server::telemetry::OncePerChange;

/// A lease that this process tries to hold.
pub(super) struct Lease {
    api: Api<LeaseObject>,
    name: &'static str,
    holder: String,
    /// The last seen record of another replica, and when it was first seen.
    seen: Option<(LeaseSpec, Instant)>,
    /// The time of the last renewal by this replica.
    renewed: Option<Instant>,
}

impl Lease {
    /// Creates a handle for the lease of this name, without a request to the cluster.
    pub(super) fn new(client: Client, namespace: &str, name: &'static str, holder: String) -> Self {
        let (client, _) = line::open(client);
        Self {
            api: Api::namespaced(client, namespace),
            name,
            holder,
            seen: None,
            renewed: None,
        }
    }

    /// Tries once to take or renew the lease, and returns whether it is held. Call it about every [`RETRY`].
    ///
    /// # Errors
    /// Returns the reason why the API server did not answer, in words. The lease may still be held: [`Self::is_held`].
    pub(super) async fn round(&mut self) -> Result<bool, String> {
        let begun = Instant::now();
        let written = self.write().await;
        match written {
            Ok(true) => self.renewed = Some(begun),
            Ok(false) => self.renewed = None,
            Err(error) => return Err(fault_words(&error)),
        }
        Ok(self.is_held())
    }

    /// Returns the time until which no other replica can take the lease; none if this replica does not hold it.
    pub(super) fn until(&self) -> Option<Instant> {
        self.renewed.map(|renewed| renewed + DEADLINE)
    }

    /// Whether this replica holds the lease, so that no other replica can.
    pub(super) fn is_held(&self) -> bool {
        self.until().is_some_and(|until| Instant::now() < until)
    }

    /// Writes the lease if it is free or held by this replica. Returns false if another replica holds it.
    async fn write(&mut self) -> Result<bool, kube::Error> {
        let Some(mut found) = self.api.get_opt(self.name).await? else {
            let lease = self.object(None, self.spec(None, 0));
            let created = self.api.create(&PostParams::default(), &lease).await;
            return ours(created);
        };
        let spec = found.spec.take().unwrap_or_default();
        if !self.is_free(&spec) {
            return Ok(false);
        }
        let is_ours = spec.holder_identity.as_ref() == Some(&self.holder);
        let transitions = spec.lease_transitions.unwrap_or_default();
        let transitions = transitions.saturating_add(i32::from(!is_ours));
        let acquired = spec.acquire_time.filter(|_| is_ours);
        let version = found.metadata.resource_version;
        let lease = self.object(version, self.spec(acquired, transitions));
        let params = PostParams::default();
        ours(self.api.replace(self.name, &params, &lease).await)
    }

    /// Whether the lease has no holder, is held by this replica, or was not renewed for its duration.
    fn is_free(&mut self, record: &LeaseSpec) -> bool {
        let holder = record.holder_identity.as_deref().unwrap_or_default();
        if holder.is_empty() || holder == self.holder {
            return true;
        }
        match &self.seen {
            Some((seen, since)) if seen == record => since.elapsed() >= DURATION,
            _ => {
                self.seen = Some((record.clone(), Instant::now()));
                false
            }
        }
    }

    fn object(&self, version: Option<String>, spec: LeaseSpec) -> LeaseObject {
        LeaseObject {
            metadata: ObjectMeta {
                name: Some(self.name.to_owned()),
                resource_version: version,
                ..ObjectMeta::default()
            },
            spec: Some(spec),
        }
    }

    fn spec(&self, acquired: Option<MicroTime>, transitions: i32) -> LeaseSpec {
        let now = MicroTime(Timestamp::now());
        let seconds = i32::try_from(DURATION.as_secs()).unwrap_or(i32::MAX);
        LeaseSpec {
            holder_identity: Some(self.holder.clone()),
            lease_duration_seconds: Some(seconds),
            acquire_time: acquired.or_else(|| Some(now.clone())),
            renew_time: Some(now),
            lease_transitions: Some(transitions),
            ..LeaseSpec::default()
        }
    }
}

/// Whether a write acquired the lease: the second of two concurrent writers gets a conflict.
fn ours(written: kube::Result<LeaseObject>) -> Result<bool, kube::Error> {
    match written {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.code == 409 => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns a unique name for this process.
pub(super) fn holder() -> String {
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| "olmguard".to_owned());
    format!("{host}_{:016x}", fastrand::u64(..))
}

/// Returns the pause until the next round. A random part of up to a fifth keeps replicas apart.
pub(super) fn pause() -> Duration {
    RETRY.mul_f64(1.0 + fastrand::f64() / 5.0)
}

/// The time for which other replicas respect a lease that is not renewed.
const DURATION: Duration = Duration::from_secs(30);

/// The time after a renewal for which this replica relies on it. The ten seconds to [`DURATION`] are a reserve for a
/// write in flight.
const DEADLINE: Duration = Duration::from_secs(20);

/// The interval between renewals, or attempts to take the lease.
pub(super) const RETRY: Duration = Duration::from_secs(5);

// === The duties that one of several replicas has: all of them share one Lease ===
//
// ```text
// keep --Lease::round--> held or not --Leadership--> lead: the status of policies
//                                              '---> lead: the audit of installed extensions
// ```
//
// Invariant: a duty is dropped before another replica can take the lease.

/// Whether this replica holds the Lease `olmguard-policies`.
#[derive(Clone, Debug)]
pub struct Leadership(watch::Receiver<bool>);

impl Leadership {
    /// Returns the leadership among the replicas in this namespace, and the future that maintains it while it is
    /// polled.
    pub fn of(client: Client, namespace: &str) -> (Self, impl Future<Output = Infallible> + use<>) {
        let mut lease = Lease::new(client, namespace, LEASE, holder());
        let (sender, held) = watch::channel(false);
        let keeping = async move {
            loop {
                until_lost("Lease keeper", keep(&mut lease, &sender)).await;
            }
        };
        (Self(held), keeping)
    }

    /// Runs a duty while this replica leads, each time that it leads. A duty that returns or panics is started again
    /// after a pause.
    pub(in crate::cluster) async fn lead<D>(
        mut self,
        task: &'static str,
        mut duty: impl FnMut() -> D,
    ) -> Infallible
    where
        D: Future<Output = ()>,
    {
        loop {
            // If the lease is no longer maintained, this replica never leads again.
            if until(&mut self.0, true).await.is_err() {
                return pending().await;
            }
            tokio::select! {
                // The loss of the lease is checked before the duty continues.
                biased;
                lost = until(&mut self.0, false) => if lost.is_err() {
                    return pending().await;
                },
                () = until_lost(task, Box::pin(duty())) => {}
            }
        }
    }
}

async fn until(held: &mut watch::Receiver<bool>, is: bool) -> Result<(), RecvError> {
    held.wait_for(|held| *held == is).await.map(drop)
}

/// Takes the lease whenever it is free, and publishes whether it is held.
async fn keep(lease: &mut Lease, held: &watch::Sender<bool>) -> Infallible {
    let mut fault = OncePerChange::default();
    loop {
        match lease.round().await {
            Ok(true) => {
                fault.is_gone();
                info!(lease = LEASE, "Acquired the lease");
                let leading = Leading::new(held);
                hold(lease).await;
                drop(leading);
                info!(lease = LEASE, "Lost the lease, trying to get it again");
            }
            Ok(false) => {
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

/// The published leadership, which ends when this is dropped.
struct Leading<'a>(&'a watch::Sender<bool>);

impl<'a> Leading<'a> {
    fn new(held: &'a watch::Sender<bool>) -> Self {
        held.send_replace(true);
        Self(held)
    }
}

impl Drop for Leading<'_> {
    fn drop(&mut self) {
        self.0.send_replace(false);
    }
}

/// Renews the lease until it is lost.
async fn hold(lease: &mut Lease) {
    while let Some(until) = lease.until() {
        let round = async {
            sleep(pause()).await;
            lease.round().await
        };
        // A failed renewal is repeated until the lease can no longer be relied on.
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
    use serde_json::Value;
    use tokio::time::{Instant, advance, sleep};

    use super::*;
    use olmguard_support::api::{ApiServer, Trouble};

    const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/olmguard/leases";

    fn cluster() -> ApiServer {
        let api = ApiServer::start();
        api.serve("coordination.k8s.io/v1", "leases", "Lease");
        api
    }

    fn lease(api: &ApiServer, holder: &str) -> Lease {
        Lease::new(api.client(), "olmguard", "duty", holder.to_owned())
    }

    fn spec(api: &ApiServer) -> Value {
        api.object(LEASES, "duty").expect("a lease")["spec"].take()
    }

    #[tokio::test(start_paused = true)]
    async fn the_first_has_it_for_as_long_as_it_renews() {
        let api = cluster();
        let (mut one, mut other) = (lease(&api, "one"), lease(&api, "other"));
        assert_eq!(one.round().await, Ok(true));
        let acquired = spec(&api)["acquireTime"].take();
        for _ in 0..20 {
            assert_eq!(other.round().await, Ok(false));
            sleep(pause()).await;
            assert_eq!(one.round().await, Ok(true));
        }
        let spec = spec(&api);
        assert_eq!(spec["holderIdentity"], "one");
        assert_eq!(spec["acquireTime"], acquired);
        assert_eq!(spec["leaseTransitions"], 0);
        assert_eq!(spec["leaseDurationSeconds"], 30);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_no_longer_renews_loses_it_before_another_takes_it() {
        let api = cluster();
        let (mut one, mut other) = (lease(&api, "one"), lease(&api, "other"));
        assert_eq!(one.round().await, Ok(true));
        assert_eq!(other.round().await, Ok(false));
        advance(Duration::from_secs(29)).await;
        assert_eq!(other.round().await, Ok(false));
        assert!(!one.is_held());
        advance(Duration::from_secs(1)).await;
        assert_eq!(other.round().await, Ok(true));
        assert_eq!(spec(&api)["leaseTransitions"], 1);
        assert_eq!(one.round().await, Ok(false));
        assert_eq!(one.until(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn of_two_who_take_it_one_has_it() {
        let api = cluster();
        let (mut one, mut other) = (lease(&api, "one"), lease(&api, "other"));
        let (first, second) = tokio::join!(one.round(), other.round());
        let held = [first, second].map(|round| round == Ok(true));
        assert_eq!(held.iter().filter(|held| **held).count(), 1, "{held:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_lease_that_is_given_back_is_free() {
        let api = cluster();
        let released = serde_json::json!({
            "metadata": {"name": "duty"}, "spec": {"holderIdentity": "", "leaseTransitions": 4},
        });
        api.put(LEASES, released);
        assert_eq!(lease(&api, "one").round().await, Ok(true));
        assert_eq!(spec(&api)["leaseTransitions"], 5);
    }

    #[tokio::test(start_paused = true)]
    async fn without_an_answer_it_is_held_no_longer_than_it_can_be() {
        let api = cluster();
        let mut one = lease(&api, "one");
        assert_eq!(one.round().await, Ok(true));
        api.trouble(Trouble::Status(StatusCode::FORBIDDEN), |_| true);
        let said = one.round().await.expect_err("no answer");
        assert_eq!(said, "the API server answers 403: as the test says");
        assert!(one.is_held());
        advance(DEADLINE).await;
        assert!(!one.is_held());
        api.heal();
        assert_eq!(one.round().await, Ok(true));
    }

    #[test]
    fn pauses_are_apart_and_short_of_the_deadline() {
        for _ in 0..100 {
            let pause = pause();
            assert!(pause >= RETRY && pause <= RETRY * 6 / 5, "{pause:?}");
        }
        assert_ne!(holder(), holder());
    }

    /// A counter of its live instances.
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

    /// Leads with a duty that never ends. Returns the number of running duties.
    fn leading(leadership: &Leadership) -> Arc<AtomicUsize> {
        let count = Arc::default();
        let duties = Arc::clone(&count);
        let leadership = leadership.clone();
        tokio::spawn(leadership.lead("Duty", move || {
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
    async fn a_duty_that_ends_or_panics_is_begun_again() {
        let api = cluster();
        let (leadership, keeping) = Leadership::of(api.client(), "olmguard");
        tokio::spawn(keeping);
        let begun = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&begun);
        tokio::spawn(leadership.lead("Duty", move || {
            let before = count.fetch_add(1, Ordering::Relaxed);
            async move { assert!(before.is_multiple_of(2), "a bug") }
        }));
        until(4, &begun).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_keeper_that_ends_while_it_holds_the_lease_ends_the_duty() {
        let (sender, held) = watch::channel(true);
        let starts = Arc::new(AtomicUsize::new(0));
        let started = Arc::clone(&starts);
        let leading = Leadership(held).lead("Duty", move || {
            started.fetch_add(1, Ordering::Relaxed);
            pending::<()>()
        });
        tokio::spawn(leading);
        sleep(Duration::from_secs(1)).await;
        drop(sender);
        sleep(Duration::from_mins(1)).await;
        assert_eq!(starts.load(Ordering::Relaxed), 1);
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
