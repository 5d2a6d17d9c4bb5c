//! What a load was answered with, and how soon.

use std::collections::BTreeMap;
use std::time::Duration;

/// What a load was answered with.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Valid answers: the status of success, and the uid that was asked about.
    pub answered: u64,
    /// Those of them that hold what is counted apart.
    pub marked: u64,
    /// Answers after which the server closes, as they say.
    pub farewells: u64,
    /// Requests that were sent again as any client would: the connection was closed before.
    pub reconnected: u64,
    /// Requests that were sent again although bytes of them were out, as Go does not with a POST.
    pub sent_twice: u64,
    /// What went wrong, and how often.
    pub failures: BTreeMap<String, u64>,
    /// From the moment a request was due to the end of its answer, in microseconds.
    latencies: Vec<u32>,
}

impl Figures {
    pub fn answer(&mut self, latency: Duration) {
        self.answered += 1;
        self.latencies
            .push(u32::try_from(latency.as_micros()).unwrap_or(u32::MAX));
    }

    pub fn fail(&mut self, why: String) {
        *self.failures.entry(why).or_default() += 1;
    }

    /// Adds those of another connection.
    pub fn add(&mut self, other: Self) {
        self.answered += other.answered;
        self.marked += other.marked;
        self.farewells += other.farewells;
        self.reconnected += other.reconnected;
        self.sent_twice += other.sent_twice;
        for (why, count) in other.failures {
            *self.failures.entry(why).or_default() += count;
        }
        self.latencies.extend(other.latencies);
    }

    /// How many requests got no valid answer.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// The latency that so many of a thousand answers kept within.
    pub fn latency(&mut self, per_mille: usize) -> Duration {
        self.latencies.sort_unstable();
        let last = self.latencies.len().saturating_sub(1);
        let at = (self.latencies.len() * per_mille / 1000).min(last);
        Duration::from_micros(self.latencies.get(at).copied().unwrap_or_default().into())
    }
}
