//! The state of the policies, for probes.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::table::{Presence, ReadObject, Table};
use crate::cluster::fault::WatchFault;

/// Whether it is known which policies there are.
///
/// Policies that cannot be read are no reason not to be ready: what they are about is denied, everything else is
/// judged. Before it is known which policies there are, nothing is judged.
#[derive(Debug)]
pub struct PolicyBoard(Mutex<Result<ListedPolicies, UnlistedPolicies>>);

/// The policies that are known, in words of one line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListedPolicies {
    pub(super) policies: ListedKind,
    pub(super) guardrails: ListedKind,
}

/// The objects of one kind that are known.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct ListedKind {
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
    /// They are kept although the cluster no longer serves the kind.
    Doubted(usize),
}

/// Why it is not known which policies there are, in words of one line.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum UnlistedPolicies {
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
        Self(Mutex::new(Err(UnlistedPolicies::Start)))
    }
}

impl PolicyBoard {
    /// The policies, if edits can be judged.
    ///
    /// # Errors
    /// If it is not known which policies there are.
    pub fn state(&self) -> Result<ListedPolicies, UnlistedPolicies> {
        self.locked().clone()
    }

    pub(super) fn put(&self, state: Result<ListedPolicies, UnlistedPolicies>) {
        *self.locked() = state;
    }

    /// Nothing that is done under the lock can fail half-way.
    fn locked(&self) -> MutexGuard<'_, Result<ListedPolicies, UnlistedPolicies>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ListedKind {
    /// What a table knows. `invalid` are its invalid objects, with why.
    pub(super) fn of<T: ReadObject>(
        table: &Table<T>,
        invalid: Vec<(String, String)>,
    ) -> Result<Self, UnlistedPolicies> {
        let count = table.iter().count();
        let fault = table.fault().cloned();
        let objects = match table.presence() {
            Presence::Unknown => {
                let kind = T::KIND;
                return Err(UnlistedPolicies::Kind { kind, fault });
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

impl fmt::Display for ListedPolicies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.policies, self.guardrails)
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
