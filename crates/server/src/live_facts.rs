//! What edits are judged by: the catalogs, the policies and the time, whatever is put in their place meanwhile.
//!
//! Catalogs and policies come from watches of their own, so no moment is common to both. Each is taken once for an edit
//! or an audit, as a whole, and the policies last: what restricts is never older than what it restricts.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;

use olmguard_engine::judge::{Basis, Policies};
use olmguard_engine::snapshot::Snapshot;
use olmguard_policy::Moment;

/// The catalogs and the policies, each replaced as a whole.
#[derive(Clone, Debug)]
pub struct LiveFacts {
    /// The catalogs.
    pub snapshot: Arc<ArcSwap<Snapshot>>,
    /// The guardrails and upgrade policies of administrators.
    pub policies: Arc<ArcSwap<Policies>>,
}

/// Both as they were taken, one right after the other, and kept until this is dropped.
#[derive(Clone, Debug)]
pub struct FactsOfMoment {
    /// The catalogs.
    pub snapshot: Arc<Snapshot>,
    /// The guardrails and upgrade policies of administrators.
    pub policies: Arc<Policies>,
}

impl LiveFacts {
    /// The current facts, to keep.
    pub fn now(&self) -> FactsOfMoment {
        FactsOfMoment {
            snapshot: self.snapshot.load_full(),
            policies: self.policies.load_full(),
        }
    }

    /// What `judge` makes of the current facts. Threads that judge at the same time share no counter.
    pub fn judged<T>(&self, judge: impl FnOnce(Basis<'_>) -> T) -> T {
        let (snapshot, policies) = (self.snapshot.load(), self.policies.load());
        judge(Basis {
            snapshot: &snapshot,
            policies: &policies,
        })
    }
}

impl FactsOfMoment {
    /// To judge by these policies, and by catalogs that may be others.
    pub fn basis<'s>(&'s self, snapshot: &'s Snapshot) -> Basis<'s> {
        Basis {
            snapshot,
            policies: &self.policies,
        }
    }
}

/// The second of a time of day.
pub fn moment(time: SystemTime) -> Moment {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment::from_unix_seconds(i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}
