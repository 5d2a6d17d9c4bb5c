//! `olmguard bundle`: whether OLM installs a bundle, and after which it can follow.

use std::io;

use crate::bundle_files::{self, BundleFilesError};
use crate::cli::args::catalogs::UsageError;
use crate::cli::args::heading;
use crate::cli::args::olm::OlmArgs;
use crate::cli::output::{OutputArgs, TextOrJson, progress};
use crate::cli::{Exit, help, output, say};
use crate::source::{FilesPlace, Progress};
use olmguard_preflight::bundle::RegistryBundle;
use olmguard_preflight::content::UncomparedCrd;
use olmguard_views::bundle_report::ReleaseReport;

/// Check a bundle before its release
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct BundleArgs {
    /// Compare its CRDs with the CRDs of this bundle, a directory or oci:IMAGE
    #[arg(long, value_name = "BUNDLE", help_heading = heading::INPUT)]
    upgrade_from: Option<FilesPlace>,

    #[command(flatten)]
    olm: OlmArgs,

    #[command(flatten)]
    output: OutputArgs<TextOrJson>,

    /// The bundle: a directory with manifests/ and metadata/, or oci:IMAGE
    #[arg(value_name = "BUNDLE")]
    bundle: FilesPlace,
}

const EXAMPLES: &[&str] = &[
    "olmguard bundle ./bundle",
    "olmguard bundle ./bundle --upgrade-from ../released/bundle",
    "olmguard bundle ./bundle --upgrade-from oci:quay.example/lantern/bundle:v1.2.0",
    "olmguard bundle ./bundle --olm-release 1.9 -o json",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "OLM can install it"),
    (Exit::Denied, "OLM cannot install it"),
    (Exit::Usage, "wrong usage"),
    (Exit::BadInput, "a bundle is unreadable"),
];

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
enum BundleCommandError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error(transparent)]
    Bundle(#[from] BundleFilesError),
    #[error(transparent)]
    Crd(#[from] UncomparedCrd),
    #[error("cannot write the result: {0}")]
    Write(#[from] io::Error),
}

/// Prints the report; a fault goes to stderr.
pub(super) fn run(args: &BundleArgs) -> Exit {
    report_and_print(args).unwrap_or_else(|error| {
        say(&error);
        error.exit()
    })
}

fn report_and_print(args: &BundleArgs) -> Result<Exit, BundleCommandError> {
    let rules = args.olm.request().rules().map_err(UsageError::from)?;
    let bundle = read_bundle(&args.bundle)?;
    let before = args.upgrade_from.as_ref().map(read_bundle).transpose()?;
    let report = ReleaseReport::of(&bundle, before.as_ref(), &rules)?;
    match args.output.form {
        TextOrJson::Text => output::toned(&report.to_text())?,
        TextOrJson::Json => output::json(&report)?,
    }
    Ok(if report.is_refused() {
        Exit::Denied
    } else {
        Exit::Good
    })
}

/// The bundle in a directory or an image.
fn read_bundle(place: &FilesPlace) -> Result<RegistryBundle, BundleFilesError> {
    let progress = Progress::default();
    progress::shown(&progress, || bundle_files::read(place, &progress))
}

impl BundleCommandError {
    fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Write(_) => Exit::Internal,
            _ => Exit::BadInput,
        }
    }
}
