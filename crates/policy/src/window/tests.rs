//! Windows against a plain walk over the minutes.

mod walk;

use serde_json::{Value, json};

use super::*;
use crate::fault::Faults;
use crate::members::Members;
use walk::Walk;

fn windows(written: &Value) -> (Vec<Window>, Vec<String>) {
    let rules = json!({ "windows": written });
    let mut faults = Faults::default();
    let members = Members::any(&rules, "spec.rules", &mut faults).unwrap();
    let read = read(&members, &mut faults);
    let faults = faults.as_slice().iter();
    (read, faults.map(ToString::to_string).collect())
}

fn window(schedule: &str, duration: &str, zone: &str) -> Window {
    let (windows, faults) = windows(&json!([
        {"schedule": schedule, "duration": duration, "timeZone": zone}
    ]));
    assert_eq!(faults, Vec::<String>::new());
    windows.into_iter().next().unwrap()
}

fn at(text: &str) -> Moment {
    Moment::parse(text).unwrap()
}

#[test]
fn a_window_contains_its_start_and_not_its_end() {
    let window = window("0 22 * * 1-5", "6h", "Europe/Berlin");
    for (now, is_open) in [
        ("2026-11-23T20:59:59Z", false),
        ("2026-11-23T21:00:00Z", true),
        ("2026-11-24T02:59:59Z", true),
        ("2026-11-24T03:00:00Z", false),
        ("2026-11-28T02:59:59Z", true),
        ("2026-11-28T21:00:00Z", false),
    ] {
        assert_eq!(window.state(at(now)) == State::Open, is_open, "{now}");
    }
    let State::Closed(Some(opens)) = window.state(at("2026-11-28T21:00:00Z")) else {
        panic!("open on a Saturday");
    };
    assert_eq!(opens.at.to_string(), "2026-11-30T21:00:00Z");
    assert_eq!(opens.local, "2026-11-30T22:00:00+01:00");
    assert_eq!(opens.zone, "Europe/Berlin");
}

#[test]
fn fractions_of_a_second_round_up() {
    let window = window("0 0 * * *", "1500ms", "UTC");
    assert_eq!(window.state(at("2026-11-23T00:00:01Z")), State::Open);
    assert_ne!(window.state(at("2026-11-23T00:00:02Z")), State::Open);
}

#[test]
fn the_earliest_opening_of_all_counts() {
    let (some, faults) = windows(&json!([
        {"schedule": "0 22 * * *", "duration": "1h"},
        {"schedule": "0 3 * * *", "duration": "1h", "timeZone": "Asia/Tokyo"},
        {"schedule": "0 18 * * *", "duration": "1h"},
    ]));
    assert_eq!(faults, Vec::<String>::new());
    let State::Closed(Some(opens)) = any(&some, at("2026-11-23T12:00:00Z")) else {
        panic!("open");
    };
    assert_eq!(opens.local, "2026-11-24T03:00:00+09:00");
    assert_eq!(any(&some, at("2026-11-23T22:30:00Z")), State::Open);
}

#[test]
fn times_far_away_are_closed() {
    let window = window("0 0 29 2 *", "1h", "America/New_York");
    for seconds in [i64::MIN, -400_000_000_000, 400_000_000_000, i64::MAX] {
        let state = window.state(Moment::from_unix_seconds(seconds));
        assert_eq!(state, State::Closed(None), "{seconds}");
    }
}

