//! `--guardrails FILE`: the rules of administrators.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::heading;
use crate::guardrail_files::{GuardrailFiles, GuardrailsFault, ReadGuardrails};

/// The flag of the commands that judge.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct GuardrailsArgs {
    /// Apply upgrade rules from this file (repeatable)
    #[arg(
        long = "guardrails",
        value_name = "FILE",
        value_delimiter = ',',
        help_heading = heading::CATALOGS
    )]
    files: Vec<PathBuf>,
}

impl From<Vec<PathBuf>> for GuardrailsArgs {
    fn from(files: Vec<PathBuf>) -> Self {
        Self { files }
    }
}

impl GuardrailsArgs {
    /// Whether there are any.
    pub(crate) fn is_given(&self) -> bool {
        !self.files.is_empty()
    }

    /// The files.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.files
    }

    /// Reads the files, whatever they hold.
    ///
    /// # Errors
    /// The first that cannot be read.
    pub(crate) fn contents(&self) -> Result<GuardrailFiles, GuardrailsFault> {
        GuardrailFiles::load(&self.files)
    }

    /// Reads all of them.
    ///
    /// # Errors
    /// If one cannot be read, or has something else than guardrails.
    pub(crate) fn read(&self) -> Result<ReadGuardrails, GuardrailsFault> {
        ReadGuardrails::load(&self.files)
    }
}
