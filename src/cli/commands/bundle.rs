//! `olmguard bundle`: whether OLM installs a bundle, and after which it can follow.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::heading;
use crate::cli::args::olm::OlmArgs;
use crate::cli::output::{OutputArgs, TextOrJson, progress};
use crate::cli::{Exit, help, output, say};
use crate::manifest::{DocumentError, InputError, documents, read_file};
use crate::source::image::{ImageError, ImageKind};
use crate::source::{FilesPlace, Progress};
use olmguard_preflight::bundle::{NoCsv, RegistryBundle};
use olmguard_views::bundle_report::{ReleaseReport, UncomparedCrd};

/// Check a bundle before its release
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct BundleArgs {
    /// Compare its CRDs with the CRDs of this bundle, a directory or oci:IMAGE
    #[arg(long, value_name = "BUNDLE", help_heading = heading::INPUT)]
    upgrade_from: Option<FilesPlace>,

    #[command(flatten)]
    olm: OlmArgs,

    #[command(flatten)]
    output: OutputArgs<TextOrJson>,

    /// The bundle: a directory with manifests/ and metadata/, or oci:IMAGE
    #[arg(value_name = "BUNDLE")]
    bundle: FilesPlace,
}

const EXAMPLES: &[&str] = &[
    "olmguard bundle ./bundle",
    "olmguard bundle ./bundle --upgrade-from ../released/bundle",
    "olmguard bundle ./bundle --upgrade-from oci:quay.example/lantern/bundle:v1.2.0",
    "olmguard bundle ./bundle --olm-release 1.9 -o json",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "OLM can install it"),
    (Exit::Denied, "OLM cannot install it"),
    (Exit::Usage, "wrong usage"),
    (Exit::BadInput, "a bundle is unreadable"),
];

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
enum BundleCommandError {
    #[error(transparent)]
    Usage(#[from] UsageError),
    #[error("{}: {source}", .folder.display())]
    Folder { folder: PathBuf, source: io::Error },
    #[error(
        "{}: found the directory {name:?}: expected files only, because OLM takes no directories there",
        .folder.display()
    )]
    Directory { folder: PathBuf, name: String },
    #[error(
        "{}: not there: expected the directory of a bundle, with manifests/ and metadata/annotations.yaml",
        .file.display()
    )]
    NoAnnotations { file: PathBuf },
    #[error("{}: {source}", .file.display())]
    File { file: PathBuf, source: InputError },
    #[error("{}:{source}", .file.display())]
    Document {
        file: PathBuf,
        source: DocumentError,
    },
    #[error("{}: {found}: expected objects of Kubernetes, each with its kind", .file.display())]
    NoObject { file: PathBuf, found: &'static str },
    #[error("{}: {source}: expected one with the kind ClusterServiceVersion", .folder.display())]
    NoCsv { folder: PathBuf, source: NoCsv },
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Crd(#[from] UncomparedCrd),
    #[error("cannot write the result: {0}")]
    Write(#[from] io::Error),
}

/// Prints the report; a fault goes to stderr.
pub(super) fn run(args: &BundleArgs) -> Exit {
    report_and_print(args).unwrap_or_else(|error| {
        say(&error);
        error.exit()
    })
}

fn report_and_print(args: &BundleArgs) -> Result<Exit, BundleCommandError> {
    let rules = args.olm.request().rules().map_err(UsageError::from)?;
    let bundle = read_bundle(&args.bundle)?;
    let before = args.upgrade_from.as_ref().map(read_bundle).transpose()?;
    let report = ReleaseReport::of(&bundle, before.as_ref(), &rules)?;
    match args.output.form {
        TextOrJson::Text => output::toned(&report.to_text())?,
        TextOrJson::Json => output::json(&report)?,
    }
    Ok(if report.is_refused() {
        Exit::Denied
    } else {
        Exit::Good
    })
}

/// The bundle in a directory or an image.
fn read_bundle(place: &FilesPlace) -> Result<RegistryBundle, BundleCommandError> {
    let progress = Progress::default();
    let local = || place.local(ImageKind::Bundle, &progress);
    let files = progress::shown(&progress, local)?;
    read_folder(files.path())
}

/// Links are followed: it is the user's own directory, or one without any.
fn read_folder(folder: &Path) -> Result<RegistryBundle, BundleCommandError> {
    let annotations = folder.join("metadata/annotations.yaml");
    if !annotations.exists() {
        return Err(BundleCommandError::NoAnnotations { file: annotations });
    }
    let annotations = objects(&annotations)?.into_iter().next();
    let package = annotations
        .as_ref()
        .and_then(|it| it.pointer(PACKAGE)?.as_str());
    let manifests = folder.join("manifests");
    let mut all = Vec::new();
    for file in files(&manifests)? {
        all.extend(kinds(&file)?);
    }
    RegistryBundle::of(package.unwrap_or_default(), all).map_err(|source| {
        BundleCommandError::NoCsv {
            folder: manifests,
            source,
        }
    })
}

/// The files of a directory, in byte order of their names.
fn files(folder: &Path) -> Result<Vec<PathBuf>, BundleCommandError> {
    let failed = |source| BundleCommandError::Folder {
        folder: folder.to_owned(),
        source,
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            return Err(BundleCommandError::Directory {
                folder: folder.to_owned(),
                name: name.into_owned(),
            });
        }
        files.push(path);
    }
    files.sort_unstable();
    Ok(files)
}

/// The objects of a file of manifests, lists unfolded.
fn kinds(file: &Path) -> Result<Vec<Value>, BundleCommandError> {
    let bytes = read(file)?;
    let mut all = Vec::new();
    for document in documents(&bytes) {
        let document = document.map_err(|source| document_error(file, source))?;
        let is_map = document.value.is_object();
        let (objects, _) = document.into_objects();
        if !is_map || objects.iter().any(|object| object.kind.is_empty()) {
            return Err(BundleCommandError::NoObject {
                file: file.to_owned(),
                found: if is_map {
                    "an object without a kind"
                } else {
                    "a document that is no object"
                },
            });
        }
        all.extend(objects.into_iter().map(|object| object.value));
    }
    Ok(all)
}

/// The documents of a file, whatever they are.
fn objects(file: &Path) -> Result<Vec<Value>, BundleCommandError> {
    let bytes = read(file)?;
    let all = documents(&bytes).map(|document| {
        let document = document.map_err(|source| document_error(file, source))?;
        Ok(document.value)
    });
    all.collect()
}

fn read(file: &Path) -> Result<Vec<u8>, BundleCommandError> {
    read_file(file).map_err(|source| BundleCommandError::File {
        file: file.to_owned(),
        source,
    })
}

fn document_error(file: &Path, source: DocumentError) -> BundleCommandError {
    BundleCommandError::Document {
        file: file.to_owned(),
        source,
    }
}

impl BundleCommandError {
    fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Write(_) => Exit::Internal,
            _ => Exit::BadInput,
        }
    }
}

const PACKAGE: &str = "/annotations/operators.operatorframework.io.bundle.package.v1";
