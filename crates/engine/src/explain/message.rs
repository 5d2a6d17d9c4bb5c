//! A refusal as text. Line 1 is complete on its own. Each further fact, such as the fix, has a line of its own.
//!
//! Invariants, for any input: line 1 has at most [`LINE_1`] bytes, the whole at most [`MESSAGE`], and
//! the only control character is the line break.

use std::borrow::Cow;

use crate::explain::facts::MessageFacts;
use crate::explain::refusal::RefusalWords;
use crate::explain::text::{CutLine, Detail, LINE_1, cut_end, cut_middle, one_line, recorded};
use crate::extension::Installed;
use crate::judge::{Advice, BypassHelps, FixValue, OneEdit, Token, Verdict};
use crate::snapshot::CatalogState;
use olmguard_catalog::version::go;

/// The most bytes of a message.
pub const MESSAGE: usize = 1024;

/// The lines of a refusal.
pub(super) fn message(facts: &MessageFacts<'_>, refusal: &RefusalWords) -> Lines {
    let first = first_line(facts, refusal).within(LINE_1);
    let body = Body {
        facts,
        details: &refusal.details,
        next: next(&facts.advice.allowed_next),
        needed: needed(facts, refusal),
        olm: facts.upstream.as_deref().map(olm_line),
        first,
    };
    with_help(body.fitted(), facts.judgement.token())
}

/// The content of line 1, without the edit.
pub(super) fn brief(facts: &MessageFacts<'_>, refusal: &RefusalWords) -> CutLine {
    let line = match facts.request {
        Some(request) => CutLine::default().name(&request.filter.package),
        None => subject(facts),
    };
    let token = facts.judgement.token().as_str();
    let line = line.say(": ").then(refusal.reason.clone());
    line.token(token)
}

/// The missing fact or change and who can supply it, if no edit of the object is known to help.
pub(super) fn needed(facts: &MessageFacts<'_>, refusal: &RefusalWords) -> Option<String> {
    let is_known = facts.advice.fix.is_none() && !facts.advice.is_cut;
    let needed = refusal.needed.clone().filter(|_| is_known)?;
    Some(needed.within(LINE_1))
}

/// Adds a last line about further help. This line is omitted first if there is no room.
fn with_help(lines: Lines, token: Token) -> Lines {
    let help = format!("Help: olmguard explain {}", token.as_str());
    if lines.len() + 1 + help.len() > MESSAGE {
        return lines;
    }
    lines.with(help)
}

fn first_line(facts: &MessageFacts<'_>, refusal: &RefusalWords) -> CutLine {
    let token = facts.judgement.token();
    let verdict = match token.verdict() {
        Verdict::Undecided => "undecided",
        Verdict::Deny | Verdict::Allow | Verdict::NotJudged => "refused",
    };
    subject(facts)
        .say(&format!(" {verdict}: "))
        .then(refusal.reason.clone())
        .token(token.as_str())
}

/// The subject of the refusal: the package, the installed version and the requested one.
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

/// Lines, one under the other.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Lines(Vec<String>);

impl Lines {
    /// The lines, separated by line breaks.
    pub(super) fn text(&self) -> String {
        self.0.join("\n")
    }

    /// The lines in one line, separated by semicolons. The full stop of a sentence is dropped.
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

    /// The length in bytes, including the line breaks between the lines.
    fn len(&self) -> usize {
        let breaks = self.0.len().saturating_sub(1);
        self.0.iter().map(String::len).sum::<usize>() + breaks
    }
}

/// The limits for the lines after the first.
#[derive(Clone, Copy, Debug)]
struct LineBudget {
    /// The most items that a list names.
    named: usize,
    /// The part of the path that is shown.
    path: ShownPath,
    /// The most bytes of a detail, and of the name of the catalog.
    texts: usize,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum ShownPath {
    Whole,
    Ends,
}

/// The lines of a message before they are cut to the limit.
struct Body<'a> {
    facts: &'a MessageFacts<'a>,
    first: String,
    details: &'a [Detail],
    next: [Detail; 2],
    needed: Option<String>,
    olm: Option<String>,
}

