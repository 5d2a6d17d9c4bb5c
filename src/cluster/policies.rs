//! The `UpgradePolicy` and `UpgradeGuardrails` objects of a cluster, which are watched and take effect as soon as they
//! are read.
//!
//! ```text
//! UpgradePolicies ----watch--> read --.
//! UpgradeGuardrails --watch--> read --+--> table --> store --> Policies, which judge edits
//! bypass policy ------watch-----------'      |         ^-- files of --guardrails
//!                                            '--> board (probes), metrics, status
//! ```
//!
//! An object that cannot be read denies the edits that it applies to, as in `olmguard check`, and reports its fault.
//! Until both kinds are listed, an edit that no known rule denies is undecided. While a watch is lost, the last known
//! objects stay in force. A cluster without the definitions is judged without policies. If the definitions disappear,
//! the last known objects stay in force for some minutes.
//!
//! Invariants: objects are not read on the threads that answer edits, and are published as a whole; no verdict of the
//! webhook depends on the lease, or on the status of an object. Commands read one fact from the status: whether the
//! cluster checks the permission of `bypass: ByPermission`.

mod follow;
mod read;
mod status;
mod table;
#[cfg(test)]
mod tests;

pub use follow::{PolicyListener, follow};
pub(in crate::cluster) use read::list_whole;
pub use read::{PoliciesError, Reports, list};
pub use status::report;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;
use serde_json::Value;

use crate::cluster::object::Names;
use crate::cluster::watch::{WatchEvent, WatchedKind};
use crate::cluster::{FaultClass, WatchFault};
use olmguard_catalog::guardrail::AdministratorGuardrails;
use olmguard_engine::judge::{Policies, UpgradePolicies};
use olmguard_views::readiness::CheckReadiness;
use read::PolicyContent;
use table::{ObjectTable, Presence};

// === The state of the policies, for probes ===

/// The knowledge about which policies exist.
///
/// Unreadable policies do not make a server unready: the edits that they apply to are denied, and all others are
/// judged. Until it is known which policies exist, no edit is fully judged.
#[derive(Debug)]
pub struct PolicyBoard(Mutex<PolicyKnowledge>);

#[derive(Debug)]
struct PolicyKnowledge {
    now: Result<ListedPolicies, UnlistedCause>,
    was_known: bool,
}

/// The known policies, in one line.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
#[display("{policies}; {guardrails}")]
pub struct ListedPolicies {
    policies: ListedKind,
    guardrails: ListedKind,
}

/// The known objects of one kind.
#[derive(Clone, Debug, Eq, PartialEq)]
struct ListedKind {
    kind: &'static str,
    /// Whether the cluster serves the kind. It is never unknown.
    presence: Presence,
    /// The number of known objects.
    count: usize,
    /// The invalid objects, with the reasons.
    invalid: Vec<(String, String)>,
    /// The reason why the watch is lost.
    fault: Option<WatchFault>,
}

/// The reason why it is not known which policies exist, in one line.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UnlistedCause {
    /// The watches have just started.
    #[error("not listed yet")]
    Start,
    /// The objects of a kind are not listed.
    #[error(
        "{kind} not listed yet{}",
        .fault.as_ref().map(|fault| format!(": {}", fault.words)).unwrap_or_default()
    )]
    Kind {
        /// The kind.
        kind: &'static str,
        /// The reason why they cannot be listed, after an attempt.
        fault: Option<WatchFault>,
    },
    /// A policy depends on whether the API server checks the permission `bypass`.
    #[error(
        "UpgradePolicy with bypass: ByPermission, and the ValidatingAdmissionPolicy not listed yet"
    )]
    Permission,
}

impl Default for PolicyBoard {
    fn default() -> Self {
        Self(Mutex::new(PolicyKnowledge {
            now: Err(UnlistedCause::Start),
            was_known: false,
        }))
    }
}

