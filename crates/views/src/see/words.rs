//! The sentences that these reports share.

use olmguard_catalog::version::go;
use olmguard_engine::explain::text::{list, one_line};
use olmguard_engine::explain::tone::{Tone, TonedText};
use olmguard_engine::explain::{self, ForbiddenReport};
use olmguard_engine::extension::Filter;
use olmguard_engine::inquiry::{Decision, Inquiry};
use olmguard_engine::judge::{CatalogKnowledge, FoundAdvice, NamingError};
use olmguard_engine::nearest::nearest;
use olmguard_engine::resolve::{Choice, MOST_EXPANSIONS, NotLoadedCause, Offer};

/// Why it is not known what is meant by a text, and what may be meant.
pub fn nameless(what: &str, text: &str, package: &str, why: &NamingError) -> String {
    let (text, package) = (go::quote(text), go::escape(package));
    let or = |items: &[String]| match items {
        [] => String::new(),
        [only] => format!("; did you mean {}?", go::escape(only)),
        items => format!("; nearest: {}", names(items)),
    };
    match why {
        NamingError::Several { bundles } => format!(
            "{what} {text}: several bundles of {package} have that version: expected one of {}",
            names(bundles)
        ),
        NamingError::SeveralVersions { versions } => format!(
            "{what} {text}: bundles of that name have the versions {}: expected \
             VERSION,bundle=NAME",
            names(versions)
        ),
        NamingError::Unknown { nearest } => format!(
            "{what} {text}: {package} has no such version and no bundle of that name{}",
            or(nearest)
        ),
    }
}

/// Why an edit is refused or undecided, in one sentence.
pub(crate) fn reason(decision: &Decision<'_>) -> Option<String> {
    explain::reason(&decision.edit(), decision.judgement())
}

/// The same at length, with this advice.
pub(crate) fn message(decision: &Decision<'_>, advice: &FoundAdvice<'_>) -> Option<String> {
    explain::message(&decision.edit(), decision.judgement(), advice)
}

/// The same at length, in one line.
pub fn line(decision: &Decision<'_>) -> Option<String> {
    explain::line(&decision.edit(), decision.judgement(), &decision.advice())
}

/// What the catalogs do not know of a question.
pub(crate) fn notes(inquiry: &Inquiry<'_>) -> Vec<String> {
    let mut notes = missing_channels(inquiry.filter, &inquiry.offers);
    notes.extend(known(inquiry.known).map(str::to_owned));
    notes
}

/// What is worth knowing of an installed bundle that the catalogs do not have.
pub(crate) fn known(known: CatalogKnowledge) -> Option<&'static str> {
    match known {
        CatalogKnowledge::Whole => None,
        CatalogKnowledge::NameOnly => Some(
            "no bundle has the installed name, only edges: its version is taken from the name, \
             which OLM never does",
        ),
        CatalogKnowledge::SpokenOf => Some(
            "no bundle has the installed version: the only name of an edge that speaks of it counts \
             as its name; VERSION,bundle=NAME says another",
        ),
        CatalogKnowledge::Unreadable => {
            Some("the version of the installed bundle cannot be read: OLM v1 never installs it")
        }
        CatalogKnowledge::VersionOnly => Some(
            "no bundle has the installed version, so its name is not known: only skipRange counts; \
             VERSION,bundle=NAME says the name",
        ),
    }
}

