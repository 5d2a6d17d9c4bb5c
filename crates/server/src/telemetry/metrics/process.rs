//! The program itself: its build, its process, its runtime, its lost log lines, its Events and its connections.

use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use prometheus::{Gauge, IntCounter, IntCounterVec, IntGauge, IntGaugeVec};
use tokio::runtime::Handle;

use crate::telemetry::log::DroppedLines;
use crate::telemetry::metrics::{GaugeGuard, PerLabel, Register, label, unix_seconds};

#[cfg(target_os = "linux")]
use prometheus::process_collector::ProcessCollector;

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

    /// The number of events with this fate.
    #[cfg(any(test, feature = "test-util"))]
    pub fn counted(&self, fate: EventFate) -> u64 {
        self.0.of(fate).get()
    }
}

// === Connections to each of the ports: how many are open, how the others ended, and the certificate that they get ===

label! {
    /// Why a connection was not taken.
    pub enum ConnectionRefusal {
        /// There are as many as there may be, and none that is idle.
        Full => "full",
        /// The system could not accept it: it lacks file descriptors or memory.
        System => "system",
    }
}

label! {
    /// Why a connection that was open was closed from here.
    pub enum Eviction {
        /// The connection was idle, and another one needed its seat.
        ForRoom => "for_room",
        /// The connection sent nothing for too long between two requests.
        Idle => "idle",
        /// The head of a request did not come in time.
        SlowHeader => "slow_header",
        /// The body of a request did not come in time.
        SlowBody => "slow_body",
        /// The peer did not take its answer in time.
        SlowReader => "slow_reader",
    }
}

label! {
    /// Why a TLS handshake failed.
    pub enum HandshakeFailure {
        /// The peer went away.
        Closed => "closed",
        /// The handshake took too long.
        Timeout => "timeout",
        /// What the peer sent is not TLS.
        NotTls => "not_tls",
        /// The peer has no version or cipher suite, or no protocol over it, that is spoken here.
        NothingInCommon => "nothing_in_common",
        /// The peer's certificate is missing, or is not trusted or not allowed.
        ClientCertificate => "client_certificate",
        /// The peer refused the certificate that was shown.
        RefusedByPeer => "refused_by_peer",
        /// Anything else.
        Other => "other",
    }
}

label! {
    /// The port of a connection.
    pub(super) enum PortLabel {
        /// The one that takes reviews.
        Reviews => "reviews",
        /// The one that tells health, and metrics where everyone can read them.
        Ops => "ops",
        /// The one that serves metrics over TLS, if there is one.
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

/// The metrics that every port has series of.
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

    /// The metrics of one port.
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
    /// A connection was taken; it is open until the guard is dropped.
    pub fn opened(&self) -> GaugeGuard {
        GaugeGuard::new(&self.open)
    }

    /// A connection was not taken.
    pub fn refused(&self, refusal: ConnectionRefusal) {
        self.refused.of(refusal).inc();
    }

    /// A connection was closed from here.
    pub fn evicted(&self, eviction: Eviction) {
        self.evicted.of(eviction).inc();
    }

    /// A TLS handshake failed.
    pub fn handshake_failed(&self, failure: HandshakeFailure) {
        self.handshake_errors.of(failure).inc();
    }
}

const PORT: &str = "port";

// === The certificate in use: how long it is valid, and how often it was read again ===

label! {
    /// What became of a certificate that was read anew.
    pub enum Reload {
        /// The new certificate is in use.
        Ok => "ok",
        /// The new certificate cannot be used; the one before stays in use.
        Refused => "refused",
    }
}

/// The certificate that is shown.
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

    /// This is how long the certificate holds that is shown from now on.
    pub fn serving(&self, not_before: SystemTime, not_after: SystemTime) {
        self.not_before.set(unix_seconds(not_before));
        self.not_after.set(unix_seconds(not_after));
    }

    /// A certificate was read anew.
    pub fn reloaded(&self, reload: Reload) {
        self.reloads.of(reload).inc();
    }
}
