//! `olmguard range`: what a version range means and takes.

mod subjects;

use std::io;

use clap::builder::BoolishValueParser;

use self::subjects::{BundleSource, SubjectFlags};
use crate::cli::args::catalogs::{CommonArgs, UsageError};
use crate::cli::args::heading;
use crate::cli::output::{OutputArgs, TextOrJson};
use crate::cli::{CommandFailure, Exit, help, output};
use olmguard_views::range_report::{Grammar, RangeReport};

/// Show what a version range matches
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct RangeArgs {
    /// First, since what is read of the flags below is gone afterwards.
    #[command(flatten)]
    sources: SubjectFlags,

    /// Read RANGE as a skipRange of a catalog, which has another grammar
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::INPUT)]
    skip_range: bool,

    #[command(flatten)]
    common: CommonArgs,

    /// Show which bundles of this package of --catalog match
    #[arg(long, value_name = "PACKAGE", help_heading = heading::INPUT)]
    package: Option<String>,

    #[command(flatten)]
    output: OutputArgs<TextOrJson>,

    /// Version range, such as ">=1.2.0 <2.0.0"
    range: String,

    /// Versions to match
    #[arg(value_name = "VERSION")]
    versions: Vec<String>,
}

const EXAMPLES: &[&str] = &[
    "olmguard range '>=1.2.0 <2.0.0' 1.2.3 2.0.0-rc.1",
    "olmguard range --skip-range '>=1.2.0 <2.0.0' 1.2.3 2.0.0-rc.1",
    "olmguard range 1.x --catalog hub=hub.yaml --package lantern-operator",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "the range is valid"),
    (Exit::Denied, "the range is not valid"),
    (Exit::Usage, "wrong usage"),
    (Exit::BadInput, "the catalog is unreadable"),
];

/// Prints the report.
pub(crate) fn run(args: &RangeArgs) -> Result<Exit, CommandFailure> {
    let report = report(args)?;
    print(&report, args.output.form)?;
    Ok(if report.is_range() {
        Exit::Good
    } else {
        Exit::Denied
    })
}

fn report(args: &RangeArgs) -> Result<RangeReport, CommandFailure> {
    let RangeArgs {
        sources,
        skip_range,
        common,
        package,
        output: _,
        range,
        versions,
    } = args;
    let rules = common.olm.request().rules().map_err(UsageError::from)?;
    let grammar = if *skip_range {
        Grammar::SkipRange
    } else {
        Grammar::Spec(rules.masterminds)
    };
    let from = BundleSource::choose(*sources, &common.catalog, package.as_deref(), versions)?;
    let subjects = match from {
        None => subjects::versions(versions),
        Some(from) => from.load(&rules)?,
    };
    Ok(RangeReport::new(range, grammar, subjects))
}

fn print(report: &RangeReport, format: TextOrJson) -> io::Result<()> {
    match format {
        TextOrJson::Text => output::toned(&report.to_text()),
        TextOrJson::Json => output::json(report),
    }
}
