//! The watches, and what follows from each of their events.

use std::sync::Arc;

use kube::Client;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tracing::info;

use super::permission::{self, ExpectedPermission, Permission};
use super::read::{ReadGuardrails, ReadPolicy};
use super::report::{ObjectReport, Reports};
use super::table::{Change, Presence, ReadObject, Table};
use super::{GUARDRAILS, POLICIES, PolicyBoard, PolicyStore, board};
use crate::cluster::kind_watch::{self, KindEvent, WatchedKind};
use crate::telemetry::metrics::{
    PolicyMetrics, PolicyObject, WatchFailure, WatchMetrics, WatchedResource,
};
use crate::tls::Clock;
use olmguard_catalog::guardrail::AdministratorGuardrails;
use olmguard_engine::judge::UpgradePolicies;
use olmguard_policy::UpgradePolicy;

/// Where everything is reported.
#[derive(Clone, Debug)]
pub struct PolicyListener {
    /// What edits are judged by.
    pub store: Arc<PolicyStore>,
    /// What probes are told.
    pub board: Arc<PolicyBoard>,
    /// What is counted.
    pub metrics: Arc<PolicyMetrics>,
    /// Whether the API server is heard.
    pub watches: Arc<WatchMetrics>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

/// Watches the objects, and publishes what they say, for as long as it is polled.
///
/// What there is to report in the objects themselves is sent to `reports`.
pub async fn follow(
    client: Client,
    expected: ExpectedPermission,
    listener: PolicyListener,
    reports: watch::Sender<Reports>,
) {
    let mut tasks = JoinSet::new();
    let mut watched = |kind| {
        let (events, received) = mpsc::channel(BACKLOG);
        tasks.spawn(kind_watch::watch(client.clone(), kind, events));
        received
    };
    let mut policies = watched(all(POLICIES));
    let mut guardrails = watched(all(GUARDRAILS));
    let mut policy = watched(permission::POLICY);
    let mut binding = watched(permission::BINDING);
    let mut state = State {
        policies: Table::default(),
        guardrails: Table::default(),
        permission: Permission::new(expected),
        listener,
        last: Reports::default(),
        reports,
    };
    loop {
        let change = tokio::select! {
            Some(event) = policies.recv() => state.policy(event).await,
            Some(event) = guardrails.recv() => state.guardrails(event).await,
            Some(event) = policy.recv() => state.permission(|known| known.take_policy(&event)),
            Some(event) = binding.recv() => state.permission(|known| known.take_binding(&event)),
            else => return,
        };
        state.act(change);
    }
}

struct State {
    policies: Table<ReadPolicy>,
    guardrails: Table<ReadGuardrails>,
    permission: Permission,
    listener: PolicyListener,
    last: Reports,
    reports: watch::Sender<Reports>,
}

impl State {
    async fn policy(&mut self, event: KindEvent) -> Change {
        self.listener.heard(ReadPolicy::RESOURCE, &event);
        self.policies.take(event).await
    }

    async fn guardrails(&mut self, event: KindEvent) -> Change {
        self.listener.heard(ReadGuardrails::RESOURCE, &event);
        self.guardrails.take(event).await
    }

    fn permission(&mut self, take: impl FnOnce(&mut Permission) -> bool) -> Change {
        if take(&mut self.permission) {
            Change::Verdicts
        } else {
            Change::Nothing
        }
    }

    fn act(&mut self, change: Change) {
        if change >= Change::Status {
            let policies = self.in_force();
            self.last = self.reports(&policies);
            if change == Change::Verdicts {
                self.publish(policies);
            }
            if self.is_known() {
                self.reports.send_replace(self.last.clone());
            }
        }
        self.listener.board.put(self.words());
    }

    /// The policies as this cluster enforces them.
    fn in_force(&self) -> Vec<UpgradePolicy> {
        let is_checked = self.permission.is_checked();
        let policies = self.policies.iter().map(|read| {
            let mut policy = read.policy.clone();
            if policy.asks_for_permission() && !is_checked {
                policy.require_permission_check();
            }
            policy
        });
        policies.collect()
    }

    fn reports(&self, policies: &[UpgradePolicy]) -> Reports {
        let read = self.policies.iter().zip(policies);
        let policies = read.map(|(read, policy)| ObjectReport::of_policy(read, policy.clone()));
        let guardrails = self.guardrails.iter().map(ObjectReport::of_guardrails);
        Reports(policies.chain(guardrails).collect())
    }

    fn publish(&self, policies: Vec<UpgradePolicy>) {
        let mut objects = AdministratorGuardrails::default();
        for read in self.guardrails.iter() {
            objects.add_object(read.guardrails.clone());
        }
        let upgrades = UpgradePolicies::of(policies);
        let upgrades = if self.permission.is_checked() {
            upgrades.with_permission_asked()
        } else {
            upgrades
        };
        self.listener.store.put_objects(objects, upgrades);
        self.listener.count(&self.last);
    }

    /// Whether everything that decides has been asked for.
    fn is_known(&self) -> bool {
        self.policies.presence() != Presence::Unknown
            && self.guardrails.presence() != Presence::Unknown
            && self.permission.is_known()
    }

    fn words(&self) -> Result<String, String> {
        let policies = board::words(&self.policies, &self.last.faults(ReadPolicy::KIND))?;
        let guardrails = self.last.faults(ReadGuardrails::KIND);
        let guardrails = board::words(&self.guardrails, &guardrails)?;
        Ok(format!("{policies}; {guardrails}"))
    }
}

impl PolicyListener {
    fn heard(&self, resource: WatchedResource, event: &KindEvent) {
        match event {
            KindEvent::Lost(fault) => {
                self.watches.lost(resource);
                let class = WatchFailure::of(fault.class.as_str());
                self.watches.failed(resource, class);
            }
            KindEvent::Listed(_) => {
                self.watches.restarted(resource);
                self.watches.heard(resource, self.clock.now());
            }
            _ => self.watches.heard(resource, self.clock.now()),
        }
    }

    fn count(&self, reports: &Reports) {
        let of = |kind, object| {
            let all = reports.of(kind).count();
            let invalid = reports.faults(kind).len();
            self.metrics.taken(object, all - invalid, invalid);
            (all - invalid, invalid)
        };
        let (accepted, not_accepted) = of(ReadPolicy::KIND, PolicyObject::UpgradePolicy);
        let (guardrails, invalid_guardrails) =
            of(ReadGuardrails::KIND, PolicyObject::UpgradeGuardrails);
        info!(
            accepted,
            not_accepted, guardrails, invalid_guardrails, "Loaded upgrade policies of the cluster"
        );
    }
}

fn all(names: &'static crate::cluster::served::Names) -> WatchedKind {
    WatchedKind { names, only: None }
}

/// How many events wait to be taken.
const BACKLOG: usize = 16;
