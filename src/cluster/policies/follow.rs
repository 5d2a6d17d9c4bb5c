//! The watches of policies, and the effect of each event.

use std::sync::Arc;
use std::time::Duration;

use kube::Client;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tracing::info;

use super::read::{GUARDRAILS, ObjectReport, POLICIES, PolicyContent, Reports};
use super::table::{EventEffect, ObjectTable, Presence};
use super::{
    ExpectedPermission, ListedKind, ListedPolicies, PermissionWatch, PolicyBoard, PolicyStore,
    UnlistedCause,
};
use crate::cluster::watch::{WatchEvent, WatchedKind, trimmed};
use olmguard_catalog::guardrail::{AdministratorGuardrails, GuardrailsObject};
use olmguard_engine::judge::UpgradePolicies;
use olmguard_policy::UpgradePolicy;
use olmguard_server::telemetry::metrics::{PolicyMetrics, PolicyObjectLabel, WatchMetrics};
use olmguard_server::tls::Clock;

/// The receivers of all reports.
#[derive(Clone, Debug)]
pub struct PolicyListener {
    /// The policies that edits are judged by.
    pub store: Arc<PolicyStore>,
    /// The state for probes.
    pub board: Arc<PolicyBoard>,
    /// The metrics of policies.
    pub metrics: Arc<PolicyMetrics>,
    /// The metrics of watches.
    pub watches: Arc<WatchMetrics>,
    /// The time of day.
    pub clock: Arc<dyn Clock>,
}

/// Watches the objects, and publishes their contents, while this future is polled. It ends if one of its watches ends,
/// which only a bug in this program can cause. The caller then reads everything again.
///
/// The status to write into the objects is sent to `reports`.
pub async fn follow(
    client: Client,
    expected: ExpectedPermission,
    listener: PolicyListener,
    reports: watch::Sender<Reports>,
) {
    let mut tasks = JoinSet::new();
    let mut events_of = |kind: WatchedKind| {
        let (events, received) = mpsc::channel(BACKLOG);
        tasks.spawn(kind.watch(client.clone(), trimmed, events));
        received
    };
    let watches = Watches {
        policies: events_of(WatchedKind::optional(POLICIES)),
        guardrails: events_of(WatchedKind::optional(GUARDRAILS)),
        policy: events_of(super::POLICY),
        binding: events_of(super::BINDING),
    };
    WatchedPolicies::new(expected, listener, reports)
        .run(watches)
        .await;
}

/// The events of each watch.
pub(super) struct Watches {
    pub(super) policies: mpsc::Receiver<WatchEvent<Value>>,
    pub(super) guardrails: mpsc::Receiver<WatchEvent<Value>>,
    pub(super) policy: mpsc::Receiver<WatchEvent<Value>>,
    pub(super) binding: mpsc::Receiver<WatchEvent<Value>>,
}

pub(super) struct WatchedPolicies {
    policies: ObjectTable<UpgradePolicy>,
    guardrails: ObjectTable<GuardrailsObject>,
    permission: PermissionWatch,
    listener: PolicyListener,
    last: Reports,
    reports: watch::Sender<Reports>,
    /// The time at which a changed status is added to the reports.
    report_at: Option<Instant>,
    /// Whether incomplete knowledge may be published. It must not replace complete knowledge.
    puts_parts: bool,
}

impl WatchedPolicies {
    pub(super) fn new(
        expected: ExpectedPermission,
        listener: PolicyListener,
        reports: watch::Sender<Reports>,
    ) -> Self {
        Self {
            policies: ObjectTable::default(),
            guardrails: ObjectTable::default(),
            permission: PermissionWatch {
                expected,
                ..PermissionWatch::default()
            },
            puts_parts: !listener.store.is_whole(),
            listener,
            last: Reports::default(),
            reports,
            report_at: None,
        }
    }

    /// Processes events until a watch ends.
    pub(super) async fn run(mut self, mut watches: Watches) {
        loop {
            let report_at = self.report_at;
            let effect = tokio::select! {
                event = watches.policies.recv() => match event {
                    Some(event) => self.listener.take(&mut self.policies, event).await,
                    None => return,
                },
                event = watches.guardrails.recv() => match event {
                    Some(event) => self.listener.take(&mut self.guardrails, event).await,
                    None => return,
                },
                event = watches.policy.recv() => match event {
                    Some(event) => verdicts_if(self.permission.take_policy(&event)),
                    None => return,
                },
                event = watches.binding.recv() => match event {
                    Some(event) => verdicts_if(self.permission.take_binding(&event)),
                    None => return,
                },
                () = sleep_until(report_at.unwrap_or_else(Instant::now)), if report_at.is_some() => {
                    self.report_at = None;
                    self.report(&self.in_force());
                    EventEffect::Nothing
                }
            };
            self.act(effect);
        }
    }

    /// Acts on the effect of an event. Each written status comes back as an event, so several are handled together.
    fn act(&mut self, change: EventEffect) {
        match change {
            EventEffect::Status => {
                let at = Instant::now() + SETTLE;
                self.report_at.get_or_insert(at);
                return;
            }
            EventEffect::Verdicts => {
                let policies = self.in_force();
                self.report(&policies);
                self.publish(policies);
            }
            EventEffect::Nothing => {}
        }
        self.tell();
    }

