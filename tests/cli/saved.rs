//! Snapshots like those of `olmguard snapshot save`, made from files.

use std::fs::File;
use std::path::Path;

use serde_json::Value;

use olmguard::source::Progress;
use olmguard::source::archive::{
    ArchiveFacts, FetchedContent, OlmFacts, SavedExtensions, SavedPolicies, write,
};
use olmguard_catalog::olm::Gates;
use olmguard_engine::snapshot::{CatalogState, Content};

/// Writes these catalogs, each with the content of its file if there is one.
pub(crate) fn save(to: &Path, olm: Option<OlmFacts>, catalogs: &[(CatalogState, Option<&Path>)]) {
    write_all(to, &facts(olm), catalogs);
}

/// Writes these catalogs and extensions, each extension with its status.
pub(crate) fn save_running(
    to: &Path,
    extensions: Vec<Value>,
    catalogs: &[(CatalogState, Option<&Path>)],
) {
    let facts = ArchiveFacts {
        extensions: SavedExtensions::of(extensions),
        ..facts(Some(olm("1.11", &[])))
    };
    write_all(to, &facts, catalogs);
}

fn facts(olm: Option<OlmFacts>) -> ArchiveFacts {
    ArchiveFacts::new(
        "2026-11-21T14:30:00Z".to_owned(),
        olm,
        SavedPolicies::default(),
    )
}

pub(crate) fn write_all(
    to: &Path,
    facts: &ArchiveFacts,
    catalogs: &[(CatalogState, Option<&Path>)],
) {
    let contents = catalogs.iter().map(|(_, content)| content.map(fetched));
    let contents: Vec<_> = contents.collect();
    let states = catalogs.iter().map(|(state, _)| state);
    let file = File::create(to).expect("a file");
    write(file, facts, states.zip(contents.iter().map(Option::as_ref))).expect("it is written");
}

/// Returns the facts of an OLM by its names.
pub(crate) fn olm(release: &str, gates: &[&str]) -> OlmFacts {
    let release = release.parse().expect("a release");
    let gates = Gates::parse(gates.iter().copied(), release).expect("gates");
    OlmFacts::of(release, gates)
}

/// Returns a catalog without further facts.
pub(crate) fn named(name: &str) -> CatalogState {
    CatalogState::named(name, Content::Missing)
}

fn fetched(path: &Path) -> FetchedContent {
    let mut file = File::open(path).expect("a file");
    FetchedContent::read_from("hub", &mut file, &Progress::default()).expect("a catalog")
}
