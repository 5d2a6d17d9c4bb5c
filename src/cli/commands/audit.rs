//! `olmguard audit [PATH...]`: a report on what already runs, worst first.
//!
//! ```text
//! PATH... --inputs--> extensions with their status, catalogs, policies --\
//! without PATH: --snapshot, --from-cluster --> all extensions ------------+
//! --catalog, --snapshot, --from-cluster --> facts ------------------------+--> engine::audit --> AuditReport
//! ```
//!
//! With `--catalog` in addition to a snapshot or a cluster, the report is a preview of what replacing that catalog
//! changes. With `--fleet` or `--contexts`, the report is about many clusters ([`fleet`]). Unreadable inputs are
//! reported as errors, and the rest is audited.

mod fleet;
mod form;

use std::path::PathBuf;
use std::{io, iter, mem};

use clap::Args;
use clap::builder::BoolishValueParser;
use fleet::{FleetArgs, FleetError};
use form::{NoForm, Output};

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::heading;
use crate::cli::args::olm::EdgesArgs;
use crate::cli::commands::{BadInput, InputProblem};
use crate::cli::facts::{FactsArgs, OpenFacts, check_stdin, say_fault};
use crate::cli::output::{self, OutputArgs, json_line, yaml};
use crate::cli::{CommandFailure, Exit, ends_with, help, say, warn};
use crate::facts::given::{GivenObjects, UniqueObjects, unrendered};
use crate::facts::{CurrentCatalogs, Facts};
use crate::manifest::{
    DocumentErrorKind, Input, Inputs, ManifestObject, Position, Positions, documents,
};
use olmguard_catalog::version::go;
use olmguard_engine::audit::{Audit, as_set_now};
use olmguard_engine::explain::{Unrendered, answer};
use olmguard_engine::extension::{Extension, RecognisedObject, recognise};
use olmguard_engine::judge::{Basis, Edit, Requester, Verdict, identify};
use olmguard_engine::snapshot::Snapshot;
use olmguard_policy::Moment;
use olmguard_report::{Finding, Severity};
use olmguard_views::audit_change::{AuditChangeReport, ExtensionChangeReport};
use olmguard_views::audit_report::{AuditReport, ExtensionReport};
use olmguard_views::diff::Level;

/// Report what already runs, the worst first
#[derive(Args, Clone, Debug)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct AuditArgs {
    /// ClusterExtensions with status: files, directories or - [default: all
    /// of the cluster or the snapshot]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    #[command(flatten)]
    fleet: FleetArgs,

    #[command(flatten)]
    facts: FactsArgs,

    #[command(flatten)]
    edges: EdgesArgs,

    /// Pull the images of the bundles, and check their manifests and CRDs too
    #[arg(
        long,
        conflicts_with_all = ["fleet", "contexts"],
        value_parser = BoolishValueParser::new(),
        help_heading = heading::INPUT
    )]
    pull: bool,

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

ends_with!(Usage: NoForm, FleetError);

/// Runs `olmguard audit`.
pub(super) fn run(args: &AuditArgs) -> Result<Exit, CommandFailure> {
    if args.fleet.is_given() {
        return fleet::audit(args);
    }
    let paths = args.paths.iter().map(PathBuf::as_path);
    let paths = paths.chain(args.facts.common.catalog.paths());
    check_stdin(paths)?;
    let mut opened = args.facts.open(args.edges)?;
    if opened.is_preview() {
        NoForm::check(args, form::PREVIEW)?;
    }
    let mut inputs = inputs(args, &mut opened)?;
    inputs.faults.iter().for_each(say);
    inputs.skipped.iter().for_each(warn);
    let mut facts = opened.load(inputs.given)?;
    let before = facts.current.as_ref().map(|current| &current.snapshot);
    name_installed(&mut inputs.extensions, before.unwrap_or(&facts.snapshot));
    let requester = args.facts.policies.requester_of_audit();
    if args.pull {
        facts = with_contents(args, facts, &inputs.extensions, &requester);
    }
    let unread = form::unread(&inputs.faults, &facts.faults);
    warn_if_empty(&inputs.extensions, &inputs.skipped, &unread);
    let edits = edits(&inputs.extensions, &requester);
    let own = if let Some(current) = &facts.current {
        let report = preview_report(&facts, current, edits);
        print_preview(&report, unread, args.output.form)?
    } else {
        print(args, &report(&facts, edits), unread, requester.at)?
    };
    let bad = (!inputs.faults.is_empty()).then_some(Exit::BadInput);
    let faults = bad.into_iter().chain(facts.exit());
    Ok(Exit::worst(faults.chain([own])))
}

