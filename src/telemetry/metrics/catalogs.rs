//! The catalogs that are judged by, each under the name that the configuration gives it.

use std::time::Duration;

use prometheus::{GaugeVec, IntGaugeVec};

use crate::telemetry::metrics::register::Register;

/// The catalogs that are judged by.
///
/// Their names are the only labels that are not known beforehand: whoever configures catalogs
/// decides how many there are, and one that is gone takes its series along.
#[derive(Debug)]
pub struct CatalogMetrics {
    loaded: IntGaugeVec,
    packages: IntGaugeVec,
    bundles: IntGaugeVec,
    load_seconds: GaugeVec,
}

impl CatalogMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self {
            loaded: register.gauges(
                "catalog_loaded",
                "1 where the content of the catalog is held, 0 where it cannot be read.",
                &[CATALOG],
            ),
            packages: register.gauges(
                "catalog_packages",
                "Packages of the catalog that are held.",
                &[CATALOG],
            ),
            bundles: register.gauges(
                "catalog_bundles",
                "Bundles of the catalog that are held.",
                &[CATALOG],
            ),
            load_seconds: register.seconds_each(
                "catalog_load_seconds",
                "Time that the content of the catalog took to load; 0 until it has.",
                &[CATALOG],
            ),
        }
    }

    /// The content of a catalog is held, so large and loaded in this time.
    pub fn loaded(&self, catalog: &str, packages: usize, bundles: usize, took: Duration) {
        self.holds(catalog, 1, packages, bundles);
        self.load_seconds
            .with_label_values(&[catalog])
            .set(took.as_secs_f64());
    }

    /// The content of a catalog cannot be read, and nothing of it is held.
    pub fn unreadable(&self, catalog: &str) {
        self.holds(catalog, 0, 0, 0);
        // Made, so that the number of its series does not depend on what became of it.
        let _ = self.load_seconds.with_label_values(&[catalog]);
    }

    /// There is no such catalog any more.
    pub fn gone(&self, catalog: &str) {
        for gauges in [&self.loaded, &self.packages, &self.bundles] {
            // One that was never there is gone as well.
            let _ = gauges.remove_label_values(&[catalog]);
        }
        let _ = self.load_seconds.remove_label_values(&[catalog]);
    }

    fn holds(&self, catalog: &str, loaded: i64, packages: usize, bundles: usize) {
        for (gauges, value) in [
            (&self.loaded, loaded),
            (&self.packages, whole(packages)),
            (&self.bundles, whole(bundles)),
        ] {
            gauges.with_label_values(&[catalog]).set(value);
        }
    }
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

const CATALOG: &str = "catalog";
