//! One figure.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bench::Bench;
use crate::number::number;
use crate::unit::Unit;

/// One figure of olmguard, in one row of a table, with what it is compared with.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Figure {
    /// The bench that measured it.
    pub bench: Bench,
    /// What was measured: the name of its row, which no other figure of the bench has.
    pub row: String,
    /// What it counts in.
    pub unit: Unit,
    /// The figure.
    pub value: f64,
    /// What was measured in turns with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Peer>,
    /// What it should be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aim: Option<Aim>,
    /// Its place on a curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<OnCurve>,
}

/// Another program that did the same in the same run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// Its figure, in the same unit.
    pub value: f64,
    /// How many times better olmguard is: the median of the turns.
    pub ratio: f64,
}

/// What a figure should be.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// The figure is this or less.
    AtMost(f64),
    /// The figure is this or more.
    AtLeast(f64),
    /// The ratio to the peer is this or more.
    Ratio(f64),
}

/// The place of a figure on a curve.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct OnCurve {
    /// What all curves of one chart have in common.
    pub chart: String,
    /// The name of the curve.
    pub curve: String,
    /// The size that was measured.
    pub size: u32,
}

/// A line that is not a figure.
#[derive(Debug, thiserror::Error)]
#[error("line {line} is not a figure: {source}")]
pub struct LineError {
    line: usize,
    source: serde_json::Error,
}

impl Figure {
    /// A figure without anything to compare it with.
    pub fn new(bench: Bench, row: impl Into<String>, unit: Unit, value: f64) -> Self {
        Self {
            bench,
            row: row.into(),
            unit,
            value,
            peer: None,
            aim: None,
            on: None,
        }
    }

    /// Whether it is what it should be; unknown without an aim, or without the peer that the aim is about.
    pub fn is_met(&self) -> Option<bool> {
        match self.aim? {
            Aim::AtMost(most) => Some(self.value <= most),
            Aim::AtLeast(least) => Some(self.value >= least),
            Aim::Ratio(least) => self.peer.as_ref().map(|peer| peer.ratio >= least),
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            row, value, unit, ..
        } = self;
        write!(f, "{row}: {} {unit}", number(*value))?;
        if let Some(peer) = &self.peer {
            let (value, ratio) = (number(peer.value), number(peer.ratio));
            write!(f, "; {} {value} {unit}, ratio {ratio}", peer.name)?;
        }
        if let Some(aim) = &self.aim {
            let missed = if self.is_met() == Some(false) {
                ", missed"
            } else {
                ""
            };
            write!(f, " (aim: {aim}{missed})")?;
        }
        Ok(())
    }
}

impl fmt::Display for Aim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtMost(most) => write!(f, "at most {}", number(*most)),
            Self::AtLeast(least) => write!(f, "at least {}", number(*least)),
            Self::Ratio(least) => write!(f, "ratio at least {}", number(*least)),
        }
    }
}

/// Reads figures, one per line.
pub fn read(lines: &str) -> Result<Vec<Figure>, LineError> {
    let figure =
        |(line, text)| serde_json::from_str(text).map_err(|source| LineError { line, source });
    (1..).zip(lines.lines()).map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lint() -> Figure {
        Figure {
            peer: Some(Peer {
                name: "opm".to_owned(),
                value: 658.2,
                ratio: 22.6,
            }),
            aim: Some(Aim::Ratio(25.0)),
            ..Figure::new(Bench::Lint, "v4.17, JSON lines", Unit::Milliseconds, 21.4)
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let grown = Figure {
            on: Some(OnCurve {
                chart: "growth".to_owned(),
                curve: "a downgrade".to_owned(),
                size: 1000,
            }),
            ..Figure::new(Bench::Growth, "a downgrade, 1,000", Unit::Microseconds, 3.0)
        };
        let figures = [lint(), grown];
        let lines = figures
            .each_ref()
            .map(|one| serde_json::to_string(one).unwrap());
        assert_eq!(read(&lines.join("\n")).unwrap(), figures);
        let error = read("{}").unwrap_err().to_string();
        assert!(
            error.starts_with("line 1 is not a figure: missing field"),
            "{error}"
        );
    }

    #[test]
    fn people_read_the_peer_the_ratio_and_whether_the_aim_is_met() {
        assert_eq!(
            lint().to_string(),
            "v4.17, JSON lines: 21.4 ms; opm 658 ms, ratio 22.6 (aim: ratio at least 25, missed)"
        );
    }

    #[test]
    fn an_aim_about_a_peer_is_open_without_one() {
        let alone = Figure {
            peer: None,
            ..lint()
        };
        assert_eq!(alone.is_met(), None);
        let met = |aim| {
            Figure {
                aim: Some(aim),
                ..lint()
            }
            .is_met()
        };
        let aims = [Aim::AtMost(21.4), Aim::AtLeast(21.5), Aim::Ratio(22.6)];
        assert_eq!(aims.map(met), [Some(true), Some(false), Some(true)]);
    }
}
