//! One thing that is wrong, and where.

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

/// Something that a rule found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct LintFinding {
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

/// The texts of a finding.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Words {
    pub(super) message: String,
    /// The text of opm, or its beginning; none if opm does not report it, or quotes a parser.
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

/// Takes the findings of one rule about one package.
pub(super) struct Report<'r, 'w> {
    findings: &'r mut Findings<'w>,
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

    /// The same for another package.
    pub(super) fn of<'p>(&'p mut self, package: &'p str) -> Report<'p, 'w> {
        Report::new(self.findings, self.rule, package)
    }

    /// The severity of the rule.
    pub(super) fn severity(&self) -> Severity {
        self.rule.severity()
    }

    pub(super) fn say(&mut self, spot: Spot, words: impl Into<Words>) {
        self.say_as(self.severity(), spot, words);
    }

    /// Reports a finding with what opm reports, or the beginning of that.
    pub(super) fn say_opm(
        &mut self,
        spot: Spot,
        message: impl Into<String>,
        opm: impl Into<String>,
    ) {
        self.say(spot, Words::with(message.into(), opm.into()));
    }

    /// Reports a finding that weighs less than others of the rule.
    pub(super) fn note(&mut self, spot: Spot, words: impl Into<Words>) {
        self.say_as(Severity::Note, spot, words);
    }

    pub(super) fn say_as(&mut self, severity: Severity, spot: Spot, words: impl Into<Words>) {
        let place = (self.rule, severity, spot);
        self.findings.say(place, self.package, words.into());
    }

    /// Reports each thing whose key another one before it has, and where the first is. The things are their keys,
    /// places and packages.
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

    /// As [`Findings::guess`].
    pub(super) fn guess<'n>(
        &mut self,
        wanted: &str,
        known: impl IntoIterator<Item = &'n str> + Clone,
    ) -> Option<&'n str> {
        self.findings.guess(wanted, known)
    }

    /// As [`Findings::leave_out`].
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
    /// How much was compared to guess names.
    compared: usize,
    /// How much was compared with guardrails.
    guarded: usize,
}

/// How much is reported of one rule.
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
            counts: BTreeMap::new(),
            omissions: Vec::new(),
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

    /// Notes that something is not checked.
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

    /// Where an administrator's guardrails are checked, nothing else is.
    fn is_passed_over(&self, spot: Spot) -> bool {
        self.written.imposed_from.is_some() && !self.written.is_imposed(spot)
    }

    /// Whether a finding of a rule is still shown; otherwise it is counted.
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

    /// The findings by place; at one place in the order of the rules.
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

/// How many bytes of findings are shown of each rule in one catalog: thousands of usual ones.
const SHOWN: usize = 2 << 20;

/// How much is compared to guess names in one catalog: pairs of bytes of names.
const COMPARED: usize = 50_000_000;

/// How much is compared with guardrails in one catalog: some seconds.
const GUARDED: usize = 100_000_000;

/// How many bytes of a name are compared.
const NAME: usize = 1024;
