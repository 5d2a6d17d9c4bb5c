//! `windows`: the times at which an extension can move.
//!
//! A window opens at each occurrence of its schedule and stays open for its duration, in elapsed
//! time. The interval includes the moment of the opening and excludes the moment `duration` later.
//! A window whose schedule occurs again while it is open stays open.
//!
//! The schedule is a cron expression as croner reads it: five fields, also with names (`MON`), `L`,
//! `W` and `#`. If both the day of month and the day of week are restricted, one match is enough,
//! as in Vixie cron. Occurrences are local times of the zone, and croner defines the effect of a
//! clock change:
//!
//! | schedule | clock goes forward over it | clock goes back over it |
//! | --- | --- | --- |
//! | one fixed time of the day (`30 2 * * *`) | opens at the first moment after the gap | opens once, at the first |
//! | any other (`*/15 2 * * *`) | does not open for times in the gap | opens at both times |
//!
//! The time zones are compiled in, never read from the machine, so every replica has the same data.

#[cfg(test)]
mod tests;

use std::time::Duration;

use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::civil::date;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};
use serde_json::Value;

use crate::change::Moment;
use crate::fault::{FaultList, PolicyProblem};
use crate::limits;
use crate::violation::Opening;
use olmguard_catalog::go_duration;
use olmguard_catalog::members::{Members, TextRule};

/// One window.
#[derive(Clone, Debug)]
pub(crate) struct PolicyWindow {
    schedule: Cron,
    /// The duration in seconds, rounded up; at least 1. Moments are whole seconds, so a duration of
    /// 1.5s contains the same moments as 2s.
    seconds: i64,
    /// UTC, or a zone of the IANA database.
    zone: TimeZone,
}

/// The state of one or more windows at a given moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum WindowState {
    Open,
    /// Closed, with the next opening. `None` if it is beyond the years that croner searches.
    Closed(Option<Opening>),
}

impl PolicyWindow {
    /// Returns whether the window is open, and its next opening if it is closed.
    ///
    /// One search answers both questions. If the first occurrence after `now - duration` is not
    /// after `now`, the window is open. Otherwise that occurrence is the next opening.
    pub(crate) fn state(&self, now: Moment) -> WindowState {
        let Some(first) = self.first_after(now.unix_seconds().saturating_sub(self.seconds)) else {
            return WindowState::Closed(None);
        };
        let at = Moment::from_unix_seconds(first.timestamp().as_second());
        if at <= now {
            return WindowState::Open;
        }
        WindowState::Closed(Some(Opening {
            at,
            zone: self.zone.iana_name().unwrap_or_default().to_owned(),
            local: first.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        }))
    }

    fn first_after(&self, seconds: i64) -> Option<Zoned> {
        let after = Timestamp::from_second(seconds).ok()?;
        let after = after.to_zoned(self.zone.clone());
        self.schedule.find_next_occurrence(&after, false).ok()
    }
}

/// Combines the states of several windows. If all are closed, the earliest opening counts; of equal
/// ones, the first.
pub(crate) fn any(windows: &[PolicyWindow], now: Moment) -> WindowState {
    let mut first: Option<Opening> = None;
    for window in windows {
        let WindowState::Closed(opens) = window.state(now) else {
            return WindowState::Open;
        };
        let earlier = opens.filter(|opens| first.as_ref().is_none_or(|first| opens.at < first.at));
        first = earlier.or(first);
    }
    WindowState::Closed(first)
}

// === From JSON ===

/// Reads `rules.windows`; windows with faults are dropped.
pub(crate) fn read(rules: &Members<'_>, faults: &mut FaultList) -> Vec<PolicyWindow> {
    let items = rules.items("windows", "a list of windows", faults);
    let items = items.into_iter().flatten();
    items
        .filter_map(|(path, item)| window(item, &path, faults))
        .collect()
}

