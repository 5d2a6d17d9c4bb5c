//! `olmguard lint`: problems in catalogs, their effects on users, and how to fix them.

mod forms;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::ValueEnum;
use clap::builder::BoolishValueParser;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::policies::GuardrailsArgs;
use crate::cli::args::{TypedOptions, heading};
use crate::cli::commands::MOST_NEAR;
use crate::cli::facts::check_stdin;
use crate::cli::output::{self, OutputArgs};
use crate::cli::{CommandFailure, Exit, ends_with, help};
use crate::facts::instead;
use crate::manifest::Position;
use crate::policy_files::ReadPolicies;
use crate::policy_objects::{PolicyFileFault, PolicyPlace};
use crate::source::image::{ImageError, ImageKind};
use crate::source::{self, FilesPlace, Progress, SourceError};
use olmguard_catalog::version::go;
use olmguard_engine::explain::one_line;
use olmguard_views::lint::written::Collector;
use olmguard_views::lint::{
    LintFinding, PolicyPart, Rule, Severity, Weights, WrittenCatalog, WrittenPolicy, lint,
    lint_policies,
};

pub use forms::sarif;

/// Find problems in catalogs
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct LintArgs {
    #[command(flatten)]
    typed: TypedOptions<Self>,

    /// Show only findings about this package (repeatable)
    #[arg(
        long,
        value_name = "PACKAGE",
        value_delimiter = ',',
        help_heading = heading::INPUT
    )]
    package: Vec<String>,

    /// Hide findings of this rule (repeatable)
    #[arg(long, value_name = "ID", value_delimiter = ',', help_heading = heading::RULES)]
    allow: Vec<Rule>,

    /// Report findings of this rule as warnings (repeatable)
    #[arg(long, value_name = "ID", value_delimiter = ',', help_heading = heading::RULES)]
    warn: Vec<Rule>,

    /// Report findings of this rule as errors (repeatable)
    #[arg(long, value_name = "ID", value_delimiter = ',', help_heading = heading::RULES)]
    deny: Vec<Rule>,

    /// Report every warning as an error
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::RULES)]
    warn_as_error: bool,

    /// Print the page about this rule
    #[arg(
        long,
        value_name = "ID",
        conflicts_with_all = ["catalogs", "list"],
        help_heading = heading::RULES
    )]
    explain: Option<Rule>,

    /// List the ids of all rules
    #[arg(
        long,
        value_parser = BoolishValueParser::new(),
        conflicts_with = "catalogs",
        help_heading = heading::RULES
    )]
    list: bool,

    #[command(flatten)]
    guardrails: GuardrailsArgs,

    /// Check these upgrade policies, files or directories (repeatable)
    #[arg(
        long = "policy",
        value_name = "PATH",
        value_delimiter = ',',
        help_heading = heading::CATALOGS
    )]
    policies: Vec<PathBuf>,

    #[command(flatten)]
    output: OutputArgs<Format>,

    /// Catalogs to check: files, directories, oci:IMAGE, or - for standard input
    #[arg(value_name = "CATALOG", required_unless_present_any = ["explain", "list", "policies"])]
    catalogs: Vec<FilesPlace>,
}

/// The form of the findings.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Format {
    /// Text for people
    #[default]
    Text,
    /// One JSON object, schema olmguard.lint/v1
    Json,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
}

const EXAMPLES: &[&str] = &[
    "olmguard lint catalog/",
    "olmguard lint hub.yaml --package lantern-operator -o sarif",
    "olmguard lint hub.yaml --guardrails rules.yaml",
    "olmguard lint --explain stranded-bundle",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "no errors"),
    (Exit::Denied, "a finding is an error"),
    (Exit::Usage, "wrong usage"),
    (
        Exit::BadInput,
        "a catalog or a file of policies is unreadable",
    ),
];

/// No catalog has the package of `--package`.
#[derive(Debug, thiserror::Error)]
#[error("--package: no catalog has package {}{instead}", go::quote(package))]
struct NoPackage {
    package: String,
    instead: String,
}

ends_with!(Usage: NoPackage);
ends_with!(BadInput: SourceError, ImageError, PolicyFileFault);

