//! `olmguard explain PACKAGE FROM TO`: why one bundle succeeds another, or why not; and
//! `olmguard explain TOKEN`: what a token, or a text that was shown, means, and what to do about an alert.

mod token;
mod typed;
mod word;

use crate::cli::Exit;
use crate::cli::args::installed::SaidArg;
use crate::cli::commands::inquiry::{EXIT_CODES, InquiryArgs, InquiryError, OlmArg, ended};
use crate::cli::exit;
use crate::cli::output;
use crate::cli::output::paint;
use crate::cli::output::{OutputArgs, TextOrJson};
use olmguard_views::step::StepReport;
use typed::TypedOptions;
use word::WordParser;

/// Explains why a bundle succeeds the installed one, or which facts would have to differ; or what the
/// word in brackets of an answer means, or a text that kubectl or OLM has shown
#[derive(Clone, Debug, clap::Args)]
#[command(
    override_usage = "olmguard explain [OPTIONS] <PACKAGE> <FROM> <TO>\n       olmguard explain <TOKEN>\n       olmguard explain --list",
    after_help = exit::table(EXIT_CODES)
)]
pub(crate) struct ExplainArgs {
    /// Looks before any other field takes its own out of the matches.
    #[command(flatten)]
    typed: TypedOptions,

    #[command(flatten)]
    see: InquiryArgs,

    /// Which OLM to ask about
    #[arg(long, value_name = "GENERATION", value_enum, default_value_t)]
    olm: OlmArg,

    #[command(flatten)]
    output: OutputArgs<TextOrJson>,

    /// List all reason codes with their meaning
    #[arg(long)]
    list: bool,

    /// The package; what is installed, a version or the name of a bundle, perhaps with
    /// ,bundle=NAME and ,release=R; the version or the name of the bundle to come to. One word is a
    /// token, an alert, or a text that was shown
    #[arg(
        value_name = "PACKAGE FROM TO",
        num_args = 1..=3,
        required_unless_present = "list",
        value_parser = WordParser,
        hide_possible_values = true
    )]
    words: Vec<String>,
}

/// Runs the command.
pub(super) fn run(args: &ExplainArgs) -> Exit {
    match args.words.as_slice() {
        [] if args.list => token::list(),
        [_] if !args.typed.0.is_empty() => {
            ended(Err(InquiryError::OfNoToken(args.typed.0.clone())))
        }
        [token] => token::run(token),
        [package, from, to] => ended(step(args, package, from, to)),
        _ => ended(Err(InquiryError::Usage(FORMS))),
    }
}

fn step(args: &ExplainArgs, package: &str, from: &str, to: &str) -> Result<Exit, InquiryError> {
    let said: SaidArg = from.parse()?;
    let seen = args.see.load_for(args.olm, package)?;
    let inquiry = seen.inquiry(&said.0)?;
    let report = StepReport::of(&inquiry, to, args.olm.into());
    let report = report.map_err(|why| seen.not_answered(from, to, &why))?;
    match args.output.form {
        TextOrJson::Text => output::text(|stdout| paint::write(&report.to_text(), stdout))?,
        TextOrJson::Json => output::json(&report)?,
    }
    Ok(seen.exit(report.is_allowed()))
}

const FORMS: &str =
    "expected PACKAGE FROM TO (package, installed version, target version), or one TOKEN";
