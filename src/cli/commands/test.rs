//! `olmguard test`: what an administrator expects of edits, kept beside the manifests and tried like code.
//!
//! ```text
//! FILE --suite--> cases ----------------------\
//!         `-----> facts --facts--> Snapshot ---+--trial--> Answer --compare--> differences
//! ```
//!
//! A suite is read strictly: a word that it does not know, a case that expects nothing, and a suite
//! without cases are errors, since what cannot fail tests nothing.

mod forms;
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
use crate::cli::commands::test::trial::Outcome;
use crate::cli::output::{self, OutputArgs};
use crate::cli::{CommandFailure, Exit, help, say, warn};
use crate::manifest::{Inputs, documents};

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

/// What became of all suites.
#[derive(Debug, Default)]
struct SuiteResults {
    outcomes: Vec<Outcome>,
    /// What could not be read, each with its place.
    faults: Vec<String>,
}

/// Runs the command.
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
        Form::Text => output::toned(&forms::text(outcomes)),
        Form::Junit => output::plain(&forms::junit(outcomes, faults).map_err(io::Error::other)?),
        Form::Github => output::plain(&forms::github(outcomes, faults)),
    }
}

impl SuiteResults {
    /// Every document is a suite.
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

// === What became of the cases as JSON, schema `olmguard.tested/v1` ===

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
struct DifferenceReport {
    /// Key of `expect`.
    field: &'static str,
    expected: String,
    found: String,
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
        let differences = outcome.differences.iter().map(|one| DifferenceReport {
            field: one.field,
            expected: one.expected.clone(),
            found: one.found.clone(),
        });
        Self {
            name: outcome.name.clone(),
            file: outcome.file.clone(),
            line: outcome.at.line,
            column: outcome.at.column,
            holds: outcome.holds(),
            differences: differences.collect(),
            verdict: answer.verdict().as_str(),
            token: answer.token.as_str(),
            warnings: answer.warnings.clone(),
            message: answer.message.clone(),
        }
    }
}

const SCHEMA: &str = "olmguard.tested/v1";
