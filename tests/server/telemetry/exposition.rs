//! A parser of the Prometheus text format.

use std::collections::{BTreeMap, BTreeSet};

/// A metric with its series.
#[derive(Debug, Default)]
pub(crate) struct Family {
    pub(crate) help: String,
    pub(crate) kind: String,
    pub(crate) samples: Vec<Sample>,
}

/// A line with a value.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) name: String,
    pub(crate) labels: BTreeMap<String, String>,
    pub(crate) value: f64,
}

/// Returns all metrics by their names.
pub(crate) fn families(text: &str) -> BTreeMap<String, Family> {
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    let mut current = String::new();
    for line in text.lines() {
        let Some(comment) = line.strip_prefix("# ") else {
            let family = families.get_mut(&current).expect("TYPE comes first");
            family.samples.push(sample(line));
            continue;
        };
        let (what, rest) = comment.split_once(' ').unwrap();
        let (name, text) = rest.split_once(' ').unwrap();
        name.clone_into(&mut current);
        let family = families.entry(current.clone()).or_default();
        match what {
            "HELP" => text.clone_into(&mut family.help),
            "TYPE" => text.clone_into(&mut family.kind),
            other => panic!("{other}"),
        }
    }
    families
}

/// Returns the number of series.
pub(crate) fn series(text: &str) -> usize {
    text.lines().filter(|line| !line.starts_with('#')).count()
}

/// Returns the value of a series, written as in the text.
#[track_caller]
pub(crate) fn value(text: &str, series: &str) -> f64 {
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("no {series} in\n{text}"))
        .parse()
        .expect("a number")
}

impl Family {
    /// Returns the values of each label, except that of buckets.
    pub(crate) fn labels(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut labels: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (name, value) in self.samples.iter().flat_map(|sample| &sample.labels) {
            if name != "le" {
                labels.entry(name).or_default().insert(value);
            }
        }
        labels
    }
}

fn sample(line: &str) -> Sample {
    let (series, value) = line.rsplit_once(' ').expect("a value");
    let (name, labels) = match series.split_once('{') {
        None => (series, ""),
        Some((name, labels)) => (name, labels.trim_end_matches('}')),
    };
    Sample {
        name: name.to_owned(),
        labels: labels.split_terminator(',').map(label).collect(),
        value: value.parse().expect("a number"),
    }
}

/// Parses a label. No value of olmguard has a comma or a quote.
fn label(text: &str) -> (String, String) {
    let (name, value) = text.split_once('=').expect("a value");
    (name.to_owned(), value.trim_matches('"').to_owned())
}
