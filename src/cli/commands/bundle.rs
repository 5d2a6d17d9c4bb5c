//! `olmguard bundle`: whether OLM installs a bundle, and after which it can follow.

mod forms;

use std::io;

use clap::ValueEnum;

use crate::bundle_files::{self, BundleFilesError, BundleObjects};
use crate::cli::args::catalogs::UsageError;
use crate::cli::args::heading;
use crate::cli::args::olm::OlmArgs;
use crate::cli::output::{OutputArgs, progress};
use crate::cli::{CommandFailure, Exit, ends_with, help, output};
use crate::source::{FilesPlace, Progress};
use forms::CheckedBundle;
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
    output: OutputArgs<BundleForm>,

    /// The bundle: a directory with manifests/ and metadata/, or oci:IMAGE
    #[arg(value_name = "BUNDLE")]
    bundle: FilesPlace,
}

/// The form of the report.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum BundleForm {
    /// Text for people
    #[default]
    Text,
    /// One JSON object, schema olmguard.bundle/v1
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
    /// JUnit XML, for pipelines
    Junit,
    /// Workflow commands of GitHub, shown at the files of a pull request
    Github,
    /// A table for a comment on a pull request
    Markdown,
}

const EXAMPLES: &[&str] = &[
    "olmguard bundle ./bundle",
    "olmguard bundle ./bundle --upgrade-from ../released/bundle",
    "olmguard bundle ./bundle --upgrade-from oci:quay.example/lantern/bundle:v1.2.0",
    "olmguard bundle ./bundle --olm-release 1.9 -o sarif",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "OLM can install it"),
    (Exit::Denied, "OLM cannot install it"),
    (Exit::Usage, "wrong usage"),
    (Exit::BadInput, "a bundle is unreadable"),
];

/// Prints the report.
pub(super) fn run(args: &BundleArgs) -> Result<Exit, CommandFailure> {
    let rules = args.olm.request().rules().map_err(UsageError::from)?;
    let (bundle, objects) = read_bundle(&args.bundle)?;
    let before = args.upgrade_from.as_ref().map(read_bundle).transpose()?;
    let before = before.as_ref().map(|(bundle, _)| bundle);
    let report = ReleaseReport::of(&bundle, &objects.dependencies, before, &rules)?;
    let checked = CheckedBundle {
        report: &report,
        place: &args.bundle,
        objects: &objects,
    };
    print(args.output.form, checked)?;
    Ok(if report.is_refused() {
        Exit::Denied
    } else {
        Exit::Good
    })
}

fn print(form: BundleForm, checked: CheckedBundle<'_>) -> io::Result<()> {
    let report = checked.report;
    match form {
        BundleForm::Text => output::toned(&report.to_text()),
        BundleForm::Json => output::json(report),
        BundleForm::Sarif => output::json(&checked.sarif()),
        BundleForm::Junit => output::plain(&checked.junit().map_err(io::Error::other)?),
        BundleForm::Github => output::plain(&checked.github()),
        BundleForm::Markdown => output::plain(&report.document().to_markdown()),
    }
}

/// The bundle in a directory or an image.
fn read_bundle(place: &FilesPlace) -> Result<(RegistryBundle, BundleObjects), BundleFilesError> {
    let progress = Progress::default();
    progress::shown(&progress, || bundle_files::read(place, &progress))
}

ends_with!(BadInput: BundleFilesError, UncomparedCrd);
