//! The program itself: its build, what the system knows of the process, and the runtime.

use prometheus::IntGauge;
#[cfg(target_os = "linux")]
use prometheus::process_collector::ProcessCollector;
use tokio::runtime::Handle;

use crate::telemetry::metrics::register::Register;

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
