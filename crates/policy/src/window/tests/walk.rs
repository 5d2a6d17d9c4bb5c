//! An oracle: the local time of every minute of two years, and cron fields matched plainly.
//!
//! Only the reading of local times is jiff's; occurrences, gaps and overlaps are found here.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::civil::{Date, DateTime, date};
use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::moment::Moment;
use crate::window::{State, Window};

const MINUTE: i64 = 60;

/// The minutes of two years in a zone, as moments with their local times.
pub(super) struct Walk {
    zone: TimeZone,
    local: Vec<(i64, DateTime)>,
}

impl Walk {
    pub(super) fn over_two_years(zone: &str) -> Self {
        let zone = TimeZoneDatabase::bundled().get(zone).unwrap();
        let start = Moment::parse("2025-12-20T00:00:00Z")
            .unwrap()
            .unix_seconds();
        let minutes = (0..2 * 366 * 24 * 60).map(|minute| start + minute * MINUTE);
        let local = minutes.map(|at| (at, zone.to_datetime(Timestamp::from_second(at).unwrap())));
        let local = local.collect();
        Self { zone, local }
    }

    /// Compares openings and states with the library's.
    pub(super) fn compare(&self, window: &Window, schedule: &str) {
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
                State::Open => assert!(is_open, "{name} at {at}"),
                State::Closed(opens) => {
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
        let changes = self.local.windows(2).filter(|pair| step(pair) != MINUTE);
        let around = changes.flat_map(|pair| (-300..300).map(|minute| pair[1].0 + minute * MINUTE));
        let all = edges.chain(around);
        all.filter(|at| (from..to).contains(at)).collect()
    }

    fn openings(&self, fields: &Fields) -> BTreeSet<i64> {
        let mut seen: BTreeMap<DateTime, i64> = BTreeMap::new();
        let mut openings = BTreeSet::new();
        let mut before: Option<DateTime> = None;
        for (at, local) in &self.local {
            let is_repeated = seen.insert(*local, *at).is_some();
            if fields.hold(*local) && !(fields.is_fixed() && is_repeated) {
                openings.insert(*at);
            }
            // A fixed time in a gap opens right after it.
            if let Some(before) = before.filter(|_| fields.is_fixed()) {
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

/// How far the local clock goes in a minute, in seconds.
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
