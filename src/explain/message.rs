//! A refusal as text: line 1 complete on its own, then what is known, each on a line of its own.
//!
//! Invariants, for any input: line 1 has at most [`LINE_1`] bytes, the whole at most [`MESSAGE`], and
//! the only control character is the line break.

use crate::explain::refusal::{Detail, details, needed, reason};
use crate::explain::text::{Line, cut_end, cut_middle, one_line};
use crate::extension::Extension;
use crate::judge::{Advice, BypassHelps, FixValue, Judgement, Request, Verdict};
use crate::snapshot::CatalogState;
use crate::version::go;

/// The most bytes of line 1.
pub const LINE_1: usize = 200;

/// The most bytes of a message.
pub const MESSAGE: usize = 1024;

/// What a message is made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts<'a> {
    pub(super) extension: &'a Extension,
    pub(super) request: Option<&'a Request<'a>>,
    pub(super) judgement: &'a Judgement<'a>,
    pub(super) advice: &'a Advice,
    pub(super) catalog: Option<&'a CatalogState>,
    pub(super) upstream: Option<&'a str>,
}

/// The text; `None` where nothing is refused or undecided.
pub(super) fn message(facts: &Facts<'_>) -> Option<String> {
    let refused = match facts.judgement.verdict() {
        Verdict::Deny => "refused",
        Verdict::Undecided => "undecided",
        Verdict::Allow | Verdict::NotJudged => return None,
    };
    let first = first_line(facts, refused).within(LINE_1);
    Some(within(facts, &first))
}

/// One sentence for a finding: the reason alone.
pub(super) fn short(facts: &Facts<'_>) -> String {
    reason(&facts.judgement.ruled.ruling, facts.request).within(LINE_1)
}

fn first_line(facts: &Facts<'_>, refused: &str) -> Line {
    let why = reason(&facts.judgement.ruled.ruling, facts.request);
    let token = facts.judgement.token().as_str();
    subject(facts)
        .say(&format!(" {refused}: "))
        .then(why)
        .say(&format!(" [{token}]"))
}

/// What is asked, from what to what.
fn subject(facts: &Facts<'_>) -> Line {
    let Some(request) = facts.request else {
        let identity = &facts.extension.identity;
        let name = identity.name.as_deref().unwrap_or("without a name");
        return Line::default().name(&identity.kind).say(" ").name(name);
    };
    let line = Line::default().name(&request.filter.package).say(": ");
    let line = match request.installed.bundle() {
        Some(bundle) => line.version(&bundle.version).say(" -> "),
        None => line.say("install of "),
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
    /// How many bytes names and texts of others have, each.
    texts: usize,
}

/// How a path is told.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Path {
    Whole,
    Ends,
}

/// Line 1 and the others within the limit: lists get shorter, then the path keeps its ends, then
/// texts of others are cut.
fn within(facts: &Facts<'_>, first: &str) -> String {
    let details = details(&facts.judgement.ruled.ruling);
    let text = |budget: Budget| format!("{first}{}", lines(facts, &details, budget));
    let lists = details.iter().map(|detail| detail.items.len());
    let longest = lists
        .chain([facts.advice.allowed_next.len()])
        .max()
        .unwrap_or(1);
    let whole = Budget {
        named: usize::MAX,
        path: Path::Whole,
        texts: usize::MAX,
    };
    let shorter = (1..longest).rev().map(|named| Budget { named, ..whole });
    let ends = Budget {
        named: 1,
        path: Path::Ends,
        ..whole
    };
    let cut = TEXT_CUTS.iter().map(|texts| Budget {
        texts: *texts,
        ..ends
    });
    let budgets = std::iter::once(whole)
        .chain(shorter)
        .chain([ends])
        .chain(cut);
    let fitting = budgets.map(text).find(|text| text.len() <= MESSAGE);
    fitting.unwrap_or_else(|| cut_end(first, MESSAGE))
}

fn lines(facts: &Facts<'_>, details: &[Detail], budget: Budget) -> String {
    let advice = facts.advice;
    let next = Detail {
        label: "Allowed next",
        items: advice.allowed_next.clone(),
        between: ", ",
    };
    let told = details
        .iter()
        .filter_map(|detail| detail.naming(budget.named));
    let told = told.map(|line| cut_end(&line, budget.texts));
    let known = [
        next.naming(budget.named),
        path(&advice.path, budget.path),
        fix(facts, budget.texts),
        lacking(facts),
        bypass(facts),
        catalog(facts.catalog, budget.texts),
        facts
            .upstream
            .map(|olm| format!("OLM: {}", cut_end(&one_line(olm), budget.texts))),
    ];
    told.chain(known.into_iter().flatten())
        .fold(String::new(), |lines, line| lines + "\n" + &line)
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

fn fix(facts: &Facts<'_>, texts: usize) -> Option<String> {
    let fix = facts.advice.fix.as_ref()?;
    let value = match &fix.value {
        FixValue::Text(text) => go::quote(&cut_middle(text, texts)),
        FixValue::List(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|item| go::quote(&cut_middle(item, texts)))
                .collect();
            format!("[{}]", items.join(", "))
        }
    };
    let has_further = facts.advice.path.len() > 2;
    let first = if has_further { " first" } else { "" };
    Some(format!("Fix: set {} to {value}{first}", fix.field))
}

/// Where no edit of the object is known to help, what would have to change.
fn lacking(facts: &Facts<'_>) -> Option<String> {
    let needed = needed(&facts.judgement.ruled.ruling)?;
    facts
        .advice
        .fix
        .is_none()
        .then(|| format!("Needed: {needed}"))
}

fn bypass(facts: &Facts<'_>) -> Option<String> {
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

/// Tried in turn where a message is too long.
const TEXT_CUTS: &[usize] = &[600, 400, 300, 200, 150, 100, 60, 30];
