//! The list of catalogs for people: a block for each, its facts one a line.

use std::fmt::{self, Write as _};
use std::time::SystemTime;

use crate::cli::commands::catalogs::{Listing, age};
use crate::cli::output::paint;
use crate::policy_objects::PolicyObject;
use crate::source::archive::{OlmFacts, SavedExtensions, SavedPolicies};
use olmguard_catalog::version::go;
use olmguard_engine::explain::{Tone, counted};
use olmguard_engine::snapshot::{
    Availability, CatalogState, Content, Currency, Labels, ServingState,
};

/// The whole list, coloured; the stream takes the colours out where they are not wanted.
pub(super) fn text(listing: &Listing<'_>) -> String {
    let mut text = String::new();
    write(listing, &mut text).expect("a String takes everything");
    text
}

fn write(listing: &Listing<'_>, to: &mut String) -> fmt::Result {
    let Listing {
        saved,
        now,
        policies,
        extensions,
        olm,
        catalogs,
    } = listing;
    if let Some(saved) = saved {
        let saved = format!("{} by olmguard {}", saved.at, saved.by);
        line(to, "", "Saved", &saved, Tone::Plain)?;
    }
    let olm = olm.map_or_else(|| "unknown".to_owned(), olm_words);
    line(to, "", "OLM", &olm, Tone::Plain)?;
    line(to, "", "Catalogs", &count(catalogs), Tone::Plain)?;
    if let Some((policies, tone)) = policies.and_then(policy_words) {
        line(to, "", "Policies", &policies, tone)?;
    }
    if let Some((extensions, tone)) = extensions.and_then(extension_words) {
        line(to, "", "Installed", &extensions, tone)?;
    }
    catalogs
        .iter()
        .try_for_each(|state| catalog(state, *now, to))
}

fn catalog(state: &CatalogState, now: Option<SystemTime>, to: &mut String) -> fmt::Result {
    writeln!(to, "\n{}", go::escape(&state.name))?;
    let mut fact = |label, (text, tone): (String, Tone)| line(to, "  ", label, &text, tone);
    fact("Content", content(state))?;
    if let Some(image) = &state.image_ref {
        fact("Image", (image.clone(), Tone::Plain))?;
    }
    if let Some(unpacked) = &state.last_unpacked {
        fact("Unpacked", (unpacked_words(unpacked, now), Tone::Plain))?;
    }
    fact("Priority", (state.priority.to_string(), Tone::Plain))?;
    fact("Serving", serving(state.serving))?;
    fact("Mode", mode(state.availability))?;
    fact("Labels", labels(&state.labels))
}

/// A label, what it says, and nothing in either that a terminal would obey.
fn line(to: &mut String, indent: &str, label: &str, text: &str, tone: Tone) -> fmt::Result {
    let (dim, style) = (paint::style(Tone::Label), paint::style(tone));
    let text = go::escape(text);
    writeln!(to, "{indent}{dim}{label:10}{dim:#}{style}{text}{style:#}")
}

fn count(catalogs: &[CatalogState]) -> String {
    let is_loaded = |state: &&CatalogState| matches!(state.content, Content::Loaded(_));
    let loaded = catalogs.iter().filter(is_loaded).count();
    format!("{}, {loaded} loaded", catalogs.len())
}

/// The policies by kind and name; nothing if there are none.
fn policy_words(saved: &SavedPolicies) -> Option<(String, Tone)> {
    if let SavedPolicies::Unfetched(why) = saved {
        return Some((format!("unknown: {why}"), Tone::Bad));
    }
    let titles = saved.objects().iter();
    let titles: Vec<_> = titles.map(|one| PolicyObject::read(one).title()).collect();
    (!titles.is_empty()).then(|| (titles.join(", "), Tone::Plain))
}

/// How many extensions there are; nothing if none were saved.
fn extension_words(saved: &SavedExtensions) -> Option<(String, Tone)> {
    match saved {
        SavedExtensions::NotSaved => None,
        SavedExtensions::Objects(objects) => {
            Some((counted(objects.len(), "extension"), Tone::Plain))
        }
        SavedExtensions::Unfetched(why) => Some((format!("unknown: {why}"), Tone::Bad)),
    }
}

fn olm_words(olm: &OlmFacts) -> String {
    match olm.gates.as_slice() {
        [] => olm.release.clone(),
        gates => format!("{} with {}", olm.release, gates.join(", ")),
    }
}

fn content(state: &CatalogState) -> (String, Tone) {
    match (&state.content, state.currency) {
        (Content::Loaded(catalog), currency) => {
            let counts = catalog.counts();
            let packages = counted(counts.packages, "package");
            let held = format!("{packages}, {}", counted(counts.bundles, "bundle"));
            match currency {
                Currency::Current => (held, Tone::Good),
                Currency::Superseded => (format!("{held}; newer content exists"), Tone::Caution),
            }
        }
        (Content::Missing, _) => ("not loaded".to_owned(), Tone::Caution),
        (Content::Unfetched(why), _) => (format!("cannot be fetched: {why}"), Tone::Bad),
        (Content::Unreadable(why), _) => (format!("cannot be read: {why}"), Tone::Bad),
    }
}

fn unpacked_words(unpacked: &str, now: Option<SystemTime>) -> String {
    let age = now.and_then(|now| age::since(unpacked, now));
    let age = age.map(|age| format!(", {} ago", age::shown(age)));
    format!("{unpacked}{}", age.unwrap_or_default())
}

fn serving(serving: ServingState) -> (String, Tone) {
    match serving {
        ServingState::Presumed => ("yes".to_owned(), Tone::Plain),
        ServingState::KnownNot => (
            "no: edits that need this catalog are undecided".to_owned(),
            Tone::Caution,
        ),
    }
}

fn mode(availability: Availability) -> (String, Tone) {
    match availability {
        Availability::Available => ("Available".to_owned(), Tone::Plain),
        Availability::Unavailable => {
            let words = "Unavailable: OLM does not use this catalog";
            (words.to_owned(), Tone::Caution)
        }
    }
}

fn labels(labels: &Labels) -> (String, Tone) {
    match labels {
        Labels::Unknown => (
            "cannot be read: any selector may match".to_owned(),
            Tone::Bad,
        ),
        Labels::Known(labels) => {
            let labels = labels.iter().map(|(key, value)| format!("{key}={value}"));
            (labels.collect::<Vec<_>>().join(","), Tone::Plain)
        }
    }
}
