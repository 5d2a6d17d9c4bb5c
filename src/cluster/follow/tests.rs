//! Catalogs that are followed, without a cluster.

mod catalog_table;
mod live;
mod moved;
mod running;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use crate::cluster::catalogs::ObservedCatalog;
use crate::cluster::follow::job::{ContentOrigin, Failure, LoadedContent};
use crate::source::catalogd::FetchError;
use crate::source::{Progress, read_from};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder};
use olmguard_engine::snapshot::{CatalogState, Content, Labels, ServingState};

/// A catalog that serves the content of `digest`.
fn observed(name: &str, digest: &str) -> ObservedCatalog {
    let mut state = CatalogState::named(name, Content::Missing);
    state.image_ref = Some(format!("registry.example/{name}@sha256:{digest}"));
    state.last_unpacked = Some(format!("unpacked {digest}"));
    ObservedCatalog {
        state,
        base: Some(format!("https://catalogd.example/catalogs/{name}")),
    }
}

/// The same catalog, which does not serve.
fn unserving(observed: &ObservedCatalog) -> ObservedCatalog {
    let mut observed = observed.clone();
    observed.state.serving = ServingState::KnownNot;
    observed
}

fn labelled(observed: &ObservedCatalog, key: &str, value: &str) -> ObservedCatalog {
    let mut observed = observed.clone();
    let labels = BTreeMap::from([(key.to_owned(), value.to_owned())]);
    observed.state.labels = Labels::with_name(&observed.state.name, labels);
    observed
}

/// Content with one package of this name.
fn content(package: &str) -> Arc<Catalog> {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    let text = format!(r#"{{"schema": "olm.package", "name": "{package}"}}"#);
    read_from("c", text.as_bytes(), &Progress::default(), &mut builder).unwrap();
    Arc::new(builder.finish().expect("no bound"))
}

/// Content as a loader hands it over.
pub(super) fn loaded(content: Arc<Catalog>, sha256: Option<[u8; 32]>) -> Arc<LoadedContent> {
    Arc::new(LoadedContent {
        resident_bytes: content.resident_bytes(),
        content,
        sha256,
        is_confirmed: true,
        from: ContentOrigin::Catalogd { bytes: 10 },
        at: UNIX_EPOCH,
        took: Duration::from_secs(1),
    })
}

fn no_connection(why: &str) -> Failure {
    Failure::Fetch(FetchError::Connect {
        host: "catalogd.example".into(),
        why: why.into(),
    })
}

/// The packages of a catalog as it is judged by; why not, where it is not loaded.
fn packages(state: &CatalogState) -> Result<Vec<&str>, &str> {
    match &state.content {
        Content::Loaded(catalog) => Ok(catalog.package_names().collect()),
        Content::Missing => Err("missing"),
        Content::Unfetched(why) | Content::Unreadable(why) => Err(why),
    }
}