impl PolicyBoard {
    /// Returns the answer for a probe. A server that once knew its policies stays ready. Otherwise a definition that is
    /// added later and cannot be listed would make all replicas unready at the same time, and edits are undecided
    /// anyway.
    pub fn readiness(&self) -> CheckReadiness {
        let state = self.locked();
        let words = match &state.now {
            Ok(listed) => Ok(listed.to_string()),
            Err(why) if state.was_known => Ok(format!("{why}, so edits can be undecided")),
            Err(why) => Err(why.to_string()),
        };
        CheckReadiness {
            known: state.now.is_ok(),
            ..CheckReadiness::new("policies", words)
        }
    }

    fn put(&self, now: Result<ListedPolicies, UnlistedCause>) {
        let mut state = self.locked();
        state.was_known |= now.is_ok();
        state.now = now;
    }

    /// Locks the state. No code under the lock can fail half-way, so a poisoned lock is usable.
    fn locked(&self) -> MutexGuard<'_, PolicyKnowledge> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ListedKind {
    /// Summarizes a table; `invalid` has its invalid objects, with the reasons.
    fn of<T: PolicyContent>(
        table: &ObjectTable<T>,
        invalid: Vec<(String, String)>,
    ) -> Result<Self, UnlistedCause> {
        let (kind, fault) = (T::KIND, table.fault().cloned());
        if table.presence == Presence::Unknown {
            return Err(UnlistedCause::Kind { kind, fault });
        }
        Ok(Self {
            kind,
            presence: table.presence,
            count: table.iter().count(),
            invalid,
            fault,
        })
    }
}

impl fmt::Display for ListedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, invalid) = (self.kind, self.invalid.len());
        match self.presence {
            Presence::Absent => write!(f, "no {kind} in this cluster")?,
            _ => write!(f, "{} {kind} accepted", self.count - invalid)?,
        }
        if let Some((name, why)) = self.invalid.first() {
            write!(
                f,
                ", {invalid} not accepted and denying upgrades; the first: {name}: {why}"
            )?;
        }
        if matches!(self.presence, Presence::Doubted { .. }) {
            f.write_str(", kept for now although the cluster no longer serves the kind")?;
        }
        match &self.fault {
            Some(fault) => write!(f, ", the last good ones stay in use: {}", fault.words),
            None => Ok(()),
        }
    }
}

// === The store: all policies and guardrails, from files and from the cluster, as one value for judgements ===

/// The policies in force. A change of one part is published together with the other parts.
#[derive(Debug, Default)]
pub struct PolicyStore {
    current: Arc<ArcSwap<Policies>>,
    parts: Mutex<PolicyParts>,
}

#[derive(Debug, Default)]
struct PolicyParts {
    /// Guardrails from files.
    files: AdministratorGuardrails,
    /// Guardrails from `UpgradeGuardrails` objects.
    objects: AdministratorGuardrails,
    upgrades: UpgradePolicies,
    /// The reason why the cluster may have more objects.
    unlisted: Option<Box<str>>,
}

impl PolicyStore {
    /// Returns the policies that edits are judged by.
    pub fn current(&self) -> Arc<ArcSwap<Policies>> {
        Arc::clone(&self.current)
    }

    /// Replaces the guardrails from files.
    pub fn put_files(&self, files: AdministratorGuardrails) {
        self.put(|parts| parts.files = files);
    }

    /// Records that the cluster may have unknown objects, for this reason. Before the first call, it has none.
    fn put_unlisted(&self, why: &UnlistedCause) {
        self.put(|parts| parts.unlisted = Some(why.to_string().into()));
    }

    /// Replaces the objects of the cluster; `unlisted` is the reason why there may be more.
    fn put_objects(
        &self,
        objects: AdministratorGuardrails,
        upgrades: UpgradePolicies,
        unlisted: Option<&UnlistedCause>,
    ) {
        self.put(|parts| {
            parts.objects = objects;
            parts.upgrades = upgrades;
            parts.unlisted = unlisted.map(|why| why.to_string().into());
        });
    }

    /// Whether all objects of the cluster are known.
    fn is_whole(&self) -> bool {
        self.current.load().unlisted.is_none()
    }