/// Runs `olmguard lint`.
pub(crate) fn run(args: &LintArgs) -> Result<Exit, CommandFailure> {
    match (args.explain, args.list) {
        (Some(rule), _) => {
            (args.typed).refuse_but(&["--explain"], "lint --explain", "CATALOG")?;
            output::page::print(rule.page())?;
        }
        (None, true) => {
            (args.typed).refuse_but(&["--list"], "lint --list", "CATALOG")?;
            output::plain(forms::list())?;
        }
        (None, false) => return lint_and_print(args),
    }
    Ok(Exit::Good)
}

fn lint_and_print(args: &LintArgs) -> Result<Exit, CommandFailure> {
    let paths = args.catalogs.iter().filter_map(FilesPlace::path);
    let guardrails = &args.guardrails.files;
    // Guardrails are read once for each catalog.
    let files = args.catalogs.iter().flat_map(|_| guardrails);
    check_stdin(paths.chain(files.map(PathBuf::as_path)))?;
    let catalogs = args.places().into_iter();
    let catalogs = catalogs.map(|place| read(place, guardrails));
    let catalogs = catalogs.collect::<Result<Vec<_>, _>>()?;
    args.check_packages(&catalogs)?;
    let mut findings = lint(&catalogs);
    findings.extend(policy_findings(&args.policies, &catalogs)?);
    findings.retain(|finding| args.concerns(finding));
    args.weights().apply(&mut findings);
    match args.output.form {
        Format::Text => output::toned(&forms::text(&findings, catalogs.len()))?,
        Format::Json => output::json(&Report::of(&findings))?,
        Format::Sarif => output::json(&sarif(&findings))?,
    }
    let has_error = findings.iter().any(|one| one.severity == Severity::Error);
    Ok(Exit::denied_if(has_error))
}

/// Reads a catalog including its faults, and then the guardrails to check against it.
fn read(place: &FilesPlace, guardrails: &[PathBuf]) -> Result<WrittenCatalog, CommandFailure> {
    let progress = Progress::default();
    output::with_progress(&progress, || {
        let files = place.local(ImageKind::Catalog, &progress)?;
        let path = files.path();
        let mut collector = Collector::new(&path.to_string_lossy());
        source::read(path, &progress, &mut collector)?;
        if !guardrails.is_empty() {
            collector.begin_imposed();
        }
        let mut files = guardrails.iter();
        files.try_for_each(|file| source::read(file, &progress, &mut collector))?;
        Ok(collector.finish())
    })
}

impl LintArgs {
    /// Each catalog once, also if it is given twice: it is no second catalog with the same packages.
    fn places(&self) -> Vec<&FilesPlace> {
        let resolved = |place: &FilesPlace| place.path().and_then(|path| path.canonicalize().ok());
        let mut places: Vec<&FilesPlace> = Vec::new();
        for place in &self.catalogs {
            let is_same = |other: &&FilesPlace| {
                *other == place || resolved(other).is_some_and(|path| resolved(place) == Some(path))
            };
            if !places.iter().any(is_same) {
                places.push(place);
            }
        }
        places
    }

    /// Checks that the catalogs have each package of `--package`. An unknown package has no findings, so a typo would
    /// pass.
    fn check_packages(&self, catalogs: &[WrittenCatalog]) -> Result<(), NoPackage> {
        let known: BTreeSet<_> = catalogs.iter().flat_map(WrittenCatalog::packages).collect();
        let is_unknown = |name: &&String| !catalogs.is_empty() && !known.contains(&***name);
        let Some(package) = self.package.iter().find(is_unknown) else {
            return Ok(());
        };
        Err(NoPackage {
            package: package.clone(),
            instead: instead(package, known, MOST_NEAR),
        })
    }

    /// Whether a finding is about the packages of `--package`. A finding about no package in particular concerns all
    /// packages. So does a rule about an unknown package, because it may be meant for any of them.
    fn concerns(&self, finding: &LintFinding) -> bool {
        let package = &*finding.package;
        let mut asked = self.package.iter();
        let is_of_none = matches!(
            finding.rule.id(),
            "guardrail-of-unknown-package" | "policy-of-unknown-package"
        );
        let concerns_all = self.package.is_empty() || package.is_empty() || is_of_none;
        concerns_all || asked.any(|name| name == package)
    }

