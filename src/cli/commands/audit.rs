//! `olmguard audit [PATH...]`: what already runs, the worst first.
//!
//! ```text
//! PATH... --inputs--> extensions with their status, catalogs, policies --\
//! without PATH: --snapshot, --from-cluster --> all extensions ------------+
//! --catalog, --snapshot, --from-cluster --> facts ------------------------+--> engine::audit --> AuditReport
//! ```
//!
//! What cannot be read is said, and the rest is reported.

mod form;
mod inputs;

use std::io;
use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::edges::EdgesArgs;
use crate::cli::args::heading;
use crate::cli::facts::origin::OriginError;
use crate::cli::facts::{Facts, FactsArgs, OpenFacts, check_stdin};
use crate::cli::help;
use crate::cli::output::{self, OutputArgs};
use crate::cli::{Exit, say, warn};
use form::{Output, Unread};
use inputs::AuditedInputs;
use olmguard_engine::audit::Audit;
use olmguard_engine::extension::Extension;
use olmguard_engine::judge::{Edit, Requester, Verdict};
use olmguard_views::audit_report::{AuditReport, ExtensionReport};

/// Report what already runs, the worst first
#[derive(Args, Clone, Debug)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct AuditArgs {
    /// ClusterExtensions with status: files, directories or - [default: all
    /// of the cluster or the snapshot]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    facts: FactsArgs,

    #[command(flatten)]
    edges: EdgesArgs,

    #[command(flatten)]
    output: OutputArgs<Output>,

    /// Print objects of openreports.io for dashboards, as YAML
    #[arg(
        long,
        conflicts_with = "output",
        value_parser = BoolishValueParser::new(),
        help_heading = heading::OUTPUT
    )]
    report: bool,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
enum AuditError {
    #[error(transparent)]
    Facts(#[from] OriginError),
    #[error("cannot write the result: {0}")]
    Write(#[from] io::Error),
}

/// Runs the command.
pub(super) fn run(args: &AuditArgs) -> Exit {
    audit(args).unwrap_or_else(|error| {
        say(&error);
        error.exit()
    })
}

fn audit(args: &AuditArgs) -> Result<Exit, AuditError> {
    let paths = args.paths.iter().map(PathBuf::as_path);
    let paths = paths.chain(args.facts.common.catalog.paths());
    check_stdin(paths).map_err(OriginError::from)?;
    let mut opened = args.facts.open(args.edges)?;
    let inputs = inputs(args, &mut opened).map_err(OriginError::from)?;
    inputs.faults.iter().for_each(say);
    let facts = opened.load(inputs.given);
    let unread = Unread::all(&inputs.faults, &facts.faults);
    if inputs.extensions.is_empty() && unread.is_empty() {
        warn(&NO_EXTENSION);
    }
    let requester = args.facts.requester();
    let report = report(&facts, &inputs.extensions, &requester);
    let text = if args.report {
        form::cluster_reports(&report, requester.at)?
    } else {
        form::text(&report, &unread, args.output.form)?
    };
    output::text(|stdout| stdout.write_all(text.as_bytes()))?;
    let bad = (!inputs.faults.is_empty()).then_some(Exit::BadInput);
    Ok(exit(&report, bad.into_iter().chain(facts.exit())))
}

/// The manifests; without any, all that runs in the cluster or is in the snapshot.
fn inputs(args: &AuditArgs, opened: &mut OpenFacts) -> Result<AuditedInputs, UsageError> {
    if args.paths.is_empty() {
        Ok(AuditedInputs::running(opened.extensions()?))
    } else {
        AuditedInputs::read(&args.paths)
    }
}

fn report(facts: &Facts, extensions: &[Extension], requester: &Requester) -> AuditReport {
    AuditReport::of(extensions.iter().map(|extension| {
        let edit = Edit {
            new: extension,
            old: None,
            installed: &extension.installed,
            // The API server accepted the object.
            schema: &[],
            requester,
        };
        ExtensionReport::of(&edit, &Audit::of(facts.basis(), &edit))
    }))
}

fn exit(report: &AuditReport, faults: impl Iterator<Item = Exit>) -> Exit {
    let verdicts = [
        (Verdict::Deny, Exit::Denied),
        (Verdict::Undecided, Exit::Undecided),
    ];
    let verdicts = verdicts.into_iter();
    let found = verdicts.filter(|(verdict, _)| report.count(*verdict) > 0);
    let exits = found.map(|(_, exit)| exit).chain(faults);
    exits.max_by_key(|exit| exit.weight()).unwrap_or(Exit::Good)
}

impl AuditError {
    fn exit(&self) -> Exit {
        match self {
            Self::Facts(error) => error.exit(),
            Self::Write(_) => Exit::Internal,
        }
    }
}

const NO_EXTENSION: &str = "there is no ClusterExtension, so nothing is reported";

const EXAMPLES: &[&str] = &[
    "olmguard audit --from-cluster",
    "olmguard audit --from-cluster -o html > audit.html",
    "olmguard audit extensions.yaml --snapshot prod.snapshot -o json",
    "olmguard audit extensions.yaml --catalog hub=hub.yaml --at 2026-11-24T22:00:00Z",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "no spec would be denied or undecided today"),
    (Exit::Denied, "a spec would be denied today"),
    (Exit::Usage, "wrong usage; nothing was checked"),
    (Exit::BadInput, "a manifest or a catalog is unreadable"),
    (
        Exit::Undecided,
        "a spec is undecided because a fact is missing",
    ),
];
