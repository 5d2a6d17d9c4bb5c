//! What the range is tried on: the versions of the command line, or the bundles of a package.
//!
//! `--catalog` is a flag of other commands too, so its twin in the environment may be set for them:
//! from there it counts only together with a `--package`, and gives way to versions.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, Command, FromArgMatches};

use crate::cli::args::catalogs::CatalogArgs;
use crate::cli::args::memory;
use crate::cli::commands::instead;
use crate::cli::{Exit, HasExit};
use crate::source::{CatalogSource, Loader, Progress};
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::go;
use olmguard_catalog::{Catalog, PackageFault};
use olmguard_engine::nearest::nearest;
use olmguard_engine::snapshot::Content;
use olmguard_views::range_report::Subject;

/// The package whose bundles the range is tried on.
#[derive(Clone, Copy, Debug)]
pub(super) struct BundleSource<'a> {
    catalog: &'a CatalogSource,
    package: &'a str,
}

/// Whether the user named a package's bundles on the command line itself.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum SubjectFlags {
    /// No: what the flags say, if anything, is from the environment.
    #[default]
    Environment,
    /// Yes, by at least one of the two flags.
    CommandLine,
}

/// Why there are no subjects.
#[derive(Debug, thiserror::Error)]
pub(super) enum SubjectsError {
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

/// The versions as subjects.
pub(super) fn versions(texts: &[String]) -> Vec<Subject> {
    texts.iter().map(|text| Subject::version(text)).collect()
}

impl<'a> BundleSource<'a> {
    /// The package that is asked for, if one is.
    pub(super) fn choose(
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

    /// Reads the catalog, and finds the package's bundles in it, best first.
    pub(super) fn load(self, rules: &Rules) -> Result<Vec<Subject>, SubjectsError> {
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
    /// A package that a readable catalog does not have is a wrong value of a flag: nothing was
    /// judged, and no input was at fault.
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

/// How many names are offered for one that does not exist.
const MOST_NEAR: usize = 3;

fn first(fault: &PackageFault) -> String {
    fault
        .faults
        .first()
        .map_or_else(String::new, ToString::to_string)
}
