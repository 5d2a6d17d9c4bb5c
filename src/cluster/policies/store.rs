//! All that administrators decide, from files and from the cluster, as one value that edits are judged by.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use olmguard_catalog::guardrail::AdministratorGuardrails;
use olmguard_engine::judge::{Policies, UpgradePolicies};

/// What is in force. A change of one part is published with the others as they are.
#[derive(Debug, Default)]
pub struct PolicyStore {
    current: Arc<ArcSwap<Policies>>,
    parts: Mutex<Parts>,
}

#[derive(Debug, Default)]
struct Parts {
    /// From files.
    files: AdministratorGuardrails,
    /// From `UpgradeGuardrails` objects.
    objects: AdministratorGuardrails,
    upgrades: UpgradePolicies,
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

    /// The objects of the cluster are these from now on.
    pub(super) fn put_objects(&self, objects: AdministratorGuardrails, upgrades: UpgradePolicies) {
        self.put(|parts| {
            parts.objects = objects;
            parts.upgrades = upgrades;
        });
    }

    /// Made whole and swapped under the lock, so that of two changes the later one is not lost.
    fn put(&self, change: impl FnOnce(&mut Parts)) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut parts);
        let mut guardrails = parts.files.clone();
        guardrails.extend(&parts.objects);
        self.current.store(Arc::new(Policies {
            guardrails,
            upgrades: parts.upgrades.clone(),
            ..Policies::default()
        }));
    }
}
