//! How much a server takes on at once, and how long it waits.

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
    /// What large bodies may take together while their reviews are answered, in bytes: each beyond
    /// its first 64 KiB.
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

impl Default for Limits {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Self {
            workers: cores,
            queue: 256,
            timeout: Duration::from_secs(5),
            connections: CONNECTIONS,
            connections_per_peer: CONNECTIONS_PER_PEER,
            body_memory: 64 << 20,
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
}
