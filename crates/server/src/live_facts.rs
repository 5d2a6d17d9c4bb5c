//! The current facts for a server: catalogs and policies that can be replaced at any time, and the time itself.
//!
//! Catalogs and policies come from independent watches, so no moment is common to both. An edit or an audit loads each
//! of them once, as a whole. Policies are loaded last, so a restriction is never older than the catalogs it restricts.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;

use olmguard_engine::judge::{Basis, Policies};
use olmguard_engine::snapshot::Snapshot;
use olmguard_policy::Moment;

/// The current catalogs and policies, each replaced as a whole.
#[derive(Clone, Debug)]
pub struct LiveFacts {
    /// The catalogs.
    pub snapshot: Arc<ArcSwap<Snapshot>>,
    /// The guardrails and upgrade policies of administrators.
    pub policies: Arc<ArcSwap<Policies>>,
}

/// The catalogs and policies, loaded in direct succession and kept until this value is dropped.
#[derive(Clone, Debug)]
pub struct FactsOfMoment {
    /// The catalogs.
    pub snapshot: Arc<Snapshot>,
    /// The guardrails and upgrade policies of administrators.
    pub policies: Arc<Policies>,
}

impl LiveFacts {
    /// Returns the current facts, for longer use.
    pub fn now(&self) -> FactsOfMoment {
        FactsOfMoment {
            snapshot: self.snapshot.load_full(),
            policies: self.policies.load_full(),
        }
    }

    /// Calls `judge` with the current facts. Concurrent threads do not contend for a shared counter.
    pub fn judged<T>(&self, judge: impl FnOnce(Basis<'_>) -> T) -> T {
        let (snapshot, policies) = (self.snapshot.load(), self.policies.load());
        judge(Basis {
            snapshot: &snapshot,
            policies: &policies,
        })
    }
}

impl FactsOfMoment {
    /// Combines these policies with catalogs, which can be others than those here.
    pub fn basis<'s>(&'s self, snapshot: &'s Snapshot) -> Basis<'s> {
        Basis {
            snapshot,
            policies: &self.policies,
        }
    }
}

/// Converts a system time to whole seconds.
pub fn moment(time: SystemTime) -> Moment {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_unix_seconds(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
