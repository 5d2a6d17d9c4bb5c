//! `olmguard catalogs`: the catalogs of a cluster as a list, for people and as JSON.
//!
//! `olmguard snapshot show` lists those of a file in the same way; each brings the facts.

mod age;
mod report;
mod text;

use std::io;
use std::time::SystemTime;

pub use report::Report;

use crate::cli::args::cluster::ClusterRequestArgs;
use crate::cli::facts::reading;
use crate::cli::output::{OutputArgs, TextOrJson};
use crate::cli::{CommandFailure, Exit, ends_with, help, output, warn};
use crate::facts::cluster::{ClusterCatalogsError, OpenCluster};
use crate::source::archive::{OlmFacts, SavedExtensions, SavedPolicies};
use crate::tls::{Clock, SystemClock};
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::CatalogState;

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

/// What there is to list.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    /// When and by what it was saved, where it is from a file.
    pub(super) saved: Option<SavedList<'a>>,
    /// What age is counted to, where they are those of now.
    pub(super) now: Option<SystemTime>,
    /// The policies that were saved, where it is from a file.
    pub(super) policies: Option<&'a SavedPolicies>,
    /// What was saved of extensions, where it is from a file.
    pub(super) extensions: Option<&'a SavedExtensions>,
    /// The OLM beside the catalogs, where it is known.
    pub(super) olm: Option<&'a OlmFacts>,
    pub(super) catalogs: &'a [CatalogState],
}

/// Where a list from a file comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct SavedList<'a> {
    pub(super) at: &'a str,
    /// The version of the program.
    pub(super) by: &'a str,
}

/// Runs the command. A catalog that cannot be had is one of the list, with the reason: that is no fault of the list.
pub(super) fn run(args: &CatalogsArgs) -> Result<Exit, CommandFailure> {
    let cluster = OpenCluster::open(&args.cluster.request())?;
    // What is listed is the same by the rules of any release.
    let catalogs = cluster.catalogs(&Rules::default(), reading())?;
    let olm = olm(&cluster);
    let listing = Listing {
        saved: None,
        policies: None,
        extensions: None,
        now: Some(SystemClock.now()),
        olm: olm.as_ref(),
        catalogs: &catalogs,
    };
    print(&listing, args.output.form)?;
    Ok(Exit::Good)
}

/// The OLM of a cluster; what is not certain about it is said.
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
    match format {
        TextOrJson::Text => output::toned(&text::text(listing)),
        TextOrJson::Json => output::json(&Report::of(listing)),
    }
}
