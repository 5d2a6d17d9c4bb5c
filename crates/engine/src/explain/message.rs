//! A refusal as text: line 1 complete on its own, then what is known, each on a line of its own.
//!
//! Invariants, for any input: line 1 has at most [`LINE_1`] bytes, the whole at most [`MESSAGE`], and
//! the only control character is the line break.

use std::borrow::Cow;

use crate::explain::one_edit::OneEditReport;
use crate::explain::refusal::{
    Detail, SEARCH_CUT, details, guardrail, needed, policy, reason, recorded,
};
use crate::explain::text::{CutLine, cut_end, cut_middle, one_line};
use crate::extension::{Extension, Installed};
use crate::judge::{Advice, BypassHelps, DeadEnd, FixValue, Judgement, Request, Token, Verdict};
use crate::snapshot::CatalogState;
use olmguard_catalog::version::go;

/// The most bytes of line 1.
pub const LINE_1: usize = 200;

/// The most bytes of a message.
pub const MESSAGE: usize = 1024;

/// What a message is made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageFacts<'a> {
    pub(super) extension: &'a Extension,
    pub(super) request: Option<&'a Request<'a>>,
    pub(super) judgement: &'a Judgement<'a>,
    pub(super) advice: &'a Advice,
    /// What is known where nothing helps.
    pub(super) dead_end: Option<&'a DeadEnd<'a>>,
    pub(super) catalog: Option<&'a CatalogState>,
    pub(super) upstream: Option<&'a str>,
}

/// Lines, one under the other.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Lines(Vec<String>);

impl Lines {
    /// All of them, each on a line of its own.
    pub(super) fn text(&self) -> String {
        self.0.join("\n")
    }

    /// All of them in one line: a sentence then ends with a semicolon, as every other line does.
    pub(super) fn in_one_line(&self) -> String {
        let lines = self
            .0
            .iter()
            .map(|line| line.strip_suffix('.').unwrap_or(line));
        lines.collect::<Vec<_>>().join("; ")
    }

    fn with(mut self, line: String) -> Self {
        self.0.push(line);
        self
    }

    /// In bytes, line breaks between them counted.
    fn len(&self) -> usize {
        let breaks = self.0.len().saturating_sub(1);
        self.0.iter().map(String::len).sum::<usize>() + breaks
    }
}

/// The lines of the text, one of them for what is lacking; `None` if nothing is refused or undecided.
pub(super) fn message(facts: &MessageFacts<'_>, lacking: Option<&str>) -> Option<Lines> {
    let refused = match facts.judgement.verdict() {
        Verdict::Deny => "refused",
        Verdict::Undecided => "undecided",
        Verdict::Allow | Verdict::NotJudged => return None,
    };
    let first = first_line(facts, refused).within(LINE_1);
    let lines = within(facts, &first, lacking);
    Some(with_help(lines, facts.judgement.token()))
}

/// With where to read more, as the last line: the first that is left out where there is no room.
fn with_help(lines: Lines, token: Token) -> Lines {
    let help = format!("Help: olmguard explain {}", token.as_str());
    if lines.len() + 1 + help.len() > MESSAGE {
        return lines;
    }
    lines.with(help)
}

/// One sentence for a finding: the reason alone.
pub(super) fn short(facts: &MessageFacts<'_>) -> String {
    reason(&facts.judgement.ruled.ruling, facts.request).within(LINE_1)
}

fn first_line(facts: &MessageFacts<'_>, refused: &str) -> CutLine {
    let why = reason(&facts.judgement.ruled.ruling, facts.request);
    let token = facts.judgement.token().as_str();
    subject(facts)
        .say(&format!(" {refused}: "))
        .then(why)
        .say(&format!(" [{token}]"))
}

/// What is asked, from what to what.
fn subject(facts: &MessageFacts<'_>) -> CutLine {
    let Some(request) = facts.request else {
        let identity = &facts.extension.identity;
        let name = identity.shown().unwrap_or(Cow::Borrowed("without a name"));
        return CutLine::default().name(&identity.kind).say(" ").name(&name);
    };
    let line = CutLine::default().name(&request.filter.package).say(": ");
    let line = match request.installed {
        Installed::Bundle(bundle) | Installed::Inferred(bundle) => {
            line.version(recorded(bundle)).say(" -> ")
        }
        Installed::Unknown(_) => line.say("unknown -> "),
        Installed::Nothing => line.say("install of "),
    };
    match request.filter.range() {
        Some(range) => line.written(range),
        None => line.say("any version"),
    }
}

/// What the lines after the first may spend.
#[derive(Clone, Copy, Debug)]
struct Budget {
    /// How many items a list names.
    named: usize,
    /// Whether the path keeps its ends only.
    path: Path,
    /// How many bytes a detail has, and the name of the catalog.
    texts: usize,
}

/// How a path is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Path {
    Whole,
    Ends,
}

