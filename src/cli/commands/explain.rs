//! `olmguard explain PACKAGE FROM TO`: why one bundle succeeds another, or why not; and
//! `olmguard explain TOKEN`: what a token, an exit code, or a text that was shown, means, and what to do about an alert.

mod token;

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use crate::cli::args::installed::SaidArg;
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
    /// Looks before any other field takes its own out of the matches.
    #[command(flatten)]
    typed: TypedOptions,

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
        [] if args.list => token::list(),
        [_] if !args.typed.0.is_empty() => Err(InquiryError::NotOf {
            options: args.typed.0.clone(),
            form: "explain TOKEN",
            expected: "PACKAGE FROM TO",
        }
        .into()),
        [token] => token::run(token),
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

const FORMS: &str =
    "expected PACKAGE FROM TO (package, installed version, target version), or one TOKEN";

/// The long names of the options that stand on the command line.
#[derive(Clone, Debug)]
struct TypedOptions(Vec<String>);

impl Args for TypedOptions {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for TypedOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let own = ExplainArgs::augment_args(Command::new("explain"));
        let is_typed = |arg: &&Arg| {
            let source = matches.value_source(arg.get_id().as_str());
            !arg.is_positional() && source == Some(ValueSource::CommandLine)
        };
        let typed = own.get_arguments().filter(is_typed);
        let long = typed.filter_map(|arg| Some(format!("--{}", arg.get_long()?)));
        Ok(Self(long.collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

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
