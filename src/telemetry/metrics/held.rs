//! A gauge that cannot be left raised: no early return and no panic escapes a drop.

use prometheus::IntGauge;

/// Counts one more of something in a gauge until it is dropped.
#[derive(Debug)]
#[must_use = "it counts until it is dropped"]
pub struct GaugeGuard(IntGauge);

impl GaugeGuard {
    pub(super) fn new(gauge: &IntGauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}
