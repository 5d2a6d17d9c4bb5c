//! What the log lost.

use std::sync::{Mutex, PoisonError};

use prometheus::IntCounter;

use crate::telemetry::log::DroppedLines;
use crate::telemetry::metrics::register::Register;

/// What the log lost.
#[derive(Debug)]
pub struct LogMetrics {
    lines_dropped: IntCounter,
    followed: Mutex<Option<DroppedLines>>,
}

impl LogMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self {
            lines_dropped: register.counter(
                "log_lines_dropped_total",
                "Log lines dropped because the log output was blocked.",
            ),
            followed: Mutex::new(None),
        }
    }

    /// Counts what this log drops.
    pub fn follow(&self, lines: DroppedLines) {
        *self.followed.lock().unwrap_or_else(PoisonError::into_inner) = Some(lines);
    }

    /// Looks at the log that is followed; the lock keeps two looks from counting a line twice.
    pub(super) fn look(&self) {
        let followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lines) = &*followed {
            let dropped = u64::try_from(lines.count()).unwrap_or(u64::MAX);
            self.lines_dropped
                .inc_by(dropped.saturating_sub(self.lines_dropped.get()));
        }
    }
}
