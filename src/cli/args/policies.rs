//! The rules of administrators in files: `--policy` and `--guardrails`. `--as`, `--as-group` and `--at` set the user
//! and the time of an edit, because upgrade policies depend on both.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::heading;
use olmguard_catalog::version::go;
use olmguard_engine::explain::RequesterFact;
use olmguard_engine::judge::{Requester, UserInfo};
use olmguard_policy::Moment;
use olmguard_server::live_facts;
use olmguard_server::tls::{Clock as _, SystemClock};

/// The flags about upgrade policies, of the commands that judge.
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
    pub(crate) files: Vec<PathBuf>,

    /// Check policies for this user
    #[arg(id = "as", long = "as", value_name = "USER", help_heading = heading::CATALOGS)]
    user: Option<String>,

    /// Check policies for this group (repeatable)
    #[arg(id = "as-group", long = "as-group", value_name = "GROUP", help_heading = heading::CATALOGS)]
    groups: Vec<String>,

    /// Check policies at this time, in UTC [default: now]
    #[arg(long, value_name = "TIME", value_parser = moment, help_heading = heading::CATALOGS)]
    at: Option<Moment>,
}

impl PoliciesArgs {
    /// A hint about a fact that a rule reads and that no flag sets.
    pub(crate) fn assumed(&self, reads: RequesterFact) -> Option<&'static str> {
        match reads {
            RequesterFact::User if !self.has_user() => Some("no user given: use --as, --as-group"),
            RequesterFact::Time if self.at.is_none() => {
                Some("checked at the current time: use --at")
            }
            RequesterFact::User | RequesterFact::Time => None,
        }
    }

    /// The user who makes the edits, and the time. Without flags, the user has no name and no groups.
    pub(crate) fn requester(&self) -> Requester {
        Requester {
            user: Some(UserInfo {
                name: self.user.clone().unwrap_or_default(),
                groups: self.groups.clone(),
            }),
            at: self.at.unwrap_or_else(now),
        }
    }

    /// The requester of an audit. Without flags, it is no user in particular.
    pub(crate) fn requester_of_audit(&self) -> Requester {
        let requester = self.requester();
        let user = requester.user.filter(|_| self.has_user());
        Requester { user, ..requester }
    }

    fn has_user(&self) -> bool {
        self.user.is_some() || !self.groups.is_empty()
    }
}

/// Parses a time, the start of a day, or a time of today. All are in UTC, so the answer does not depend on the local
/// time zone.
fn moment(text: &str) -> Result<Moment, NoMoment> {
    let today: String = now().to_string().chars().take(DATE).collect();
    let texts = [
        text.to_owned(),
        format!("{text}T00:00:00Z"),
        format!("{today}T{text}:00Z"),
        format!("{today}T{text}Z"),
    ];
    let read = texts.iter().find_map(|text| Moment::parse(text).ok());
    read.ok_or_else(|| NoMoment {
        found: text.to_owned(),
    })
}

/// A text that is not a time.
#[derive(Debug, thiserror::Error)]
#[error(
    "{} is not a time: expected 2026-11-23T21:00:00Z, 2026-11-23T22:00:00+01:00, 2026-11-23 or 21:00 (both in UTC)",
    go::quote(found)
)]
struct NoMoment {
    found: String,
}

/// The length of a date such as `2026-11-23`, in characters.
const DATE: usize = 10;

fn now() -> Moment {
    live_facts::moment(SystemClock.now())
}

/// The flag about guardrails, of the commands that judge.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct GuardrailsArgs {
    /// Apply upgrade rules from this file (repeatable)
    #[arg(
        long = "guardrails",
        value_name = "FILE",
        value_delimiter = ',',
        help_heading = heading::CATALOGS
    )]
    pub(crate) files: Vec<PathBuf>,
}
