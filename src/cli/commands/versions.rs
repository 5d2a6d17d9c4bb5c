//! `olmguard versions PACKAGE`: the bundles of a package, and whether the installed bundle can be upgraded to them.
//! Without PACKAGE, a list of the packages.

use clap::builder::NonEmptyStringValueParser;

use crate::cli::args::installed::SaidArg;
use crate::cli::args::{TypedOptions, heading};
use crate::cli::commands::inquiry::{EXIT_CODES, InquiryArgs};
use crate::cli::output::{OutputArgs, TextOrJson};
use crate::cli::{CommandFailure, Exit, help};
use olmguard_views::packages::PackagesReport;
use olmguard_views::versions::VersionsReport;

/// List versions of a package and which ones you can reach
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct VersionsArgs {
    #[command(flatten)]
    typed: TypedOptions<Self>,

    /// Installed version or bundle name, also VERSION,bundle=NAME,release=R
    #[arg(long, value_name = "VERSION", help_heading = heading::INPUT)]
    installed: Option<SaidArg>,

    #[command(flatten)]
    see: InquiryArgs,

    #[command(flatten)]
    output: OutputArgs<TextOrJson>,

    /// Name of the package [default: list the packages]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    package: Option<String>,
}

const EXAMPLES: &[&str] = &[
    "olmguard versions --from-cluster",
    "olmguard versions lantern-operator --from-cluster",
    "olmguard versions lantern-operator --from-cluster --installed 1.2.0",
    "olmguard versions lantern-operator --catalog hub=hub.yaml -o json",
];

/// Runs `olmguard versions`.
pub(super) fn run(args: &VersionsArgs) -> Result<Exit, CommandFailure> {
    match &args.package {
        Some(package) => print(args, package),
        None => list(args),
    }
}

/// The options that change nothing in a list of packages.
const OF_ONE_PACKAGE: &[&str] = &[
    "--installed",
    "--channel",
    "--range",
    "--as",
    "--as-group",
    "--at",
];

/// Lists the packages.
fn list(args: &VersionsArgs) -> Result<Exit, CommandFailure> {
    (args.typed).refuse(OF_ONE_PACKAGE, "versions without PACKAGE", "PACKAGE")?;
    let facts = args.see.load_any()?;
    let report = PackagesReport::of(&facts.snapshot, args.see.catalog());
    args.output.form.print(&report, || report.to_text())?;
    let own = if report.has_bad_input() {
        Exit::BadInput
    } else {
        Exit::Good
    };
    Ok(facts.exit().unwrap_or(own))
}

fn print(args: &VersionsArgs, package: &str) -> Result<Exit, CommandFailure> {
    let seen = args.see.load_v1(package)?.of_package_alone();
    let said = args.installed.as_ref().map(|installed| &installed.0);
    let report = VersionsReport::of(seen.facts.basis(), &seen.filter, said, seen.context())
        .map_err(|why| {
            let text = said.map(|said| said.text.as_str()).unwrap_or_default();
            seen.nameless("--installed", text, &why)
        })?;
    args.output.form.print(&report, || report.to_text())?;
    if report.has_bad_input() {
        return Ok(Exit::BadInput);
    }
    Ok(seen.exit(report.is_found(), report.is_undecided()))
}
