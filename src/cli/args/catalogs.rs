//! `--catalog NAME=PLACE`, the flags that all evaluating commands share, and usage errors.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};

use crate::cli::args::heading;
use crate::cli::args::memory::TooLittle;
use crate::cli::args::olm::OlmArgs;
use crate::cli::ends_with;
use crate::facts::given::ObjectTwice;
use crate::facts::olm::OlmError;
use crate::manifest::{DocumentField, FieldError};
use crate::source::{CatalogPlaceError, CatalogSource};

/// The flags of every command that judges.
#[derive(Args, Clone, Debug)]
pub(crate) struct CommonArgs {
    #[command(flatten)]
    pub(crate) catalog: CatalogArgs,

    #[command(flatten)]
    pub(crate) olm: OlmArgs,
}

ends_with!(Usage: UsageError, OlmError);

/// The reason why flags cannot be used, alone or together.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum UsageError {
    #[error(transparent)]
    Olm(#[from] OlmError),
    #[error(
        "--snapshot and --from-cluster cannot be used together: each of them gives the catalogs"
    )]
    TwoOrigins,
    #[error(
        "--pull and --preflight off cannot be used together: what is pulled would not be checked"
    )]
    PullUnchecked,
    #[error("no manifest is given: expected PATH, -f PATH, or paths in .olmguard.yaml")]
    NoManifest,
    #[error("no extension is given: expected PATH, --snapshot or --from-cluster")]
    NoExtensions,
    #[error(
        "no Subscription is given: expected -f PATH or --from-cluster; a snapshot has no objects of \
         OLM v0"
    )]
    NoSubscriptions,
    #[error("no catalog is given: expected --catalog, --snapshot or --from-cluster")]
    NoCatalog,
    #[error("{flag} needs a cluster: use it together with --from-cluster")]
    NotFromCluster { flag: &'static str },
    #[error("--installed: extension {extension:?} is given twice: give it once")]
    InstalledTwice { extension: String },
    #[error(
        "--installed: the inputs have no manifest of an extension {extension:?}: expected the name \
         of one; an AdmissionReview already contains what is installed"
    )]
    InstalledStranger { extension: String },
    #[error(
        "standard input can be read only once: use \"-\" for one input, and files for the others; \
         guardrails are read once for each catalog"
    )]
    StdinTwice,
    #[error(transparent)]
    ObjectTwice(#[from] ObjectTwice),
    #[error(
        "--max-connections-per-peer is {per_peer}, but --max-connections is only {in_all}: \
         expected at most that"
    )]
    PerPeer {
        per_peer: NonZeroUsize,
        in_all: NonZeroUsize,
    },
    #[error(transparent)]
    Memory(#[from] TooLittle),
    #[error("{one} and {other} are both {addr}: expected two addresses or ports")]
    SameAddress {
        one: &'static str,
        other: &'static str,
        addr: SocketAddr,
    },
    #[error(
        "--metrics-listen needs a cluster that checks tokens, and --catalog uses files instead of \
         a cluster: omit one of them"
    )]
    MetricsWithoutCluster,
    #[error(
        "no certificate: expected --tls-cert and --tls-key, --certs self-managed in a cluster, or \
         --self-signed for a trial"
    )]
    NoTls,
    #[error("{missing} is missing: expected --tls-cert and --tls-key together")]
    HalfTls { missing: &'static str },
    #[error(
        "{one} and {other} cannot be used together: each of them sets the source of the certificate"
    )]
    TwoTls {
        one: &'static str,
        other: &'static str,
    },
    #[error(
        "--certs self-managed needs a cluster that stores its CA certificate, and --catalog uses \
         files instead of a cluster: omit --catalog, or give --tls-cert and --tls-key, or \
         --self-signed for a trial"
    )]
    NoCluster,
    #[error(
        "{flag} and --catalog cannot be used together: the flag is for the catalogs of a cluster"
    )]
    ClusterBesideFiles { flag: &'static str },
    #[error("{flag} is given without {without}: expected both, or neither")]
    Without {
        flag: &'static str,
        without: &'static str,
    },
    #[error(
        "--certs self-managed needs a name: give --tls-server-name, the name that API servers \
         call, such as olmguard.olmguard-system.svc"
    )]
    NoServerName,
    #[error(
        "--client-allowed is given without --client-ca: expected the CA certificates that sign \
         these clients"
    )]
    AllowedByNobody,
}

/// The catalogs of `--catalog`, in the order given, each name once.
///
/// A path may have a comma in it, so only the list of the environment is split at commas.
#[derive(Clone, Debug, Default)]
pub(crate) struct CatalogArgs(Vec<CatalogSource>);

/// An error in a value of `--catalog`.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub(crate) enum CatalogArgError {
    #[error("{found:?} has no name: write NAME=PATH, for example hub=catalog.yaml")]
    NoPath { found: String },
    #[error("{found:?} has an empty name: write NAME=PATH, for example hub=catalog.yaml")]
    EmptyName { found: String },
    #[error(
        "{found:?} has an empty path: write NAME=PATH for a file or directory, NAME=oci:IMAGE, or \
         NAME=URL#sha256=HEX"
    )]
    EmptyPath { found: String },
    #[error("catalog {name:?} is given twice: give each name once")]
    Twice { name: String },
    #[error(transparent)]
    Place(#[from] CatalogPlaceError),
}

impl CatalogArgs {
    /// Whether no catalog is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The catalogs as plain data.
    pub(crate) fn sources(&self) -> &[CatalogSource] {
        &self.0
    }

    /// The paths of catalogs on this machine.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().filter_map(|catalog| catalog.place.path())
    }

    /// The catalogs of a mapping from names to places, which are relative to a directory.
    pub(crate) fn of_field(field: &DocumentField<'_>, folder: &Path) -> Result<Self, FieldError> {
        let members = field.members()?.into_iter();
        let catalogs = members.map(|(name, place)| {
            place.parsed(|text| {
                CatalogSource::within(folder, name, text).map_err(|error| error.to_string())
            })
        });
        Ok(Self(catalogs.collect::<Result<_, _>>()?))
    }

    fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, CatalogArgError> {
        let mut names = BTreeSet::new();
        let mut catalogs = Vec::new();
        for text in texts {
            let catalog = catalog(text)?;
            if !names.insert(catalog.name.clone()) {
                return Err(CatalogArgError::Twice { name: catalog.name });
            }
            catalogs.push(catalog);
        }
        Ok(Self(catalogs))
    }
}

/// Parses a value of `--catalog`.
fn catalog(text: &str) -> Result<CatalogSource, CatalogArgError> {
    let found = || text.to_owned();
    match text.split_once('=') {
        None => Err(CatalogArgError::NoPath { found: found() }),
        Some(("", _)) => Err(CatalogArgError::EmptyName { found: found() }),
        Some((_, "")) => Err(CatalogArgError::EmptyPath { found: found() }),
        Some((name, place)) => Ok(CatalogSource {
            name: name.to_owned(),
            place: place.parse()?,
        }),
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
                .help("Load catalog NAME: a path, oci:IMAGE or URL#sha256=HEX (repeatable)"),
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

#[cfg(test)]
mod tests;
