//! The list of catalogs as JSON, schema `olmguard.catalogs/v1`.

use std::collections::BTreeMap;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::commands::catalogs::{Listing, age};
use crate::source::archive::OlmFacts;
use olmguard_engine::snapshot::{
    Availability, CatalogState, Content, Currency, Labels, ServingState,
};

/// What a list of catalogs prints as JSON.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub struct Report {
    /// The schema of this object.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// When the file was saved that they are from.
    saved: Option<String>,
    /// The version of the program that saved it.
    program: Option<String>,
    /// The OLM beside them, where it is known.
    olm: Option<OlmReport>,
    /// The catalogs, in byte order of their names.
    catalogs: Vec<CatalogReport>,
}

#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct OlmReport {
    /// Its release, such as `1.11`.
    release: String,
    /// The feature gates that touch resolution and are on.
    gates: Vec<String>,
}

/// One catalog.
#[derive(Debug, JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
struct CatalogReport {
    name: String,
    /// `status.resolvedSource.image.ref`, of the content that is held.
    image: Option<String>,
    /// The digest in it.
    digest: Option<String>,
    /// `status.lastUnpacked`, of the content that is held.
    last_unpacked: Option<String>,
    /// How many seconds ago that was, in a list of what is there now.
    age_seconds: Option<u64>,
    /// Whether nothing says that there is newer content by now.
    current: bool,
    priority: i32,
    /// Whether nothing says that it is not served.
    serving: bool,
    /// Whether it takes part in resolution at all.
    #[schemars(extend("enum" = ["Available", "Unavailable"]))]
    availability: &'static str,
    /// `metadata.labels`; null where they cannot be read.
    labels: Option<BTreeMap<String, String>>,
    /// Whether its content is held, complete and decoded.
    held: bool,
    /// Why its content could not be fetched, or cannot be read.
    error: Option<String>,
    packages: usize,
    bundles: usize,
}

impl Report {
    pub(super) fn of(listing: &Listing<'_>) -> Self {
        let Listing {
            saved,
            now,
            olm,
            catalogs,
        } = listing;
        let catalogs = catalogs.iter();
        Self {
            schema: SCHEMA,
            saved: saved.map(|saved| saved.at.to_owned()),
            program: saved.map(|saved| saved.by.to_owned()),
            olm: olm.map(OlmReport::of),
            catalogs: catalogs
                .map(|state| CatalogReport::of(state, *now))
                .collect(),
        }
    }
}

impl OlmReport {
    fn of(olm: &OlmFacts) -> Self {
        Self {
            release: olm.release.clone(),
            gates: olm.gates.clone(),
        }
    }
}

impl CatalogReport {
    fn of(state: &CatalogState, now: Option<SystemTime>) -> Self {
        let unpacked = state.last_unpacked.as_deref();
        let age = unpacked.zip(now).and_then(|(at, now)| age::since(at, now));
        let counts = match &state.content {
            Content::Loaded(catalog) => Some(catalog.counts()),
            Content::Missing | Content::Unfetched(_) | Content::Unreadable(_) => None,
        };
        Self {
            name: state.name.clone(),
            image: state.image_ref.clone(),
            digest: state.digest().map(str::to_owned),
            last_unpacked: state.last_unpacked.clone(),
            age_seconds: age.map(|age| age.as_secs()),
            current: state.currency == Currency::Current,
            priority: state.priority,
            serving: state.serving == ServingState::Presumed,
            availability: match state.availability {
                Availability::Available => "Available",
                Availability::Unavailable => "Unavailable",
            },
            labels: match &state.labels {
                Labels::Known(labels) => Some(labels.clone()),
                Labels::Unknown => None,
            },
            held: counts.is_some(),
            error: state.content.fault().map(str::to_owned),
            packages: counts.map_or(0, |counts| counts.packages),
            bundles: counts.map_or(0, |counts| counts.bundles),
        }
    }
}

const SCHEMA: &str = "olmguard.catalogs/v1";
