//! `olmguard range`: the meaning of a version range, and the versions that it matches.

use clap::builder::BoolishValueParser;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use crate::cli::args::catalogs::{CatalogArgs, CommonArgs, UsageError};
use crate::cli::args::{heading, memory};
use crate::cli::commands::instead;
use crate::cli::output::{OutputArgs, TextOrJson};
use crate::cli::{CommandFailure, Exit, HasExit, help};
use crate::source::{CatalogSource, Loader, Progress};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::go;
use olmguard_catalog::{Catalog, PackageFault};
use olmguard_engine::nearest::nearest;
use olmguard_engine::snapshot::Content;
use olmguard_views::range_report::{Grammar, RangeReport, Subject};

/// Show what a version range matches
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct RangeArgs {
    /// First, since what is read of the flags below is gone afterwards.
    #[command(flatten)]
    sources: SubjectFlags,

    /// Read RANGE as a skipRange of a catalog, which has another grammar
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::INPUT)]
    skip_range: bool,

    #[command(flatten)]
    common: CommonArgs,

    /// Show which bundles of this package of --catalog match
    #[arg(long, value_name = "PACKAGE", help_heading = heading::INPUT)]
    package: Option<String>,

    #[command(flatten)]
    output: OutputArgs<TextOrJson>,

    /// Version range, such as ">=1.2.0 <2.0.0"
    range: String,

    /// Versions to match
    #[arg(value_name = "VERSION")]
    versions: Vec<String>,
}

const EXAMPLES: &[&str] = &[
    "olmguard range '>=1.2.0 <2.0.0' 1.2.3 2.0.0-rc.1",
    "olmguard range --skip-range '>=1.2.0 <2.0.0' 1.2.3 2.0.0-rc.1",
    "olmguard range 1.x --catalog hub=hub.yaml --package lantern-operator",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "the range is valid"),
    (Exit::Denied, "the range is not valid"),
    (Exit::Usage, "wrong usage"),
    (Exit::BadInput, "the catalog is unreadable"),
];

/// Runs `olmguard range`.
pub(crate) fn run(args: &RangeArgs) -> Result<Exit, CommandFailure> {
    let report = report(args)?;
    args.output.form.print(&report, || report.to_text())?;
    Ok(if report.is_range() {
        Exit::Good
    } else {
        Exit::Denied
    })
}

fn report(args: &RangeArgs) -> Result<RangeReport, CommandFailure> {
    let RangeArgs {
        sources,
        skip_range,
        common,
        package,
        output: _,
        range,
        versions,
    } = args;
    let rules = common.olm.request().rules().map_err(UsageError::from)?;
    let grammar = if *skip_range {
        Grammar::SkipRange
    } else {
        Grammar::Spec(rules.masterminds)
    };
    let from = BundleSource::choose(*sources, &common.catalog, package.as_deref(), versions)?;
    let subjects = match from {
        None => versions.iter().map(|text| Subject::version(text)).collect(),
        Some(from) => from.load(&rules)?,
    };
    Ok(RangeReport::new(range, grammar, subjects))
}

// === The subjects of the range: the versions of the command line, or the bundles of a package ===
//
// Other commands have `--catalog` too, so its environment variable may be set for them. The variable counts only
// together with a `--package`, and gives way to versions.

/// The package whose bundles are compared with the range.
#[derive(Clone, Copy, Debug)]
struct BundleSource<'a> {
    catalog: &'a CatalogSource,
    package: &'a str,
}

/// Whether the user named a package's bundles on the command line itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum SubjectFlags {
    /// No: what the flags say, if anything, is from the environment.
    #[default]
    Environment,
    /// Yes, by at least one of the two flags.
    CommandLine,
}

