//! `--catalog NAME=PATH` or `--catalog NAME=URL#sha256=HEX`.

use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::cli::args::heading;
use crate::source::CatalogPlace;
use crate::source::pinned::PinnedUrlError;

/// The catalogs of `--catalog`, in the order given, each name once.
///
/// A path may have a comma in it, so only the list of the environment is split at commas.
#[derive(Clone, Debug, Default)]
pub(crate) struct CatalogArgs(Vec<CatalogArg>);

/// Where the content of one catalog is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct CatalogArg {
    pub(crate) name: String,
    pub(crate) place: CatalogPlace,
}

/// Why a `--catalog` is not understood.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum CatalogArgError {
    #[error("{found:?} has no name: write NAME=PATH, for example hub=catalog.yaml")]
    NoPath { found: String },
    #[error("{found:?} has an empty name: write NAME=PATH, for example hub=catalog.yaml")]
    EmptyName { found: String },
    #[error(
        "{found:?} has an empty path: write NAME=PATH for a file or directory, or \
         NAME=URL#sha256=HEX"
    )]
    EmptyPath { found: String },
    #[error("catalog {name:?} is given twice: give each name once")]
    Twice { name: String },
    #[error(transparent)]
    Url(#[from] PinnedUrlError),
}

impl CatalogArgs {
    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The catalogs in the order given.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &CatalogArg> {
        self.0.iter()
    }

    /// Those that lie on this machine.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.iter().filter_map(|catalog| catalog.place.path())
    }

    fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, CatalogArgError> {
        let mut names = BTreeSet::new();
        let mut catalogs = Vec::new();
        for text in texts {
            let catalog: CatalogArg = text.parse()?;
            if !names.insert(catalog.name.clone()) {
                return Err(CatalogArgError::Twice { name: catalog.name });
            }
            catalogs.push(catalog);
        }
        Ok(Self(catalogs))
    }
}

impl FromStr for CatalogArg {
    type Err = CatalogArgError;

    fn from_str(text: &str) -> Result<Self, CatalogArgError> {
        let found = || text.to_owned();
        match text.split_once('=') {
            None => Err(CatalogArgError::NoPath { found: found() }),
            Some(("", _)) => Err(CatalogArgError::EmptyName { found: found() }),
            Some((_, "")) => Err(CatalogArgError::EmptyPath { found: found() }),
            Some((name, place)) => Ok(Self {
                name: name.to_owned(),
                place: place.parse()?,
            }),
        }
    }
}

impl FromIterator<CatalogArg> for CatalogArgs {
    /// Names that are there once each.
    fn from_iter<I: IntoIterator<Item = CatalogArg>>(catalogs: I) -> Self {
        Self(catalogs.into_iter().collect())
    }
}

impl CatalogArg {
    /// The catalog of this name at a place as it is written in a file of this folder.
    pub(crate) fn within(folder: &Path, name: &str, place: &str) -> Result<Self, PinnedUrlError> {
        let place = place.parse::<CatalogPlace>()?.within(folder);
        let name = name.to_owned();
        Ok(Self { name, place })
    }
}

impl Args for CatalogArgs {
    fn augment_args(command: Command) -> Command {
        command.arg(
            Arg::new(CATALOG)
                .long("catalog")
                .value_name("NAME=PATH")
                .action(ArgAction::Append)
                .help_heading(heading::CATALOGS)
                .help("Load catalog NAME: a file, directory or URL#sha256=HEX (repeatable)"),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for CatalogArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let texts = matches.get_many::<String>(CATALOG).into_iter().flatten();
        let read = if matches.value_source(CATALOG) == Some(ValueSource::EnvVariable) {
            let listed = texts.flat_map(|list| list.split(','));
            Self::parse(listed.map(str::trim).filter(|text| !text.is_empty()))
        } else {
            Self::parse(texts.map(String::as_str))
        };
        read.map_err(|error| {
            clap::Error::raw(
                clap::error::ErrorKind::ValueValidation,
                format!("--catalog: {error}\n"),
            )
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

const CATALOG: &str = "catalog";
