//! `--policy FILE`, and who is asked about when: what upgrade policies are judged by.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::heading;
use crate::live_facts;
use crate::policy_files::ReadPolicies;
use crate::tls::{Clock as _, SystemClock};
use olmguard_engine::judge::Requester;
use olmguard_policy::{Moment, MomentError};

/// The flags of the commands that judge.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct PoliciesArgs {
    /// Apply these upgrade policies (repeatable)
    #[arg(
        id = "policy",
        long = "policy",
        value_name = "PATH",
        value_delimiter = ',',
        help_heading = heading::CATALOGS
    )]
    files: Vec<PathBuf>,

    /// Check policies for this user
    #[arg(id = "as", long = "as", value_name = "USER", help_heading = heading::CATALOGS)]
    user: Option<String>,

    /// Check policies for this group (repeatable)
    #[arg(id = "as-group", long = "as-group", value_name = "GROUP", help_heading = heading::CATALOGS)]
    groups: Vec<String>,

    /// Check policies at this time [default: now]
    #[arg(long, value_name = "TIME", value_parser = moment, help_heading = heading::CATALOGS)]
    at: Option<Moment>,
}

impl From<Vec<PathBuf>> for PoliciesArgs {
    fn from(files: Vec<PathBuf>) -> Self {
        Self {
            files,
            ..Self::default()
        }
    }
}

impl PoliciesArgs {
    /// Whether there are any files.
    pub(crate) fn is_given(&self) -> bool {
        !self.files.is_empty()
    }

    /// Takes these files as if they were given.
    pub(crate) fn give(&mut self, files: Vec<PathBuf>) {
        self.files = files;
    }

    /// Reads all files. What cannot be read denies every change of version.
    pub(crate) fn read(&self) -> ReadPolicies {
        ReadPolicies::load(&self.files)
    }

    /// Who makes the edits, and when.
    pub(crate) fn requester(&self) -> Requester {
        Requester {
            user: self.user.clone().unwrap_or_default(),
            groups: self.groups.clone(),
            at: self.at.unwrap_or_else(now),
        }
    }
}

fn moment(text: &str) -> Result<Moment, MomentError> {
    Moment::parse(text)
}

fn now() -> Moment {
    live_facts::moment(SystemClock.now())
}
