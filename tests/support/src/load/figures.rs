//! The results of a load: answers and latencies.

use std::collections::BTreeMap;
use std::time::Duration;

/// The results of a load.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Valid answers: a status of success and the expected texts.
    pub answered: u64,
    /// Valid answers that contain the mark, counted separately.
    pub marked: u64,
    /// Valid answers with `connection: close`.
    pub farewells: u64,
    /// Requests that were sent again because the connection had been closed before, as any client
    /// does.
    pub reconnected: u64,
    /// Requests that were sent again after some of their bytes had been sent. Go does not do that
    /// for a POST.
    pub sent_twice: u64,
    /// Failures by their text, and how often each occurred.
    pub failures: BTreeMap<String, u64>,
    /// The times from when a request was due to the end of its answer, in microseconds.
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

    /// Adds the results of another connection.
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

    /// Returns the number of requests without a valid answer.
    pub fn failed(&self) -> u64 {
        self.failures.values().sum()
    }

    /// Returns the latency that this many of a thousand answers did not exceed.
    pub fn latency(&mut self, per_mille: usize) -> Duration {
        self.latencies.sort_unstable();
        let last = self.latencies.len().saturating_sub(1);
        let at = (self.latencies.len() * per_mille / 1000).min(last);
        Duration::from_micros(self.latencies.get(at).copied().unwrap_or_default().into())
    }
}
