//! `windows`: when an extension may move.
//!
//! A window opens at each occurrence of its schedule, and stays open for its duration, in elapsed
//! time: it contains the moment of the opening, and not the moment `duration` later. A window that
//! opens again while it is open stays open.
//!
//! The schedule is a cron expression as croner reads it: five fields, also with names (`MON`), `L`,
//! `W` and `#`. If both days are restricted, one of them is enough, as in Vixie cron. Occurrences
//! are local times of the zone, and croner decides what a clock change means:
//!
//! | schedule | clock goes forward over it | clock goes back over it |
//! | --- | --- | --- |
//! | one fixed time of the day (`30 2 * * *`) | opens at the first moment after the gap | opens once, at the first of the two |
//! | any other (`*/15 2 * * *`) | does not open for times in the gap | opens at both |
//!
//! The zones are compiled in, never read from the machine: every replica has the same.

mod read;
#[cfg(test)]
mod tests;

use croner::Cron;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

use crate::moment::Moment;
use crate::violation::Opening;

pub(crate) use read::read;

/// One window.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    schedule: Cron,
    /// Seconds that it is open, rounded up; at least 1. Moments are whole seconds, so that a
    /// duration of 1.5s contains the same moments as 2s.
    seconds: i64,
    zone: TimeZone,
    zone_name: Box<str>,
}

/// Whether a window is open at some moment.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum State {
    Open,
    /// With the next opening, unless it is beyond the years that croner searches.
    Closed(Option<Opening>),
}

impl Window {
    /// Whether the window is open.
    ///
    /// One search answers both questions: the first occurrence after `now - duration` is either not
    /// after `now`, and then the window is open, or it is the next opening.
    pub(crate) fn state(&self, now: Moment) -> State {
        let Some(first) = self.first_after(now.unix_seconds().saturating_sub(self.seconds)) else {
            return State::Closed(None);
        };
        let at = Moment::from_unix_seconds(first.timestamp().as_second());
        if at <= now {
            return State::Open;
        }
        State::Closed(Some(Opening {
            at,
            zone: self.zone_name.clone().into(),
            local: first.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        }))
    }

    fn first_after(&self, seconds: i64) -> Option<Zoned> {
        let after = Timestamp::from_second(seconds).ok()?;
        let after = after.to_zoned(self.zone.clone());
        self.schedule.find_next_occurrence(&after, false).ok()
    }
}

/// Whether any window is open, and when not, which opens first; the first of several.
pub(crate) fn any(windows: &[Window], now: Moment) -> State {
    let mut first: Option<Opening> = None;
    for window in windows {
        let State::Closed(opens) = window.state(now) else {
            return State::Open;
        };
        let earlier = opens.filter(|opens| first.as_ref().is_none_or(|first| opens.at < first.at));
        first = earlier.or(first);
    }
    State::Closed(first)
}
