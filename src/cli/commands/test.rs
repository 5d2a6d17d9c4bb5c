//! `olmguard test`: expected results of edits, kept with the manifests and run like unit tests.
//!
//! ```text
//! FILE --suite--> cases ----------------------\
//!         `-----> facts --facts--> Snapshot ---+--trial--> Answer --compare--> differences
//! ```
//!
//! A suite is parsed strictly. Unknown words, cases that expect nothing, and suites without cases are errors, because
//! what cannot fail tests nothing.

mod subject;
mod suite;
mod trial;

use std::io;
use std::path::PathBuf;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::Serialize;
use suite::Suite;

use crate::cli::args::heading;
use crate::cli::commands::test::trial::{DifferenceReport, Outcome};
use crate::cli::output::{self, OutputArgs};
use crate::cli::{CommandFailure, Exit, help, say, warn};
use crate::manifest::{Inputs, documents};
use olmguard_engine::explain::{one_line, plain};
use olmguard_report::{
    Case, CaseStatus, Failure, Finding, Place, SerializeError, Severity, Text, Tone,
};

/// Run upgrade test suites
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct TestArgs {
    /// Suites to run, files of the schema olmguard.test/v1
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    /// Run only cases with this text in their names
    #[arg(long, value_name = "TEXT", help_heading = heading::INPUT)]
    filter: Option<String>,

    #[command(flatten)]
    output: OutputArgs<Form>,
}

/// The form of the results.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Form {
    /// Text for people
    #[default]
    Text,
    /// One JSON object, schema olmguard.tested/v1
    Json,
    /// JUnit XML, for pipelines
    Junit,
    /// Workflow commands of GitHub, shown at the lines of a pull request
    Github,
}

/// The results of all suites.
#[derive(Debug, Default)]
struct SuiteResults {
    outcomes: Vec<Outcome>,
    /// The errors about what could not be read, each with its location.
    faults: Vec<String>,
}

/// Runs `olmguard test`.
pub(super) fn run(args: &TestArgs) -> Result<Exit, CommandFailure> {
    let mut tried = SuiteResults::default();
    for input in Inputs::new(args.files.clone(), io::stdin()) {
        match input.bytes {
            Ok(bytes) => tried.file(&input.path, &bytes, args.filter.as_deref()),
            Err(error) => tried.faults.push(format!("{}: {error}", input.path)),
        }
    }
    tried.faults.iter().for_each(say);
    if let (Some(filter), [], []) = (&args.filter, &*tried.outcomes, &*tried.faults) {
        let words = format!("--filter: no case has {filter:?} in its name");
        return Err(CommandFailure::new(words, Exit::Usage));
    }
    print(args.output.form, &tried)?;
    Ok(tried.exit())
}

fn print(form: Form, tried: &SuiteResults) -> io::Result<()> {
    let SuiteResults { outcomes, faults } = tried;
    match form {
        Form::Json => output::json(&Report::of(outcomes)),
        Form::Text => output::toned(&text(outcomes)),
        Form::Junit => output::plain(junit(outcomes, faults).map_err(io::Error::other)?),
        Form::Github => output::plain(github(outcomes, faults)),
    }
}

impl SuiteResults {
    /// Runs the suites of a file. Each document is a suite.
    fn file(&mut self, file: &str, bytes: &[u8], filter: Option<&str>) {
        let mut has_one = false;
        for document in documents(bytes) {
            has_one = true;
            let read = match &document {
                Ok(document) => Suite::read(file, document).map_err(|error| error.to_string()),
                Err(error) => Err(error.to_string()),
            };
            match read {
                Ok(suite) => self.suite(suite, filter),
                Err(error) => self.faults.push(format!("{file}:{error}")),
            }
        }
        if !has_one {
            self.faults.push(format!(
                "{file}: is empty: expected a suite, schema {}",
                suite::SCHEMA
            ));
        }
    }

    fn suite(&mut self, mut suite: Suite, filter: Option<&str>) {
        let is_asked = |name: &str| filter.is_none_or(|part| name.contains(part));
        suite.cases.retain(|case| is_asked(&case.name));
        if suite.cases.is_empty() {
            return;
        }
        let facts = match trial::load(&suite) {
            Ok(facts) => facts,
            Err(error) => {
                self.faults.push(format!("{}: {error}", suite.file));
                return;
            }
        };
        let told = |fault| format!("{}: {fault}", suite.file);
        self.faults.extend(facts.faults.iter().map(told));
        facts
            .warnings
            .iter()
            .map(told)
            .for_each(|warning| warn(&warning));
        for case in &suite.cases {
            match trial::run(&suite, case, facts.facts.basis()) {
                Ok(outcome) => self.outcomes.push(outcome),
                Err(error) => {
                    self.faults
                        .push(format!("{}:{}: {error}", suite.file, case.at));
                }
            }
        }
    }

    fn exit(&self) -> Exit {
        if !self.faults.is_empty() {
            Exit::BadInput
        } else if self.outcomes.iter().all(Outcome::holds) {
            Exit::Good
        } else {
            Exit::Denied
        }
    }
}

const EXAMPLES: &[&str] = &[
    "olmguard test suites/lantern.yaml",
    "olmguard test suites/*.yaml -o junit > olmguard.xml",
    "olmguard test suites/lantern.yaml --filter 'upper bound'",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "all cases pass"),
    (Exit::Denied, "a case fails"),
    (Exit::Usage, "wrong usage"),
    (
        Exit::BadInput,
        "a suite, or a file that it names, is unreadable",
    ),
];

// === The results of the cases as JSON, schema `olmguard.tested/v1` ===

