//! The commit from which a program and its image are built.

use crate::program::{Program, ProgramError};
use crate::report::say;

pub(crate) struct Commit {
    pub(crate) revision: String,
    /// The date of the commit, RFC 3339 in UTC. It does not depend on who builds.
    pub(crate) date: String,
    /// The same date, in seconds since 1970.
    pub(crate) seconds: u64,
}

impl Commit {
    /// The commit; `None` if the checkout differs from its commit, or is not a git checkout.
    pub(crate) fn of_clean_checkout() -> Option<Self> {
        let commit = Self::ask().unwrap_or_default();
        if commit.is_none() {
            say("the commit is left out: the checkout is not one as it is");
        }
        commit
    }

    fn ask() -> Result<Option<Self>, ProgramError> {
        if !git("status --porcelain")?.is_empty() {
            return Ok(None);
        }
        let commit = git("log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%H,%cd,%ct")?;
        Ok(Self::parse(commit.trim_end()))
    }

    fn parse(line: &str) -> Option<Self> {
        let (revision, dates) = line.split_once(',')?;
        let (date, seconds) = dates.split_once(',')?;
        Some(Self {
            revision: revision.to_owned(),
            date: date.to_owned(),
            seconds: seconds.parse().ok()?,
        })
    }
}

fn git(arguments: &str) -> Result<String, ProgramError> {
    let git = Program::new("git").args(arguments.split(' '));
    git.env("TZ", "UTC").output()
}
