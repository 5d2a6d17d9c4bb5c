//! One thing that is wrong, and where.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use olmguard_engine::nearest::nearest;

use super::words::{self, Words, beginning};
use super::written::{Spot, WrittenCatalog};
use super::{Rule, Severity};

/// Something that a rule found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// How much it weighs: the rule's severity, or less where the page of the rule says so, unless who
    /// runs it says otherwise.
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
pub(super) struct Findings<'w> {
    written: &'w WrittenCatalog,
    by_spot: Vec<(Spot, Finding)>,
    told: BTreeMap<Rule, RuleCount>,
    /// How much was compared to guess names.
    compared: usize,
    /// How much was compared with guardrails.
    guarded: usize,
}

/// How much is told of one rule.
#[derive(Debug, Default)]
struct RuleCount {
    bytes: usize,
    left_out: usize,
    /// Where the first is that is left out.
    from: Spot,
}

impl<'w> Findings<'w> {
    pub(super) fn new(written: &'w WrittenCatalog) -> Self {
        Self {
            written,
            by_spot: Vec::new(),
            told: BTreeMap::new(),
            compared: 0,
            guarded: 0,
        }
    }

    /// The name most like one that does not exist. Each guess looks at every name, so that there are
    /// only so many in one catalog.
    pub(super) fn guess<'n>(
        &mut self,
        wanted: &str,
        known: impl IntoIterator<Item = &'n str> + Clone,
    ) -> Option<&'n str> {
        let length = |name: &str| name.len().clamp(1, NAME);
        let all: usize = known.clone().into_iter().map(length).sum();
        self.compared = self.compared.saturating_add(all * length(wanted));
        let may = self.compared <= COMPARED;
        may.then(|| nearest(wanted, known, 1).first().copied())?
    }

    /// Whether so much may be compared with guardrails besides what was so far, which it counts as done then.
    pub(super) fn may_compare(&mut self, work: usize) -> bool {
        let all = self.guarded.saturating_add(work);
        let may = all <= GUARDED;
        if may {
            self.guarded = all;
        }
        may
    }

    pub(super) fn say(&mut self, rule: Rule, spot: Spot, package: &str, words: Words) {
        self.say_as(rule, rule.severity(), spot, package, words);
    }

    /// Says that there is something a second time, if `seen` has its key; otherwise notes where it is first.
    pub(super) fn say_if_second<K: Eq + Hash>(
        &mut self,
        seen: &mut HashMap<K, Spot>,
        key: K,
        (rule, spot, package): (Rule, Spot, &str),
        words: impl FnOnce() -> Words,
    ) {
        match seen.entry(key) {
            Entry::Vacant(unseen) => drop(unseen.insert(spot)),
            Entry::Occupied(first) => {
                let words = words().of_second(&self.place(*first.get()));
                self.say(rule, spot, package, words);
            }
        }
    }

    fn place(&self, spot: Spot) -> String {
        let file = self.written.file(spot);
        format!("{file}:{}:{}", spot.line, spot.column)
    }

    /// As [`Findings::say`], for a rule of which not every finding weighs the same.
    pub(super) fn say_as(
        &mut self,
        rule: Rule,
        severity: Severity,
        spot: Spot,
        package: &str,
        words: Words,
    ) {
        if self.is_passed_over(rule, spot) {
            return;
        }
        let Words { message, upstream } = words;
        let told = self.told.entry(rule).or_default();
        if told.bytes > TOLD {
            if told.left_out == 0 {
                told.from = spot;
            }
            told.left_out += 1;
            return;
        }
        told.bytes += message.len() + upstream.as_ref().map_or(0, String::len);
        let finding = Finding {
            rule,
            severity,
            catalog: self.written.name.clone(),
            file: self.written.file(spot).into(),
            line: spot.line,
            column: spot.column,
            package: beginning(package).into(),
            message: beginning(&message).to_owned(),
            upstream: upstream.map(|text| beginning(&text).to_owned()),
        };
        self.by_spot.push((spot, finding));
    }

    /// Where an administrator's guardrails are checked, nothing else is.
    fn is_passed_over(&self, rule: Rule, spot: Spot) -> bool {
        let is_checked = self.written.imposed_from.is_some();
        is_checked && (!self.written.is_imposed(spot) || rule.is_about_authors())
    }

    /// The findings by place; at one place in the order of the rules.
    pub(super) fn finish(mut self) -> impl Iterator<Item = Finding> {
        for (rule, told) in std::mem::take(&mut self.told) {
            if told.left_out > 0 {
                let words = words::too_many_findings(rule, told.left_out);
                self.say(Rule::LintLimit, told.from, "", words);
            }
        }
        self.by_spot
            .sort_by(|(a, x), (b, y)| (a, x.rule, &x.message).cmp(&(b, y.rule, &y.message)));
        self.by_spot.into_iter().map(|(_, finding)| finding)
    }
}

/// How many bytes of findings are told of each rule in one catalog: thousands of usual ones.
const TOLD: usize = 2 << 20;

/// How much is compared to guess names in one catalog: pairs of bytes of names.
const COMPARED: usize = 50_000_000;

/// How much is compared with guardrails in one catalog: some seconds.
const GUARDED: usize = 100_000_000;

/// How many bytes of a name are compared.
const NAME: usize = 1024;