/// Output of `olmguard test -o json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Report {
    /// Schema of this object.
    schema: &'static str,
    /// Test cases, in the order of the suites.
    cases: Vec<CaseReport>,
    /// Number of passed and failed cases.
    summary: Summary,
}

/// Result of one test case.
#[derive(Debug, JsonSchema, Serialize)]
struct CaseReport {
    name: String,
    file: String,
    /// Line of the name of the case, from 1.
    line: u32,
    /// Column of the name of the case, in characters, from 1.
    column: u32,
    /// Whether the case passed.
    holds: bool,
    /// Fields that are not as expected.
    differences: Vec<DifferenceReport>,
    #[schemars(extend("enum" = ["allow", "deny", "undecided", "not_judged"]))]
    verdict: &'static str,
    token: &'static str,
    warnings: Vec<String>,
    message: Option<String>,
}

#[derive(Debug, JsonSchema, Serialize)]
struct Summary {
    held: usize,
    failed: usize,
}

impl Report {
    fn of(outcomes: &[Outcome]) -> Self {
        let held = outcomes.iter().filter(|outcome| outcome.holds()).count();
        Self {
            schema: SCHEMA,
            cases: outcomes.iter().map(CaseReport::of).collect(),
            summary: Summary {
                held,
                failed: outcomes.len() - held,
            },
        }
    }
}

impl CaseReport {
    fn of(outcome: &Outcome) -> Self {
        let answer = &outcome.answer;
        Self {
            name: outcome.name.clone(),
            file: outcome.file.clone(),
            line: outcome.at.line,
            column: outcome.at.column,
            holds: outcome.holds(),
            differences: outcome.differences.clone(),
            verdict: answer.verdict().as_str(),
            token: answer.token.as_str(),
            warnings: answer.warnings.clone(),
            message: answer.message.clone(),
        }
    }
}

const SCHEMA: &str = "olmguard.tested/v1";

// === The results of the cases, for people and for pipelines ===

/// One line for each case. Below a failed case are the differences and the whole answer.
fn text(outcomes: &[Outcome]) -> Text {
    let mut text = Text::default();
    for outcome in outcomes {
        say_outcome(&mut text, outcome);
    }
    text.line(Tone::Plain, counts(outcomes));
    text
}

fn say_outcome(text: &mut Text, outcome: &Outcome) {
    let (tone, word) = if outcome.holds() {
        (Tone::Good, "ok")
    } else {
        (Tone::Bad, "FAIL")
    };
    let (place, name) = (one_line(&outcome.place()), one_line(&outcome.name));
    text.say(tone, format!("{word:4}"));
    text.line(Tone::Plain, format!("  {place}: {name}"));
    for line in details(outcome).lines() {
        text.line(Tone::Plain, format!("      {line}"));
    }
}

/// The differences and the whole answer; empty if nothing differs.
fn details(outcome: &Outcome) -> String {
    let mut lines = Vec::new();
    for one in &outcome.differences {
        lines.push(format!("{}: expected {}", one.field, one.expected));
        lines.push(format!(
            "{:>width$}  found {}",
            "",
            one.found,
            width = one.field.len()
        ));
    }
    if !lines.is_empty() {
        lines.push(format!("answer: {}", outcome.answer.verdict().as_str()));
        let whole = plain::result(&outcome.answer);
        lines.extend(whole.lines().map(|line| format!("  {}", one_line(line))));
        let warnings = outcome.answer.warnings.iter();
        lines.extend(warnings.map(|warning| format!("  warning: {}", one_line(warning))));
    }
    lines.join("\n")
}

fn counts(outcomes: &[Outcome]) -> String {
    let held = outcomes.iter().filter(|outcome| outcome.holds()).count();
    match outcomes.len() - held {
        0 => format!("{held} passed"),
        failed => format!("{failed} failed, {held} passed"),
    }
}

/// JUnit XML: a suite for each file, and one for inputs that could not be read.
fn junit(outcomes: &[Outcome], faults: &[String]) -> Result<String, SerializeError> {
    let cases: Vec<_> = outcomes.iter().map(case).collect();
    let faults: Vec<_> = faults.iter().map(|fault| finding_of_fault(fault)).collect();
    olmguard_report::junit(TITLE, ("suites", &faults), &cases)
}

fn case(outcome: &Outcome) -> Case {
    let failure = outcome.differences.first().map(|first| Failure {
        word: "Difference",
        line: format!(
            "{}: expected {}, found {}",
            first.field, first.expected, first.found
        ),
        whole: format!("{}\n{}", one_line(&outcome.place()), details(outcome)),
    });
    Case {
        suite: outcome.file.clone(),
        name: outcome.name.clone(),
        class: outcome.file.clone(),
        status: failure.map_or(CaseStatus::Passed, CaseStatus::Failed),
        output: String::new(),
    }
}

/// GitHub workflow commands: an error for each case that fails.
fn github(outcomes: &[Outcome], faults: &[String]) -> String {
    let faults = faults.iter().map(|fault| finding_of_fault(fault));
    let failed = outcomes.iter().filter(|outcome| !outcome.holds());
    let findings: Vec<_> = faults.chain(failed.map(finding)).collect();
    olmguard_report::github(&findings)
}

fn finding_of_fault(fault: &str) -> Finding {
    Finding {
        place: Place::Named(fault.to_owned()),
        ..Finding::of_run(TITLE, Severity::Error, fault)
    }
}

fn finding(outcome: &Outcome) -> Finding {
    let at = (outcome.at.line, outcome.at.column);
    Finding {
        id: "Difference",
        place: Place::File(outcome.file.clone(), Some(at)),
        ..Finding::of_run(&outcome.name, Severity::Error, details(outcome))
    }
}

/// The subject of faults that are not about a case.
const TITLE: &str = "olmguard test";
