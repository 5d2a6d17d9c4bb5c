//! The catalogs of a cluster as a list: for people, and as JSON.
//!
//! Who lists them, from a file or from the cluster itself, brings the facts.

mod report;
mod text;

use std::io;

use clap::ValueEnum;

pub use report::Report;

use crate::cli::output;
use crate::snapshot::CatalogState;
use crate::source::archive::OlmFacts;

/// What there is to list.
#[derive(Debug)]
pub(super) struct Listing<'a> {
    /// When and by what it was saved, where it is from a file.
    pub(super) saved: Option<Saved<'a>>,
    /// The OLM beside the catalogs, where it is known.
    pub(super) olm: Option<&'a OlmFacts>,
    pub(super) catalogs: &'a [CatalogState],
}

/// Where a list from a file comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saved<'a> {
    pub(super) at: &'a str,
    /// The version of the program.
    pub(super) by: &'a str,
}

/// The form of the list.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Text,
    /// One JSON object, schema olmguard.catalogs/v1
    Json,
}

/// Prints the list.
pub(super) fn print(listing: &Listing<'_>, format: Format) -> io::Result<()> {
    match format {
        Format::Text => {
            let text = text::text(listing);
            output::text(|stdout| stdout.write_all(text.as_bytes()))
        }
        Format::Json => output::json(&Report::of(listing)),
    }
}
