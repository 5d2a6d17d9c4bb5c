//! `olmguard versions PACKAGE`: what there is, and what each bundle is to the installed one.

use super::said::SaidArg;
use super::see::{EXIT_CODES, SeeArgs, SeeError, ended};
use super::{Exit, output, paint};
use olmguard_views::versions::VersionsReport;

/// Lists every bundle of a package, the best first: its channels, what replaces and skips it, and what
/// it is to the installed one.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct VersionsArgs {
    #[command(flatten)]
    see: SeeArgs,

    /// What is installed: a version or the name of a bundle
    #[arg(
        long,
        value_name = "VERSION[,bundle=NAME][,release=R]",
        env = "OLMGUARD_INSTALLED"
    )]
    installed: Option<SaidArg>,

    /// What to print
    #[arg(
        short,
        long,
        value_name = "FORM",
        env = "OLMGUARD_OUTPUT",
        value_enum,
        default_value_t
    )]
    output: Format,

    /// The package
    package: String,
}

/// What is printed.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub(super) enum Format {
    /// Lines for people
    #[default]
    Text,
    /// One object; the schemas folder of the repository describes it
    Json,
}

/// Runs the command.
pub(super) fn run(args: &VersionsArgs) -> Exit {
    ended(print(args))
}

fn print(args: &VersionsArgs) -> Result<Exit, SeeError> {
    let seen = args.see.load(&args.package)?;
    let said = args.installed.as_ref().map(|installed| &installed.0);
    let report = VersionsReport::of(seen.facts.basis(), &seen.filter, said).map_err(|why| {
        let text = said.map(|said| said.text.as_str()).unwrap_or_default();
        seen.nameless("--installed", text, &why)
    })?;
    match args.output {
        Format::Text => output::text(|stdout| paint::write(&report.to_text(), stdout))?,
        Format::Json => output::json(&report)?,
    }
    Ok(seen.exit(report.is_found()))
}
