//! Versions as positions on a line, and ranges as the positions that they contain.

use proptest::prelude::*;

/// A version: major, minor, patch, and whether it is a prerelease of that.
pub(crate) type Version = (u64, u64, u64, bool);

/// The existing versions, the lowest first, each as text and as value.
pub(crate) const LINE: [(&str, Version); 15] = [
    ("0.0.1", (0, 0, 1, false)),
    ("0.0.2", (0, 0, 2, false)),
    ("0.1.0", (0, 1, 0, false)),
    ("1.0.0-rc.1", (1, 0, 0, true)),
    ("1.0.0", (1, 0, 0, false)),
    ("1.0.1", (1, 0, 1, false)),
    ("1.1.0-rc.1", (1, 1, 0, true)),
    ("1.1.0-rc.2", (1, 1, 0, true)),
    ("1.1.0", (1, 1, 0, false)),
    ("1.1.1-alpha", (1, 1, 1, true)),
    ("1.2.0", (1, 2, 0, false)),
    ("1.2.9", (1, 2, 9, false)),
    ("1.4.0", (1, 4, 0, false)),
    ("2.0.0-rc.1", (2, 0, 0, true)),
    ("2.0.0", (2, 0, 0, false)),
];

pub(crate) fn version(at: usize) -> &'static str {
    LINE[at].0
}

/// A comparator with the position of its version.
#[derive(Clone, Copy, Debug)]
struct Comparator {
    word: &'static str,
    at: usize,
}

/// A range: groups of comparators. All comparators of one group must match.
#[derive(Clone, Debug)]
pub(crate) struct Range(Vec<Vec<Comparator>>);

impl Range {
    pub(crate) fn written(&self) -> String {
        let group = |group: &Vec<Comparator>| {
            let comparators = group.iter();
            let written = comparators.map(|c| format!("{}{}", c.word, version(c.at)));
            written.collect::<Vec<_>>().join(" ")
        };
        let groups = self.0.iter().map(group);
        groups.collect::<Vec<_>>().join(" || ")
    }

    /// Whether the range contains a version of the line.
    pub(crate) fn holds(&self, at: usize) -> bool {
        self.holds_place(place(at))
    }

    /// Whether a version of the line matches as the range of a request, in which a group contains prereleases only if
    /// it names one.
    pub(crate) fn admits(&self, at: usize) -> bool {
        let is_prerelease = |at: usize| LINE[at].1.3;
        let names_one = |group: &Vec<Comparator>| group.iter().any(|c| is_prerelease(c.at));
        let mut groups = self.0.iter();
        groups.any(|group| {
            group.iter().all(|comparator| comparator.holds(place(at)))
                && (!is_prerelease(at) || names_one(group))
        })
    }

    /// The shape of the range, in the words of the policy rule `range`.
    pub(crate) fn shape(&self) -> &'static str {
        let is_bounded =
            |group: &Vec<Comparator>| group.iter().any(|c| ["<", "<=", "="].contains(&c.word));
        match self.0.as_slice() {
            [group] if group.len() == 1 && group[0].word == "=" => "Pinned",
            groups if groups.iter().all(is_bounded) => "Bounded",
            _ => "Any",
        }
    }

    /// Whether everything in the range is higher than a version.
    pub(crate) fn is_above(&self, at: usize) -> bool {
        self.places().all(|held| held > place(at))
    }

    /// Whether everything in the range is lower than a version.
    pub(crate) fn is_below(&self, at: usize) -> bool {
        self.places().all(|held| held < place(at))
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        let all = 0..=place(LINE.len());
        all.filter(|place| self.holds_place(*place))
    }

    fn holds_place(&self, here: usize) -> bool {
        let mut groups = self.0.iter();
        groups.any(|group| group.iter().all(|comparator| comparator.holds(here)))
    }
}

impl Comparator {
    fn holds(self, here: usize) -> bool {
        let there = place(self.at);
        match self.word {
            "<" => here < there,
            "<=" => here <= there,
            ">" => here > there,
            ">=" => here >= there,
            "!=" => here != there,
            _ => here == there,
        }
    }
}

/// The position of a version. Even positions are those below, between and above the versions.
fn place(at: usize) -> usize {
    2 * at + 1
}

pub(crate) fn range() -> impl Strategy<Value = Range> {
    let word = prop::sample::select(vec!["<", "<=", ">", ">=", "!=", "="]);
    let comparator = (word, 0..LINE.len()).prop_map(|(word, at)| Comparator { word, at });
    let group = prop::collection::vec(comparator, 1..3);
    prop::collection::vec(group, 1..3).prop_map(Range)
}