/// The lines of a message, all that gives way to the limit apart.
struct Body<'a> {
    facts: &'a MessageFacts<'a>,
    first: &'a str,
    lacking: Option<&'a str>,
    details: Vec<Detail>,
    next: [Detail; 2],
    olm: Option<String>,
}

/// Line 1 and the others within the limit: lists get shorter, then the path keeps its ends, then
/// OLM's text is cut, then details are.
fn within(facts: &MessageFacts<'_>, first: &str, lacking: Option<&str>) -> Lines {
    let body = Body {
        facts,
        first,
        lacking,
        details: with_blocked(facts),
        next: next(&facts.advice.allowed_next),
        olm: facts.upstream.map(olm_line),
    };
    body.whole()
        .or_else(|| body.shorter())
        .unwrap_or_else(|| body.cut())
}

/// The versions that can be reached in one edit: releases, then prereleases, which have a label of their own if
/// there is a release. They have no build metadata.
fn next(versions: &[String]) -> [Detail; 2] {
    let versions = versions.iter().cloned();
    let (releases, prereleases): (Vec<_>, Vec<_>) =
        versions.partition(|version| !version.contains('-'));
    let label = if releases.is_empty() {
        ALLOWED_NEXT
    } else {
        "prerelease"
    };
    [(ALLOWED_NEXT, releases), (label, prereleases)].map(|(label, items)| Detail {
        label,
        items,
        between: ", ",
    })
}

/// What else there is to know, with the guardrails and policies that take the path away.
fn with_blocked(facts: &MessageFacts<'_>) -> Vec<Detail> {
    let blocked = facts.dead_end.and_then(|end| end.blocked.as_ref());
    let mut all = details(&facts.judgement.ruled.ruling, facts.request);
    all.extend(blocked.map(guardrail::blocked_by));
    let policies = facts.dead_end.map(|end| &*end.policies);
    all.extend(policies.map(policy::blocked_by));
    all
}

/// OLM's text, no more of it than can be told: it may quote a value of any length.
fn olm_line(upstream: &str) -> String {
    let end = upstream.floor_char_boundary(MESSAGE + 1);
    let told = upstream.get(..end).unwrap_or_default();
    format!("OLM: {}", one_line(told))
}

impl Body<'_> {
    fn whole(&self) -> Option<Lines> {
        self.fitting(WHOLE)
    }

    /// With as many items of each list as fit.
    fn shorter(&self) -> Option<Lines> {
        let most = self.longest_list().min(MESSAGE / 2);
        let fits = |named: usize| self.fitting(Budget { named, ..WHOLE });
        let (mut least, mut found) = (1, fits(1));
        found.as_ref()?;
        let mut above = most.max(1) + 1;
        while above - least > 1 {
            let middle = least.midpoint(above);
            match fits(middle) {
                Some(lines) => (least, found) = (middle, Some(lines)),
                None => above = middle,
            }
        }
        found
    }

    /// With the ends of the path, and what of OLM's text and of the details there is room for.
    fn cut(&self) -> Lines {
        let ends = Budget {
            named: 1,
            path: Path::Ends,
            ..WHOLE
        };
        let budgets = [ends].into_iter().chain(TEXTS.iter().map(|texts| Budget {
            texts: *texts,
            ..ends
        }));
        let texts = budgets.map(|budget| self.lines(budget));
        let fitting = texts.filter_map(|lines| {
            let room = MESSAGE.checked_sub(lines.len())?;
            match &self.olm {
                Some(_) if room < LEAST_OLM => None,
                Some(olm) => Some(lines.with(cut_end(olm, room - 1))),
                None => Some(lines),
            }
        });
        fitting
            .into_iter()
            .next()
            .unwrap_or_else(|| Lines(vec![cut_end(self.first, MESSAGE)]))
    }

    fn fitting(&self, budget: Budget) -> Option<Lines> {
        let lines = self
            .olm
            .iter()
            .cloned()
            .fold(self.lines(budget), Lines::with);
        (lines.len() <= MESSAGE).then_some(lines)
    }

    fn longest_list(&self) -> usize {
        let lists = self
            .details
            .iter()
            .chain(&self.next)
            .map(|detail| detail.items.len());
        lists.max().unwrap_or_default()
    }

    /// All lines but OLM's.
    fn lines(&self, budget: Budget) -> Lines {
        let facts = self.facts;
        let told = self
            .details
            .iter()
            .filter_map(|detail| detail.naming(budget.named));
        let told = told.map(|line| cut_end(&line, budget.texts));
        let next = self
            .next
            .iter()
            .filter_map(|next| next.naming(budget.named));
        let next: Vec<_> = next.collect();
        let known = [
            (!next.is_empty()).then(|| next.join("; ")),
            path(&facts.advice.path, budget.path),
            one_edit(facts.advice).map(|edit| format!("One edit: {edit}")),
            fix(facts.advice).map(|fix| format!("Fix: {fix}")),
            self.lacking.map(str::to_owned),
            note(facts.advice).map(|note| format!("Note: {note}")),
            bypass(facts),
            catalog(facts.catalog, budget.texts),
        ];
        let lines = told.chain(known.into_iter().flatten());
        lines.fold(Lines(vec![self.first.to_owned()]), Lines::with)
    }
}