/// The reason why there are no subjects.
#[derive(Debug, thiserror::Error)]
enum SubjectsError {
    #[error("--catalog needs a package: add --package PACKAGE")]
    NoPackage,
    #[error("--package needs a catalog: add --catalog NAME=PATH")]
    NoCatalog,
    #[error("found {found} catalogs: range accepts exactly one --catalog")]
    Catalogs { found: usize },
    #[error("found a package and versions: expected either --package or VERSION...")]
    VersionsToo,
    #[error("catalog {}: {why}", go::quote(catalog))]
    Unreadable { catalog: String, why: String },
    #[error(
        "package {} of catalog {} cannot be decoded: {}",
        go::quote(package),
        go::quote(catalog),
        first(fault)
    )]
    Undecodable {
        catalog: String,
        package: String,
        fault: PackageFault,
    },
    #[error(
        "catalog {} has no package {}{}",
        go::quote(catalog),
        go::quote(package),
        instead(near)
    )]
    NoSuchPackage {
        catalog: String,
        package: String,
        near: Vec<String>,
    },
}

impl<'a> BundleSource<'a> {
    /// The requested package, if any.
    fn choose(
        sources: SubjectFlags,
        catalogs: &'a CatalogArgs,
        package: Option<&'a str>,
        versions: &[String],
    ) -> Result<Option<Self>, SubjectsError> {
        let catalogs = catalogs.sources();
        let found = catalogs.len();
        match (sources, catalogs.first(), package, versions) {
            (SubjectFlags::Environment, None, _, _)
            | (SubjectFlags::Environment, _, None, _)
            | (SubjectFlags::Environment, _, _, [_, ..]) => Ok(None),
            (SubjectFlags::CommandLine, None, _, _) => Err(SubjectsError::NoCatalog),
            (SubjectFlags::CommandLine, _, None, _) => Err(SubjectsError::NoPackage),
            (SubjectFlags::CommandLine, _, _, [_, ..]) => Err(SubjectsError::VersionsToo),
            (_, Some(_), Some(_), []) if found > 1 => Err(SubjectsError::Catalogs { found }),
            (_, Some(catalog), Some(package), []) => Ok(Some(Self { catalog, package })),
        }
    }

    /// Reads the catalog, and returns the bundles of the package, best first.
    fn load(self, rules: &Rules) -> Result<Vec<Subject>, SubjectsError> {
        let Self { catalog, .. } = self;
        let progress = Progress::default();
        let mut loader = Loader::new(rules, &progress, memory::of_commands());
        match &catalog.place.load(&mut loader) {
            Content::Loaded(content) => self.bundles(content),
            Content::Missing => Err(self.unreadable("it has no content")),
            Content::Unfetched(why) | Content::Unreadable(why) => Err(self.unreadable(why)),
        }
    }

    fn bundles(self, content: &Catalog) -> Result<Vec<Subject>, SubjectsError> {
        let (catalog, package) = (self.catalog.name.clone(), self.package.to_owned());
        match content.package(self.package) {
            Some(Ok(found)) => Ok(Subject::bundles(found).collect()),
            Some(Err(fault)) => Err(SubjectsError::Undecodable {
                catalog,
                package,
                fault: fault.clone(),
            }),
            None => {
                let near = nearest(self.package, content.package_names(), MOST_NEAR);
                Err(SubjectsError::NoSuchPackage {
                    catalog,
                    package,
                    near: near.into_iter().map(str::to_owned).collect(),
                })
            }
        }
    }

    fn unreadable(self, why: &str) -> SubjectsError {
        SubjectsError::Unreadable {
            catalog: self.catalog.name.clone(),
            why: why.to_owned(),
        }
    }
}

impl HasExit for SubjectsError {
    /// A package that a readable catalog does not have is a wrong value of a flag: nothing was judged, and all inputs
    /// are good.
    fn exit(&self) -> Exit {
        match self {
            Self::Unreadable { .. } | Self::Undecodable { .. } => Exit::BadInput,
            _ => Exit::Usage,
        }
    }
}

impl Args for SubjectFlags {
    fn augment_args(command: Command) -> Command {
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        command
    }
}

impl FromArgMatches for SubjectFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_typed = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
        Ok(if is_typed("catalog") || is_typed("package") {
            Self::CommandLine
        } else {
            Self::Environment
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The maximum number of similar names that an error offers.
const MOST_NEAR: usize = 3;

fn first(fault: &PackageFault) -> String {
    fault
        .faults
        .first()
        .map_or_else(String::new, ToString::to_string)
}
