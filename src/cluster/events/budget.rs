//! How many writes there may be.

use std::time::Duration;

use tokio::time::Instant;

/// A bucket of writes that fills by itself.
#[derive(Debug)]
pub(super) struct Budget {
    left: u32,
    filled: Instant,
}

impl Budget {
    /// The budget of a process that begins now.
    pub(super) fn full(now: Instant) -> Self {
        Self {
            left: AT_ONCE,
            filled: now,
        }
    }

    /// Takes one write, if one is left.
    pub(super) fn spend(&mut self, now: Instant) -> bool {
        let earned = now.duration_since(self.filled).as_millis() / EVERY.as_millis();
        let earned = u32::try_from(earned).unwrap_or(u32::MAX);
        self.filled += EVERY * earned;
        self.left = self.left.saturating_add(earned).min(AT_ONCE);
        let can = self.left > 0;
        self.left = self.left.saturating_sub(1);
        can
    }
}

/// What earns one write: [`PER_SECOND`] a second.
const EVERY: Duration = Duration::from_millis(1_000 / PER_SECOND);
/// Writes a second, over a long time.
pub(super) const PER_SECOND: u64 = 2;
/// Writes at once: a sync of many extensions.
pub(super) const AT_ONCE: u32 = 50;
