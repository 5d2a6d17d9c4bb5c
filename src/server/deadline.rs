//! Until when a review must be answered: before the one who asked gives up.
//!
//! An API server says how long it waits: `POST /validate?timeout=5s`. An answer that comes later is
//! lost, and whoever edits reads "context deadline exceeded". So the answer leaves earlier by a
//! margin, for its way back.
//!
//! Upstream: Kubernetes, [`apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go`], which
//! takes the time from `timeoutSeconds` and gives up after it.
//!
//! [`apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go`]: https://github.com/kubernetes/kubernetes/blob/v1.35.4/staging/src/k8s.io/apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go

use std::time::Duration;

use axum::http::Uri;
use tokio::time::Instant;

use olmguard_catalog::go_duration;

/// Until when a review must be answered.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Deadline {
    /// The moment.
    pub(super) at: Instant,
    /// How long that is after the request came.
    pub(super) within: Duration,
}

impl Deadline {
    /// The deadline of a request that came now: what it says or what is configured, whichever is
    /// less, without the margin.
    pub(super) fn of(uri: &Uri, configured: Duration) -> Self {
        let within = within(uri.query().unwrap_or_default(), configured);
        Self {
            at: Instant::now() + within,
            within,
        }
    }
}

fn within(query: &str, configured: Duration) -> Duration {
    let patience = asked(query).map_or(configured, |asked| asked.min(configured));
    // Of a patience that is no longer than the margin, half is left to answer in.
    let margin = (patience / 10).max(LEAST_MARGIN).min(patience / 2);
    patience.saturating_sub(margin)
}

/// What the query says, if it says something: a timeout that cannot be read is not one to fail for,
/// and one of zero is Go's word for none.
fn asked(query: &str) -> Option<Duration> {
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let (_, text) = pairs.find(|(key, _)| key == "timeout")?;
    let asked = go_duration::parse(&text).ok()?;
    (!asked.is_zero()).then_some(asked)
}

const LEAST_MARGIN: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_leaves_before_the_one_who_asked_gives_up() {
        for (query, expected_ms) in [
            ("", 4_500),
            ("timeout=10s", 4_500),
            ("timeout=3s", 2_700),
            ("timeout=1s", 900),
            ("timeout=500ms", 400),
            ("timeout=150ms", 75),
            ("timeout=1ns", 0),
            ("timeout=0s", 4_500),
            ("timeout=-1s", 4_500),
            ("timeout=soon", 4_500),
            ("timeout=", 4_500),
            ("timeout=99999999999999999h", 4_500),
            ("pretty=true&timeout=2s&timeout=3s", 1_800),
            ("timeout=1%735", 4_500),
            ("%74imeout=2%73", 1_800),
        ] {
            let configured = Duration::from_secs(5);
            let millis = within(query, configured).as_millis();
            assert_eq!(millis, expected_ms, "{query}");
        }
    }
}
