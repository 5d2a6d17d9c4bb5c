//! All that administrators decide, from files and from the cluster, as one value that edits are judged by.

use std::sync::{Arc, Mutex, PoisonError};

use arc_swap::ArcSwap;

use super::UnlistedPolicies;
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
    pub(super) fn put_unlisted(&self, why: &UnlistedPolicies) {
        self.put(|parts| parts.unlisted = Some(why.to_string().into()));
    }

    /// The objects of the cluster are these from now on; `unlisted` is why they can be more.
    pub(super) fn put_objects(
        &self,
        objects: AdministratorGuardrails,
        upgrades: UpgradePolicies,
        unlisted: Option<&UnlistedPolicies>,
    ) {
        self.put(|parts| {
            parts.objects = objects;
            parts.upgrades = upgrades;
            parts.unlisted = unlisted.map(|why| why.to_string().into());
        });
    }

    /// Whether all objects of the cluster are known.
    pub(super) fn is_whole(&self) -> bool {
        self.current.load().unlisted.is_none()
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
            unlisted: parts.unlisted.clone(),
        }));
    }
}
