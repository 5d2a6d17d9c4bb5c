//! One figure.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bench::Bench;
use crate::number::number;
use crate::unit::Unit;

/// One figure of olmguard, in one row of a table, with its comparison.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Figure {
    /// The bench that measured the figure.
    pub bench: Bench,
    /// The name of the row, which describes what was measured. It is unique within the bench.
    pub row: String,
    /// The unit of the figure.
    pub unit: Unit,
    /// The value of the figure.
    pub value: f64,
    /// The figure of another program, measured in turns with this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<Peer>,
    /// The aim for the figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aim: Option<Aim>,
    /// The place of the figure on a curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<OnCurve>,
}

/// Another program that did the same in the same run.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Peer {
    /// The name of the program.
    pub name: String,
    /// The figure of the program, in the same unit.
    pub value: f64,
    /// The factor by which olmguard is better: the median of the turns.
    pub ratio: f64,
}

/// The aim for a figure.
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
    /// The name of the chart, which all its curves share.
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
    /// A figure without a comparison.
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

    /// Whether the aim is met. Unknown without an aim, or without the peer that the aim is about.
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
