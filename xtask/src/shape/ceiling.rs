//! The ceilings of the figures, from the table in `.ci/shape`.
//!
//! ```text
//! # a comment
//! FIGURE | CEILING | REASON
//! ```
//!
//! A commit that raises a figure above its ceiling also raises the ceiling, and gives the reason. So the code does not
//! grow unnoticed.

use std::path::PathBuf;
use std::{fs, io};

use super::Figure;
use crate::program::root;

/// The ceilings in the table.
#[derive(Debug)]
pub(crate) struct Ceilings(Vec<Ceiling>);

#[derive(Debug, Eq, PartialEq)]
struct Ceiling {
    figure: String,
    most: usize,
}

/// The reason why the shape of the code is not accepted.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ShapeError {
    #[error("cannot read the sources: {0}")]
    Files(io::Error),
    #[error("{path}: {source}", path = .path.display())]
    Table { path: PathBuf, source: io::Error },
    #[error("{TABLE}:{line}: found {found:?}, expected `FIGURE | CEILING | REASON`")]
    Line { line: usize, found: String },
    #[error("{TABLE} has no ceiling for {figure:?}: add `{figure} | CEILING | REASON`")]
    Missing { figure: &'static str },
    #[error("{TABLE} has {figure:?} twice, or counts no such thing: remove the line")]
    Spare { figure: String },
    #[error(
        "the code grew: {}; write less, or raise the ceiling in {TABLE} and give the reason", .risen.join(", ")
    )]
    Risen { risen: Vec<String> },
}

impl Ceilings {
    pub(super) fn read() -> Result<Self, ShapeError> {
        let path = root().join(TABLE);
        let text =
            fs::read_to_string(&path).map_err(|source| ShapeError::Table { path, source })?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, ShapeError> {
        let lines = text.lines().zip(1..);
        let rows = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
        let rows = rows.map(|(found, line)| {
            Ceiling::parse(found).ok_or_else(|| ShapeError::Line {
                line,
                found: found.to_owned(),
            })
        });
        rows.collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn of(&self, figure: &'static str) -> Result<usize, ShapeError> {
        let ceiling = self.0.iter().find(|ceiling| ceiling.figure == figure);
        let ceiling = ceiling.ok_or(ShapeError::Missing { figure })?;
        Ok(ceiling.most)
    }

    pub(super) fn hold(&self, figures: &[Figure]) -> Result<(), ShapeError> {
        self.has_only(figures)?;
        let mut risen = Vec::new();
        for (figure, count) in figures {
            let most = self.of(figure)?;
            if *count > most {
                risen.push(format!("{count} {figure}, at most {most}"));
            }
        }
        if risen.is_empty() {
            return Ok(());
        }
        Err(ShapeError::Risen { risen })
    }

    fn has_only(&self, figures: &[Figure]) -> Result<(), ShapeError> {
        let mut names: Vec<_> = figures.iter().map(|(name, _)| *name).collect();
        for Ceiling { figure, .. } in &self.0 {
            let at = names.iter().position(|name| name == figure);
            let at = at.ok_or_else(|| ShapeError::Spare {
                figure: figure.clone(),
            })?;
            names.remove(at);
        }
        Ok(())
    }
}

impl Ceiling {
    fn parse(line: &str) -> Option<Self> {
        let mut cells = line.split(" | ").map(str::trim);
        let (figure, most, reason) = (cells.next()?, cells.next()?, cells.next()?);
        let is_whole = !reason.is_empty() && cells.next().is_none();
        let most = most.parse().ok().filter(|_| is_whole)?;
        Some(Self {
            figure: figure.to_owned(),
            most,
        })
    }
}

/// The path of the table, relative to the root.
const TABLE: &str = ".ci/shape";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_above_its_ceiling_or_without_one_is_refused() {
        let table = Ceilings::parse("# sizes\n\nfiles | 3 | the start\nlines | 10 | the start\n");
        let table = table.unwrap();
        table.hold(&[("files", 3), ("lines", 0)]).unwrap();
        let told = |figures: &[Figure]| table.hold(figures).unwrap_err().to_string();
        assert_eq!(
            told(&[("files", 4), ("lines", 11)]),
            "the code grew: 4 files, at most 3, 11 lines, at most 10; write less, or raise the ceiling in .ci/shape \
             and give the reason"
        );
        assert_eq!(
            told(&[("files", 1)]),
            ".ci/shape has \"lines\" twice, or counts no such thing: remove the line"
        );
        assert_eq!(
            told(&[("files", 1), ("lines", 1), ("types", 1)]),
            ".ci/shape has no ceiling for \"types\": add `types | CEILING | REASON`"
        );
    }

    #[test]
    fn a_line_without_a_number_or_a_reason_is_refused() {
        for line in [
            "files",
            "files | 3",
            "files | 3 | ",
            "files | many | why",
            "a | 1 | b | c",
        ] {
            let error = Ceilings::parse(line).unwrap_err().to_string();
            assert_eq!(
                error,
                format!(".ci/shape:1: found {line:?}, expected `FIGURE | CEILING | REASON`")
            );
        }
    }
}
