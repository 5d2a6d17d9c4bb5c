//! How long ago content was unpacked.

use std::time::{Duration, SystemTime};

use k8s_openapi::jiff::Timestamp;

/// The time from a `status.lastUnpacked` until `now`; none where it is no time, zero where it is in
/// the future.
pub(super) fn since(unpacked: &str, now: SystemTime) -> Option<Duration> {
    let then: Timestamp = unpacked.parse().ok()?;
    Some(now.duration_since(then.into()).unwrap_or_default())
}

/// An age as kubectl shows it, in its largest unit.
pub(super) fn shown(age: Duration) -> String {
    let seconds = age.as_secs();
    let units = [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "m")];
    let unit = units.iter().find(|(length, _)| seconds >= *length);
    let (length, unit) = unit.unwrap_or(&(1, "s"));
    format!("{}{unit}", seconds / length)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn an_age_is_counted_from_a_time_that_can_be_read() {
        let now = UNIX_EPOCH + Duration::from_hours(48);
        for (unpacked, expected) in [
            ("1970-01-02T23:59:00Z", Some("1m")),
            ("1970-01-01T12:00:00+02:00", Some("1d")),
            ("1970-01-02T12:00:00Z", Some("12h")),
            ("1970-01-02T23:59:59Z", Some("1s")),
            ("1970-01-09T00:00:00Z", Some("0s")),
            ("yesterday", None),
            ("", None),
        ] {
            let found = since(unpacked, now).map(shown);
            assert_eq!(found.as_deref(), expected, "{unpacked}");
        }
    }
}
