//! How metrics come into the registry: under one prefix, each with its help, from 0.

use prometheus::core::Collector;
use prometheus::{
    Gauge, GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
    Opts, Registry,
};

use crate::telemetry::metrics::label::{Label, PerLabel};

/// Makes metrics and enters them into a registry.
#[derive(Debug)]
pub(super) struct Register<'r> {
    registry: &'r Registry,
}

impl<'r> Register<'r> {
    pub(super) fn new(registry: &'r Registry) -> Self {
        Self { registry }
    }

    pub(super) fn counter(&self, name: &str, help: &str) -> IntCounter {
        self.made(IntCounter::with_opts(opts(name, help)))
    }

    pub(super) fn counters(&self, name: &str, help: &str, labels: &[&str]) -> IntCounterVec {
        self.made(IntCounterVec::new(opts(name, help), labels))
    }

    /// One counter for each value of a label.
    pub(super) fn counter_per<L: Label>(
        &self,
        name: &str,
        help: &str,
        label: &str,
    ) -> PerLabel<L, IntCounter> {
        let counters = self.counters(name, help, &[label]);
        PerLabel::new(|value: L| counters.with_label_values(&[value.as_str()]))
    }

    pub(super) fn gauge(&self, name: &str, help: &str) -> IntGauge {
        self.made(IntGauge::with_opts(opts(name, help)))
    }

    /// One gauge for each value of a label.
    pub(super) fn gauge_per<L: Label>(
        &self,
        name: &str,
        help: &str,
        label: &str,
    ) -> PerLabel<L, IntGauge> {
        let gauges = self.gauges(name, help, &[label]);
        PerLabel::new(|value: L| gauges.with_label_values(&[value.as_str()]))
    }

    pub(super) fn seconds(&self, name: &str, help: &str) -> Gauge {
        self.made(Gauge::with_opts(opts(name, help)))
    }

    pub(super) fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> IntGaugeVec {
        self.made(IntGaugeVec::new(opts(name, help), labels))
    }

    pub(super) fn seconds_each(&self, name: &str, help: &str, labels: &[&str]) -> GaugeVec {
        self.made(GaugeVec::new(opts(name, help), labels))
    }

    pub(super) fn histograms(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
        buckets: &[f64],
    ) -> HistogramVec {
        let opts = HistogramOpts::from(opts(name, help)).buckets(buckets.to_vec());
        self.made(HistogramVec::new(opts, labels))
    }

    /// Enters what brings names of its own.
    pub(super) fn enter(&self, collector: impl Collector + 'static) {
        self.registry
            .register(Box::new(collector))
            .expect("every name is given once");
    }

    fn made<M: Collector + Clone + 'static>(&self, metric: prometheus::Result<M>) -> M {
        let metric = metric.expect("names are words, and buckets rise");
        self.enter(metric.clone());
        metric
    }
}

fn opts(name: &str, help: &str) -> Opts {
    Opts::new(name, help).namespace(PREFIX)
}

/// What every name of ours begins with.
const PREFIX: &str = "olmguard";
