//! `olmguard migrate`: whether Subscriptions of OLM v0 would work as ClusterExtensions of OLM v1.
//!
//! ```text
//! -f PATH, otherwise --from-cluster --> objects of OLM v0 ------------+
//! --catalog, --snapshot, --from-cluster --> catalogs, OLM, extensions +--> views::migrate --> MigrationReport
//! ```
//!
//! The command changes nothing: it prints the steps for a person. Unreadable inputs are reported, and the rest is
//! checked.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::heading;
use crate::cli::args::olm::EdgesArgs;
use crate::cli::commands::InputProblem;
use crate::cli::commands::audit::AuditedInputs;
use crate::cli::facts::{FactsArgs, OpenFacts, check_stdin};
use crate::cli::output::{self, OutputArgs, yaml};
use crate::cli::{CommandFailure, Exit, help, say, warn};
use crate::manifest::{Inputs, ManifestObject, Position, Positions, ValueStep};
use olmguard_views::migrate::{
    ClassicError, ClassicKind, ClassicObjects, MigrationFacts, MigrationReport, MoveVerdict,
};

/// Plan the move from OLM v0 to OLM v1
#[derive(Args, Clone, Debug)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct MigrateArgs {
    /// Objects of OLM v0 with their status: files, directories, or - for
    /// standard input [default: all of the cluster]
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "PATH",
        num_args = 1..,
        value_delimiter = ',',
        help_heading = heading::INPUT
    )]
    filename: Vec<PathBuf>,

    #[command(flatten)]
    facts: FactsArgs,

    #[command(flatten)]
    edges: EdgesArgs,

    #[command(flatten)]
    output: OutputArgs<Output>,
}

/// The form of the report.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
enum Output {
    /// Text for people
    #[default]
    Text,
    /// One JSON object, schema olmguard.migrate/v1
    Json,
    /// The ClusterExtensions, ready to apply
    Yaml,
}

/// Runs `olmguard migrate`.
pub(super) fn run(args: &MigrateArgs) -> Result<Exit, CommandFailure> {
    let paths = args.filename.iter().map(PathBuf::as_path);
    let paths = paths.chain(args.facts.common.catalog.paths());
    check_stdin(paths)?;
    let mut opened = args.facts.open(args.edges)?;
    let mut inputs = inputs(args, &mut opened)?;
    let others = &mut inputs.others;
    // Without a cluster or a snapshot, only the extensions of the files are known.
    others
        .extensions
        .extend(opened.extensions().unwrap_or_default());
    others.faults.iter().for_each(say);
    others.skipped.iter().for_each(warn);
    let facts = opened.load(std::mem::take(&mut others.given))?;
    let bad = (!others.faults.is_empty()).then_some(Exit::BadInput);
    let faults: Vec<_> = bad.into_iter().chain(facts.exit()).collect();
    if inputs.objects.is_empty() && faults.is_empty() {
        warn(&NO_SUBSCRIPTION);
    }
    // A Subscription that cannot be read can have any CSV.
    if faults.is_empty() {
        inputs.objects.unchecked().for_each(|csv| warn(&csv));
    }
    let report = MigrationReport::of(&MigrationFacts {
        basis: facts.basis(),
        requester: &args.facts.policies.requester(),
        objects: &inputs.objects,
        extensions: &inputs.others.extensions,
    });
    // "no Subscription" would be wrong if some inputs could not be read.
    if !inputs.objects.is_empty() || faults.is_empty() || args.output.form != Output::Text {
        print(&report, args.output.form)?;
    }
    let has = |verdict| report.count(verdict) > 0;
    let own = Exit::of_results(has(MoveVerdict::Cannot), has(MoveVerdict::Undecided));
    Ok(Exit::worst(faults.into_iter().chain([own])))
}

/// The objects of the files. Without files, the objects of the cluster.
fn inputs(args: &MigrateArgs, opened: &mut OpenFacts) -> Result<MigratedInputs, UsageError> {
    if !args.filename.is_empty() {
        return MigratedInputs::read(&args.filename);
    }
    let mut inputs = MigratedInputs::default();
    opened.classic(|object| {
        let added = inputs.objects.add(&object);
        added.err().map(|error| error.to_string())
    })?;
    Ok(inputs)
}

fn print(report: &MigrationReport, form: Output) -> io::Result<()> {
    match form {
        Output::Text => output::toned(&report.to_text()),
        Output::Json => output::json(report),
        Output::Yaml => {
            report.refusals().for_each(|why| warn(&why));
            output::plain(manifests(report))
        }
    }
}

/// Each extension as a document, with the reasons for its fields above it.
fn manifests(report: &MigrationReport) -> String {
    let mut text = String::new();
    for extension in report.extensions() {
        text.push_str("---\n");
        for line in &extension.comment {
            // Writing to a String does not fail.
            let _ = writeln!(text, "# {line}");
        }
        text.push_str(&yaml::document(extension.object));
    }
    text
}

// === The objects of the files: objects of OLM v0, and everything that `audit` also reads ===

/// Everything that was read, in the order of the inputs.
#[derive(Debug, Default)]
struct MigratedInputs {
    objects: ClassicObjects,
    /// Extensions, catalogs and policies, and the faults of all unreadable objects.
    others: AuditedInputs,
}

impl MigratedInputs {
    /// Reads every input, and keeps unreadable inputs as faults.
    ///
    /// # Errors
    /// If two objects that are not of OLM v0 have the same kind and name.
    fn read(paths: &[PathBuf]) -> Result<Self, UsageError> {
        let mut read = Self::default();
        let Self { objects, others } = &mut read;
        for input in Inputs::new(paths.to_vec(), io::stdin()) {
            others.input(input, &mut |object, positions| {
                ClassicKind::of(&object.value)?;
                let added = objects.add(&object.value);
                Some(
                    added.map_err(|error| {
                        InputProblem::Classic(at(&error, object, positions), error)
                    }),
                )
            })?;
        }
        Ok(read)
    }
}

/// The position of the wrong field of an object, otherwise the position of the object.
fn at(error: &ClassicError, object: &ManifestObject, positions: &Positions) -> Position {
    match error {
        ClassicError::Field { field, .. } => object.position(positions, &ValueStep::of_path(field)),
        ClassicError::Twice { .. } => object.position(positions, &[]),
    }
}

const NO_SUBSCRIPTION: &str = "there is no Subscription, so nothing is reported";

const EXAMPLES: &[&str] = &[
    "olmguard migrate --from-cluster",
    "olmguard migrate --from-cluster -o yaml > extensions.yaml",
    "olmguard migrate -f olmv0.yaml --catalog hub=catalog.yaml",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "every Subscription can move"),
    (Exit::Denied, "a Subscription cannot move"),
    (Exit::Usage, "wrong usage; nothing was checked"),
    (Exit::BadInput, "a manifest or a catalog is unreadable"),
    (
        Exit::Undecided,
        "a Subscription is undecided because a fact is missing",
    ),
];
