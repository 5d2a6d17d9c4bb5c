//! Connections to the webhook's listener: how many are open, and what became of the others.

use prometheus::{IntCounter, IntGauge};

use crate::telemetry::metrics::held::Held;
use crate::telemetry::metrics::label::{PerLabel, label};
use crate::telemetry::metrics::register::Register;

label! {
    /// Why a connection was not taken.
    pub enum Refusal {
        /// There are as many as there may be, and none that is idle.
        Full => "full",
        /// The system could not accept it: it lacks file descriptors or memory.
        System => "system",
    }
}

label! {
    /// Why a connection that was open was closed from here.
    pub enum Eviction {
        /// It was the idle one that had to make room for another.
        ForRoom => "for_room",
        /// It sent nothing for too long between two requests.
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
        /// It took too long.
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

/// Connections of the webhook's listener.
#[derive(Debug)]
pub struct ConnectionMetrics {
    open: IntGauge,
    refused: PerLabel<Refusal, IntCounter>,
    evicted: PerLabel<Eviction, IntCounter>,
    handshake_errors: PerLabel<HandshakeFailure, IntCounter>,
}

impl ConnectionMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self {
            open: register.gauge("connections", "Connections that are open."),
            refused: register.counter_per(
                "connections_refused_total",
                "Connections that were not taken, by why.",
                "reason",
            ),
            evicted: register.counter_per(
                "connections_evicted_total",
                "Connections that were closed from here before their time, by why.",
                "reason",
            ),
            handshake_errors: register.counter_per(
                "tls_handshake_errors_total",
                "TLS handshakes that failed, by why.",
                "class",
            ),
        }
    }

    /// A connection was taken; it is open until the guard is dropped.
    pub fn opened(&self) -> Held {
        Held::new(&self.open)
    }

    /// A connection was not taken.
    pub fn refused(&self, refusal: Refusal) {
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
