//! `olmguard range`: the meaning of a version range, and the versions that it matches.

use clap::builder::BoolishValueParser;

use crate::cli::args::catalogs::CommonArgs;
use crate::cli::args::{TypedOptions, heading};
use crate::cli::commands::MOST_NEAR;
use crate::cli::commands::diff::load;
use crate::cli::output::{OutputArgs, TextOrJson};
use crate::cli::{CommandFailure, Exit, HasExit, help};
use crate::facts::instead;
use crate::source::CatalogSource;
use olmguard_catalog::PackageFault;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::go;
use olmguard_views::range_report::{Grammar, RangeReport, Subject};

/// Show what a version range matches
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct RangeArgs {
    #[command(flatten)]
    typed: TypedOptions<Self>,

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
    Ok(Exit::denied_if(!report.is_range()))
}

fn report(args: &RangeArgs) -> Result<RangeReport, CommandFailure> {
    let rules = args.common.olm.request().rules()?;
    let grammar = if args.skip_range {
        Grammar::SkipRange
    } else {
        Grammar::Spec(rules.masterminds)
    };
    let subjects = match BundleSource::choose(args)? {
        None => {
            let versions = args.versions.iter();
            versions.map(|text| Subject::version(text)).collect()
        }
        Some(from) => from.load(&rules)?,
    };
    Ok(RangeReport::new(&args.range, grammar, subjects))
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
        fault.first()
    )]
    Undecodable {
        catalog: String,
        package: String,
        fault: PackageFault,
    },
    #[error(
        "catalog {} has no package {}{instead}",
        go::quote(catalog),
        go::quote(package)
    )]
    NoSuchPackage {
        catalog: String,
        package: String,
        instead: String,
    },
}

impl<'a> BundleSource<'a> {
    /// The requested package, if any.
    fn choose(args: &'a RangeArgs) -> Result<Option<Self>, SubjectsError> {
        let catalogs = args.common.catalog.sources();
        let is_typed = args.typed.has_any(&["--catalog", "--package"]);
        match (catalogs, args.package.as_deref(), &*args.versions) {
            ([], ..) | (_, None, _) | (.., [_, ..]) if !is_typed => Ok(None),
            ([], ..) => Err(SubjectsError::NoCatalog),
            (_, None, _) => Err(SubjectsError::NoPackage),
            (.., [_, ..]) => Err(SubjectsError::VersionsToo),
            ([catalog], Some(package), []) => Ok(Some(Self { catalog, package })),
            (several, ..) => Err(SubjectsError::Catalogs {
                found: several.len(),
            }),
        }
    }

    /// Reads the catalog, and returns the bundles of the package, best first.
    fn load(self, rules: &Rules) -> Result<Vec<Subject>, SubjectsError> {
        let (catalog, package) = (self.catalog.name.clone(), self.package.to_owned());
        let content = match load(&self.catalog.place, rules) {
            Ok(content) => content,
            Err(why) => return Err(SubjectsError::Unreadable { catalog, why }),
        };
        match content.package(self.package) {
            Some(Ok(found)) => Ok(Subject::bundles(found).collect()),
            Some(Err(fault)) => Err(SubjectsError::Undecodable {
                catalog,
                package,
                fault: fault.clone(),
            }),
            None => Err(SubjectsError::NoSuchPackage {
                instead: instead(&package, content.package_names(), MOST_NEAR),
                catalog,
                package,
            }),
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
