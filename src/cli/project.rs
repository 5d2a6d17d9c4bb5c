//! `.olmguard.yaml`: what the flags of every call in a repository would be.
//!
//! It lies in the current directory, or in the nearest directory above it up to the root of the git repository.
//! Its paths are relative to it. A flag or a variable of the environment wins over it; a flag that names catalogs,
//! over all of its catalogs. `serve` does not read it.

#[cfg(test)]
mod tests;
mod written;

use std::collections::BTreeMap;
use std::env;
use std::io;
use std::mem::take;
use std::path::{Path, PathBuf};

use clap::builder::BoolishValueParser;

use crate::admission::OnUndecided;
use crate::cli::args::catalogs::CatalogArgs;
use crate::cli::args::guardrails::GuardrailsArgs;
use crate::cli::args::heading;
use crate::cli::args::installed::SaidArg;
use crate::cli::args::policies::PoliciesArgs;
use crate::manifest::{DocumentError, FieldError, InputError, Inputs, documents};

/// The flag of the commands that read the file.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct ProjectArgs {
    /// Ignore .olmguard.yaml
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::CATALOGS)]
    no_project: bool,
}

/// What the file says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Project {
    /// Manifests to check.
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) catalogs: CatalogArgs,
    pub(crate) snapshot: Option<PathBuf>,
    pub(crate) guardrails: Vec<PathBuf>,
    pub(crate) policies: Vec<PathBuf>,
    /// Revision or directory to compare with.
    pub(crate) base: Option<String>,
    pub(crate) on_undecided: Option<OnUndecided>,
    /// What is installed, by the name of the extension.
    pub(crate) installed: BTreeMap<String, SaidArg>,
}

/// The flags about facts, as the commands have them.
#[derive(Debug)]
pub(crate) struct FactFlags<'f> {
    pub(crate) catalogs: &'f mut CatalogArgs,
    pub(crate) snapshot: &'f mut Option<PathBuf>,
    pub(crate) from_cluster: bool,
    pub(crate) guardrails: &'f mut GuardrailsArgs,
    pub(crate) policies: &'f mut PoliciesArgs,
}

/// Why the file cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProjectError {
    #[error("cannot find out the current directory: {0}")]
    Here(#[from] io::Error),
    #[error("{file}: {error}")]
    Input { file: String, error: InputError },
    #[error("{file}:{error}")]
    Document { file: String, error: DocumentError },
    #[error("{file}:{error}")]
    Field { file: String, error: FieldError },
    #[error("{file}: found {found} documents: expected one")]
    Count { file: String, found: usize },
}

impl ProjectArgs {
    /// What the file of the current directory says; nothing if there is none, or it is ignored.
    ///
    /// # Errors
    /// If there is one that cannot be read.
    pub(crate) fn read(self) -> Result<Project, ProjectError> {
        if self.no_project {
            return Ok(Project::default());
        }
        let folder = folder(&env::current_dir()?);
        folder.map_or_else(|| Ok(Project::default()), |folder| Project::read(&folder))
    }
}

impl Project {
    /// Gives the flags about facts what the file says, if they are not given. A flag that names catalogs wins over all
    /// of its catalogs.
    pub(crate) fn give(&mut self, flags: FactFlags<'_>) {
        let FactFlags {
            catalogs,
            snapshot,
            from_cluster,
            guardrails,
            policies,
        } = flags;
        if catalogs.is_empty() && snapshot.is_none() && !from_cluster {
            *catalogs = take(&mut self.catalogs);
            *snapshot = self.snapshot.take();
        }
        if !guardrails.is_given() {
            *guardrails = take(&mut self.guardrails).into();
        }
        if !policies.is_given() {
            policies.give(take(&mut self.policies));
        }
    }

    fn read(folder: &Path) -> Result<Self, ProjectError> {
        let path = folder.join(FILE);
        let file = path.display().to_string();
        let Some(input) = Inputs::new([path], io::empty()).next() else {
            return Ok(Self::default());
        };
        let bytes = input.bytes.map_err(|error| ProjectError::Input {
            file: file.clone(),
            error,
        })?;
        let read: Result<Vec<_>, _> = documents(&bytes).collect();
        let documents = read.map_err(|error| ProjectError::Document {
            file: file.clone(),
            error,
        })?;
        match documents.as_slice() {
            [document] => written::project(document, folder)
                .map_err(|error| ProjectError::Field { file, error }),
            _ => Err(ProjectError::Count {
                file,
                found: documents.len(),
            }),
        }
    }
}

/// The directory of the file, relative to the current one.
fn folder(here: &Path) -> Option<PathBuf> {
    let mut relative = PathBuf::new();
    for directory in here.ancestors() {
        if directory.join(FILE).is_file() {
            return Some(relative);
        }
        if directory.join(".git").exists() {
            return None;
        }
        relative.push("..");
    }
    None
}

const FILE: &str = ".olmguard.yaml";
