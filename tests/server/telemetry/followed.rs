//! The metrics of the catalogs and watches of a cluster.

use std::time::{Duration, SystemTime};

use olmguard_engine::snapshot::{Currency, ServingState};
use olmguard_server::telemetry::Metrics;
use olmguard_server::telemetry::metrics::{
    CatalogLoad, FaultClass, LoadFailure, WatchMetrics, WatchedResource,
};

use super::exposition::{series, value};
use super::metrics::LOAD;

/// All series that the events of the test change, and some that they must not change.
const MOVED: &[(&str, f64)] = &[
    (r#"olmguard_catalog_loaded{catalog="hub"}"#, 1.0),
    (r#"olmguard_catalog_packages{catalog="hub"}"#, 12.0),
    (r#"olmguard_catalog_bundles{catalog="hub"}"#, 340.0),
    (r#"olmguard_catalog_load_seconds{catalog="hub"}"#, 0.125),
    (r#"olmguard_catalog_resident_bytes{catalog="hub"}"#, 4096.0),
    (r#"olmguard_catalog_fetched_bytes{catalog="hub"}"#, 2048.0),
    (
        r#"olmguard_catalog_last_success_timestamp_seconds{catalog="hub"}"#,
        1_700_000_000.0,
    ),
    (
        r#"olmguard_catalog_content_age_seconds{catalog="hub"}"#,
        90.0,
    ),
    (r#"olmguard_catalog_serving{catalog="hub"}"#, 1.0),
    (r#"olmguard_catalog_newer_known{catalog="hub"}"#, 1.0),
    (r#"olmguard_catalog_held_back{catalog="hub"}"#, 1.0),
    (
        r#"olmguard_catalog_load_errors_total{catalog="hub",class="truncated"}"#,
        2.0,
    ),
    (
        r#"olmguard_catalog_load_errors_total{catalog="hub",class="cache"}"#,
        0.0,
    ),
    (r#"olmguard_catalog_loaded{catalog="mirror"}"#, 0.0),
    (r#"olmguard_catalog_resident_bytes{catalog="mirror"}"#, 0.0),
    (r#"olmguard_catalog_serving{catalog="mirror"}"#, 0.0),
    (r#"olmguard_catalog_newer_known{catalog="mirror"}"#, 0.0),
    ("olmguard_snapshot_swaps_total", 1.0),
    (
        r#"olmguard_watch_connected{resource="clustercatalogs"}"#,
        1.0,
    ),
    (
        r#"olmguard_watch_last_contact_timestamp_seconds{resource="clustercatalogs"}"#,
        1_700_000_000.0,
    ),
    (
        r#"olmguard_watch_restarts_total{resource="clustercatalogs"}"#,
        1.0,
    ),
    (
        r#"olmguard_watch_errors_total{class="gone",resource="clustercatalogs"}"#,
        1.0,
    ),
    (r#"olmguard_watch_connected{resource="deployment"}"#, 0.0),
    (
        r#"olmguard_watch_last_contact_timestamp_seconds{resource="deployment"}"#,
        1_600_000_000.0,
    ),
    (
        r#"olmguard_watch_restarts_total{resource="deployment"}"#,
        0.0,
    ),
    (
        r#"olmguard_watch_errors_total{class="gone",resource="deployment"}"#,
        0.0,
    ),
];

#[test]
fn every_event_moves_the_series_that_is_named_after_it() {
    let metrics = Metrics::new();
    catalogs_are_followed(&metrics);
    watches_are_lost_and_found(&metrics.watches);
    let text = metrics.render();
    for (series, expected) in MOVED {
        let found = value(&text, series);
        assert!((found - *expected).abs() < 1e-9, "{series} is {found}");
    }
}

/// One catalog is loaded, ages and cannot be reloaded. Another was loaded once, and is not served.
fn catalogs_are_followed(metrics: &Metrics) {
    let catalogs = &metrics.catalogs;
    catalogs.loaded(
        "hub",
        &CatalogLoad {
            at: at(1_700_000_000),
            ..LOAD
        },
    );
    catalogs.told("hub", ServingState::Presumed, Currency::Superseded);
    catalogs.aged("hub", Duration::from_secs(90));
    catalogs.held_back("hub", true);
    for _ in 0..2 {
        catalogs.load_failed("hub", LoadFailure::Truncated);
    }
    catalogs.loaded("mirror", &LOAD);
    catalogs.told("mirror", ServingState::KnownNot, Currency::Current);
    catalogs.not_loaded("mirror");
    catalogs.swapped();
}

/// One watch is lost. The other was lost and is back.
fn watches_are_lost_and_found(watches: &WatchMetrics) {
    watches.heard(WatchedResource::Deployment, at(1_600_000_000));
    watches.lost(WatchedResource::Deployment);
    watches.failed(WatchedResource::ClusterCatalogs, FaultClass::Gone);
    watches.restarted(WatchedResource::ClusterCatalogs);
    watches.heard(WatchedResource::ClusterCatalogs, at(1_700_000_000));
}

/// The first event of a catalog creates all of its series.
#[test]
fn a_catalog_that_is_gone_takes_its_series_along() {
    let tell: [fn(&Metrics); 6] = [
        |metrics| metrics.catalogs.not_loaded("hub"),
        |metrics| metrics.catalogs.loaded("hub", &LOAD),
        |metrics| metrics.catalogs.load_failed("hub", LoadFailure::Tls),
        |metrics| metrics.catalogs.aged("hub", Duration::from_secs(1)),
        |metrics| metrics.catalogs.held_back("hub", true),
        |metrics| {
            let (serving, currency) = (ServingState::KnownNot, Currency::Superseded);
            metrics.catalogs.told("hub", serving, currency);
        },
    ];
    let metrics = Metrics::new();
    let before = series(&metrics.render());
    for first in tell {
        first(&metrics);
        let one = series(&metrics.render());
        assert_eq!(one, before + 11 + LoadFailure::ALL.len());
        for then in tell {
            then(&metrics);
        }
        assert_eq!(series(&metrics.render()), one);
        metrics.catalogs.gone("hub");
        metrics.catalogs.gone("never there");
        assert_eq!(series(&metrics.render()), before);
    }
}

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}
