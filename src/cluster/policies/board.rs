//! What probes are told about the policies.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::table::{Presence, ReadObject, Table};

/// How the policies are, in words of one line.
///
/// Policies that cannot be read are no reason not to be ready: what they are about is denied, everything else is
/// judged. Before it is known which policies there are, nothing is judged.
#[derive(Debug)]
pub struct PolicyBoard(Mutex<Result<String, String>>);

impl Default for PolicyBoard {
    fn default() -> Self {
        Self(Mutex::new(Err(LISTING.to_owned())))
    }
}

impl PolicyBoard {
    /// The words: `Ok` if edits can be judged.
    pub fn state(&self) -> Result<String, String> {
        self.words().clone()
    }

    pub(super) fn put(&self, words: Result<String, String>) {
        *self.words() = words;
    }

    /// Nothing that is done under the lock can fail half-way.
    fn words(&self) -> MutexGuard<'_, Result<String, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The words for one kind. `faults` are the invalid objects, with why.
pub(super) fn words<T: ReadObject>(
    table: &Table<T>,
    faults: &[(String, String)],
) -> Result<String, String> {
    let count = table.iter().count();
    let known = match table.presence() {
        Presence::Unknown => {
            let why = table.fault().map(|fault| format!(": {fault}"));
            return Err(format!("{} {LISTING}{}", T::KIND, why.unwrap_or_default()));
        }
        Presence::Absent => format!("no {} in this cluster", T::KIND),
        Presence::Listed | Presence::Doubted { .. } => {
            format!("{} {} accepted", count - faults.len(), T::KIND)
        }
    };
    let is_doubted = matches!(table.presence(), Presence::Doubted { .. });
    let doubted =
        is_doubted.then_some(", kept for now although the cluster no longer serves the kind");
    let invalid = faults.first().map(|(name, why)| {
        format!(
            ", {} not accepted and denying upgrades; the first: {name}: {why}",
            faults.len()
        )
    });
    let lost = table
        .fault()
        .map(|fault| format!(", the last good ones stay in use: {fault}"));
    Ok(format!(
        "{known}{}{}{}",
        invalid.unwrap_or_default(),
        doubted.unwrap_or_default(),
        lost.unwrap_or_default()
    ))
}

pub(super) const LISTING: &str = "not listed yet";
pub(super) const PERMISSION: &str =
    "UpgradePolicy with bypass: ByPermission, and the ValidatingAdmissionPolicy not listed yet";