/// Prints the report, and returns the exit code that it requires.
fn print(
    args: &AuditArgs,
    report: &AuditReport,
    unread: Vec<Finding>,
    at: Moment,
) -> io::Result<Exit> {
    output::plain(if args.report {
        form::cluster_reports(report, at)?
    } else {
        form::text(report, unread, args.output.form)?
    })?;
    let is_denied = report.count(Verdict::Deny) > 0;
    Ok(Exit::of_results(is_denied, report.is_undecided()))
}

fn warn_if_empty(extensions: &[Extension], skipped: &[SkippedInput], unread: &[Finding]) {
    let is_empty = extensions.is_empty() && skipped.is_empty();
    if is_empty && !unread.iter().any(|one| one.severity == Severity::Error) {
        warn(&NO_EXTENSION);
    }
}

/// The manifests. Without any, all extensions of the cluster or the snapshot.
fn inputs(args: &AuditArgs, opened: &mut OpenFacts) -> Result<AuditedInputs, UsageError> {
    if args.paths.is_empty() {
        Ok(AuditedInputs {
            extensions: opened.extensions()?,
            ..AuditedInputs::default()
        })
    } else {
        AuditedInputs::read(&args.paths)
    }
}

/// Sets the bundle name of each installed bundle whose status has only a version.
fn name_installed(extensions: &mut [Extension], snapshot: &Snapshot) {
    for extension in extensions {
        if let Ok(filter) = &extension.filter {
            let installed = mem::take(&mut extension.installed);
            extension.installed = identify(snapshot, filter, installed);
        }
    }
}

/// The facts with the images of the bundles that the extensions move to next. Prints the faults of these images.
fn with_contents(
    args: &AuditArgs,
    facts: Facts,
    extensions: &[Extension],
    requester: &Requester,
) -> Facts {
    let now = facts.current.iter().map(|current| &current.snapshot);
    let answers = iter::chain([&facts.snapshot], now).flat_map(|snapshot| {
        let basis = Basis {
            snapshot,
            ..facts.basis()
        };
        edits(extensions, requester).map(move |edit| (snapshot, answer(basis, &edit)))
    });
    let (contents, faults) = args.facts.contents(facts.snapshot.rules(), true, answers);
    faults.iter().for_each(say_fault);
    facts.with_contents(contents, faults)
}

/// Each extension as an edit made now.
fn edits<'a>(
    extensions: &'a [Extension],
    requester: &'a Requester,
) -> impl Iterator<Item = Edit<'a>> {
    let edits = extensions.iter();
    edits.map(|extension| as_set_now(extension, requester))
}

fn report<'a>(facts: &Facts, edits: impl Iterator<Item = Edit<'a>>) -> AuditReport {
    AuditReport::of(edits.map(|edit| {
        let audit = Audit::of(facts.basis(), &edit);
        ExtensionReport::of(&edit, &audit)
    }))
}

const NO_EXTENSION: &str = "there is no ClusterExtension, so nothing is reported";

const EXAMPLES: &[&str] = &[
    "olmguard audit --from-cluster",
    "olmguard audit --from-cluster -o html > audit.html",
    "olmguard audit --snapshot prod.snapshot --catalog hub=next.yaml",
    "olmguard audit --fleet reports/ -o html > fleet.html",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (
        Exit::Good,
        "no spec would be denied or undecided today; no breaking change",
    ),
    (
        Exit::Denied,
        "a spec would be denied today; a breaking change",
    ),
    (Exit::Usage, "wrong usage; nothing was checked"),
    (Exit::BadInput, "a manifest or a catalog is unreadable"),
    (
        Exit::Undecided,
        "a spec is undecided because a fact is missing",
    ),
];

// === The extensions of the inputs, with the status that the inputs give them ===

/// Everything that was read, in the order of the inputs.
#[derive(Debug, Default)]
pub(in crate::cli::commands) struct AuditedInputs {
    pub(in crate::cli::commands) extensions: Vec<Extension>,
    /// Catalogs and policies.
    pub(in crate::cli::commands) given: GivenObjects,
    pub(in crate::cli::commands) faults: Vec<BadInput>,
    /// Objects that a tool has yet to render into manifests.
    pub(in crate::cli::commands) skipped: Vec<SkippedInput>,
    unique: UniqueObjects,
}

/// An object that is skipped because it is not a finished manifest, with its location.
#[derive(Debug, derive_more::Display)]
#[display("{file}:{at}: {}", why.skipped())]
pub(in crate::cli::commands) struct SkippedInput {
    file: String,
    at: Position,
    why: Unrendered,
}

impl AuditedInputs {
    /// Reads every input, and keeps unreadable inputs as faults.
    ///
    /// # Errors
    /// If two objects have the same kind and name.
    pub(in crate::cli::commands) fn read(paths: &[PathBuf]) -> Result<Self, UsageError> {
        let mut read = Self::default();
        for input in Inputs::new(paths.to_vec(), io::stdin()) {
            read.input(input, &mut |_, _| None)?;
        }
        Ok(read)
    }

