//! The program itself: its build, its process, its runtime, its lost log lines and its Events.

use std::sync::{Mutex, PoisonError};

#[cfg(target_os = "linux")]
use prometheus::process_collector::ProcessCollector;
use prometheus::{IntCounter, IntGauge};
use tokio::runtime::Handle;

use crate::telemetry::log::DroppedLines;
use crate::telemetry::metrics::register::{PerLabel, Register, label};

/// The build, the process, the runtime.
#[derive(Debug)]
pub(super) struct ProcessMetrics {
    workers: IntGauge,
    tasks: IntGauge,
    queue: IntGauge,
}

impl ProcessMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        build_info(register);
        // The names `process_*` are those of every Prometheus client; they have no prefix.
        #[cfg(target_os = "linux")]
        register.enter(ProcessCollector::for_self());
        Self {
            workers: register.gauge("tokio_workers", "Worker threads of the async runtime."),
            tasks: register.gauge(
                "tokio_alive_tasks",
                "Unfinished tasks of the async runtime.",
            ),
            queue: register.gauge(
                "tokio_global_queue_tasks",
                "Tasks in the global queue of the async runtime, waiting for a thread.",
            ),
        }
    }

    /// Looks at the runtime that this is called in.
    pub(super) fn look(&self) {
        let Ok(handle) = Handle::try_current() else {
            return;
        };
        let metrics = handle.metrics();
        for (gauge, value) in [
            (&self.workers, metrics.num_workers()),
            (&self.tasks, metrics.num_alive_tasks()),
            (&self.queue, metrics.global_queue_depth()),
        ] {
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        }
    }
}

fn build_info(register: &Register<'_>) {
    register
        .gauges(
            "build_info",
            "Version of the running olmguard; always 1.",
            &["version"],
        )
        .with_label_values(&[env!("CARGO_PKG_VERSION")])
        .set(1);
}

// === Lines that the log lost ===

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

// === The Events about extensions ===

label! {
    /// What becomes of an Event.
    pub enum EventFate {
        /// The API server has it.
        Written => "written",
        /// The Event repeats one of the last minutes, and is counted there.
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

    /// Counts one more Event with this fate.
    pub fn count(&self, fate: EventFate) {
        self.0.of(fate).inc();
    }

    /// How many have this fate.
    #[cfg(test)]
    pub(crate) fn counted(&self, fate: EventFate) -> u64 {
        self.0.of(fate).get()
    }
}
