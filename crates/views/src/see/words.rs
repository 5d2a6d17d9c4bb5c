//! Sentences that these reports share.

use olmguard_catalog::version::go;
use olmguard_engine::explain::text::{names, one_line};
use olmguard_engine::explain::{self, ForbiddenReport};
use olmguard_engine::extension::{Filter, InstalledBundle};
use olmguard_engine::inquiry::{Decision, Inquiry};
use olmguard_engine::judge::{CatalogKnowledge, FoundAdvice, NamingError, nearest_versions};
use olmguard_engine::nearest::nearest;
use olmguard_engine::resolve::{Choice, MOST_EXPANSIONS, NotLoadedCause, Offer};
use olmguard_engine::snapshot::CatalogState;
use olmguard_report::{Text, Tone};

/// Formats why a text does not identify a bundle, with suggestions.
pub fn nameless(what: &str, text: &str, package: &str, why: &NamingError) -> String {
    let (text, package) = (go::quote(text), go::escape(package));
    let or = |items: &[String]| match items {
        [] => String::new(),
        [only] => format!("; did you mean {}?", go::escape(only)),
        items => format!("; nearest: {}", names(items, MOST)),
    };
    match why {
        NamingError::Several { bundles } => format!(
            "{what} {text}: several bundles of {package} have that version: expected one of {}",
            names(bundles, MOST)
        ),
        NamingError::SeveralVersions { versions } => format!(
            "{what} {text}: bundles of that name have the versions {}: expected \
             VERSION,bundle=NAME",
            names(versions, MOST)
        ),
        NamingError::Unknown { nearest } => format!(
            "{what} {text}: {package} has no such version and no bundle of that name{}",
            or(nearest)
        ),
    }
}

/// Returns why an edit is refused or undecided, in one sentence.
pub(crate) fn reason(decision: &Decision<'_>) -> Option<String> {
    explain::reason(&decision.edit(), decision.judgement())
}

/// Returns the full denial message with this advice.
pub(crate) fn message(decision: &Decision<'_>, advice: &FoundAdvice<'_>) -> Option<String> {
    explain::message(&decision.edit(), decision.judgement(), advice)
}

/// Returns the full denial message in one line.
pub fn line(decision: &Decision<'_>) -> Option<String> {
    explain::line(&decision.edit(), decision.judgement(), &decision.advice())
}

/// Notes the parts of a question that the catalogs do not know.
pub(crate) fn notes(inquiry: &Inquiry<'_>) -> Vec<String> {
    let mut notes = missing_channels(inquiry.filter, &inquiry.offers);
    notes.extend(known(inquiry.known).map(str::to_owned));
    notes
}

/// Returns a note about an installed bundle that the catalogs do not have.
pub(crate) fn known(known: CatalogKnowledge) -> Option<&'static str> {
    match known {
        CatalogKnowledge::Whole => None,
        CatalogKnowledge::Stranger => Some(
            "no bundle and no edge has the name of the installed bundle, so an upgrade depends on its version alone",
        ),
        CatalogKnowledge::NameOnly => Some(
            "no bundle has this name, only edges: olmguard takes the version from the name; OLM does not",
        ),
        CatalogKnowledge::SpokenOf => Some(
            "no bundle has the installed version: olmguard uses the only name in the edges that \
             matches it; VERSION,bundle=NAME sets another name",
        ),
        CatalogKnowledge::Unreadable => {
            Some("the version of the installed bundle is not valid: OLM v1 never installs it")
        }
        CatalogKnowledge::VersionOnly => Some(
            "no bundle has the installed version, so its name is unknown and only a skipRange \
             provides an upgrade; VERSION,bundle=NAME sets the name",
        ),
    }
}

