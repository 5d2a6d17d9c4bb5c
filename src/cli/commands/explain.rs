//! `olmguard explain PACKAGE FROM TO`: why one bundle is a successor of another, or why not.
//!
//! `olmguard explain TOKEN`: the meaning of a reason code, an exit code or a printed text, and what to do about an
//! alert.

use std::ffi::OsStr;

use clap::builder::{NonEmptyStringValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, Command};

use crate::cli::args::installed::SaidArg;
use crate::cli::args::{TypedOptions, heading, one_of};
use crate::cli::commands::inquiry::{EXIT_CODES, GENERATIONS, InquiryArgs, InquiryError};
use crate::cli::output::{self, OutputArgs, TextOrJson};
use crate::cli::{CommandFailure, Exit, ends_with, help};
use olmguard_views::page::{self, PageSubject};
use olmguard_views::see::Generation;
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
    #[arg(long, conflicts_with = "words", help_heading = heading::OUTPUT)]
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

/// Runs `olmguard explain`.
pub(super) fn run(args: &ExplainArgs) -> Result<Exit, CommandFailure> {
    match args.words.as_slice() {
        [] if args.list => {
            (args.typed).refuse_but(&["--list"], "explain --list", UPGRADE)?;
            output::plain(page::list())?;
            Ok(Exit::Good)
        }
        [token] => {
            args.typed.refuse_but(&[], "explain TOKEN", UPGRADE)?;
            page_of(token)
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
    args.output.form.print(&report, || report.to_text())?;
    Ok(seen.exit(report.is_allowed(), report.is_undecided()))
}

/// The arguments of the form that supports options.
const UPGRADE: &str = "PACKAGE FROM TO";

const FORMS: &str =
    "expected PACKAGE FROM TO (package, installed version, target version), or one TOKEN";

/// A parser that accepts every text, and offers the names of reason codes and alerts.
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
        NonEmptyStringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(page::names().map(PossibleValue::new)))
    }
}

// === One argument: a page about a reason code (by its name or a printed text), a runbook or an exit code ===

/// There is no page about a text. The names may have been meant, nearest first.
#[derive(Debug, thiserror::Error)]
#[error(
    "{found:?} is not a reason code, an alert, an exit code, or a known text of OLM or olmguard{}; \
     to see all reason codes, run olmguard explain --list",
    instead(near)
)]
struct NoPage {
    found: String,
    near: Vec<&'static str>,
}

/// Prints the page.
fn page_of(text: &str) -> Result<Exit, CommandFailure> {
    let printed = match page::find(text) {
        PageSubject::Token(token) => output::page::print(page::page(token)),
        PageSubject::OneOf(tokens) => output::page::print(&page::several(&tokens)),
        PageSubject::Alert(runbook) => output::page::print(runbook.page),
        PageSubject::ExitCode(exit_code) => output::page::print(&exit_code.page()),
        PageSubject::Nothing(near) => {
            let found = text.chars().take(SHOWN).collect();
            return Err(NoPage { found, near }.into());
        }
    };
    printed?;
    Ok(Exit::Good)
}

fn instead(near: &[&str]) -> String {
    match near {
        [] => String::new(),
        near => format!(": expected {}", near.join(", ")),
    }
}

ends_with!(Usage: NoPage);

/// The maximum number of characters of the text that the error repeats.
const SHOWN: usize = 80;
