//! How much a server takes on at once, and how long it waits.
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
//! | large reviews that are read or judged | [`Limits::large_reviews`] × 32 MiB |
//!
//! A body that is no larger than 16 KiB has at most a few thousand values; of a larger one the fields
//! that something reads are kept, of lists and maps some thousand entries, and texts, which judging
//! copies: four times the 7 MiB that a body can have. A review is read only when it has a worker or a
//! place, or it is forgotten before anything is waited for. So there are never more reviews in memory
//! than the last three lines count, however many bodies wait.

use std::num::NonZeroUsize;
use std::time::Duration;

use tokio::time::Instant;

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
    /// Those of them that one address may have.
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
    /// From accepting it to the end of its TLS handshake.
    pub handshake: Duration,
    /// From the first byte of a request to the end of its head.
    pub head: Duration,
    /// For the rest of a body, where the deadline of its review is not earlier.
    pub body: Duration,
    /// Until it has taken an answer.
    pub write: Duration,
    /// Without a request.
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

    /// How many large reviews are read and judged at once: one, and half of the workers at most, so that
    /// they leave some for ordinary ones.
    pub fn large_reviews(&self) -> usize {
        (self.workers.get() / 2).clamp(1, MOST_LARGE)
    }

    /// The most memory that clients can make a server take, in bytes, on so many threads that serve
    /// connections: the sum of the table above.
    pub fn most_memory(&self, threads: usize) -> usize {
        let reviews = (self.workers.get() + threads) * ORDINARY_REVIEW;
        self.connections.get() * CONNECTION
            + self.body_memory
            + reviews
            + ANSWERED * ANSWERED_REVIEW
            + self.large_reviews() * LARGE_REVIEW
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

/// With its TLS session, what is read ahead, and the first 16 KiB of a body.
const CONNECTION: usize = 56 << 10;

/// Two bodies of 7 MiB of one address.
const BODY_MEMORY: usize = 32 << 20;

/// What reading and judging a review takes at most, its body apart.
const ORDINARY_REVIEW: usize = 1 << 20;
const LARGE_REVIEW: usize = 32 << 20;

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

#[cfg(test)]
mod tests {
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
        let large: Vec<_> = [1, 2, 3, 4, 64]
            .map(|count| limits(count).large_reviews())
            .into();
        assert_eq!(large, [1, 1, 1, 2, 2]);
    }
}