fn window(value: &Value, path: &str, faults: &mut FaultList) -> Option<PolicyWindow> {
    let members = Members::of(value, path, KEYS, faults)?;
    let schedule = schedule(&members, faults);
    let seconds = seconds(&members, faults);
    let zone = zone(&members, faults);
    Some(PolicyWindow {
        schedule: schedule?,
        seconds: seconds?,
        zone: zone?,
    })
}

fn schedule(members: &Members<'_>, faults: &mut FaultList) -> Option<Cron> {
    members.needed("schedule", SCHEDULE.expected, faults)?;
    let text = members.text("schedule", SCHEDULE, faults)?;
    let cron = parse(text).map_err(|reason| {
        let found = text.to_owned();
        PolicyProblem::Schedule { found, reason }
    });
    let cron = cron.and_then(|cron| {
        let never = || PolicyProblem::NeverOpens(text.to_owned());
        Some(cron).filter(occurs).ok_or_else(never)
    });
    faults.take(cron, || members.path_of("schedule"))
}

/// Accepts exactly five fields: croner also reads seconds, years, and words such as `@daily`.
fn parse(text: &str) -> Result<Cron, String> {
    if text.contains('@') {
        return Err("words with @ are not supported".to_owned());
    }
    let fields = text.split_whitespace().count();
    if fields != 5 {
        return Err(format!("it has {fields} fields"));
    }
    let parser = CronParser::builder();
    let parser = parser.seconds(Seconds::Disallowed).year(Year::Disallowed);
    let cron = parser.build().parse(text);
    cron.map_err(|error| error.to_string())
}

/// Whether the schedule ever occurs.
///
/// The calendar repeats every 400 years, and croner stops searching in the year 5000. A schedule
/// that does not occur in the 400 years before that never occurs. A search from today would take
/// ten times as long.
fn occurs(cron: &Cron) -> bool {
    let start = date(4600, 1, 1).to_zoned(TimeZone::UTC);
    start.is_ok_and(|start| cron.find_next_occurrence(&start, true).is_ok())
}

fn seconds(members: &Members<'_>, faults: &mut FaultList) -> Option<i64> {
    members.needed("duration", DURATION.expected, faults)?;
    let text = members.text("duration", DURATION, faults)?;
    let duration = go_duration::parse(text).map_err(|error| {
        let found = text.to_owned();
        PolicyProblem::Duration { found, error }
    });
    let seconds = duration.and_then(|duration| {
        let seconds = i64::try_from(duration.as_nanos().div_ceil(1_000_000_000)).ok();
        let seconds = seconds.filter(|_| !duration.is_zero() && duration <= LONGEST);
        seconds.ok_or_else(|| PolicyProblem::DurationOutOfRange(text.to_owned()))
    });
    faults.take(seconds, || members.path_of("duration"))
}

/// Reads the zone. UTC if the field is absent.
fn zone(members: &Members<'_>, faults: &mut FaultList) -> Option<TimeZone> {
    if members.get("timeZone").is_none() {
        return Some(TimeZone::UTC);
    }
    let name = members.text("timeZone", ZONE, faults)?;
    // The time zone database of the machine could differ between replicas.
    let zone = TimeZoneDatabase::bundled().get(name).ok();
    let zone = zone.filter(|zone| !zone.is_unknown());
    let nearest = zone.as_ref().and_then(|zone| zone.iana_name());
    if nearest == Some(name) {
        return zone;
    }
    let problem = PolicyProblem::TimeZone {
        found: limits::beginning(name, limits::ECHOED_BYTES),
        nearest: nearest.map(str::to_owned),
    };
    faults.report(members.path_of("timeZone"), problem);
    None
}

const LONGEST: Duration = Duration::from_hours(limits::WINDOW_HOURS);

const KEYS: &[&str] = &["schedule", "duration", "timeZone"];

const SCHEDULE: TextRule = TextRule::filled(
    "a cron schedule such as \"0 22 * * 1-5\"",
    limits::SCHEDULE_BYTES,
);

const DURATION: TextRule = TextRule::filled("a duration such as 6h", limits::DURATION_BYTES);

const ZONE: TextRule = TextRule::filled("a time zone such as Europe/Berlin", limits::NAME_BYTES);