impl Body<'_> {
    /// Fits all lines into the limit. Lists are shortened first, then the middle of the path, then OLM's text, then
    /// details.
    fn fitted(&self) -> Lines {
        self.fitting(WHOLE)
            .or_else(|| self.with_shorter_lists())
            .or_else(|| self.with_cut_texts())
            .unwrap_or_else(|| Lines(vec![cut_end(&self.first, MESSAGE)]))
    }

    /// The lines with as many items of each list as fit, at least one.
    fn with_shorter_lists(&self) -> Option<Lines> {
        let lists = self.details.iter().chain(&self.next).map(Detail::len);
        let longest = lists.max().unwrap_or_default();
        let lengths: Vec<_> = (1..=longest.clamp(1, MESSAGE / 2)).collect();
        let naming = |named: usize| self.fitting(LineBudget { named, ..WHOLE });
        match lengths.partition_point(|named| naming(*named).is_some()) {
            0 => None,
            most => naming(most),
        }
    }

    /// The lines with the ends of the path, and with as much of OLM's text and of the details as fits.
    fn with_cut_texts(&self) -> Option<Lines> {
        let budgets = TEXTS.iter().map(|texts| LineBudget {
            named: 1,
            path: ShownPath::Ends,
            texts: *texts,
        });
        budgets.map(|budget| self.lines(budget)).find_map(|lines| {
            let room = MESSAGE.checked_sub(lines.len())?;
            match &self.olm {
                Some(_) if room < LEAST_OLM => None,
                Some(olm) => Some(lines.with(cut_end(olm, room - 1))),
                None => Some(lines),
            }
        })
    }

    fn fitting(&self, budget: LineBudget) -> Option<Lines> {
        let olm = self.olm.iter().cloned();
        let lines = olm.fold(self.lines(budget), Lines::with);
        (lines.len() <= MESSAGE).then_some(lines)
    }

    /// All lines except OLM's text.
    fn lines(&self, budget: LineBudget) -> Lines {
        let advice = self.facts.advice;
        let naming = |detail: &Detail| detail.naming(budget.named);
        let details = self.details.iter().filter_map(naming);
        let details = details.map(|line| cut_end(&line, budget.texts));
        let next: Vec<_> = self.next.iter().filter_map(naming).collect();
        let known = [
            (!next.is_empty()).then(|| next.join("; ")),
            path(&advice.path, budget.path),
            one_edit(advice).map(|edit| format!("One edit: {edit}")),
            fix(advice).map(|fix| format!("Fix: {fix}")),
            self.needed.clone(),
            note(advice).map(|note| format!("Note: {note}")),
            bypass(self.facts),
            catalog(self.facts.catalog, budget.texts),
        ];
        let lines = details.chain(known.into_iter().flatten());
        lines.fold(Lines(vec![self.first.clone()]), Lines::with)
    }
}

/// The versions that can be reached in one edit: releases, then prereleases. Prereleases have their own label if there
/// is a release. The versions have no build metadata.
fn next(versions: &[String]) -> [Detail; 2] {
    let versions = versions.iter().cloned();
    let (releases, prereleases): (Vec<_>, Vec<_>) =
        versions.partition(|version| !version.contains('-'));
    let label = if releases.is_empty() {
        ALLOWED_NEXT
    } else {
        "prerelease"
    };
    [(ALLOWED_NEXT, releases), (label, prereleases)]
        .map(|(label, versions)| Detail::items(label, versions))
}

/// OLM's text, cut to the limit, because it may quote a value of any length.
fn olm_line(upstream: &str) -> String {
    let end = upstream.floor_char_boundary(MESSAGE + 1);
    let shown = upstream.get(..end).unwrap_or_default();
    format!("OLM: {}", one_line(shown))
}

