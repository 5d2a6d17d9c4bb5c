//! The catalogs of a server: read when it starts, and what became of that.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tracing::{error, info};

use crate::cli::args::catalogs::CatalogArgs;
use crate::server::Check;
use crate::source::{Loader, Progress};
use crate::telemetry::metrics::{CatalogLoad, CatalogMetrics, LoadFailure};
use crate::tls::{Clock as _, SystemClock};
use olmguard_catalog::memory::Pool;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_views::readiness::{CatalogCounts, CheckFacts, CheckReadiness};

/// What became of the catalogs, for probes. One that cannot be read is no reason not to be ready:
/// edits that need it are undecided, all others are judged.
#[derive(Debug, Default)]
pub(super) struct CatalogsCheck(OnceLock<(String, CatalogCounts)>);

impl Check for CatalogsCheck {
    fn readiness(&self) -> CheckReadiness {
        let (state, facts) = match self.0.get() {
            Some((words, counts)) => (Ok(words.clone()), Some(CheckFacts::Catalogs(*counts))),
            None => (Err("being loaded".to_owned()), None),
        };
        CheckReadiness::new("catalogs", state, facts)
    }
}

/// Reads every catalog, which takes as long as they are large.
pub(super) fn load(
    catalogs: &CatalogArgs,
    rules: Rules,
    memory: &Pool,
    check: &CatalogsCheck,
    metrics: &CatalogMetrics,
) -> Snapshot {
    let progress = Progress::default();
    let mut loader = Loader::new(&rules, &progress, memory);
    let states = catalogs.iter().map(|catalog| {
        let begun = Instant::now();
        let content = catalog.place.load(&mut loader);
        let state = CatalogState::named(&catalog.name, content);
        report(&state, begun.elapsed(), metrics);
        state
    });
    let states: Vec<_> = states.collect();
    // Nobody else has set it: there is one load for one check.
    drop(check.0.set((words(&states), counts(&states))));
    Snapshot::new(rules, states)
}

fn report(catalog: &CatalogState, took: Duration, metrics: &CatalogMetrics) {
    metrics.told(&catalog.name, catalog.serving, catalog.currency);
    match &catalog.content {
        Content::Loaded(content) => {
            let counts = content.counts();
            metrics.loaded(
                &catalog.name,
                &CatalogLoad {
                    at: SystemClock.now(),
                    took,
                    wire_bytes: 0,
                    resident_bytes: content.resident_bytes(),
                    packages: counts.packages,
                    bundles: counts.bundles,
                },
            );
            info!(
                catalog = catalog.name,
                packages = counts.packages,
                bundles = counts.bundles,
                "Loaded catalog"
            );
        }
        Content::Unfetched(why) | Content::Unreadable(why) => {
            metrics.not_loaded(&catalog.name);
            metrics.load_failed(&catalog.name, LoadFailure::Content);
            error!(
                catalog = catalog.name,
                error = why,
                "Failed to load catalog, edits that need it are undecided"
            );
        }
        Content::Missing => {}
    }
}

fn words(catalogs: &[CatalogState]) -> String {
    let unreadable: Vec<_> = unreadable(catalogs)
        .map(|catalog| catalog.name.as_str())
        .collect();
    let CatalogCounts {
        available, loaded, ..
    } = counts(catalogs);
    let words = format!("{loaded} of {available} loaded");
    if unreadable.is_empty() {
        return words;
    }
    format!("{words}; cannot be read: {}", unreadable.join(", "))
}

fn counts(catalogs: &[CatalogState]) -> CatalogCounts {
    let faulty = unreadable(catalogs).count();
    CatalogCounts {
        available: catalogs.len(),
        loaded: catalogs.len() - faulty,
        faulty,
        held_back: 0,
    }
}

fn unreadable(catalogs: &[CatalogState]) -> impl Iterator<Item = &CatalogState> {
    let is_unreadable = |catalog: &&CatalogState| !matches!(catalog.content, Content::Loaded(_));
    catalogs.iter().filter(is_unreadable)
}