    /// Updates the metrics, the store and the probes.
    fn tell(&self) {
        let metrics = &self.listener.metrics;
        metrics.known(PolicyObjectLabel::UpgradePolicy, self.policies.is_known());
        metrics.known(
            PolicyObjectLabel::UpgradeGuardrails,
            self.guardrails.is_known(),
        );
        let state = self.listed();
        if let Err(why) = &state
            && self.puts_parts
        {
            self.listener.store.put_unlisted(why);
        }
        self.listener.board.put(state);
    }

    /// Returns the policies as this cluster enforces them.
    fn in_force(&self) -> Vec<UpgradePolicy> {
        let is_checked = self.permission.is_checked();
        let policies = self.policies.iter().map(|read| {
            let mut policy = read.content.clone();
            if policy.asks_for_permission() && !is_checked {
                policy.require_permission_check();
            }
            policy
        });
        let mut policies: Vec<_> = policies.collect();
        UpgradePolicy::bound_together(&mut policies);
        policies
    }

    fn report(&mut self, policies: &[UpgradePolicy]) {
        let read = self.policies.iter().zip(policies);
        let policies = read.map(|(read, policy)| ObjectReport::of_policy(read, policy.clone()));
        let guardrails = self.guardrails.iter().map(ObjectReport::of_guardrails);
        self.last = Reports(policies.chain(guardrails).collect());
        if self.is_known() {
            self.reports.send_replace(self.last.clone());
        }
    }

    fn publish(&mut self, policies: Vec<UpgradePolicy>) {
        self.puts_parts |= self.is_known();
        if !self.puts_parts {
            return;
        }
        let mut objects = AdministratorGuardrails::default();
        for read in self.guardrails.iter() {
            objects.add_object(read.content.clone());
        }
        let upgrades = UpgradePolicies::of(policies);
        let upgrades = if self.permission.is_checked() {
            upgrades.with_permission_asked()
        } else {
            upgrades
        };
        let unlisted = self.listed().err();
        let store = &self.listener.store;
        store.put_objects(objects, upgrades, unlisted.as_ref());
        self.listener.count(&self.last);
    }

    /// Whether an answer about all deciding objects is known.
    fn is_known(&self) -> bool {
        self.policies.presence != Presence::Unknown
            && self.guardrails.presence != Presence::Unknown
            && self.permission.is_known()
    }

    /// Returns the known policies; `Err` while any deciding object is unknown.
    fn listed(&self) -> Result<ListedPolicies, UnlistedCause> {
        let policies = ListedKind::of(&self.policies, self.last.faults(UpgradePolicy::KIND))?;
        let guardrails = self.last.faults(GuardrailsObject::KIND);
        let guardrails = ListedKind::of(&self.guardrails, guardrails)?;
        let mut policies_read = self.policies.iter().map(|read| &read.content);
        let needs_permission = policies_read.any(UpgradePolicy::asks_for_permission);
        if needs_permission && !self.permission.is_known() {
            return Err(UnlistedCause::Permission);
        }
        Ok(ListedPolicies {
            policies,
            guardrails,
        })
    }
}

impl PolicyListener {
    /// Leaves edits undecided that an object of the cluster could forbid, until all objects are known.
    pub fn begin(&self) {
        self.store.put_unlisted(&UnlistedCause::Start);
        for kind in [
            PolicyObjectLabel::UpgradePolicy,
            PolicyObjectLabel::UpgradeGuardrails,
        ] {
            self.metrics.known(kind, false);
        }
    }

    /// Counts an event, and applies it to the objects of its kind.
    async fn take<T: PolicyContent>(
        &self,
        objects: &mut ObjectTable<T>,
        event: WatchEvent<Value>,
    ) -> EventEffect {
        let resource = T::RESOURCE;
        match &event {
            WatchEvent::Lost(fault) => {
                self.watches.lost(resource);
                self.watches.failed(resource, fault.class);
            }
            WatchEvent::Listed(_) => {
                self.watches.restarted(resource);
                self.watches.heard(resource, self.clock.now());
            }
            _ => self.watches.heard(resource, self.clock.now()),
        }
        objects.take(event, Instant::now()).await
    }

    fn count(&self, reports: &Reports) {
        let of = |kind, object| {
            let all = reports.of(kind).count();
            let invalid = reports.faults(kind).len();
            self.metrics.taken(object, all - invalid, invalid);
            (all - invalid, invalid)
        };
        let (accepted, not_accepted) = of(UpgradePolicy::KIND, PolicyObjectLabel::UpgradePolicy);
        let (guardrails, invalid_guardrails) =
            of(GuardrailsObject::KIND, PolicyObjectLabel::UpgradeGuardrails);
        info!(
            accepted,
            not_accepted, guardrails, invalid_guardrails, "Loaded upgrade policies of the cluster"
        );
    }
}

fn verdicts_if(is_other: bool) -> EventEffect {
    if is_other {
        EventEffect::Verdicts
    } else {
        EventEffect::Nothing
    }
}

/// The most waiting events.
const BACKLOG: usize = 16;
/// The delay from a change of a status to the next report, which includes all changes in between.
pub(super) const SETTLE: Duration = Duration::from_millis(500);
