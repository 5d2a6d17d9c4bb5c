//! What is logged of scrapers. No line has a token or a user.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tracing::{debug, warn};

use crate::cluster::fault::WatchFault;

/// Logs, with a pause between two lines: anyone who reaches the port can cause one.
#[derive(Debug, Default)]
pub(super) struct DenialLog(Mutex<Option<Instant>>);

impl DenialLog {
    /// The API server could not be asked.
    pub(super) fn failed(&self, fault: &WatchFault) {
        if self.is_due() {
            warn!(
                class = fault.class.as_str(),
                error = fault.words,
                "Failed to check the token of a metrics client, answering 503"
            );
        }
    }

    fn is_due(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let is_due = last.is_none_or(|last| now >= last + PAUSE);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

/// The API server does not know whose token it is, and says this about it.
pub(super) fn unauthenticated(error: &str) {
    debug!(error, "Denied a metrics client, its token is invalid");
}

/// The API server knows the user, who has no such right.
pub(super) fn forbidden() {
    debug!("Denied a metrics client, its user cannot get /metrics");
}

const PAUSE: Duration = Duration::from_mins(1);
