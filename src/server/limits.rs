//! Limits of a server: how much it takes on at once, and how long it waits.
//!
//! # Memory
//!
//! What clients can make a server take is bounded, whatever they send:
//!
//! | what | most |
//! | --- | --- |
//! | connections, with what is read of each ahead | `connections` × 40 KiB |
//! | the body of each, up to its first 16 KiB | `connections` × 16 KiB |
//! | larger bodies, from their first byte | `body_memory`, of which one address has half |
//! | ordinary reviews that are read or judged | (`workers` + threads that serve) × 1 MiB |
//! | those of them that are answered, and whose reply is not written yet | 64 × 256 KiB |
//! | large reviews that are read or judged, 32 MiB for each, and objects that are read whole, by the size of their bodies | [`Limits::large_memory`] |
//!
//! A body that is no larger than 16 KiB has at most a few thousand values; of a larger one the fields
//! that something reads are kept, of lists and maps some thousand entries, and texts, which judging
//! copies: four times the 7 MiB that a body can have. A review is read only when it has a worker or a
//! place, or it is forgotten before anything is waited for. So there are never more reviews in memory
//! than the last three lines count, however many bodies wait.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::http::Uri;
use tokio::sync::Semaphore;
use tokio::time::Instant;

use olmguard_catalog::go_duration;
use olmguard_engine::judge::{UnansweredReason, Wait};

/// How much a server takes on at once, and how long it waits.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How many edits are judged at once.
    pub workers: NonZeroUsize,
    /// How many more may wait for that.
    pub queue: usize,
    /// How long a review may take where its request does not say.
    pub timeout: Duration,
    /// Connections open at once, on the port that takes reviews.
    pub connections: NonZeroUsize,
    /// The most connections of one address.
    pub connections_per_peer: NonZeroUsize,
    /// What bodies larger than 16 KiB may take together while their reviews are answered, in bytes. One
    /// address may have half of it.
    pub body_memory: usize,
    /// How long a connection may keep the server waiting.
    pub patience: Patience,
}

/// How long a connection may keep the server waiting.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// The time from accepting a connection to the end of its TLS handshake.
    pub handshake: Duration,
    /// The time from the first byte of a request to the end of its head.
    pub head: Duration,
    /// The time for the rest of a body, unless the deadline of its review is earlier.
    pub body: Duration,
    /// The time until a peer has taken an answer.
    pub write: Duration,
    /// The time without a request.
    pub idle: Duration,
    /// From its first byte of HTTP on, about: the next answer after that closes it. None for as long
    /// as its peer likes.
    pub age: Option<Duration>,
}

impl Patience {
    /// When a connection that begins now is old: a tenth earlier or later than the others, so that
    /// those of one moment do not all come again at one moment.
    pub(super) fn old_at(&self) -> Option<Instant> {
        self.age
            .map(|age| Instant::now() + spread(age, fastrand::f64()))
    }
}

/// Between 0.9 and 1.1 of an age, by a number from 0 to 1.
fn spread(age: Duration, random: f64) -> Duration {
    age.mul_f64(0.9 + random / 5.0)
}

impl Limits {
    /// How many ordinary reviews are in memory at once, those that are answered with them.
    pub fn ordinary_reviews(&self) -> usize {
        self.workers.get() + ANSWERED
    }

    /// The memory for large reviews that are read and judged at once, in bytes: enough for one of the largest, or for two
    /// with four workers or more.
    pub fn large_memory(&self) -> usize {
        (self.workers.get() / 2).clamp(1, MOST_LARGE) * LARGE_REVIEW
    }

    /// The most memory that clients can make a server take, in bytes, on so many threads that serve
    /// connections: the sum of the table above.
    pub fn most_memory(&self, threads: usize) -> usize {
        let reviews = (self.workers.get() + threads) * ORDINARY_REVIEW;
        self.connections.get() * CONNECTION
            + self.body_memory
            + reviews
            + ANSWERED * ANSWERED_REVIEW
            + self.large_memory()
    }
}

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self {
            workers: cores.min(MOST_WORKERS),
            queue: 256,
            timeout: Duration::from_secs(5),
            connections: CONNECTIONS,
            connections_per_peer: CONNECTIONS_PER_PEER,
            body_memory: BODY_MEMORY,
            patience: Patience::default(),
        }
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            handshake: Duration::from_secs(5),
            head: Duration::from_secs(5),
            body: Duration::from_secs(30),
            write: Duration::from_secs(5),
            idle: Duration::from_secs(90),
            age: Some(Duration::from_mins(10)),
        }
    }
}

/// The memory of a connection: its TLS session, bytes read ahead, and the first 16 KiB of a body.
const CONNECTION: usize = 56 << 10;

/// Two bodies of 7 MiB of one address.
const BODY_MEMORY: usize = 32 << 20;

/// What reading and judging a review takes at most, its body apart.
const ORDINARY_REVIEW: usize = 1 << 20;

/// What reading an object whole takes at most, its body of so many bytes apart, with the copies of what is kept of it: a
/// map with one value takes 128 times its text.
pub(super) fn whole_review(body: usize) -> usize {
    (128 * body).min(LARGE_REVIEW)
}

/// What reading and judging a large review takes at most, its body apart.
pub(super) const LARGE_REVIEW: usize = 32 << 20;

/// The reviews that are answered and wait for a thread that writes the reply, and what each takes.
const ANSWERED: usize = 64;

const ANSWERED_REVIEW: usize = 256 << 10;

/// On a machine with more cores, too: each has its memory, and edits of extensions are few.
const MOST_WORKERS: NonZeroUsize = NonZeroUsize::new(8).expect("not zero");