fn path(versions: &[String], shown: ShownPath) -> Option<String> {
    let whole = || versions.join(" -> ");
    match versions {
        [] | [_] => None,
        [from, first, between @ .., before, last]
            if shown == ShownPath::Ends && between.len() > 1 =>
        {
            let between = between.len();
            Some(format!(
                "Path: {from} -> {first} -> ({between} more) -> {before} -> {last}"
            ))
        }
        _ => Some(format!("Path: {}", whole())),
    }
}

fn bypass(facts: &MessageFacts<'_>) -> Option<String> {
    let fields = &facts.extension.fields;
    let (field, word) = (fields.policy(), fields.bypass.word());
    let needs = match facts.advice.bypass {
        BypassHelps::No => return None,
        BypassHelps::Yes => "",
        BypassHelps::WithPermission => "; it needs the permission \"bypass\"",
    };
    Some(format!(
        "Override: set {field} to {word}; data loss is possible{needs}"
    ))
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

/// A budget that omits nothing.
const WHOLE: LineBudget = LineBudget {
    named: usize::MAX,
    path: ShownPath::Whole,
    texts: usize::MAX,
};

/// The lengths of details, in bytes, that are tried in turn while a message is too long.
const TEXTS: &[usize] = &[usize::MAX, 300, 150, 80, 40];

/// The least room for OLM's text; a shorter excerpt would be useless.
const LEAST_OLM: usize = 40;

// === The text of the advice ===
//
// This is the fix, the one edit instead of several, and the note that more suggestions may exist.

impl OneEdit {
    /// The field to set, and the end of the upgrades that follow.
    pub fn sentence(&self) -> String {
        let (field, range) = (&self.field, go::quote(&self.value));
        format!(
            "set {field} to {range}: OLM then upgrades to {}",
            self.end()
        )
    }

    /// The end of the upgrades: `2.0.0 in 4 steps`.
    pub fn end(&self) -> String {
        let last = self.through.last().map(String::as_str);
        format!(
            "{} in {} steps",
            last.unwrap_or_default(),
            self.through.len()
        )
    }
}

/// The text of the edit after which OLM takes all steps of the path automatically.
pub(super) fn one_edit(advice: &Advice) -> Option<String> {
    advice.one_edit.as_ref().map(OneEdit::sentence)
}

/// The text of the fix. Never cut, because an incomplete value would not work.
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

/// The note that more suggestions may exist.
pub(super) fn note(advice: &Advice) -> Option<&'static str> {
    advice.is_cut.then_some(SEARCH_CUT)
}

/// The note if the search for advice reached its limit or was stopped.
pub(super) const SEARCH_CUT: &str =
    "the search for an upgrade path was cut short; try a nearer version, or run olmguard path";

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
    fn a_path_that_does_not_fit_keeps_its_first_and_its_last_step() {
        let versions: Vec<_> = (0..7).map(|minor| format!("1.{minor}.0")).collect();
        let ends = "Path: 1.0.0 -> 1.1.0 -> (3 more) -> 1.5.0 -> 1.6.0";
        assert_eq!(path(&versions, ShownPath::Ends).as_deref(), Some(ends));
        let all = "Path: 1.0.0 -> 1.1.0 -> 1.2.0 -> 1.3.0 -> 1.4.0";
        assert_eq!(path(&versions[..5], ShownPath::Ends).as_deref(), Some(all));
    }

    #[test]
    fn what_cannot_be_shown_of_olms_text_is_not_even_escaped() {
        for (character, escaped) in [("a", 1), ("\u{1b}", 4), ("\u{10ffff}", 10), ("ä", 2)] {
            let line = olm_line(&character.repeat(1 << 20));
            assert!(line.len() > MESSAGE, "{}", line.len());
            let most = "OLM: ".len() + (MESSAGE + 1) * escaped;
            assert!(line.len() <= most, "{}", line.len());
        }
        assert_eq!(olm_line("a \"b\"\n"), "OLM: a \"b\"\\n");
    }
}
