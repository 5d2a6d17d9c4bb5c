//! What a connection is waiting for, and since when.
//!
//! ```text
//! Handshake --> Fresh --first byte--> Head --> Answer --> Idle --first byte--> Head ... Close
//! ```
//!
//! hyper's own timeout for the head of a request runs while a connection is idle as well; the two
//! are told apart here, by the first byte that arrives.
//!
//! Invariant: only the task of the connection writes; any other may read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::server::limits::Patience;

/// What a connection is waiting for.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Waiting {
    /// The end of its TLS handshake.
    Handshake,
    /// Its first request.
    Fresh,
    /// The rest of the head of a request.
    Head,
    /// Its next request.
    Idle,
    /// The answer to a request: it waits for us.
    Answer,
    /// That its peer closes it as well.
    Close,
}

/// What a connection is waiting for, and since when.
#[derive(Debug)]
pub(super) struct Pace {
    accepted: Instant,
    /// Milliseconds from `accepted` to the last change, and what changed to in the lowest byte.
    state: AtomicU64,
}

impl Pace {
    /// Of a connection that is accepted now.
    pub(super) fn new() -> Self {
        Self {
            accepted: Instant::now(),
            state: AtomicU64::new(Waiting::Handshake as u64),
        }
    }

    /// Notes that it waits for something else from now on.
    pub(super) fn change(&self, to: Waiting) {
        let millis = u64::try_from(self.accepted.elapsed().as_millis()).unwrap_or(u64::MAX >> 8);
        self.state.store(millis << 8 | to as u64, Ordering::Relaxed);
    }

    /// Notes that a byte arrived, which is the first of a request if none is under way.
    pub(super) fn heard(&self) {
        if matches!(self.waiting(), Waiting::Fresh | Waiting::Idle) {
            self.change(Waiting::Head);
        }
    }

    pub(super) fn waiting(&self) -> Waiting {
        waiting(self.state.load(Ordering::Relaxed))
    }

    /// What it waits for, and since when.
    pub(super) fn state(&self) -> (Waiting, Instant) {
        let state = self.state.load(Ordering::Relaxed);
        (
            waiting(state),
            self.accepted + Duration::from_millis(state >> 8),
        )
    }

    /// When it will have kept the server waiting for too long, as things are now.
    pub(super) fn overdue(&self, patience: &Patience) -> Option<Instant> {
        let (waiting, since) = self.state();
        let most = match waiting {
            Waiting::Handshake => patience.handshake,
            Waiting::Head => patience.head,
            Waiting::Fresh | Waiting::Idle => patience.idle,
            Waiting::Close => CLOSE,
            Waiting::Answer => return None,
        };
        Some(since + most)
    }
}

fn waiting(state: u64) -> Waiting {
    const ALL: [Waiting; 6] = [
        Waiting::Handshake,
        Waiting::Fresh,
        Waiting::Head,
        Waiting::Idle,
        Waiting::Answer,
        Waiting::Close,
    ];
    let number = usize::try_from(state & 0xff).unwrap_or_default();
    ALL.get(number).copied().unwrap_or(Waiting::Answer)
}

/// Whoever has read the last answer closes at once.
const CLOSE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Patience = Patience {
        handshake: Duration::from_secs(1),
        head: Duration::from_secs(2),
        idle: Duration::from_secs(3),
    };

    #[tokio::test(start_paused = true)]
    async fn each_state_has_its_own_patience() {
        let pace = Pace::new();
        let begun = Instant::now();
        tokio::time::advance(Duration::from_secs(10)).await;
        for (to, expected) in [
            (Waiting::Handshake, Some(11)),
            (Waiting::Fresh, Some(13)),
            (Waiting::Head, Some(12)),
            (Waiting::Idle, Some(13)),
            (Waiting::Answer, None),
            (Waiting::Close, Some(11)),
        ] {
            pace.change(to);
            assert_eq!(pace.waiting(), to);
            let overdue = pace.overdue(&PATIENCE);
            let after = overdue.map(|at| (at - begun).as_secs());
            assert_eq!(after, expected, "{to:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_first_byte_of_a_request_counts() {
        let pace = Pace::new();
        for (waiting, expected) in [
            (Waiting::Handshake, Waiting::Handshake),
            (Waiting::Fresh, Waiting::Head),
            (Waiting::Head, Waiting::Head),
            (Waiting::Idle, Waiting::Head),
            (Waiting::Answer, Waiting::Answer),
            (Waiting::Close, Waiting::Close),
        ] {
            pace.change(waiting);
            pace.heard();
            assert_eq!(pace.waiting(), expected, "{waiting:?}");
        }
    }
}
