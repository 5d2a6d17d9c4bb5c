//! Newer content of a catalog that is being loaded, and how long an answer waits for it.
//!
//! Where the loaded content cannot decide and newer content is on its way, an answer a moment later is
//! a better one. The wait takes no worker.
//!
//! Invariant: no wait is longer than [`LONGEST`], or than half of the time that is left for the answer.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::server::deadline::Deadline;

/// Whether newer content is being loaded, seen from the moment at which an edit is checked.
#[derive(Debug)]
pub struct Newer(watch::Receiver<bool>);

impl Newer {
    /// From now on; the receiver sees whether newer content is being loaded.
    pub fn from_now(mut loading: watch::Receiver<bool>) -> Self {
        loading.mark_unchanged();
        Self(loading)
    }

    /// Waits for the newer content. True if loading has ended, so that another answer is possible.
    pub(super) async fn loaded(&self, deadline: Deadline) -> bool {
        if !*self.0.borrow() {
            return self.0.has_changed().unwrap_or_default();
        }
        let mut loading = self.0.clone();
        let ended = loading.wait_for(|is_loading| !is_loading);
        let ended = timeout_at(until(deadline, Instant::now()), ended).await;
        ended.is_ok_and(|ended| ended.is_ok())
    }
}

fn until(deadline: Deadline, now: Instant) -> Instant {
    let left = deadline.at.saturating_duration_since(now);
    now + LONGEST.min(left / 2)
}

const LONGEST: Duration = Duration::from_secs(1);
