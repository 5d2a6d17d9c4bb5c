//! The counts: the pairs of each reason code, and the number on which both agree.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use anyhow::{Result, ensure};

use super::pairs::{Pair, TOKENS};
use super::traits;
use super::verdict::{Says, Verdict};
use crate::olm::progress::Progress;

/// The counts by reason code and by the traits of the graphs.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: BTreeMap<String, Row>,
    traits: BTreeMap<&'static str, Row>,
    graphs: BTreeSet<String>,
    disagreements: Vec<String>,
}

#[derive(Debug, Default)]
struct Row {
    pairs: usize,
    agreed: usize,
}

impl Table {
    pub(super) fn add(&mut self, pairs: &[Pair], verdicts: &[Verdict], outcomes: &[Progress]) {
        for ((pair, verdict), outcome) in pairs.iter().zip(verdicts).zip(outcomes) {
            let agreed = pair.token == verdict.token && agree(verdict, outcome);
            self.rows
                .entry(verdict.token.clone())
                .or_default()
                .count(agreed);
            self.graphs.insert(pair.graph.clone());
            for name in traits::ALL.into_iter().filter(|name| pair.traits.has(name)) {
                self.traits.entry(name).or_default().count(agreed);
            }
            if !agreed {
                self.disagreements.push(format!(
                    "{pair:#?}\nguard: {verdict:#?}\ncontroller: {outcome:#?}"
                ));
            }
        }
    }

    /// Checks that there are enough pairs of every reason code, and no disagreement.
    pub(super) fn holds(&self) -> Result<()> {
        ensure!(
            self.disagreements.is_empty(),
            "{}",
            self.disagreements.join("\n\n")
        );
        for token in TOKENS {
            let pairs = self.rows.get(token).map_or(0, |row| row.pairs);
            ensure!(pairs >= LEAST, "only {pairs} pairs of {token}");
        }
        for name in traits::ALL {
            let pairs = self.traits.get(name).map_or(0, |row| row.pairs);
            ensure!(pairs >= LEAST, "only {pairs} pairs from graphs with {name}");
        }
        let graphs = self.graphs.len();
        ensure!(graphs >= LEAST_GRAPHS, "only {graphs} graphs");
        let pairs: usize = self.rows.values().map(|row| row.pairs).sum();
        ensure!(pairs >= LEAST_IN_ALL, "only {pairs} pairs");
        Ok(())
    }
}

fn agree(verdict: &Verdict, outcome: &Progress) -> bool {
    match (&verdict.says, outcome) {
        (Says::Installs(named), Progress::Done(bundle)) => {
            *named == format!("{} {}", bundle.name, bundle.version)
        }
        (Says::Refuses(Some(quoted)), Progress::Retrying(message)) => is_quoted(quoted, message),
        (Says::Refuses(None), Progress::Retrying(_)) => !TOKENS.contains(&verdict.token.as_str()),
        _ => false,
    }
}

/// Whether a text is quoted. A denial that would be too long truncates its quote with an ellipsis.
fn is_quoted(quoted: &str, message: &str) -> bool {
    let beginning = quoted.strip_suffix("...");
    quoted == message || beginning.is_some_and(|beginning| message.starts_with(beginning))
}

impl Row {
    fn count(&mut self, agreed: bool) {
        self.pairs += 1;
        self.agreed += usize::from(agreed);
    }

    fn line(&self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        writeln!(f, "{name:<40}{:>6}{:>8}", self.pairs, self.agreed)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = Row::default();
        writeln!(f, "{:<40}{:>6}{:>8}", "token", "pairs", "agreed")?;
        for (token, row) in &self.rows {
            row.line(f, token)?;
            all.pairs += row.pairs;
            all.agreed += row.agreed;
        }
        all.line(f, &format!("all, from {} graphs", self.graphs.len()))?;
        for (name, row) in &self.traits {
            row.line(f, &format!("from graphs with {name}"))?;
        }
        Ok(())
    }
}

const LEAST: usize = 10;
const LEAST_GRAPHS: usize = 12;
const LEAST_IN_ALL: usize = 200;