    fn weights(&self) -> Weights {
        Weights {
            allow: self.allow.clone(),
            warn: self.warn.clone(),
            deny: self.deny.clone(),
            warn_as_error: self.warn_as_error,
        }
    }
}

/// The findings about the policies in these files, checked against these catalogs, in the order of their places.
///
/// # Errors
/// If a file cannot be read, or has no object.
fn policy_findings(
    paths: &[PathBuf],
    catalogs: &[WrittenCatalog],
) -> Result<Vec<LintFinding>, PolicyFileFault> {
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let mut read = ReadPolicies::load(paths);
    read.bound_together();
    if let Some(fault) = read.unusable() {
        return Err(fault.clone());
    }
    let unread = read.faults.iter().map(|fault| {
        let title = fault.title.as_deref().unwrap_or_default();
        written(&fault.place, title, PolicyPart::Unread(&fault.why))
    });
    let named = read.packages.iter().map(|named| {
        let part = PolicyPart::Package(&named.package);
        written(&named.place, &named.title, part)
    });
    let mut written: Vec<_> = unread.chain(named).collect();
    written.sort_by_key(|one| (one.file, one.line, one.column));
    Ok(lint_policies(written, catalogs))
}

fn written<'p>(place: &'p PolicyPlace, title: &'p str, part: PolicyPart<'p>) -> WrittenPolicy<'p> {
    let Position { line, column } = Position::START;
    let (line, column) = place.at.unwrap_or((line, column));
    WrittenPolicy {
        file: &place.file,
        line,
        column,
        title,
        part,
    }
}

// === Findings as JSON, schema `olmguard.lint/v1` ===
//
// Names (catalog, file, package) are data and stay unchanged. Sentences are for people, so text from a catalog is
// escaped in them as in the text form.

/// Output of `olmguard lint` as JSON.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Report<'f> {
    /// Schema of this object.
    schema: &'static str,
    /// Findings, by catalog and by place.
    findings: Vec<FindingReport<'f>>,
    /// Number of findings by severity.
    summary: Summary,
}

#[derive(Debug, JsonSchema, Serialize)]
struct FindingReport<'f> {
    /// Id of the lint rule.
    #[schemars(extend("enum" = ids()))]
    id: &'static str,
    /// Severity of the finding.
    #[schemars(extend("enum" = Severity::ALL.map(Severity::as_str)))]
    severity: &'static str,
    /// Name of the catalog, as given.
    catalog: &'f str,
    /// File of the finding.
    file: &'f str,
    /// Line of the finding, from 1.
    line: u32,
    /// Column of the finding, in characters, from 1.
    column: u32,
    /// Package of the finding. Null if unknown.
    package: Option<&'f str>,
    /// Description of the finding. Text from the catalog is escaped.
    message: String,
    /// Why the finding matters to users.
    why: &'static str,
    /// How to fix the finding.
    fix: &'static str,
    /// Message of `opm validate`, possibly shortened, with control characters escaped. Null if `opm
    /// validate` has no message for it.
    upstream: Option<String>,
}

#[derive(Debug, JsonSchema, Serialize)]
struct Summary {
    error: usize,
    warning: usize,
    note: usize,
}

impl<'f> Report<'f> {
    /// The report on these findings.
    pub fn of(findings: &'f [LintFinding]) -> Self {
        let count = |severity| {
            findings
                .iter()
                .filter(|one| one.severity == severity)
                .count()
        };
        Self {
            schema: SCHEMA,
            findings: findings.iter().map(FindingReport::of).collect(),
            summary: Summary {
                error: count(Severity::Error),
                warning: count(Severity::Warning),
                note: count(Severity::Note),
            },
        }
    }
}

impl<'f> FindingReport<'f> {
    fn of(finding: &'f LintFinding) -> Self {
        Self {
            id: finding.rule.id(),
            severity: finding.severity.as_str(),
            catalog: &finding.catalog,
            file: &finding.file,
            line: finding.line,
            column: finding.column,
            package: Some(&*finding.package).filter(|package| !package.is_empty()),
            message: one_line(&finding.message),
            why: finding.rule.why(),
            fix: finding.rule.fix(),
            upstream: finding.upstream.as_deref().map(one_line),
        }
    }
}

fn ids() -> Vec<&'static str> {
    Rule::all().map(Rule::id).collect()
}

const SCHEMA: &str = "olmguard.lint/v1";
