//! Registration of metrics: families under one prefix, closed sets of label values, and gauges that go down again.

use std::marker::PhantomData;
use std::time::{SystemTime, UNIX_EPOCH};

use prometheus::core::Collector;
use prometheus::{
    Gauge, GaugeVec, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec,
    Opts, Registry,
};

// === Registration of metrics: under one prefix, each with its help, from 0 ===

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

    pub(super) fn made<M: Collector + Clone + 'static>(&self, metric: prometheus::Result<M>) -> M {
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

pub(super) fn unix_seconds(time: SystemTime) -> f64 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => after.as_secs_f64(),
        Err(before) => -before.duration().as_secs_f64(),
    }
}

/// A count as a gauge has it.
pub(super) fn whole(count: impl TryInto<i64>) -> i64 {
    count.try_into().unwrap_or(i64::MAX)
}

// === Closed sets of label values, and one metric for each of them ===

/// A label whose values are known when the program is built.
pub(super) trait Label: Copy + 'static {
    /// Every value, each at its [`place`](Self::place).
    const ALL: &'static [Self];

    /// The value as it is written.
    fn as_str(self) -> &'static str;

    /// The index of the value among all.
    fn place(self) -> usize;
}

/// One `T` for each value of a label, found without a search.
#[derive(Debug)]
pub(super) struct PerLabel<L, T> {
    made: Box<[T]>,
    label: PhantomData<L>,
}

impl<L: Label, T> PerLabel<L, T> {
    pub(super) fn new(make: impl FnMut(L) -> T) -> Self {
        Self {
            made: L::ALL.iter().copied().map(make).collect(),
            label: PhantomData,
        }
    }

    pub(super) fn of(&self, label: L) -> &T {
        self.made
            .get(label.place())
            .expect("one was made for every value")
    }
}

/// Makes a closed set of words a label.
macro_rules! labelled {
    ($name:ty) => {
        impl $crate::telemetry::metrics::register::Label for $name {
            const ALL: &'static [Self] = &Self::ALL;

            fn as_str(self) -> &'static str {
                self.as_str()
            }

            fn place(self) -> usize {
                self as usize
            }
        }
    };
}

/// A closed set of words that is a label.
macro_rules! label {
    ($(#[$doc:meta])* $vis:vis enum $name:ident { $($words:tt)+ }) => {
        olmguard_catalog::word_set! {
            $(#[$doc])*
            $vis enum $name { $($words)+ }
        }

        $crate::telemetry::metrics::register::labelled!($name);
    };
}

pub(super) use {label, labelled};

// === A gauge that always goes down again, on an early return and on a panic too ===

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
