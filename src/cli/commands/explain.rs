//! `olmguard explain PACKAGE FROM TO`: why one bundle succeeds another, or why not; and
//! `olmguard explain TOKEN`: what a token, an exit code, or a text that was shown, means, and what to do about an alert.

mod token;

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

use crate::cli::args::installed::SaidArg;
use crate::cli::args::typed::TypedOptions;
use crate::cli::args::{heading, one_of};
use crate::cli::commands::inquiry::{EXIT_CODES, GENERATIONS, InquiryArgs, InquiryError};
use crate::cli::output::{self, OutputArgs, TextOrJson};
use crate::cli::{CommandFailure, Exit, help};
use olmguard_views::generation::Generation;
use olmguard_views::page;
use olmguard_views::step::StepReport;

/// Explain an upgrade, a reason code, an alert or an error
#[derive(Clone, Debug, clap::Args)]
#[command(
    override_usage = help::usage(FORMS_OF_USAGE),
    after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES)
)]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    typed: TypedOptions<Self>,

    #[command(flatten)]
    see: InquiryArgs,

    /// Generation of OLM to answer for
    #[arg(
        long,
        value_name = "GENERATION",
        value_parser = one_of(&GENERATIONS),
        default_value = "v1",
        help_heading = heading::INPUT
    )]
    olm: Generation,

    #[command(flatten)]
    output: OutputArgs<TextOrJson>,

    /// List all reason codes with their meaning
    #[arg(long, help_heading = heading::OUTPUT)]
    list: bool,

    /// An upgrade, or one argument: a reason code, an exit code, an alert, or an error of kubectl or OLM
    #[arg(
        value_name = "PACKAGE FROM TO",
        num_args = 1..=3,
        required_unless_present = "list",
        value_parser = WordParser,
        hide_possible_values = true
    )]
    words: Vec<String>,
}

const FORMS_OF_USAGE: &[&str] = &[
    "olmguard explain [OPTIONS] <PACKAGE> <FROM> <TO>",
    "olmguard explain <TOKEN>",
    "olmguard explain --list",
];

const EXAMPLES: &[&str] = &[
    "olmguard explain NotASuccessor",
    "olmguard explain \"$(kubectl apply -f app.yaml 2>&1)\"",
    "olmguard explain lantern-operator 1.2.0 2.0.0 --from-cluster",
];

/// Runs the command.
pub(super) fn run(args: &ExplainArgs) -> Result<Exit, CommandFailure> {
    match args.words.as_slice() {
        [] if args.list => {
            (args.typed).refuse_but(&["--list"], "explain --list", UPGRADE)?;
            token::list()
        }
        [token] => {
            args.typed.refuse_but(&[], "explain TOKEN", UPGRADE)?;
            token::run(token)
        }
        [package, from, to] => step(args, package, from, to),
        _ => Err(InquiryError::Usage(FORMS).into()),
    }
}

fn step(args: &ExplainArgs, package: &str, from: &str, to: &str) -> Result<Exit, CommandFailure> {
    let said: SaidArg = from.parse().map_err(InquiryError::From)?;
    let mut seen = args.see.load_for(args.olm, package)?;
    if args.olm == Generation::V1 {
        seen = seen.of_package_alone();
    }
    let inquiry = seen.inquiry(&said.0)?;
    let report = StepReport::of(&inquiry, to, args.olm);
    let report = report.map_err(|why| seen.not_answered(from, to, &why))?;
    match args.output.form {
        TextOrJson::Text => output::toned(&report.to_text())?,
        TextOrJson::Json => output::json(&report)?,
    }
    Ok(seen.exit(report.is_allowed(), report.is_undecided()))
}

/// The arguments of the form that has options.
const UPGRADE: &str = "PACKAGE FROM TO";

const FORMS: &str =
    "expected PACKAGE FROM TO (package, installed version, target version), or one TOKEN";

/// Accepts every text, and offers the names of tokens and alerts.
#[derive(Clone, Debug)]
struct WordParser;

impl TypedValueParser for WordParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(page::names().map(PossibleValue::new)))
    }
}
