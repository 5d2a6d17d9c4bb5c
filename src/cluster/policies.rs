//! The `UpgradePolicy` and `UpgradeGuardrails` objects of a cluster: watched, and in force as soon as they
//! are read.
//!
//! ```text
//! UpgradePolicies ----watch--> read --.
//! UpgradeGuardrails --watch--> read --+--> table --> store --> Policies, by which edits are judged
//! bypass policy ------watch-----------'      |         ^-- files of --guardrails
//!                                            '--> board (probes), metrics, status
//! ```
//!
//! An object that cannot be read denies what it is about, as `olmguard check` has it, and reports that. Until both kinds
//! are listed, what no known rule denies is undecided. While a watch is lost, what was read last is in force. A cluster
//! without the definitions is judged without policies; if definitions are gone, the objects that were read last stay in
//! force for minutes.
//!
//! Invariants: objects are read apart from where edits are answered, and published as a whole; no verdict of the webhook
//! depends on the lease, or on the status of an object. Commands read one thing from it: whether the cluster checks the
//! permission of `bypass: ByPermission`.

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

/// Whether it is known which policies there are.
///
/// Policies that cannot be read are no reason not to be ready: what they are about is denied, everything else is
/// judged. Before it is known which policies there are, nothing is judged.
#[derive(Debug)]
pub struct PolicyBoard(Mutex<PolicyKnowledge>);

#[derive(Debug)]
struct PolicyKnowledge {
    now: Result<ListedPolicies, UnlistedCause>,
    was_known: bool,
}

/// The policies that are known, in words of one line.
#[derive(Clone, Debug, derive_more::Display, Eq, PartialEq)]
#[display("{policies}; {guardrails}")]
pub struct ListedPolicies {
    policies: ListedKind,
    guardrails: ListedKind,
}

/// The objects of one kind that are known.
#[derive(Clone, Debug, Eq, PartialEq)]
struct ListedKind {
    kind: &'static str,
    objects: KnownObjects,
    /// The invalid objects, with why.
    invalid: Vec<(String, String)>,
    /// Why the watch is lost.
    fault: Option<WatchFault>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum KnownObjects {
    /// The cluster does not serve the kind.
    Absent,
    Listed(usize),
    /// The objects are kept although the cluster no longer serves the kind.
    Doubted(usize),
}

/// Why it is not known which policies there are, in words of one line.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UnlistedCause {
    /// The watches have just begun.
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
        /// Why they cannot be listed, if it was tried.
        fault: Option<WatchFault>,
    },
    /// A policy depends on whether the API server asks for the permission `bypass`.
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
    /// What a probe gets. A server whose policies were known once stays ready: a definition that is added later and cannot be
    /// listed would take every replica away at the same time, and edits are undecided anyway.
    pub fn readiness(&self) -> CheckReadiness {
        let state = self.locked();
        let words = match &state.now {
            Ok(listed) => Ok(listed.to_string()),
            Err(why) if state.was_known => Ok(format!("{why}, so edits can be undecided")),
            Err(why) => Err(why.to_string()),
        };
        CheckReadiness::new("policies", words, None).with_known(state.now.is_ok())
    }

    fn put(&self, now: Result<ListedPolicies, UnlistedCause>) {
        let mut state = self.locked();
        state.was_known |= now.is_ok();
        state.now = now;
    }

    /// Nothing that is done under the lock can fail half-way.
    fn locked(&self) -> MutexGuard<'_, PolicyKnowledge> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ListedKind {
    /// What a table knows. `invalid` are its invalid objects, with why.
    fn of<T: PolicyContent>(
        table: &ObjectTable<T>,
        invalid: Vec<(String, String)>,
    ) -> Result<Self, UnlistedCause> {
        let count = table.iter().count();
        let fault = table.fault().cloned();
        let objects = match table.presence {
            Presence::Unknown => {
                let kind = T::KIND;
                return Err(UnlistedCause::Kind { kind, fault });
            }
            Presence::Absent => KnownObjects::Absent,
            Presence::Listed => KnownObjects::Listed(count),
            Presence::Doubted { .. } => KnownObjects::Doubted(count),
        };
        Ok(Self {
            kind: T::KIND,
            objects,
            invalid,
            fault,
        })
    }
}

impl fmt::Display for ListedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, invalid) = (self.kind, self.invalid.len());
        match self.objects {
            KnownObjects::Absent => write!(f, "no {kind} in this cluster")?,
            KnownObjects::Listed(count) | KnownObjects::Doubted(count) => {
                write!(f, "{} {kind} accepted", count - invalid)?;
            }
        }
        if let Some((name, why)) = self.invalid.first() {
            write!(
                f,
                ", {invalid} not accepted and denying upgrades; the first: {name}: {why}"
            )?;
        }
        if matches!(self.objects, KnownObjects::Doubted(_)) {
            f.write_str(", kept for now although the cluster no longer serves the kind")?;
        }
        match &self.fault {
            Some(fault) => write!(f, ", the last good ones stay in use: {}", fault.words),
            None => Ok(()),
        }
    }
}

// === The store: all policies and guardrails, from files and from the cluster, as one value for judgements ===

/// What is in force. A change of one part is published with the others as they are.
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
    /// Why the cluster can have more objects.
    unlisted: Option<Box<str>>,
}

impl PolicyStore {
    /// What edits are judged by.
    pub fn current(&self) -> Arc<ArcSwap<Policies>> {
        Arc::clone(&self.current)
    }

    /// The guardrails of files are these from now on.
    pub fn put_files(&self, files: AdministratorGuardrails) {
        self.put(|parts| parts.files = files);
    }

    /// From now on, the cluster can have objects that are not known, for this reason. Until then, it has none.
    fn put_unlisted(&self, why: &UnlistedCause) {
        self.put(|parts| parts.unlisted = Some(why.to_string().into()));
    }

    /// The objects of the cluster are these from now on; `unlisted` is why they can be more.
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

    /// Made whole and swapped under the lock, so that of two changes the later one is not lost.
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

// === Whether the API server asks for the permission `bypass` ===
//
// It does if the `ValidatingAdmissionPolicy` that is shipped for it, and its binding, are in the cluster as shipped.

/// What is shipped: the specs of the policy in each of its forms, and of the binding.
#[derive(Clone, Debug, Default)]
pub struct ExpectedPermission {
    /// The accepted specs of the `ValidatingAdmissionPolicy`.
    pub policies: Vec<Value>,
    /// The spec of the `ValidatingAdmissionPolicyBinding`.
    pub binding: Value,
}

/// What is known of both.
#[derive(Debug)]
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
    fn new(expected: ExpectedPermission) -> Self {
        Self {
            expected,
            policy: PermissionObject::Unknown,
            binding: PermissionObject::Unknown,
        }
    }

    /// Whether both have been asked for.
    fn is_known(&self) -> bool {
        self.policy != PermissionObject::Unknown && self.binding != PermissionObject::Unknown
    }

    /// Whether the API server asks.
    fn is_checked(&self) -> bool {
        self.policy == PermissionObject::Shipped && self.binding == PermissionObject::Shipped
    }

    /// Takes an event of the policy; true if the answer is another one now.
    fn take_policy(&mut self, event: &WatchEvent<Value>) -> bool {
        let expected = &self.expected.policies;
        let next = piece(self.policy, event, |spec| expected.contains(spec));
        let before = (self.is_known(), self.is_checked());
        self.policy = next;
        before != (self.is_known(), self.is_checked())
    }

    /// The same for the binding.
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
        // Without the right to look, nobody knows that somebody asks.
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
