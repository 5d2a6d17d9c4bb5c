//! Windows compared with a plain walk over the minutes.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, date};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use serde_json::{Value, json};

use crate::change::Moment;
use crate::fault::FaultList;
use crate::window::{PolicyWindow, WindowState, *};
use olmguard_catalog::members::Members;

fn windows(written: &Value) -> (Vec<PolicyWindow>, Vec<String>) {
    let rules = json!({ "windows": written });
    let mut faults = FaultList::default();
    let members = Members::any(&rules, "spec.rules", &mut faults).unwrap();
    let read = read(&members, &mut faults);
    let faults = faults.as_slice().iter();
    (read, faults.map(ToString::to_string).collect())
}

fn window(schedule: &str, duration: &str, zone: &str) -> PolicyWindow {
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
        assert_eq!(window.state(at(now)) == WindowState::Open, is_open, "{now}");
    }
    let WindowState::Closed(Some(opens)) = window.state(at("2026-11-28T21:00:00Z")) else {
        panic!("open on a Saturday");
    };
    assert_eq!(opens.at.to_string(), "2026-11-30T21:00:00Z");
    assert_eq!(opens.local, "2026-11-30T22:00:00+01:00");
    assert_eq!(opens.zone, "Europe/Berlin");
}

#[test]
fn fractions_of_a_second_round_up() {
    let window = window("0 0 * * *", "1500ms", "UTC");
    assert_eq!(window.state(at("2026-11-23T00:00:01Z")), WindowState::Open);
    assert_ne!(window.state(at("2026-11-23T00:00:02Z")), WindowState::Open);
}

#[test]
fn the_earliest_opening_of_all_counts() {
    let (some, faults) = windows(&json!([
        {"schedule": "0 22 * * *", "duration": "1h"},
        {"schedule": "0 3 * * *", "duration": "1h", "timeZone": "Asia/Tokyo"},
        {"schedule": "0 18 * * *", "duration": "1h"},
    ]));
    assert_eq!(faults, Vec::<String>::new());
    let WindowState::Closed(Some(opens)) = any(&some, at("2026-11-23T12:00:00Z")) else {
        panic!("open");
    };
    assert_eq!(opens.local, "2026-11-24T03:00:00+09:00");
    assert_eq!(any(&some, at("2026-11-23T22:30:00Z")), WindowState::Open);
}