    /// Builds and swaps the whole value under the lock, so that concurrent changes are not lost.
    fn put(&self, change: impl FnOnce(&mut PolicyParts)) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut parts);
        let mut guardrails = parts.files.clone();
        guardrails.extend(&parts.objects);
        self.current.store(Arc::new(Policies {
            guardrails,
            upgrades: parts.upgrades.clone(),
            unlisted: parts.unlisted.clone(),
        }));
    }
}

// === Whether the API server checks the permission `bypass` ===
//
// It does if the shipped `ValidatingAdmissionPolicy` and its binding exist in the cluster as shipped.

/// The shipped specs: of the policy in each of its forms, and of the binding.
#[derive(Clone, Debug, Default)]
pub struct ExpectedPermission {
    /// The accepted specs of the `ValidatingAdmissionPolicy`.
    pub policies: Vec<Value>,
    /// The spec of the `ValidatingAdmissionPolicyBinding`.
    pub binding: Value,
}

/// The known state of both objects.
#[derive(Debug, Default)]
struct PermissionWatch {
    expected: ExpectedPermission,
    policy: PermissionObject,
    binding: PermissionObject,
}

/// The state of one of the two objects.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum PermissionObject {
    /// No answer yet.
    #[default]
    Unknown,
    /// The object is as shipped.
    Shipped,
    /// The object is missing, differs, or cannot be read.
    Other,
}

impl PermissionWatch {
    /// Whether an answer about both objects is known.
    fn is_known(&self) -> bool {
        self.policy != PermissionObject::Unknown && self.binding != PermissionObject::Unknown
    }

    /// Whether the API server checks the permission.
    fn is_checked(&self) -> bool {
        self.policy == PermissionObject::Shipped && self.binding == PermissionObject::Shipped
    }

    /// Processes an event of the policy. Returns true if the result has changed.
    fn take_policy(&mut self, event: &WatchEvent<Value>) -> bool {
        let expected = &self.expected.policies;
        let next = piece(self.policy, event, |spec| expected.contains(spec));
        let before = (self.is_known(), self.is_checked());
        self.policy = next;
        before != (self.is_known(), self.is_checked())
    }

    /// Processes an event of the binding, in the same way.
    fn take_binding(&mut self, event: &WatchEvent<Value>) -> bool {
        let expected = &self.expected.binding;
        let next = piece(self.binding, event, |spec| spec == expected);
        let before = (self.is_known(), self.is_checked());
        self.binding = next;
        before != (self.is_known(), self.is_checked())
    }
}

fn piece(
    known: PermissionObject,
    event: &WatchEvent<Value>,
    is_shipped: impl Fn(&Value) -> bool,
) -> PermissionObject {
    let of = |object: &Value| {
        let is_shipped = object.get("spec").is_some_and(&is_shipped);
        let is_leaving = object.pointer("/metadata/deletionTimestamp").is_some();
        if is_shipped && !is_leaving {
            PermissionObject::Shipped
        } else {
            PermissionObject::Other
        }
    };
    match event {
        WatchEvent::Listed(objects) => objects.first().map_or(PermissionObject::Other, of),
        WatchEvent::Applied(object) => of(object),
        WatchEvent::Deleted(_) | WatchEvent::Absent => PermissionObject::Other,
        // Without permission to read the object, it cannot be known that the API server checks.
        WatchEvent::Lost(fault) if fault.class == FaultClass::Forbidden => PermissionObject::Other,
        WatchEvent::Lost(_) if known == PermissionObject::Unknown => PermissionObject::Other,
        WatchEvent::Lost(_) | WatchEvent::Alive | WatchEvent::Found => known,
    }
}

/// The name of both objects.
pub const BYPASS: &str = "olmguard-bypass";

const POLICY_NAMES: &Names = &[(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingAdmissionPolicy",
)];
const BINDING_NAMES: &Names = &[(
    "admissionregistration.k8s.io",
    "v1",
    "ValidatingAdmissionPolicyBinding",
)];

const POLICY: WatchedKind = WatchedKind::optional(POLICY_NAMES).only(BYPASS);
const BINDING: WatchedKind = WatchedKind::optional(BINDING_NAMES).only(BYPASS);