/// Returns the first line of a report if the installed version is not one of the package, with the nearest ones.
pub(crate) fn no_version(
    (installed, known): (&InstalledBundle, CatalogKnowledge),
    filter: &Filter,
    offers: &[Offer<'_>],
) -> Option<String> {
    if known != CatalogKnowledge::VersionOnly {
        return None;
    }
    let version = &installed.version;
    let nearest = nearest_versions(version, filter, offers);
    Some(not_a_version(version, &filter.package, &nearest))
}

/// Formats that a text is not a version of a package, with the nearest ones.
pub(crate) fn not_a_version(version: &str, package: &str, nearest: &[String]) -> String {
    let (version, package) = (go::escape(version), go::escape(package));
    let line = format!("{version} is not a version of {package}");
    match nearest {
        [] => line,
        nearest => format!("{line}; nearest: {}", names(nearest, MOST)),
    }
}

/// Returns a sentence for each requested channel that no catalog has.
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

/// Formats why no edit can pin a bundle.
pub(crate) fn unpinnable(bundle: &str) -> String {
    let bundle = go::escape(bundle);
    format!("the version of {bundle} is not valid or too long, so no edit can pin it")
}

/// Formats that an edit installs another bundle.
pub(crate) fn gives_another(pin: &str, resolved: &Choice<'_>) -> String {
    let bundle = go::escape(&resolved.bundle().name);
    let catalog = go::escape(&resolved.catalog.name);
    format!(
        "version {} installs {bundle} of catalog {catalog}",
        go::quote(pin)
    )
}

/// The highest versions that can be reached.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Highest<'a> {
    pub(crate) release: Option<&'a str>,
    /// The highest prerelease. `None` if a release is higher.
    pub(crate) prerelease: Option<&'a str>,
}

/// Formats the highest versions that can be reached, and how many newer ones cannot. Returns `None` without either.
pub(crate) fn reachable(highest: Highest<'_>, newer: usize) -> Option<String> {
    let (release, prerelease) = match (highest.release, highest.prerelease) {
        (None, None) => (Some("none".to_owned()).filter(|_| newer > 0), None),
        (None, Some(prerelease)) => (Some(format!("{prerelease} (prerelease)")), None),
        (release, prerelease) => (release.map(str::to_owned), prerelease),
    };
    let parts = [
        release.map(|release| format!("Highest reachable: {release}")),
        prerelease.map(|prerelease| format!("Highest prerelease: {prerelease}")),
        match newer {
            0 => None,
            1 => Some("No upgrade to 1 newer version".to_owned()),
            newer => Some(format!("No upgrade to the {newer} newer versions")),
        },
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    match parts.as_slice() {
        [] => None,
        [only] => Some(only.clone()),
        parts => Some(format!("{}.", parts.join(". "))),
    }
}

/// Formats that OLM cannot choose between these catalogs.
pub(crate) fn ambiguous<'c>(catalogs: impl Iterator<Item = &'c CatalogState>) -> String {
    let catalogs: Vec<_> = catalogs.map(|catalog| &catalog.name).collect();
    format!("catalogs {} have the same priority", names(&catalogs, MOST))
}

/// Formats that a search for upgrade paths stopped at its limit, and the consequence.
pub(crate) fn cut(means: &str) -> String {
    format!("the search stopped at its limit of {MOST_EXPANSIONS} bundles: {means}")
}

/// Formats why a catalog is not in a list.
pub(crate) fn not_loaded(catalog: &str, why: &NotLoadedCause<'_>) -> String {
    let catalog = go::escape(catalog);
    match why {
        NotLoadedCause::NotServing => format!("catalog {catalog} is not being served"),
        NotLoadedCause::Missing => format!("the content of catalog {catalog} is not loaded"),
        NotLoadedCause::Unfetched(why) => {
            format!("catalog {catalog} cannot be fetched: {}", one_line(why))
        }
        NotLoadedCause::Unreadable(why) => {
            format!("catalog {catalog} cannot be read: {}", one_line(why))
        }
        NotLoadedCause::Package(fault) => {
            let first = one_line(&fault.first());
            format!("the package cannot be read in catalog {catalog}: {first}")
        }
    }
}

/// Prints the steps that guardrails forbid, one line per reason.
pub(crate) fn say_forbidden(steps: &[ForbiddenReport], text: &mut Text) {
    let told = steps.iter().flat_map(ForbiddenReport::told);
    let lines: Vec<_> = told.map(|(step, why)| format!("{step}: {why}")).collect();
    text.items(FORBIDDEN, Tone::Bad, &lines);
}

/// Formats an upgrade path: versions with arrows between them.
pub(crate) fn arrows(versions: &[String]) -> String {
    versions.join(" -> ")
}

/// Label of a step that guardrails forbid.
pub(crate) const FORBIDDEN: &str = "Forbidden";

/// Maximum number of names in a sentence.
const MOST: usize = 8;
