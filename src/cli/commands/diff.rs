//! `olmguard diff`: the effects of a catalog change on its users.

mod installed;

use std::io;
use std::sync::Arc;

use installed::InstalledArgs;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::olm::OlmArgs;
use crate::cli::args::{NamedValue, heading, memory, one_of};
use crate::cli::facts::check_stdin;
use crate::cli::output::{self, OutputArgs};
use crate::cli::{CommandFailure, Exit, HasExit, help};
use crate::source::{CatalogPlace, Loader, Progress};
use olmguard_catalog::Catalog;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::Content;
use olmguard_views::diff::{
    Change, ChangeKind, DiffUsers, Level, PackageDiff, ReportedBundle, Who, diff, document, weigh,
    words,
};
use olmguard_views::see::Generation;

/// Show how a catalog change affects its users
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct DiffArgs {
    /// Compare only this package
    #[arg(long, value_name = "PACKAGE", help_heading = heading::INPUT)]
    package: Option<String>,

    /// Generation of OLM that the users have
    #[arg(
        long,
        value_name = "GENERATION",
        value_parser = one_of(&GENERATIONS),
        default_value = "v1",
        help_heading = heading::INPUT
    )]
    olm: Generation,

    /// Accept breaking changes of this kind, such as bundle-removed (repeatable)
    #[arg(
        long,
        value_name = "KIND",
        value_delimiter = ',',
        value_parser = kind,
        help_heading = heading::RESULT
    )]
    allow: Vec<ChangeKind>,

    #[command(flatten)]
    installed: InstalledArgs,

    #[command(flatten)]
    rules: OlmArgs,

    #[command(flatten)]
    output: OutputArgs<Output>,

    /// Catalog before the change: a file, a directory, oci:IMAGE, or - for standard input
    old: CatalogPlace,

    /// Catalog after the change
    new: CatalogPlace,
}

/// The form of the report.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Output {
    /// Text for people
    #[default]
    Text,
    /// One JSON object, described by a file in schemas/
    Json,
    /// A table for a comment on a pull request
    Markdown,
}

/// The generations of OLM that users can have.
const GENERATIONS: [NamedValue<Generation>; 2] = [
    (
        "v0",
        Generation::V0,
        "OLM v0, with a Subscription for each channel",
    ),
    (
        "v1",
        Generation::V1,
        "OLM v1, with ClusterExtensions that request no channel and no range",
    ),
];

const EXAMPLES: &[&str] = &[
    "olmguard diff old.yaml new.yaml",
    "olmguard diff old/ new/ --package lantern-operator --olm v0",
    "olmguard diff old.yaml new.yaml --allow bundle-removed",
    "olmguard diff old.yaml new.yaml --snapshot prod.snapshot",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "no breaking changes"),
    (Exit::Denied, "a breaking change"),
    (Exit::Usage, "wrong usage"),
    (Exit::BadInput, "a catalog or a manifest is unreadable"),
    (
        Exit::Undecided,
        "it is not known what is installed of all extensions",
    ),
];

/// The reason why there is nothing to print.
#[derive(Debug, thiserror::Error)]
enum DiffError {
    #[error(
        "--olm v0 is about Subscriptions, and --extensions, --snapshot and --from-cluster give ClusterExtensions: omit \
         --olm v0 or these"
    )]
    Generations,
    #[error("{why}")]
    Unreadable { why: String },
    #[error(
        "neither catalog has package {}: expected one of their packages",
        olmguard_catalog::version::go::quote(package)
    )]
    NoPackage { package: String },
}

impl HasExit for DiffError {
    fn exit(&self) -> Exit {
        match self {
            Self::Generations | Self::NoPackage { .. } => Exit::Usage,
            Self::Unreadable { .. } => Exit::BadInput,
        }
    }
}

/// Runs `olmguard diff`.
pub(crate) fn run(args: &DiffArgs) -> Result<Exit, CommandFailure> {
    if args.olm == Generation::V0 && args.installed.is_given() {
        return Err(DiffError::Generations.into());
    }
    let places = [&args.old, &args.new];
    let manifests = args.installed.extensions.iter().map(|path| &**path);
    check_stdin(
        places
            .into_iter()
            .filter_map(CatalogPlace::path)
            .chain(manifests),
    )?;
    let facts = args.installed.read(&args.rules)?;
    let [old, new] = places.map(|place| load(place, &facts.rules));
    let unreadable = |why| DiffError::Unreadable { why };
    let (old, new) = (old.map_err(unreadable)?, new.map_err(unreadable)?);
    if let Some(package) = &args.package
        && old.package(package).is_none()
        && new.package(package).is_none()
    {
        let package = package.clone();
        return Err(DiffError::NoPackage { package }.into());
    }
    let users = match args.olm {
        Generation::V1 => DiffUsers::V1(&facts.rules),
        Generation::V0 => DiffUsers::V0,
    };
    let mut packages = diff(&old, &new, args.package.as_deref(), users);
    let (installed, unknown) = facts.installed(args.package.as_deref());
    if let Some(installed) = &installed {
        weigh(&mut packages, installed);
    }
    print(args, &packages, args.olm)?;
    let exits = facts.exits.iter().copied().chain(unknown);
    let own = Exit::denied_if(harmful(&packages, &args.allow) > 0);
    Ok(Exit::worst(exits.chain([own])))
}

