//! A single finding, and the collection of findings.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use super::check::Check;
use super::words::beginning;
use super::written::{Spot, WrittenCatalog};
use super::{Rule, Severity};
use crate::lint::rules::reading::Omission;
use olmguard_catalog::version::go::escape;
use olmguard_engine::nearest::nearest;

/// A finding of a rule.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LintFinding {
    /// Rule of the finding.
    pub rule: Rule,
    /// Severity: the severity of the rule, or a lower one if the page of the rule describes it. Flags can change
    /// it.
    pub severity: Severity,
    /// Name of the catalog.
    pub catalog: Box<str>,
    /// File of the catalog.
    pub file: Box<str>,
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1, in characters.
    pub column: u32,
    /// Name of the package, empty if unknown.
    pub package: Box<str>,
    /// Message on one line: subject, found, expected, how to fix it. Texts from the catalog are escaped.
    pub message: String,
    /// Text of `opm validate`, or its beginning, unchanged.
    pub upstream: Option<String>,
}

/// The texts of a finding.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Words {
    pub(super) message: String,
    /// Text of opm, or its beginning. `None` if opm does not report the fault, or quotes a parser.
    pub(super) upstream: Option<String>,
}

impl From<String> for Words {
    fn from(message: String) -> Self {
        Self {
            message,
            upstream: None,
        }
    }
}

impl Words {
    pub(super) fn with(message: String, upstream: String) -> Self {
        Self {
            message,
            upstream: Some(upstream),
        }
    }
}

/// Reports the findings of one rule about one package.
pub(super) struct Report<'r, 'w> {
    pub(super) findings: &'r mut Findings<'w>,
    rule: Rule,
    package: &'r str,
}

impl<'r, 'w> Report<'r, 'w> {
    pub(super) fn new(findings: &'r mut Findings<'w>, rule: Rule, package: &'r str) -> Self {
        Self {
            findings,
            rule,
            package,
        }
    }

    /// Returns a report of the same rule for another package.
    pub(super) fn of<'p>(&'p mut self, package: &'p str) -> Report<'p, 'w> {
        Report::new(self.findings, self.rule, package)
    }

    /// Returns the severity of the rule.
    pub(super) fn severity(&self) -> Severity {
        self.rule.severity()
    }

    pub(super) fn say(&mut self, spot: Spot, words: impl Into<Words>) {
        self.say_as(self.severity(), spot, words);
    }

    /// Reports a finding with the text of opm, or its beginning.
    pub(super) fn say_opm(
        &mut self,
        spot: Spot,
        message: impl Into<String>,
        opm: impl Into<String>,
    ) {
        self.say(spot, Words::with(message.into(), opm.into()));
    }

    /// Reports a finding with a lower severity than others of the rule.
    pub(super) fn note(&mut self, spot: Spot, words: impl Into<Words>) {
        self.say_as(Severity::Note, spot, words);
    }

    pub(super) fn say_as(&mut self, severity: Severity, spot: Spot, words: impl Into<Words>) {
        let place = (self.rule, severity, spot);
        self.findings.say(place, self.package, words.into());
    }

    /// Reports each item whose key an earlier item has, with the place of the first. An item is a key, a place and a
    /// package.
    pub(super) fn say_seconds<'b, K: Eq + Hash + Copy>(
        &mut self,
        things: impl Iterator<Item = (K, Spot, &'b str)>,
        words: impl Fn(K) -> Words,
    ) {
        let mut seen = HashMap::new();
        for (key, spot, package) in things {
            match seen.entry(key) {
                Entry::Vacant(unseen) => drop(unseen.insert(spot)),
                Entry::Occupied(first) => {
                    let (mut words, first) = (words(key), self.findings.place(*first.get()));
                    words.message =
                        format!("{} (the first is at {})", words.message, escape(&first));
                    self.of(package).say(spot, words);
                }
            }
        }
    }

    /// Calls [`Findings::leave_out`].
    pub(super) fn leave_out(&mut self, spot: Spot, omission: Omission) {
        self.findings.leave_out(spot, self.package, omission);
    }
}

