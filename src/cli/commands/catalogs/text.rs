//! The list of catalogs for people: one block per catalog, one fact per line.

use std::time::{Duration, SystemTime};

use k8s_openapi::jiff::Timestamp;

use crate::cli::commands::catalogs::Listing;
use crate::policy_objects::PolicyObject;
use crate::source::archive::{OlmFacts, SavedExtensions, SavedPolicies};
use olmguard_catalog::version::go;
use olmguard_engine::explain::counted;
use olmguard_engine::snapshot::{
    Availability, CatalogState, Content, Currency, Labels, ServingState,
};
use olmguard_report::{Text, Tone};

/// The whole list.
pub(super) fn text(listing: &Listing<'_>) -> Text {
    let Listing { saved, now, .. } = *listing;
    let mut text = Text::with_labels(10);
    let mut fact =
        |label, (words, tone): (String, Tone)| text.labelled(label, tone, &go::escape(&words));
    if let Some(saved) = saved {
        let saved = format!("{} by olmguard {}", saved.saved, saved.program);
        fact("Saved", (saved, Tone::Plain));
    }
    let olm = listing.olm;
    let olm = olm.map_or_else(|| "unknown".to_owned(), olm_words);
    fact("OLM", (olm, Tone::Plain));
    fact("Catalogs", (count(listing.catalogs), Tone::Plain));
    if let Some(policies) = saved.and_then(|saved| policy_words(&saved.policies)) {
        fact("Policies", policies);
    }
    if let Some(extensions) = saved.and_then(|saved| extension_words(&saved.extensions)) {
        fact("Installed", extensions);
    }
    for state in listing.catalogs {
        catalog(state, now, &mut text);
    }
    text
}

fn catalog(state: &CatalogState, now: Option<SystemTime>, text: &mut Text) {
    text.line(Tone::Plain, format!("\n{}", go::escape(&state.name)));
    let mut fact = |label, (words, tone): (String, Tone)| {
        text.say(Tone::Plain, "  ");
        text.labelled(label, tone, &go::escape(&words));
    };
    fact("Content", content(state));
    if let Some(image) = &state.image_ref {
        fact("Image", (image.clone(), Tone::Plain));
    }
    if let Some(unpacked) = &state.last_unpacked {
        fact("Unpacked", (unpacked_words(unpacked, now), Tone::Plain));
    }
    fact("Priority", (state.priority.to_string(), Tone::Plain));
    fact("Serving", serving(state));
    fact("Mode", mode(state.availability));
    fact("Labels", labels(&state.labels));
}

fn count(catalogs: &[CatalogState]) -> String {
    let is_loaded = |state: &&CatalogState| matches!(state.content, Content::Loaded(_));
    let loaded = catalogs.iter().filter(is_loaded).count();
    format!("{}, {loaded} loaded", catalogs.len())
}

/// The policies by kind and name; `None` if there are none.
fn policy_words(saved: &SavedPolicies) -> Option<(String, Tone)> {
    if let SavedPolicies::Unfetched(why) = saved {
        return Some((format!("unknown: {why}"), Tone::Bad));
    }
    let titles = saved.objects().iter();
    let titles: Vec<_> = titles.map(|one| PolicyObject::read(one).title()).collect();
    (!titles.is_empty()).then(|| (titles.join(", "), Tone::Plain))
}

/// The number of extensions; `None` if none were saved.
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
    let age = now.and_then(|now| since(unpacked, now));
    let age = age.map(|age| format!(", {} ago", shown(age)));
    format!("{unpacked}{}", age.unwrap_or_default())
}

fn serving(state: &CatalogState) -> (String, Tone) {
    match (state.serving, state.availability) {
        (ServingState::Presumed, _) => ("yes".to_owned(), Tone::Plain),
        (ServingState::KnownNot, Availability::Unavailable) => ("no".to_owned(), Tone::Plain),
        (ServingState::KnownNot, Availability::Available) => (
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

// === The age of unpacked content ===

/// The time from a `status.lastUnpacked` until `now`. Returns `None` if the status is not a time,
/// and zero if it is in the future.
pub(super) fn since(unpacked: &str, now: SystemTime) -> Option<Duration> {
    let then: Timestamp = unpacked.parse().ok()?;
    Some(now.duration_since(then.into()).unwrap_or_default())
}

/// An age as kubectl shows it, in its largest unit.
pub(super) fn shown(age: Duration) -> String {
    let seconds = age.as_secs();
    let units = [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "m")];
    let unit = units.iter().find(|(length, _)| seconds >= *length);
    let (length, unit) = unit.unwrap_or(&(1, "s"));
    format!("{}{unit}", seconds / length)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[test]
    fn an_age_is_counted_from_a_time_that_can_be_read() {
        let now = UNIX_EPOCH + Duration::from_hours(48);
        for (unpacked, expected) in [
            ("1970-01-02T23:59:00Z", Some("1m")),
            ("1970-01-01T12:00:00+02:00", Some("1d")),
            ("1970-01-02T12:00:00Z", Some("12h")),
            ("1970-01-02T23:59:59Z", Some("1s")),
            ("1970-01-09T00:00:00Z", Some("0s")),
            ("yesterday", None),
            ("", None),
        ] {
            let found = since(unpacked, now).map(shown);
            assert_eq!(found.as_deref(), expected, "{unpacked}");
        }
    }
}
