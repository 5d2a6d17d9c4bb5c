//! The program itself: its build, process, runtime, lost log lines, Events and connections.

use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use prometheus::{Gauge, IntCounter, IntCounterVec, IntGauge, IntGaugeVec};
use tokio::runtime::Handle;

use crate::telemetry::log::DroppedLines;
use crate::telemetry::metrics::{GaugeGuard, PerLabel, Register, label, unix_seconds};

#[cfg(target_os = "linux")]
use prometheus::process_collector::ProcessCollector;

/// The build, the process and the runtime.
#[derive(Debug)]
pub(super) struct ProcessMetrics {
    workers: IntGauge,
    tasks: IntGauge,
    queue: IntGauge,
}

impl ProcessMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        build_info(register);
        // The `process_*` names are the same in every Prometheus client, so they have no prefix.
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

    /// Reads the values of the current runtime.
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

// === Lost lines of the log ===

/// The lost lines of the log.
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

    /// Counts the lines that this log drops.
    pub fn follow(&self, lines: DroppedLines) {
        *self.followed.lock().unwrap_or_else(PoisonError::into_inner) = Some(lines);
    }

    /// Reads the number of dropped lines. The lock prevents two concurrent readings from counting a line twice.
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
    /// The result of an Event.
    pub enum EventFate {
        /// The API server accepted the write.
        Written => "written",
        /// The Event repeats one of the last few minutes, and is counted there.
        Repeated => "repeated",
        /// The queue was full.
        Dropped => "dropped",
        /// The API server did not accept the write.
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

    /// Counts one more Event with this result.
    pub fn count(&self, fate: EventFate) {
        self.0.of(fate).inc();
    }

    /// Returns the number of Events with this result.
    #[cfg(any(test, feature = "test-util"))]
    pub fn counted(&self, fate: EventFate) -> u64 {
        self.0.of(fate).get()
    }
}

// === Connections to each port: how many are open, how others ended, and the certificate that they get ===

label! {
    /// The reason why a connection was refused.
    pub enum ConnectionRefusal {
        /// All seats are taken, and no connection can be evicted.
        Full => "full",
        /// The system could not accept it, because file descriptors or memory are exhausted.
        System => "system",
    }
}

label! {
    /// The reason why the server closed an open connection.
    pub enum Eviction {
        /// Another connection needed its seat.
        ForRoom => "for_room",
        /// The peer sent nothing for too long between two requests.
        Idle => "idle",
        /// The head of a request did not arrive in time.
        SlowHeader => "slow_header",
        /// The body of a request did not arrive in time.
        SlowBody => "slow_body",
        /// The peer did not read its answer in time.
        SlowReader => "slow_reader",
    }
}

label! {
    /// The reason why a TLS handshake failed.
    pub enum HandshakeFailure {
        /// The peer closed the connection.
        Closed => "closed",
        /// The handshake took too long.
        Timeout => "timeout",
        /// The peer did not send TLS.
        NotTls => "not_tls",
        /// The peer supports no common version, cipher suite or application protocol.
        NothingInCommon => "nothing_in_common",
        /// The peer's certificate is missing, not trusted or not allowed.
        ClientCertificate => "client_certificate",
        /// The peer rejected the served certificate.
        RefusedByPeer => "refused_by_peer",
        /// Anything else.
        Other => "other",
    }
}

label! {
    /// The port of a connection.
    pub(super) enum PortLabel {
        /// The port for reviews.
        Reviews => "reviews",
        /// The port for health, and for metrics if they are not restricted.
        Ops => "ops",
        /// The port that serves metrics over TLS, if any.
        Metrics => "metrics",
    }
}

/// Connections of one port.
#[derive(Debug)]
pub struct ConnectionMetrics {
    open: IntGauge,
    refused: PerLabel<ConnectionRefusal, IntCounter>,
    evicted: PerLabel<Eviction, IntCounter>,
    handshake_errors: PerLabel<HandshakeFailure, IntCounter>,
}

/// The metrics with a series for each port.
#[derive(Debug)]
pub(super) struct ConnectionFamilies {
    open: IntGaugeVec,
    refused: IntCounterVec,
    evicted: IntCounterVec,
    handshake_errors: IntCounterVec,
}

impl ConnectionFamilies {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self {
            open: register.gauges("connections", "Open connections, by port.", &[PORT]),
            refused: register.counters(
                "connections_refused_total",
                "Refused connections, by port and reason.",
                &[PORT, "reason"],
            ),
            evicted: register.counters(
                "connections_evicted_total",
                "Connections that olmguard closed early, by port and reason.",
                &[PORT, "reason"],
            ),
            handshake_errors: register.counters(
                "tls_handshake_errors_total",
                "Failed TLS handshakes, by error class.",
                &["class"],
            ),
        }
    }

    /// Returns the metrics of one port.
    pub(super) fn of(&self, port: PortLabel) -> ConnectionMetrics {
        let port = port.as_str();
        let errors = &self.handshake_errors;
        ConnectionMetrics {
            open: self.open.with_label_values(&[port]),
            refused: PerLabel::new(|why: ConnectionRefusal| {
                self.refused.with_label_values(&[port, why.as_str()])
            }),
            evicted: PerLabel::new(|why: Eviction| {
                self.evicted.with_label_values(&[port, why.as_str()])
            }),
            handshake_errors: PerLabel::new(|class: HandshakeFailure| {
                errors.with_label_values(&[class.as_str()])
            }),
        }
    }
}

impl ConnectionMetrics {
    /// Counts a connection as open until the guard is dropped.
    pub fn opened(&self) -> GaugeGuard {
        GaugeGuard::new(&self.open)
    }

    /// Counts a refused connection.
    pub fn refused(&self, refusal: ConnectionRefusal) {
        self.refused.of(refusal).inc();
    }

    /// Counts a connection that the server closed.
    pub fn evicted(&self, eviction: Eviction) {
        self.evicted.of(eviction).inc();
    }

    /// Counts a failed TLS handshake.
    pub fn handshake_failed(&self, failure: HandshakeFailure) {
        self.handshake_errors.of(failure).inc();
    }
}

const PORT: &str = "port";

// === The certificate in use: its validity, and how often it was reloaded ===

label! {
    /// The result of reading a certificate again.
    pub enum Reload {
        /// The new certificate is in use.
        Ok => "ok",
        /// The new certificate cannot be used; the previous one stays in use.
        Refused => "refused",
    }
}

/// The served certificate.
#[derive(Debug)]
pub struct TlsMetrics {
    not_before: Gauge,
    not_after: Gauge,
    reloads: PerLabel<Reload, IntCounter>,
}

impl TlsMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self {
            not_before: register.seconds(
                "tls_cert_not_before_seconds",
                "Unix time from which the served certificate is valid, in seconds; 0 while there is none.",
            ),
            not_after: register.seconds(
                "tls_cert_not_after_seconds",
                "Unix time until which the served certificate is valid, in seconds; 0 while there is none.",
            ),
            reloads: register.counter_per(
                "tls_reloads_total",
                "Reloads of the certificate, by result.",
                "result",
            ),
        }
    }

    /// Records the validity of the certificate that is served from now on.
    pub fn serving(&self, not_before: SystemTime, not_after: SystemTime) {
        self.not_before.set(unix_seconds(not_before));
        self.not_after.set(unix_seconds(not_after));
    }

    /// Counts a reload of the certificate.
    pub fn reloaded(&self, reload: Reload) {
        self.reloads.of(reload).inc();
    }
}
