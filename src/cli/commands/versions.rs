//! `olmguard versions PACKAGE`: what there is, and what each bundle is to the installed one.

use crate::cli::Exit;
use crate::cli::args::installed::SaidArg;
use crate::cli::commands::inquiry::{EXIT_CODES, InquiryArgs, InquiryError, ended};
use crate::cli::exit;
use crate::cli::output;
use crate::cli::output::paint;
use crate::cli::output::{OutputArgs, TextOrJson};
use olmguard_views::versions::VersionsReport;

/// Lists every bundle of a package, the best first: its channels, what replaces and skips it, and what
/// it is to the installed one.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = exit::table(EXIT_CODES))]
pub(crate) struct VersionsArgs {
    #[command(flatten)]
    see: InquiryArgs,

    /// What is installed: a version or the name of a bundle
    #[arg(long, value_name = "VERSION[,bundle=NAME][,release=R]")]
    installed: Option<SaidArg>,

    #[command(flatten)]
    output: OutputArgs<TextOrJson>,

    /// The package
    package: String,
}

/// Runs the command.
pub(super) fn run(args: &VersionsArgs) -> Exit {
    ended(print(args))
}

fn print(args: &VersionsArgs) -> Result<Exit, InquiryError> {
    let seen = args.see.load(&args.package)?;
    let said = args.installed.as_ref().map(|installed| &installed.0);
    let report = VersionsReport::of(seen.facts.basis(), &seen.filter, said).map_err(|why| {
        let text = said.map(|said| said.text.as_str()).unwrap_or_default();
        seen.nameless("--installed", text, &why)
    })?;
    match args.output.form {
        TextOrJson::Text => output::text(|stdout| paint::write(&report.to_text(), stdout))?,
        TextOrJson::Json => output::json(&report)?,
    }
    Ok(seen.exit(report.is_found()))
}