/// A sentence for each channel that is asked for and that no catalog has.
pub(crate) fn missing_channels(filter: &Filter, offers: &[Offer<'_>]) -> Vec<String> {
    let channels = || offers.iter().flat_map(|offer| offer.package.channels());
    let has = |name: &str| channels().any(|channel| *channel.name == *name);
    let missing = filter.channels.iter().filter(|name| !has(name));
    let sentence = |name: &String| {
        let known: std::collections::BTreeSet<&str> =
            channels().map(|channel| &*channel.name).collect();
        let near = nearest(name, known, 1);
        let near = near
            .first()
            .map(|near| format!("; nearest: {}", go::escape(near)));
        let name = go::escape(name);
        format!("channel {name} does not exist{}", near.unwrap_or_default())
    };
    missing.take(MOST).map(sentence).collect()
}

/// Why no edit leads to a bundle.
pub(crate) fn unpinnable(bundle: &str) -> String {
    let bundle = go::escape(bundle);
    format!("the version of {bundle} cannot be read or is too long, so no edit pins it")
}

/// That an edit leads elsewhere.
pub(crate) fn gives_another(pin: &str, resolved: &Choice<'_>) -> String {
    let bundle = go::escape(&resolved.bundle().name);
    let catalog = go::escape(&resolved.catalog.name);
    format!("{} gives {bundle} of catalog {catalog}", go::quote(pin))
}

/// That a search for ways ended at its bound, and what that means.
pub(crate) fn cut(means: &str) -> String {
    format!("the search for ways ended at its bound of {MOST_EXPANSIONS} bundles: {means}")
}

/// Why a catalog is not in a list.
pub(crate) fn not_loaded(catalog: &str, why: &NotLoadedCause<'_>) -> String {
    let catalog = go::escape(catalog);
    match why {
        NotLoadedCause::NotServing => format!("catalog {catalog} is not being served"),
        NotLoadedCause::Missing => format!("the content of catalog {catalog} is not held"),
        NotLoadedCause::Unfetched(why) => {
            format!("catalog {catalog} cannot be fetched: {}", one_line(why))
        }
        NotLoadedCause::Unreadable(why) => {
            format!("catalog {catalog} cannot be read: {}", one_line(why))
        }
        NotLoadedCause::Package(fault) => {
            let first = fault.faults.first().map(ToString::to_string);
            let first = one_line(&first.unwrap_or_default());
            format!("the package cannot be read in catalog {catalog}: {first}")
        }
    }
}

/// One line: a label, and what is behind it.
pub(crate) fn say_fact(label: &str, tone: Tone, words: &str, text: &mut TonedText) {
    text.say(Tone::Label, column(label));
    text.say(tone, words);
    text.end_line();
}

/// A label as wide as every other.
pub(crate) fn column(label: &str) -> String {
    format!("{label:WIDTH$}")
}

/// A line for each item, the label before the first; of very many the first ones.
pub(crate) fn say_more(label: &str, tone: Tone, items: &[String], text: &mut TonedText) {
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    for (label, item) in labels.zip(items.iter().take(MOST_LINES)) {
        say_fact(label, tone, item, text);
    }
    if let Some(more) = items.len().checked_sub(MOST_LINES).filter(|more| *more > 0) {
        say_fact(
            "",
            Tone::Label,
            &format!("and {more} more; -o json has all"),
            text,
        );
    }
}

/// What is worth knowing besides.
pub(crate) fn say_notes(notes: &[String], text: &mut TonedText) {
    say_more("Note", Tone::Caution, notes, text);
}

/// The steps that guardrails forbid, a line for each reason.
pub(crate) fn say_forbidden(steps: &[ForbiddenReport], text: &mut TonedText) {
    let told = steps.iter().flat_map(ForbiddenReport::told);
    let lines: Vec<_> = told.map(|(step, why)| format!("{step}: {why}")).collect();
    say_more(FORBIDDEN, Tone::Bad, &lines, text);
}

/// Items with an arrow between them, as lines of at most [`LINE`] characters behind a label.
pub(crate) fn wrapped(items: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let item = if at == 0 {
            item.clone()
        } else {
            format!("-> {item}")
        };
        match lines.last_mut() {
            Some(line) if line.len() + 1 + item.len() <= LINE => {
                line.push(' ');
                line.push_str(&item);
            }
            _ => lines.push(item),
        }
    }
    lines
}

fn names(names: &[String]) -> String {
    let names: Vec<_> = names.iter().map(|name| go::escape(name)).collect();
    list(&names, ", ", MOST)
}

/// Before a step that guardrails forbid.
pub(crate) const FORBIDDEN: &str = "Forbidden";

/// The column at which what stands behind a label begins.
const WIDTH: usize = 12;

/// How many names a sentence names.
const MOST: usize = 8;

/// How many lines one label has.
const MOST_LINES: usize = 12;

/// How long a wrapped line may become, what is before it left out.
const LINE: usize = 80;
