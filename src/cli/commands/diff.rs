//! `olmguard diff`: what a change of a catalog does to those who use it.

mod installed;
mod report;

use std::io;
use std::sync::Arc;

use installed::InstalledArgs;

use crate::cli::args::olm::OlmArgs;
use crate::cli::args::{NamedValue, heading, memory, one_of};
use crate::cli::facts::check_stdin;
use crate::cli::output::{self, OutputArgs, progress};
use crate::cli::{CommandFailure, Exit, HasExit, help};
use crate::source::{CatalogPlace, Loader, Progress};
use olmguard_catalog::Catalog;
use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::Content;
use olmguard_views::Generation;
use olmguard_views::diff::{
    ChangeKind, DiffUsers, Level, WeighedPackage, diff, document, weigh, words,
};

pub use report::Report;

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

/// Why there is nothing to print.
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

/// Prints what changed.
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
    let diffs = diff(&old, &new, args.package.as_deref(), users);
    let (installed, unknown) = facts.installed(args.package.as_deref());
    let packages = weigh(&diffs, installed.as_ref());
    print(args, &packages, args.olm)?;
    let exits = facts.exits().chain(unknown);
    Ok(Exit::worst(exits.chain([exit(&packages, &args.allow)])))
}

fn print(
    args: &DiffArgs,
    packages: &[WeighedPackage<'_>],
    generation: Generation,
) -> io::Result<()> {
    let print = |text: String| output::text(|stdout| stdout.write_all(text.as_bytes()));
    match args.output.form {
        Output::Text => print(words::text(packages, generation)),
        Output::Json => output::json(&Report::of(packages, generation, &args.allow)),
        Output::Markdown => print(document(packages, generation).to_markdown()),
    }
}

/// The catalog at a place; why it cannot be had.
pub(super) fn load(place: &CatalogPlace, rules: &Rules) -> Result<Arc<Catalog>, String> {
    let reading = Progress::default();
    let content = || place.load(&mut Loader::new(rules, &reading, memory::of_commands()));
    let content = progress::shown(&reading, content);
    match content {
        Content::Loaded(catalog) => Ok(catalog),
        Content::Unreadable(why) | Content::Unfetched(why) => Err(why),
        Content::Missing => Err(format!("{place}: nothing is there")),
    }
}

fn exit(packages: &[WeighedPackage<'_>], allowed: &[ChangeKind]) -> Exit {
    let mut kinds = packages
        .iter()
        .flat_map(|package| &package.rows)
        .map(|row| row.change.kind);
    let is_harmful = |kind: ChangeKind| kind.level() == Level::Harmful && !allowed.contains(&kind);
    if kinds.any(is_harmful) {
        Exit::Denied
    } else {
        Exit::Good
    }
}

/// A kind that can be allowed, by its name.
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