/// However many cores there are.
const MOST_LARGE: usize = 2;

/// An API server keeps a few dozen open.
const CONNECTIONS: NonZeroUsize = NonZeroUsize::new(2048).expect("not zero");

/// Behind a proxy, every API server of a cluster may have the same address.
const CONNECTIONS_PER_PEER: NonZeroUsize = NonZeroUsize::new(1024).expect("not zero");

// === The deadline of a review: before the API server gives up ===
//
// An API server sends how long it waits: `POST /validate?timeout=5s`. A later answer is lost, and the user
// who edits reads "context deadline exceeded". So the answer leaves earlier by a margin, for its way back.
//
// Upstream: Kubernetes, [`apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go`], which
// takes the time from `timeoutSeconds` and gives up after it.
//
// [`apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go

/// The time until which a review must be answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Deadline {
    /// The moment.
    pub(super) at: Instant,
    /// How long that is after the request came.
    pub(super) within: Duration,
}

impl Deadline {
    /// The deadline of a request that came now: what it says or what is configured, whichever is
    /// less, without the margin.
    pub(super) fn of(uri: &Uri, configured: Duration) -> Self {
        let within = within(uri.query().unwrap_or_default(), configured);
        Self {
            at: Instant::now() + within,
            within,
        }
    }

    /// The reason of an answer that had to wait until now.
    pub(super) fn exceeded(self, waited_for: Wait) -> UnansweredReason {
        UnansweredReason::DeadlineExceeded {
            waited_for,
            within: self.within,
        }
    }
}

fn within(query: &str, configured: Duration) -> Duration {
    let patience = asked(query).map_or(configured, |asked| asked.min(configured));
    // Of a patience that is no longer than the margin, half is left to answer in.
    let margin = (patience / 10).max(LEAST_MARGIN).min(patience / 2);
    patience.saturating_sub(margin)
}

/// What the query says, if it says something: a timeout that cannot be read is not one to fail for,
/// and one of zero is Go's word for none.
fn asked(query: &str) -> Option<Duration> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let (_, text) = pairs.find(|(key, _)| key == "timeout")?;
    let asked = go_duration::parse(&text).ok()?;
    (!asked.is_zero()).then_some(asked)
}

const LEAST_MARGIN: Duration = Duration::from_millis(100);

// === The share of each address in a resource that all addresses use ===
//
// One address can have half of it, so a flood from one address does not take everything. It is half and not
// less because all API servers of a cluster can have the same address behind a proxy.

/// The shares of all addresses.
#[derive(Debug)]
pub(super) struct Peers {
    /// How much each may have.
    pub(super) each: usize,
    shares: Mutex<HashMap<IpAddr, Weak<Semaphore>>>,
}

impl Peers {
    /// Shares of so much in all, with at least one for each address.
    pub(super) fn of(all: usize) -> Self {
        Self {
            each: (all / 2).clamp(1, Semaphore::MAX_PERMITS),
            shares: Mutex::default(),
        }
    }

    /// The share of an address. It is forgotten once nothing of it is taken.
    pub(super) fn share(&self, peer: IpAddr) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&peer).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.each));
        shares.insert(peer, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn ages_differ_by_a_tenth() {
        let age = Duration::from_mins(10);
        for (random, expected) in [(0.0, 540), (0.5, 600), (1.0, 660)] {
            assert_eq!(spread(age, random), Duration::from_secs(expected));
        }
    }

    /// The sum that docs/reliability.md has.
    #[test]
    fn two_cores_take_196_mebibytes() {
        let limits = |workers| Limits {
            workers: NonZeroUsize::new(workers).unwrap(),
            ..Limits::default()
        };
        assert_eq!(limits(2).most_memory(2), 196 << 20);
        let large = [1, 2, 3, 4, 64].map(|count| limits(count).large_memory() >> 20);
        assert_eq!(large, [32, 32, 32, 64, 64]);
        let of_object = [2 << 10, 1 << 20].map(|body| whole_review(body) >> 10);
        assert_eq!(of_object, [256, 32_768]);
    }

    #[test]
    fn each_address_has_half_and_is_forgotten_afterwards() {
        let peers = Peers::of(9);
        let [one, other] = [1, 2].map(|last| IpAddr::from(Ipv4Addr::new(192, 0, 2, last)));
        let all = peers.share(one).try_acquire_many_owned(4).unwrap();
        assert!(peers.share(one).try_acquire_owned().is_err());
        let of_other = peers.share(other).try_acquire_owned().unwrap();
        drop((all, of_other));
        assert_eq!(peers.share(one).available_permits(), 4);
        assert_eq!(peers.shares.lock().unwrap().len(), 1);
    }

    #[test]
    fn the_answer_leaves_before_the_one_who_asked_gives_up() {
        for (query, expected_ms) in [
            ("", 4_500),
            ("timeout=10s", 4_500),
            ("timeout=3s", 2_700),
            ("timeout=1s", 900),
            ("timeout=500ms", 400),
            ("timeout=150ms", 75),
            ("timeout=1ns", 0),
            ("timeout=0s", 4_500),
            ("timeout=-1s", 4_500),
            ("timeout=soon", 4_500),
            ("timeout=", 4_500),
            ("timeout=99999999999999999h", 4_500),
            ("pretty=true&timeout=2s&timeout=3s", 1_800),
            ("timeout=1%735", 4_500),
            ("%74imeout=2%73", 1_800),
        ] {
            let configured = Duration::from_secs(5);
            let millis = within(query, configured).as_millis();
            assert_eq!(millis, expected_ms, "{query}");
        }
    }
}
