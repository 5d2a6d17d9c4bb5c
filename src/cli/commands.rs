//! The commands, one file per command, and the error for an input that a command could not read.

mod audit;
mod bundle;
pub mod catalogs;
pub mod check;
mod completions;
mod demo;
pub mod diff;
pub mod doctor;
mod explain;
pub mod generate;
mod graph;
mod inquiry;
pub mod lint;
mod man;
mod migrate;
mod path;
mod range;
mod serve;
mod snapshot;
pub mod test;
pub mod version;
mod versions;

use std::process::ExitCode;
use std::{fmt, io};

use version::Build;

use crate::cli::{ended, ends_with};
use crate::facts::given::GivenFault;
use crate::manifest::{
    DocumentError, Input, InputError, Inputs, ManifestObject, Position, documents,
};
use crate::revision::FileError;
use olmguard_admission::ReviewError;
use olmguard_catalog::version::go;
use olmguard_views::migrate::ClassicError;

#[derive(Debug, clap::Subcommand)]
pub(super) enum CliCommand {
    Check(Box<check::CheckArgs>),
    Audit(Box<audit::AuditArgs>),
    Test(test::TestArgs),
    Range(range::RangeArgs),
    Serve(Box<serve::ServeArgs>),
    Demo(demo::DemoArgs),
    Snapshot(snapshot::SnapshotArgs),
    Catalogs(catalogs::CatalogsArgs),
    Doctor(doctor::DoctorArgs),
    Lint(lint::LintArgs),
    Bundle(bundle::BundleArgs),
    Graph(Box<graph::GraphArgs>),
    Generate(generate::GenerateArgs),
    Diff(diff::DiffArgs),
    Versions(Box<versions::VersionsArgs>),
    Path(Box<path::PathArgs>),
    Explain(Box<explain::ExplainArgs>),
    Migrate(Box<migrate::MigrateArgs>),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Version(version::VersionArgs),
}

impl CliCommand {
    /// Runs the command. `command_line` is the line that called it, with what the environment adds.
    pub(super) fn run(self, command_line: &str, build: Build) -> ExitCode {
        let done = match self {
            Self::Check(args) => check::run(&args),
            Self::Audit(args) => audit::run(&args),
            Self::Test(args) => test::run(&args),
            Self::Range(args) => range::run(&args),
            Self::Serve(args) => return serve::run(*args, command_line),
            Self::Demo(args) => demo::run(args),
            Self::Snapshot(args) => snapshot::run(&args),
            Self::Catalogs(args) => catalogs::run(&args),
            Self::Doctor(args) => doctor::run(&args),
            Self::Lint(args) => lint::run(&args),
            Self::Bundle(args) => bundle::run(&args),
            Self::Graph(args) => graph::run(&args),
            Self::Generate(args) => generate::run(&args),
            Self::Diff(args) => diff::run(&args),
            Self::Versions(args) => versions::run(&args),
            Self::Path(args) => path::run(&args),
            Self::Explain(args) => explain::run(&args),
            Self::Migrate(args) => migrate::run(&args),
            Self::Completions(args) => completions::run(&args),
            Self::Man(args) => man::run(&args),
            Self::Version(args) => version::run(&args, build),
        };
        ended(done).into()
    }
}

/// The maximum number of similar names that an error about a package offers.
const MOST_NEAR: usize = 3;

/// The objects of these inputs, or the first input or document that cannot be read.
fn all_objects(inputs: Inputs<impl io::Read>) -> Result<Vec<ManifestObject>, Box<BadInput>> {
    let mut all = Vec::new();
    for Input { path, bytes } in inputs {
        let bytes = bytes.map_err(|error| BadInput::new(&path, error.into()))?;
        for document in documents(&bytes) {
            let document = document.map_err(InputProblem::Document);
            let document = document.map_err(|problem| BadInput::new(&path, problem))?;
            all.extend(document.into_objects().0);
        }
    }
    Ok(all)
}

// === Unreadable inputs of the commands that read manifests ===

/// An input that could not be read, with its location.
#[derive(Debug)]
struct BadInput {
    file: String,
    lies: Lies,
    problem: InputProblem,
}

/// The origin of an input file.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Lies {
    /// In the file system.
    #[default]
    OnDisk,
    /// In a git revision.
    InRevision,
}

/// The reason why an input could not be read.
#[derive(Debug, thiserror::Error)]
enum InputProblem {
    #[error(transparent)]
    Input(#[from] InputError),
    /// A file of a revision.
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Document(DocumentError),
    /// A catalog or a policy.
    #[error("{1}")]
    Given(Position, GivenFault),
    #[error("{1}")]
    Review(Position, ReviewError),
    /// An extension with an unknown `apiVersion`.
    #[error("unknown apiVersion {} of an extension", go::quote(.1))]
    Version(Position, String),
    /// An object of OLM v0.
    #[error("{1}")]
    Classic(Position, ClassicError),
}

impl BadInput {
    /// The position in the file, if the problem has one.
    fn at(&self) -> Option<Position> {
        match &self.problem {
            InputProblem::Input(_) | InputProblem::File(_) => None,
            InputProblem::Document(error) => Some(error.at),
            InputProblem::Given(at, _)
            | InputProblem::Review(at, _)
            | InputProblem::Version(at, _)
            | InputProblem::Classic(at, _) => Some(*at),
        }
    }

    /// The file, with the position if the problem has one.
    fn place(&self) -> String {
        match self.at() {
            Some(at) => format!("{}:{at}", self.file),
            None => self.file.clone(),
        }
    }

    /// The reason, without the place.
    fn why(&self) -> String {
        match &self.problem {
            InputProblem::Document(error) => error.kind.to_string(),
            problem => problem.to_string(),
        }
    }

    fn new(file: &str, problem: InputProblem) -> Self {
        Self {
            file: file.to_owned(),
            lies: Lies::default(),
            problem,
        }
    }

    /// The same input as a file of a git revision, shown by this name.
    fn in_revision(self, name: &str) -> Self {
        Self {
            file: name.to_owned(),
            lies: Lies::InRevision,
            ..self
        }
    }
}

impl InputProblem {
    /// Whether the problem affects only its own file or directory, and not everything after it.
    fn ends_with_its_file(&self) -> bool {
        !matches!(
            self,
            Self::File(FileError::TooMany { .. } | FileError::TooDeep { .. })
        )
    }
}

ends_with!(BadInput: Box<BadInput>);

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.problem {
            // The error contains the position.
            InputProblem::Document(error) => write!(f, "{}:{error}", self.file),
            problem => write!(f, "{}: {problem}", self.place()),
        }
    }
}
