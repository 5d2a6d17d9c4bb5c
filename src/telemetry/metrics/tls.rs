//! The certificate that is shown: how long it holds, and how often it was read anew.

use std::time::SystemTime;

use prometheus::{Gauge, IntCounter};

use crate::telemetry::metrics::label::{PerLabel, label};
use crate::telemetry::metrics::register::Register;
use crate::telemetry::metrics::unix_seconds;

label! {
    /// What became of a certificate that was read anew.
    pub enum Reload {
        /// It is shown from now on.
        Ok => "ok",
        /// It cannot be used; the one before is still shown.
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