fn print(args: &DiffArgs, packages: &[PackageDiff], generation: Generation) -> io::Result<()> {
    match args.output.form {
        Output::Text => output::plain(words::text(packages, generation)),
        Output::Json => output::json(&Report::of(packages, generation, &args.allow)),
        Output::Markdown => output::plain(document(packages, generation).to_markdown()),
    }
}

/// Loads the catalog at a place, or returns the reason why it is unavailable.
pub(super) fn load(place: &CatalogPlace, rules: &Rules) -> Result<Arc<Catalog>, String> {
    let reading = Progress::default();
    let content = || place.load(&mut Loader::new(rules, &reading, memory::of_commands()));
    let content = output::with_progress(&reading, content);
    match content {
        Content::Loaded(catalog) => Ok(catalog),
        Content::Unreadable(why) | Content::Unfetched(why) => Err(why),
        Content::Missing => Err(format!("{place}: nothing is there")),
    }
}

/// The number of breaking changes that `--allow` does not name.
fn harmful(packages: &[PackageDiff], allowed: &[ChangeKind]) -> usize {
    let changes = packages.iter().flat_map(|package| &package.changes);
    let kinds = changes.map(|change| change.kind);
    let is_harmful = |kind: &ChangeKind| kind.level() == Level::Harmful && !allowed.contains(kind);
    kinds.filter(is_harmful).count()
}

/// Parses the name of a kind that can be allowed.
fn kind(text: &str) -> Result<ChangeKind, String> {
    let harmful = || {
        ChangeKind::ALL
            .into_iter()
            .filter(|kind| kind.level() == Level::Harmful)
    };
    harmful().find(|kind| kind.as_str() == text).ok_or_else(|| {
        let names: Vec<_> = harmful().map(ChangeKind::as_str).collect();
        format!("expected one of {}", names.join(", "))
    })
}

// === The changes as JSON, schema `olmguard.diff/v1` ===

/// Output of `olmguard diff` as JSON.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Report {
    /// Schema of this object.
    schema: &'static str,
    /// Generation of OLM whose users the report is about: `v0` or `v1`.
    olm: &'static str,
    /// Number of breaking changes that `--allow` does not name.
    harmful: usize,
    /// Number of changes that concern installed extensions. Absent if no extensions were given, or nothing changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    concerning: Option<usize>,
    /// Summary in one line.
    summary: String,
    /// Packages that changed, by name. First those with a change that concerns an installed extension.
    packages: Vec<PackageReport>,
}

/// The changes of one package.
#[derive(Debug, JsonSchema, Serialize)]
struct PackageReport {
    /// Name of the package.
    name: String,
    /// Changes of the package, the most harmful first. Before all of them, in the same order, changes that concern
    /// installed extensions.
    changes: Vec<ChangeReport>,
}

/// One change of the catalog.
#[derive(Debug, JsonSchema, Serialize)]
struct ChangeReport {
    /// Kind of the change, such as `newly-stranded`.
    kind: &'static str,
    /// Effect on users: `harmful` (breaking), `notice` (to review) or `good` (an improvement).
    level: &'static str,
    /// Whether `--allow` names the kind of this change.
    allowed: bool,
    /// Names of the installed extensions that the change concerns. Absent if no extensions were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    extensions: Option<Vec<String>>,
    /// Installed version of the affected users. Null if the change is about the catalog itself.
    installed: Option<Who>,
    /// Bundle that was added, removed, deprecated or replaced by other content, as it was before.
    bundle: Option<ReportedBundle>,
    /// Bundle that has the name of `bundle` after the change.
    other: Option<ReportedBundle>,
    /// Channel that was added, removed or deprecated.
    channel: Option<String>,
    /// State before the change: lost successors, the bundle of the automatic upgrade, or the
    /// default channel.
    before: Vec<String>,
    /// State after the change: successors (for successors-lost, the remaining ones), the bundle of
    /// the automatic upgrade, or the default channel.
    after: Vec<String>,
    /// Description of the change. Empty if the kind is enough.
    text: String,
}

impl Report {
    fn of(packages: &[PackageDiff], generation: Generation, allowed: &[ChangeKind]) -> Self {
        let reports = packages.iter().map(|package| PackageReport {
            name: package.name.to_string(),
            changes: package
                .changes
                .iter()
                .map(|change| ChangeReport::of(change, allowed))
                .collect(),
        });
        Self {
            schema: SCHEMA,
            olm: match generation {
                Generation::V0 => "v0",
                Generation::V1 => "v1",
            },
            harmful: harmful(packages, allowed),
            concerning: words::concerning(packages),
            summary: words::summary(packages, generation),
            packages: reports.collect(),
        }
    }
}

impl ChangeReport {
    fn of(change: &Change, allowed: &[ChangeKind]) -> Self {
        let kind = change.kind;
        let texts = |names: &[Box<str>]| names.iter().map(ToString::to_string).collect();
        Self {
            kind: kind.as_str(),
            level: kind.level().as_str(),
            allowed: allowed.contains(&kind),
            extensions: change.extensions.as_deref().map(texts),
            installed: change.who.clone(),
            bundle: change.bundle.clone(),
            other: change.other.clone(),
            channel: change.channel.as_ref().map(ToString::to_string),
            before: texts(&change.before),
            after: texts(&change.after),
            text: words::sentence(change),
        }
    }
}

const SCHEMA: &str = "olmguard.diff/v1";
