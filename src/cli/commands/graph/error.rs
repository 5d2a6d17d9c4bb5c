//! The errors of `olmguard graph`.

use std::io;
use std::path::PathBuf;

use crate::cli::{Exit, HasExit, ends_with};
use olmguard_catalog::PackageFault;
use olmguard_catalog::version::go;
use olmguard_views::picture::{GraphTooLarge, NoSuchVersion};

/// The reason why there is no graph to print.
#[derive(Debug, thiserror::Error)]
pub(super) enum GraphError {
    #[error(
        "--in: no catalog {}: expected one of {}",
        go::quote(name),
        list(known)
    )]
    NoCatalog { name: String, known: Vec<String> },
    #[error("no catalog has a package {}{instead}", go::quote(package))]
    NoPackage { package: String, instead: String },
    #[error(
        "{} catalogs have the package: expected --in with one of {}",
        catalogs.len(),
        list(catalogs)
    )]
    Several { catalogs: Vec<String> },
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
    #[error("a catalog that may have the package cannot be read")]
    Missing(Exit),
    #[error(
        "--channel: the package has no channel {}: expected one of {}",
        go::quote(name),
        list(known)
    )]
    NoChannel { name: String, known: Vec<String> },
    #[error("--to needs a start: give --from or --installed")]
    NoStart,
    #[error("--base needs a picture: add -o svg or -o html")]
    NoPicture,
    #[error(
        "--output-file {}: unknown extension: expected .svg, .html, .dot, .json, .mmd, .md or .txt, or add -o FORMAT",
        file.display()
    )]
    UnknownExtension { file: PathBuf },
    #[error(
        "--output-file {}: -o requests another format than this extension: omit -o, or rename the file",
        file.display()
    )]
    Contradiction { file: PathBuf },
    #[error("--base: {0}")]
    Base(String),
    #[error(
        "--base: package {} cannot be decoded: {}",
        go::quote(package),
        fault.first()
    )]
    BaseUndecodable {
        package: String,
        fault: PackageFault,
    },
    #[error("--olm v0 uses the edges of the catalog: omit --graph")]
    NotOfV0,
    #[error("{flag}: {source}")]
    Version {
        flag: &'static str,
        source: NoSuchVersion,
    },
    #[error("{}: cannot be written: {source}", file.display())]
    File { file: PathBuf, source: io::Error },
}

ends_with!(Usage: GraphTooLarge);

impl HasExit for GraphError {
    fn exit(&self) -> Exit {
        match self {
            Self::Missing(exit) => *exit,
            Self::NoPackage { .. } | Self::NoChannel { .. } => Exit::Denied,
            Self::NoCatalog { .. }
            | Self::Several { .. }
            | Self::NoStart
            | Self::NoPicture
            | Self::UnknownExtension { .. }
            | Self::Contradiction { .. }
            | Self::NotOfV0
            | Self::Version { .. } => Exit::Usage,
            Self::Undecodable { .. } | Self::Base(_) | Self::BaseUndecodable { .. } => {
                Exit::BadInput
            }
            Self::File { .. } => Exit::Internal,
        }
    }
}

fn list(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| go::quote(name)).collect();
    quoted.join(", ")
}
