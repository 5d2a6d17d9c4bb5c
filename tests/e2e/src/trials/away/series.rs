//! The metrics that change only in a real cluster, read from every pod at the end.

use std::ops::RangeInclusive;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};

use crate::deployment::Deployment;
use crate::pod::samples;
use crate::say::say;

/// The start of the events, in Unix time.
pub(super) struct Since(f64);

impl Since {
    pub(super) fn now() -> Result<Self> {
        Ok(Self(unix_time()?))
    }

    /// Checks the series of every pod after a catalog was loaded, its content was replaced, and the watch of catalogs
    /// was restarted.
    pub(super) async fn have_moved(&self, guard: &Deployment) -> Result<()> {
        let now = unix_time()?;
        let expected = self.expected(now);
        for pod in &guard.pods {
            let (status, page) = pod.ops("/metrics").await?;
            ensure!(status == 200, "{page}");
            for (series, labels, range) in &expected {
                let values = samples(&page, series, labels)?.into_iter();
                let value = values.reduce(|sum, value| sum + value);
                let value = value.with_context(|| page.clone())?;
                ensure!(
                    range.contains(&value),
                    "{series} is {value}, not in {range:?}"
                );
            }
        }
        say(format_args!("{} series moved in every pod", expected.len()));
        Ok(())
    }

    /// Returns each series with a part of its labels and the range of the sum of its samples.
    fn expected(&self, now: f64) -> Vec<(&'static str, &'static str, RangeInclusive<f64>)> {
        let (hub, watch) = (r#"catalog="hub""#, r#"resource="clustercatalogs""#);
        let recent = self.0..=now + 1.0;
        let elapsed = now - self.0;
        let some = f64::MIN_POSITIVE..=f64::MAX;
        let many = 1.0..=f64::MAX;
        vec![
            ("olmguard_catalog_serving", hub, 1.0..=1.0),
            ("olmguard_catalog_loaded", hub, 1.0..=1.0),
            ("olmguard_catalog_newer_known", hub, 0.0..=0.0),
            ("olmguard_catalog_packages", hub, 1.0..=1.0),
            ("olmguard_catalog_bundles", hub, 4.0..=4.0),
            ("olmguard_catalog_content_age_seconds", hub, 0.0..=elapsed),
            (
                "olmguard_catalog_last_success_timestamp_seconds",
                hub,
                recent.clone(),
            ),
            ("olmguard_catalog_load_seconds", hub, some.clone()),
            ("olmguard_catalog_fetched_bytes", hub, many.clone()),
            ("olmguard_catalog_resident_bytes", hub, many.clone()),
            ("olmguard_snapshot_swaps_total", "", 2.0..=f64::MAX),
            ("olmguard_watch_connected", watch, 1.0..=1.0),
            ("olmguard_watch_errors_total", watch, many.clone()),
            ("olmguard_watch_restarts_total", watch, many.clone()),
            (
                "olmguard_watch_last_contact_timestamp_seconds",
                watch,
                recent,
            ),
            // A certificate is valid from some time before it is made, to allow for clocks that are behind.
            ("olmguard_tls_cert_not_before_seconds", "", 1.0..=now),
            ("olmguard_tls_cert_not_after_seconds", "", now..=f64::MAX),
            (
                "olmguard_admission_duration_seconds_count",
                r#"verdict="allow""#,
                many.clone(),
            ),
            (
                "olmguard_admission_duration_seconds_count",
                r#"verdict="deny""#,
                many.clone(),
            ),
            ("olmguard_request_bytes_total", "", many.clone()),
            ("olmguard_response_bytes_total", "", many),
        ]
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "series are compared with the time of day"
)]
fn unix_time() -> Result<f64> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64())
}