fn path(versions: &[String], told: Path) -> Option<String> {
    let whole = || versions.join(" -> ");
    match versions {
        [] | [_] => None,
        [first, .., last] if told == Path::Ends && versions.len() > 3 => {
            let between = versions.len() - 2;
            Some(format!("Path: {first} -> ({between} more) -> {last}"))
        }
        _ => Some(format!("Path: {}", whole())),
    }
}

/// What to set. Never cut: a value that is not whole would not work.
pub(super) fn fix(advice: &Advice) -> Option<String> {
    let fix = advice.fix.as_ref()?;
    let value = match &fix.value {
        FixValue::Text(text) => go::quote(text),
        FixValue::List(items) => {
            let items: Vec<_> = items.iter().map(|item| go::quote(item)).collect();
            format!("[{}]", items.join(", "))
        }
    };
    let has_further = advice.path.len() > 2;
    let first = if has_further { " first" } else { "" };
    let range = advice.with_prereleases.as_deref();
    let range = range.map(|range| format!(", or to {} for prereleases too", go::quote(range)));
    let range = range.unwrap_or_default();
    Some(format!("set {} to {value}{first}{range}", fix.field))
}

/// The edit after which OLM makes all steps of the path automatically.
pub(super) fn one_edit(advice: &Advice) -> Option<String> {
    let edit = advice.one_edit.as_ref()?;
    Some(OneEditReport::from(edit).sentence())
}

/// Where no edit of the object is known to help, what is missing, and who can supply it.
pub(super) fn lacking(facts: &MessageFacts<'_>) -> Option<String> {
    let is_known = facts.advice.fix.is_none() && !facts.advice.is_cut;
    let needed = is_known.then(|| needed(facts)).flatten();
    needed.map(|line| line.within(LINE_1))
}

/// That there may be more to suggest.
pub(super) fn note(advice: &Advice) -> Option<&'static str> {
    advice.is_cut.then_some(SEARCH_CUT)
}

fn bypass(facts: &MessageFacts<'_>) -> Option<String> {
    let fields = &facts.extension.fields;
    let (field, word) = (fields.policy(), fields.bypass.word());
    (facts.advice.bypass == BypassHelps::Yes)
        .then(|| format!("Override: set {field} to {word}; data loss is possible"))
}

fn catalog(catalog: Option<&CatalogState>, texts: usize) -> Option<String> {
    let catalog = catalog?;
    let digest = catalog
        .digest()
        .map(|digest| format!("@{}", go::escape(digest)));
    let unpacked = catalog.last_unpacked.as_deref();
    let content = unpacked.map(|at| format!(", content of {}", go::escape(at)));
    let name = cut_middle(&go::escape(&catalog.name), texts);
    let rest = format!(
        "{}{}",
        digest.unwrap_or_default(),
        content.unwrap_or_default()
    );
    Some(format!("Catalog: {name}{}", cut_end(&rest, texts)))
}

const ALLOWED_NEXT: &str = "Allowed next";

/// Nothing is left out.
const WHOLE: Budget = Budget {
    named: usize::MAX,
    path: Path::Whole,
    texts: usize::MAX,
};

/// How many bytes a detail has, tried in turn where a message is too long all the same.
const TEXTS: &[usize] = &[300, 150, 80, 40];

/// OLM's text with less room than this would say nothing.
const LEAST_OLM: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_left_out_before_anything_else() {
        let help = "Help: olmguard explain Downgrade";
        let only = |length| Lines(vec!["a".repeat(length)]);
        let longest = MESSAGE - 1 - help.len();
        let whole = with_help(only(longest), Token::Downgrade);
        assert_eq!(whole, only(longest).with(help.to_owned()));
        assert_eq!(whole.text().len(), MESSAGE);
        let longer = only(longest + 1);
        assert_eq!(with_help(longer.clone(), Token::Downgrade), longer);
    }

    #[test]
    fn what_cannot_be_told_of_olms_text_is_not_even_escaped() {
        for (character, escaped) in [("a", 1), ("\u{1b}", 4), ("\u{10ffff}", 10), ("ä", 2)] {
            let line = olm_line(&character.repeat(1 << 20));
            assert!(line.len() > MESSAGE, "{}", line.len());
            let most = "OLM: ".len() + (MESSAGE + 1) * escaped;
            assert!(line.len() <= most, "{}", line.len());
        }
        assert_eq!(olm_line("a \"b\"\n"), "OLM: a \"b\"\\n");
    }
}