/// Collects the findings about one catalog.
#[derive(Debug)]
pub(super) struct Findings<'w> {
    written: &'w WrittenCatalog,
    by_spot: Vec<(Spot, LintFinding)>,
    counts: BTreeMap<Rule, RuleCount>,
    omissions: Vec<(Spot, Box<str>, Omission)>,
    /// Work that was spent on guessing names.
    compared: usize,
    /// Work that was spent on guardrails.
    guarded: usize,
}

/// The amount of findings of one rule.
#[derive(Debug, Default)]
struct RuleCount {
    bytes: usize,
    left_out: usize,
    /// Place of the first omitted finding.
    from: Spot,
}

impl<'w> Findings<'w> {
    pub(super) fn new(written: &'w WrittenCatalog) -> Self {
        Self {
            written,
            by_spot: Vec::new(),
            counts: BTreeMap::new(),
            omissions: Vec::new(),
            compared: 0,
            guarded: 0,
        }
    }

    /// Returns the known name that is most similar to an unknown one.
    ///
    /// Each guess compares every name, so the work per catalog is limited.
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

    /// Whether this much more work on guardrails is within the limit. If so, the work counts as done.
    pub(super) fn may_compare(&mut self, work: usize) -> bool {
        let all = self.guarded.saturating_add(work);
        let may = all <= GUARDED;
        if may {
            self.guarded = all;
        }
        may
    }

    /// Records that lint does not check something.
    pub(super) fn leave_out(&mut self, spot: Spot, package: &str, omission: Omission) {
        self.omissions.push((spot, package.into(), omission));
    }

    fn place(&self, spot: Spot) -> String {
        let file = self.written.file(spot);
        format!("{file}:{}:{}", spot.line, spot.column)
    }

    fn say(&mut self, place: (Rule, Severity, Spot), package: &str, words: Words) {
        let (rule, severity, spot) = place;
        let Words { message, upstream } = words;
        let bytes = message.len() + upstream.as_ref().map_or(0, String::len);
        if self.is_passed_over(spot) || !self.has_room(rule, spot, bytes) {
            return;
        }
        let finding = LintFinding {
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

    /// Whether the finding is ignored: with guardrails of an administrator, only these are reported.
    fn is_passed_over(&self, spot: Spot) -> bool {
        self.written.imposed_from.is_some() && !self.written.is_imposed(spot)
    }

    /// Whether there is room for a finding of a rule. Otherwise the finding is only counted.
    fn has_room(&mut self, rule: Rule, spot: Spot, bytes: usize) -> bool {
        let count = self.counts.entry(rule).or_default();
        let has_room = count.bytes <= SHOWN;
        if has_room {
            count.bytes += bytes;
        } else {
            if count.left_out == 0 {
                count.from = spot;
            }
            count.left_out += 1;
        }
        has_room
    }

    /// Returns the findings by place, and at one place in the order of the rules.
    pub(super) fn finish(mut self) -> impl Iterator<Item = LintFinding> {
        self.say_omissions();
        let counts = std::mem::take(&mut self.counts).into_iter();
        for (rule, count) in counts.filter(|(_, count)| count.left_out > 0) {
            self.leave_out(count.from, "", Omission::Findings(rule, count.left_out));
        }
        self.say_omissions();
        self.by_spot
            .sort_by(|(a, x), (b, y)| (a, x.rule, &x.message).cmp(&(b, y.rule, &y.message)));
        self.by_spot.into_iter().map(|(_, finding)| finding)
    }

    fn say_omissions(&mut self) {
        let omissions = std::mem::take(&mut self.omissions);
        for rule in Rule::all() {
            if let Check::Omission(sentence) = rule.item().check {
                for (spot, package, omission) in &omissions {
                    let message = sentence(*omission, package);
                    Report::new(self, rule, package).say(*spot, message);
                }
            }
        }
    }
}

/// Maximum size of the findings of each rule in one catalog, in bytes: enough for thousands of usual findings.
const SHOWN: usize = 2 << 20;

/// Maximum work for guessing names in one catalog, in pairs of bytes of names.
const COMPARED: usize = 50_000_000;

/// Maximum work on guardrails in one catalog: a few seconds.
const GUARDED: usize = 100_000_000;

/// Maximum number of bytes of a name that are compared.
const NAME: usize = 1024;
