//! The guardrails of administrators, as far as they can be read.

use prometheus::IntGauge;

use crate::telemetry::metrics::label::{PerLabel, label};
use crate::telemetry::metrics::register::Register;

label! {
    /// Whether a document can be read.
    pub(super) enum Document {
        /// It can.
        Read => "read",
        /// It cannot, and forbids every upgrade of what it is about.
        Unread => "unread",
    }
}

/// The guardrails that are judged by.
#[derive(Debug)]
pub struct GuardrailMetrics {
    documents: PerLabel<Document, IntGauge>,
    readable: IntGauge,
}

impl GuardrailMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self {
            documents: register.gauge_per(
                "guardrail_documents",
                "Documents of --guardrails in use, by whether they are valid; an invalid one forbids every upgrade of its package.",
                "state",
            ),
            readable: register.gauge(
                "guardrail_files_readable",
                "1 if the last read of the --guardrails files succeeded, 0 if it failed and the last good version is in use.",
            ),
        }
    }

    /// Whether the files can be read; where not, what was read of them before goes on.
    pub fn looked(&self, is_readable: bool) {
        self.readable.set(i64::from(is_readable));
    }

    /// So many documents are judged by from now on.
    pub fn taken(&self, read: usize, unread: usize) {
        let count = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.documents.of(Document::Read).set(count(read));
        self.documents.of(Document::Unread).set(count(unread));
    }
}
