//! One thing that is wrong, and where.

use crate::nearest::nearest;

use super::words::Words;
use super::written::{Spot, Written};
use super::{Rule, Severity};

/// Something that a rule found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// How much it weighs: the rule's severity, unless who runs it says otherwise.
    pub severity: Severity,
    /// The catalog.
    pub catalog: Box<str>,
    /// The file of it.
    pub file: Box<str>,
    /// The line, counted from 1.
    pub line: u32,
    /// The column, counted from 1, in characters.
    pub column: u32,
    /// The package; empty where none can be told.
    pub package: Box<str>,
    /// What is found: subject, found, expected, way out, on one line. What is taken from the catalog
    /// is escaped.
    pub message: String,
    /// The text of `opm validate`, or its beginning, as it is.
    pub upstream: Option<String>,
}

/// Collects the findings about one catalog.
#[derive(Debug)]
pub(super) struct Report<'w> {
    written: &'w Written,
    findings: Vec<(Spot, Finding)>,
    /// How often a name was guessed.
    guesses: usize,
}

impl<'w> Report<'w> {
    pub(super) fn new(written: &'w Written) -> Self {
        Self {
            written,
            findings: Vec::new(),
            guesses: 0,
        }
    }

    /// The name most like one that does not exist. Each guess looks at every name, so there are only so
    /// many in one catalog.
    pub(super) fn guess<'n>(
        &mut self,
        wanted: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Option<&'n str> {
        self.guesses += 1;
        let may = self.guesses <= GUESSES;
        may.then(|| nearest(wanted, known, 1).first().copied())?
    }

    pub(super) fn say(&mut self, rule: Rule, spot: Spot, package: &str, words: Words) {
        let Words { message, upstream } = words;
        let file = self.written.files.get(spot.file as usize);
        let finding = Finding {
            rule,
            severity: rule.severity(),
            catalog: self.written.name.clone(),
            file: file.cloned().unwrap_or_default(),
            line: spot.line,
            column: spot.column,
            package: cut(package).into(),
            message: cut(&message),
            upstream: upstream.map(|text| cut(&text)),
        };
        self.findings.push((spot, finding));
    }

    /// The findings by place; at one place in the order of the rules.
    pub(super) fn finish(mut self) -> impl Iterator<Item = Finding> {
        self.findings
            .sort_by(|(a, x), (b, y)| (a, x.rule, &x.message).cmp(&(b, y.rule, &y.message)));
        self.findings.into_iter().map(|(_, finding)| finding)
    }
}

/// The beginning of a text: names in a catalog can be as long as a blob, and a finding is kept for each.
fn cut(text: &str) -> String {
    let mut end = text.len().min(LENGTH);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

/// How many bytes of a text are kept: far more than real names need.
const LENGTH: usize = 4096;

/// How many names are guessed in one catalog.
const GUESSES: usize = 200;