#[test]
fn times_far_away_are_closed() {
    let window = window("0 0 29 2 *", "1h", "America/New_York");
    for seconds in [i64::MIN, -400_000_000_000, 400_000_000_000, i64::MAX] {
        let state = window.state(Moment::from_unix_seconds(seconds));
        assert_eq!(state, WindowState::Closed(None), "{seconds}");
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

// === An oracle: the local time of every minute of two years, and plain matching of cron fields ===

const MINUTE: i64 = 60;

/// The minutes of two years in a zone, as moments with their local times.
struct Walk {
    zone: TimeZone,
    local: Vec<(i64, DateTime)>,
    /// The moments at which the local clock is changed.
    changes: Vec<i64>,
}

impl Walk {
    fn over_two_years(zone: &str) -> Self {
        let zone = TimeZoneDatabase::bundled().get(zone).unwrap();
        let start = Moment::parse("2025-12-20T00:00:00Z")
            .unwrap()
            .unix_seconds();
        let moment = |minute| Timestamp::from_second(start + minute * MINUTE).unwrap();
        // No zone changes its offset within a quarter of an hour, and the look-up of the offset is
        // slow.
        let quarters = (0..2 * 366 * 24 * 60).step_by(15);
        let local = quarters.flat_map(|quarter| {
            let offset = zone.to_offset(moment(quarter));
            let minutes = (quarter..quarter + 15).map(moment);
            minutes.map(move |at| (at.as_second(), offset.to_datetime(at)))
        });
        let local: Vec<_> = local.collect();
        let changes = local.windows(2).filter(|pair| step(pair) != MINUTE);
        let changes = changes.map(|pair| pair[1].0).collect();
        Self {
            zone,
            local,
            changes,
        }
    }

    /// Compares openings and states with the library's.
    fn compare(&self, window: &PolicyWindow, schedule: &str) {
        let openings = self.openings(&Fields::of(schedule));
        let (from, to) = (
            self.local[0].0 + 8 * 24 * 3600,
            self.local.last().unwrap().0,
        );
        let mut after = from;
        let mut found = BTreeSet::new();
        while let Some(next) = window
            .first_after(after)
            .map(|at| at.timestamp().as_second())
        {
            if next > to {
                break;
            }
            found.insert(next);
            after = next;
        }
        let expected: BTreeSet<i64> = openings.range(from + 1..=to).copied().collect();
        let name = format!("{schedule} {:?}", self.zone.iana_name());
        assert_eq!(found.difference(&expected).next(), None, "{name}: too many");
        assert_eq!(expected.difference(&found).next(), None, "{name}: too few");
        for at in self.moments(&expected, window.seconds, from, to) {
            let since = openings.range(..=at).next_back();
            let is_open = since.is_some_and(|since| at - since < window.seconds);
            let state = window.state(Moment::from_unix_seconds(at));
            match state {
                WindowState::Open => assert!(is_open, "{name} at {at}"),
                WindowState::Closed(opens) => {
                    assert!(!is_open, "{name} at {at}");
                    let next = openings.range(at + 1..).next().copied();
                    if next.is_some() {
                        assert_eq!(opens.map(|opens| opens.at.unix_seconds()), next, "{name}");
                    }
                }
            }
        }
    }

    /// Seconds before and after each opening and end, and every minute around clock changes.
    fn moments(&self, openings: &BTreeSet<i64>, seconds: i64, from: i64, to: i64) -> BTreeSet<i64> {
        let ends = openings.iter().flat_map(|at| [*at, at + seconds]);
        let edges = ends.flat_map(|at| [at - 1, at, at + 1]);
        let changes = self.changes.iter();
        let around = changes.flat_map(|at| (-300..300).map(move |minute| at + minute * MINUTE));
        let all = edges.chain(around);
        all.filter(|at| (from..to).contains(at)).collect()
    }

    fn openings(&self, fields: &Fields) -> BTreeSet<i64> {
        let mut openings = BTreeSet::new();
        let mut before: Option<DateTime> = None;
        let mut latest = DateTime::MIN;
        let is_fixed = fields.is_fixed();
        for (at, local) in &self.local {
            let is_repeated = *local <= latest;
            latest = latest.max(*local);
            if fields.hold(*local) && !(is_fixed && is_repeated) {
                openings.insert(*at);
            }
            // A fixed time in a gap opens right after it.
            if let Some(before) = before.filter(|_| is_fixed) {
                let mut skipped = before + jiff::Span::new().minutes(1);
                while skipped < *local {
                    if fields.hold(skipped) {
                        openings.insert(*at);
                    }
                    skipped += jiff::Span::new().minutes(1);
                }
            }
            before = Some(*local);
        }
        openings
    }
}

/// Returns how far the local clock advances in a minute, in seconds.
fn step(pair: &[(i64, DateTime)]) -> i64 {
    pair[0].1.duration_until(pair[1].1).as_secs()
}

/// The five fields as sets of numbers.
struct Fields {
    sets: [BTreeSet<i8>; 5],
    texts: [String; 5],
}

impl Fields {
    fn of(schedule: &str) -> Self {
        let texts: Vec<String> = schedule.split(' ').map(str::to_owned).collect();
        let texts: [String; 5] = texts.try_into().unwrap();
        let bounds = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)];
        let mut sets: [BTreeSet<i8>; 5] = Default::default();
        for ((set, text), (low, high)) in sets.iter_mut().zip(&texts).zip(bounds) {
            *set = numbers(text, low, high);
        }
        Self { sets, texts }
    }

    fn is_fixed(&self) -> bool {
        let is_number = |text: &String| text.parse::<i8>().is_ok();
        is_number(&self.texts[0]) && is_number(&self.texts[1])
    }

    fn hold(&self, local: DateTime) -> bool {
        self.sets[0].contains(&local.minute())
            && self.sets[1].contains(&local.hour())
            && self.sets[3].contains(&local.month())
            && self.day_holds(local.date())
    }

    fn day_holds(&self, day: Date) -> bool {
        let is_last =
            self.texts[2] == "L" && day == date(day.year(), day.month(), 1).last_of_month();
        let by_day = self.sets[2].contains(&day.day()) || is_last;
        let by_weekday = self.sets[4].contains(&day.weekday().to_sunday_zero_offset());
        match (self.texts[2] == "*", self.texts[4] == "*") {
            (true, _) => by_weekday,
            (_, true) => by_day,
            _ => by_day || by_weekday,
        }
    }
}

fn numbers(text: &str, low: i8, high: i8) -> BTreeSet<i8> {
    let ranges = text.split(',').filter(|part| *part != "L");
    let ranges = ranges.flat_map(|part| {
        let (range, step) = part.split_once('/').unwrap_or((part, "1"));
        let (low, high) = match range.split_once('-') {
            Some((low, high)) => (low.parse().unwrap(), high.parse().unwrap()),
            None if range == "*" => (low, high),
            None => (range.parse().unwrap(), range.parse().unwrap()),
        };
        (low..=high).step_by(step.parse().unwrap())
    });
    ranges.collect()
}
