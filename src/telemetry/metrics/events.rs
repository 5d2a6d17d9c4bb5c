//! The Events about extensions.

use prometheus::IntCounter;

use crate::telemetry::metrics::label::{PerLabel, label};
use crate::telemetry::metrics::register::Register;

label! {
    /// What becomes of an Event.
    pub enum EventFate {
        /// The API server has it.
        Written => "written",
        /// It repeats one of the last minutes, and is counted there.
        Repeated => "repeated",
        /// There were too many.
        Dropped => "dropped",
        /// The API server did not take it.
        Failed => "failed",
    }
}

/// The Events that are written with `--events`.
#[derive(Debug)]
pub struct EventMetrics(PerLabel<EventFate, IntCounter>);

impl EventMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self(register.counter_per(
            "events_total",
            "Events about edits that are refused or admitted with a warning, by what became of the Event.",
            "result",
        ))
    }

    /// One more has this fate.
    pub fn count(&self, fate: EventFate) {
        self.0.of(fate).inc();
    }

    /// How many have this fate.
    #[cfg(test)]
    pub(crate) fn counted(&self, fate: EventFate) -> u64 {
        self.0.of(fate).get()
    }
}