    /// Reads one input. `take` receives each object first, for commands that have objects of their own. It returns
    /// `None` for any other object.
    ///
    /// # Errors
    /// If two objects that `take` does not accept have the same kind and name.
    pub(in crate::cli::commands) fn input(
        &mut self,
        input: Input,
        take: &mut impl FnMut(&ManifestObject, &Positions) -> Option<Result<(), InputProblem>>,
    ) -> Result<(), UsageError> {
        match input.bytes {
            Ok(bytes) => self.file(&input.path, &bytes, take),
            Err(error) => {
                self.fault(&input.path, InputProblem::Input(error));
                Ok(())
            }
        }
    }

    fn file(
        &mut self,
        file: &str,
        bytes: &[u8],
        take: &mut impl FnMut(&ManifestObject, &Positions) -> Option<Result<(), InputProblem>>,
    ) -> Result<(), UsageError> {
        for document in documents(bytes) {
            match document {
                Ok(document) => {
                    let (objects, positions) = document.into_objects();
                    for object in objects {
                        match take(&object, &positions) {
                            None => self.object(file, &object, &positions)?,
                            Some(Ok(())) => {}
                            Some(Err(problem)) => self.fault(file, problem),
                        }
                    }
                }
                Err(error) if matches!(error.kind, DocumentErrorKind::Template { .. }) => {
                    self.skip(file, error.at, Unrendered::Template);
                }
                Err(error) => self.fault(file, InputProblem::Document(error)),
            }
        }
        Ok(())
    }

    fn object(
        &mut self,
        file: &str,
        object: &ManifestObject,
        positions: &Positions,
    ) -> Result<(), UsageError> {
        if let Some((path, why)) = unrendered(object) {
            self.skip(file, object.position(positions, &path), why);
            return Ok(());
        }
        let recognised = recognise(&object.value);
        let is_given = GivenObjects::has_kind_of(object);
        if !is_given && recognised == RecognisedObject::Other {
            return Ok(());
        }
        let at = object.position(positions, &[]);
        if !self.unique.is_new(object, file, at)? {
            return Ok(());
        }
        match recognised {
            RecognisedObject::Other => {
                for (at, fault) in self.given.add(file, object, positions) {
                    self.fault(file, InputProblem::Given(at, fault));
                }
            }
            RecognisedObject::Extension(shape) => {
                let extension = Extension::read(shape, &object.value);
                self.extensions.push(extension);
            }
            RecognisedObject::UnknownVersion => {
                let api_version = object.api_version.clone();
                self.fault(file, InputProblem::Version(at, api_version));
            }
        }
        Ok(())
    }

    fn skip(&mut self, file: &str, at: Position, why: Unrendered) {
        let file = file.to_owned();
        self.skipped.push(SkippedInput { file, at, why });
    }

    fn fault(&mut self, file: &str, problem: InputProblem) {
        self.faults.push(BadInput::new(file, problem));
    }
}

// === `--catalog NAME=PATH` with a snapshot or a cluster: what replacing the catalog changes ===
//
// ```text
// snapshot or cluster --------------------> catalogs as they are --audit--\
//                      \--catalog NAME=PATH--> catalogs after ----audit---+--> AuditChangeReport
// ```
//
// Both sides share the content of catalogs that stay.

/// The changes for the extensions of these edits.
fn preview_report<'a>(
    facts: &Facts,
    current: &CurrentCatalogs,
    edits: impl Iterator<Item = Edit<'a>>,
) -> AuditChangeReport {
    warn_of_added(current);
    let before = Basis {
        snapshot: &current.snapshot,
        policies: &facts.policies,
    };
    let sides = [before, facts.basis()];
    let extensions = edits.map(|edit| ExtensionChangeReport::between(&edit, sides));
    let names = current.given.iter().map(String::as_str);
    AuditChangeReport::of(names, extensions)
}

/// Warns about a name that the snapshot or the cluster does not have, because it may be a typo.
fn warn_of_added(current: &CurrentCatalogs) {
    for name in current.added() {
        warn(&format!(
            "catalog {} is not in the snapshot or the cluster: the report is about adding it",
            go::quote(name)
        ));
    }
}

/// Prints the report in one of the forms that a preview has, and returns the exit code that it requires.
fn print_preview(
    report: &AuditChangeReport,
    unread: Vec<Finding>,
    form: Output,
) -> io::Result<Exit> {
    output::plain(match form {
        Output::Json => json_line(report)?,
        Output::Yaml => yaml::document(&serde_json::to_value(report)?),
        Output::Markdown => report.document(unread).to_markdown(),
        _ => report.to_string(),
    })?;
    let is_harmful = report.count(Level::Harmful) > 0;
    Ok(Exit::of_results(is_harmful, report.is_undecided()))
}