#[test]
fn what_is_not_a_window() {
    let no_cron = "; expected the five fields minute, hour, day of month, month, day of week, such as \"0 22 * * 1-5\"";
    for (key, value, want) in [
        ("schedule", json!(null), "schedule: missing: expected a cron schedule such as \"0 22 * * 1-5\"".to_owned()),
        ("schedule", json!(""), "schedule: empty: expected a cron schedule such as \"0 22 * * 1-5\"".to_owned()),
        ("schedule", json!(5), "schedule: expected a cron schedule such as \"0 22 * * 1-5\", found integer".to_owned()),
        ("schedule", json!("@daily"), format!("schedule: \"@daily\" is not a cron schedule: words with @ are not supported{no_cron}")),
        ("schedule", json!("0 0 22 * * 1"), format!("schedule: \"0 0 22 * * 1\" is not a cron schedule: it has 6 fields{no_cron}")),
        ("schedule", json!("0 22 * *"), format!("schedule: \"0 22 * *\" is not a cron schedule: it has 4 fields{no_cron}")),
        ("schedule", json!("0 0 30 2 *"), "schedule: \"0 0 30 2 *\" never opens: expected a date that exists".to_owned()),
        ("schedule", json!("*".repeat(129)), "schedule: too long: expected at most 128 bytes, found 129".to_owned()),
        ("duration", json!(null), "duration: missing: expected a duration such as 6h".to_owned()),
        ("duration", json!("6"), "duration: \"6\" is not a duration: unit missing: expected one of ns, us, ms, s, m, h, as in 10s".to_owned()),
        ("duration", json!("0s"), "duration: \"0s\" is out of range: expected more than 0s and at most 168h".to_owned()),
        ("duration", json!("168h1ns"), "duration: \"168h1ns\" is out of range: expected more than 0s and at most 168h".to_owned()),
        ("duration", json!("-1h"), "duration: \"-1h\" is not a duration: expected a duration such as 0s, 500ms or 1m30s".to_owned()),
        ("timeZone", json!("Europe/Bremen"), "timeZone: unknown time zone \"Europe/Bremen\": expected a name of the IANA database, such as Europe/Berlin".to_owned()),
        ("timeZone", json!("europe/berlin"), "timeZone: unknown time zone \"europe/berlin\" (did you mean Europe/Berlin?): expected a name of the IANA database, such as Europe/Berlin".to_owned()),
        ("timeZone", json!("../../etc/passwd"), "timeZone: unknown time zone \"../../etc/passwd\": expected a name of the IANA database, such as Europe/Berlin".to_owned()),
        ("timeZone", json!("Etc/Unknown"), "timeZone: unknown time zone \"Etc/Unknown\": expected a name of the IANA database, such as Europe/Berlin".to_owned()),
        ("timezone", json!("UTC"), "timezone: unknown key (did you mean timeZone?): expected one of schedule, duration, timeZone".to_owned()),
    ] {
        let mut written = json!({"schedule": "0 22 * * *", "duration": "1h"});
        written[key] = value;
        let (_, faults) = windows(&json!([written]));
        assert_eq!(faults, [format!("spec.rules.windows[0].{want}")]);
    }
}

#[test]
fn what_croner_refuses_is_a_fault() {
    for schedule in [
        "60 0 * * *",
        "0 24 * * *",
        "0 0 0 * *",
        "0 0 * 13 *",
        "0 0 * * 8",
        "a b c d e",
        "/5 * * * *",
        "5-1 * * * *",
        "é * * * *",
    ] {
        let (read, faults) = windows(&json!([{"schedule": schedule, "duration": "1h"}]));
        assert!(read.is_empty(), "{schedule}");
        assert!(
            faults[0].contains("is not a cron schedule"),
            "{schedule}: {faults:?}"
        );
    }
}

#[test]
fn a_schedule_that_never_occurs_is_a_fault() {
    for schedule in ["0 0 30 2 *", "0 0 31 2,4,6,9,11 *", "* * 30-31 2 *"] {
        let (read, _) = windows(&json!([{"schedule": schedule, "duration": "1h"}]));
        assert!(read.is_empty(), "{schedule}");
    }
}

/// Every opening of two years, and the state around each opening, end and clock change.
#[test]
fn windows_agree_with_a_walk_over_the_minutes() {
    for zone in ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"] {
        let walk = Walk::over_two_years(zone);
        for (schedule, duration) in [
            ("0 22 * * 1-5", "6h"),
            ("30 2 * * *", "1h"),
            ("0 2 * * *", "24h"),
            ("15 1 * * 0", "90m"),
            ("*/20 1-3 * * *", "5m"),
            ("0,30 2 * * 0", "45m"),
            ("59 23 L * *", "168h"),
            ("0 * 13 * 5", "30m"),
        ] {
            walk.compare(&window(schedule, duration, zone), schedule);
        }
    }
}
