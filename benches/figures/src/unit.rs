//! The units of figures.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The unit of a figure, which also decides whether more is better.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Unit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanoseconds,
    /// Microseconds.
    #[serde(rename = "µs")]
    Microseconds,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Milliseconds,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// KiB of memory.
    KiB,
    /// MiB of memory.
    MiB,
    /// 10^6 bytes per second.
    #[serde(rename = "MB/s")]
    MegabytesPerSecond,
    /// Requests per second.
    #[serde(rename = "/s")]
    PerSecond,
    /// A ratio of two figures; less is better.
    #[serde(rename = "times")]
    Times,
    /// A count; neither more nor less is better.
    #[serde(rename = "")]
    Count,
}

impl Unit {
    /// The symbol after a number.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Nanoseconds => "ns",
            Self::Microseconds => "µs",
            Self::Milliseconds => "ms",
            Self::Seconds => "s",
            Self::KiB => "KiB",
            Self::MiB => "MiB",
            Self::MegabytesPerSecond => "MB/s",
            Self::PerSecond => "/s",
            Self::Times => "times",
            Self::Count => "",
        }
    }

    /// The factor by which one figure is better than another.
    pub fn ratio(self, one: f64, other: f64) -> f64 {
        match self {
            Self::MegabytesPerSecond | Self::PerSecond => one / other,
            _ => other / one,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_time_and_more_requests_are_better() {
        let ratios = [Unit::Seconds, Unit::MiB, Unit::PerSecond].map(|unit| unit.ratio(2.0, 8.0));
        assert_eq!(ratios.map(f64::to_bits), [4.0, 4.0, 0.25].map(f64::to_bits));
    }

    #[test]
    fn a_unit_is_written_by_its_symbol() {
        for unit in [Unit::Microseconds, Unit::MegabytesPerSecond, Unit::Count] {
            let written = serde_json::to_string(&unit).unwrap();
            assert_eq!(written, format!("{:?}", unit.symbol()));
        }
    }
}
