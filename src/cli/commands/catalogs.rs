//! `olmguard catalogs`: a list of the catalogs of a cluster, for people and as JSON.
//!
//! `olmguard snapshot show` prints the same list for the catalogs of a file. Each command supplies its own facts.

mod text;

use std::collections::BTreeMap;
use std::io;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::cluster::ClusterRequestArgs;
use crate::cli::facts::reading;
use crate::cli::output::{OutputArgs, TextOrJson};
use crate::cli::{CommandFailure, Exit, ends_with, help, warn};
use crate::facts::cluster::{ClusterCatalogsError, OpenCluster};
use crate::policy_objects::PolicyObject;
use crate::source::archive::{ArchiveFacts, OlmFacts, SavedExtensions, SavedPolicies};
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{
    Availability, CatalogState, Content, Currency, Labels, ServingState,
};
use olmguard_server::tls::{Clock, SystemClock};

/// List the catalogs of a cluster
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = help::examples(EXAMPLES))]
pub(crate) struct CatalogsArgs {
    #[command(flatten)]
    cluster: ClusterRequestArgs,

    #[command(flatten)]
    output: OutputArgs<TextOrJson>,
}

const EXAMPLES: &[&str] = &[
    "olmguard catalogs",
    "olmguard catalogs --context prod -o json",
];

/// The facts to list.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    /// The facts of the snapshot, if the list is from a file.
    pub(super) saved: Option<&'a ArchiveFacts>,
    /// The current time, if the catalogs are current. Ages are relative to it.
    pub(super) now: Option<SystemTime>,
    /// The OLM of the catalogs, if known.
    pub(super) olm: Option<&'a OlmFacts>,
    pub(super) catalogs: &'a [CatalogState],
}

/// Runs `olmguard catalogs`. A catalog that is unavailable is listed with the reason, and does not fail the command.
pub(super) fn run(args: &CatalogsArgs) -> Result<Exit, CommandFailure> {
    let cluster = OpenCluster::open(&args.cluster.request())?;
    // The list is the same under the rules of every release.
    let catalogs = cluster.catalogs(&Rules::default(), reading())?;
    let olm = olm(&cluster);
    let listing = Listing {
        saved: None,
        now: Some(SystemClock.now()),
        olm: olm.as_ref(),
        catalogs: &catalogs,
    };
    print(&listing, args.output.form)?;
    Ok(Exit::Good)
}

/// The OLM of a cluster. Prints a warning about anything uncertain.
pub(super) fn olm(cluster: &OpenCluster) -> Option<OlmFacts> {
    match cluster.olm() {
        Ok(found) => {
            found.warnings.iter().for_each(warn);
            Some(OlmFacts::of(found.release, found.gates))
        }
        Err(error) => {
            warn(&error);
            None
        }
    }
}

ends_with!(Undecided: ClusterCatalogsError);

/// Prints the list.
pub(super) fn print(listing: &Listing<'_>, format: TextOrJson) -> io::Result<()> {
    format.print(&Report::of(listing), || text::text(listing))
}

// === The list of catalogs as JSON, schema `olmguard.catalogs/v1` ===

/// Output of `olmguard catalogs` and `olmguard snapshot show` as JSON.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Report {
    /// Schema of this object.
    schema: &'static str,
    /// When the snapshot was saved.
    saved: Option<String>,
    /// Version of olmguard that saved the snapshot.
    program: Option<String>,
    /// OLM v1 of the cluster or the snapshot. Null if unknown.
    olm: Option<OlmReport>,
    /// Policies of administrators in the snapshot. Null if they are unknown, and in a list of the current catalogs.
    policies: Option<Vec<SavedPolicyReport>>,
    /// Number of ClusterExtensions in the snapshot. Null if they are unknown or not saved, and in a list of the current
    /// catalogs.
    extensions: Option<usize>,
    /// Catalogs, in byte order of their names.
    catalogs: Vec<CatalogReport>,
}

#[derive(Debug, JsonSchema, Serialize)]
struct OlmReport {
    /// Release of OLM v1, such as `1.11`.
    release: String,
    /// Enabled feature gates of operator-controller that affect resolution.
    gates: Vec<String>,
}

/// A policy of the snapshot.
#[derive(Debug, JsonSchema, Serialize)]
struct SavedPolicyReport {
    /// `UpgradePolicy` or `UpgradeGuardrails`.
    kind: &'static str,
    name: String,
}

/// A catalog of the cluster or the snapshot.
#[derive(Debug, JsonSchema, Serialize)]
struct CatalogReport {
    name: String,
    /// Image of the loaded content: `status.resolvedSource.image.ref`.
    image: Option<String>,
    /// Digest of the loaded content, from `image`.
    digest: Option<String>,
    /// When catalogd unpacked the loaded content: `status.lastUnpacked`.
    last_unpacked: Option<String>,
    /// Age of the loaded content, in seconds since `last_unpacked`. Only in a list of the current
    /// catalogs.
    age_seconds: Option<u64>,
    /// Whether the loaded content is the newest, as far as known.
    current: bool,
    priority: i32,
    /// Whether catalogd serves the catalog, as far as known.
    serving: bool,
    /// Whether OLM resolves packages from the catalog: `spec.availabilityMode`.
    #[schemars(extend("enum" = ["Available", "Unavailable"]))]
    availability: &'static str,
    /// Labels of the catalog: `metadata.labels`. Null if they cannot be read.
    labels: Option<BTreeMap<String, String>>,
    /// Whether the content of the catalog is loaded and complete.
    held: bool,
    /// Why the content of the catalog could not be fetched or read.
    error: Option<String>,
    packages: usize,
    bundles: usize,
}

impl Report {
    fn of(listing: &Listing<'_>) -> Self {
        let Listing { saved, now, .. } = *listing;
        let catalogs = listing.catalogs.iter();
        Self {
            schema: SCHEMA,
            saved: saved.map(|saved| saved.saved.clone()),
            program: saved.map(|saved| saved.program.clone()),
            olm: listing.olm.map(OlmReport::of),
            policies: saved.and_then(|saved| policy_reports(&saved.policies)),
            extensions: saved.and_then(|saved| match &saved.extensions {
                SavedExtensions::Objects(objects) => Some(objects.len()),
                SavedExtensions::NotSaved | SavedExtensions::Unfetched(_) => None,
            }),
            catalogs: catalogs
                .map(|state| CatalogReport::of(state, now))
                .collect(),
        }
    }
}

fn policy_reports(saved: &SavedPolicies) -> Option<Vec<SavedPolicyReport>> {
    let SavedPolicies::Objects(objects) = saved else {
        return None;
    };
    let read = objects.iter().map(PolicyObject::read);
    let report = |object: PolicyObject| SavedPolicyReport {
        kind: object.kind(),
        name: object.name().to_owned(),
    };
    Some(read.map(report).collect())
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
        let age = unpacked.zip(now).and_then(|(at, now)| text::since(at, now));
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
