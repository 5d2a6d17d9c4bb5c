//! The shared parts of the commands that show a package: `versions`, `path` and `explain`.

use std::path::Path;

use clap::Args;

use crate::cli::args::installed::PartError;
use crate::cli::args::olm::EdgesArgs;
use crate::cli::args::{NamedValue, heading};
use crate::cli::facts::{FactsArgs, leave_out_by_extension};
use crate::cli::{CommandFailure, Exit, ends_with};
use crate::facts::Facts;
use olmguard_catalog::dns1123;
use olmguard_catalog::selector::LabelSelector;
use olmguard_catalog::version::{Constraint, ConstraintError, crd, go, suggestion};
use olmguard_engine::explain;
use olmguard_engine::extension::{Filter, InstallRequest, PolicySubject};
use olmguard_engine::inquiry::{Inquiry, NotAnswered};
use olmguard_engine::judge::{NamingError, Requester, StatedInstalled, Verdict};
use olmguard_engine::resolve::{EditContext, InstallContext};
use olmguard_engine::snapshot::METADATA_NAME_LABEL;
use olmguard_views::see::{Generation, line, nameless};

/// Where the facts are from, and what is asked for.
#[derive(Args, Clone, Debug)]
pub(super) struct InquiryArgs {
    /// Select this catalog, if several have the package
    #[arg(id = "in", long = "in", value_name = "CATALOG", help_heading = heading::INPUT)]
    catalog: Option<String>,

    /// Request this channel (repeatable) [default: all channels]
    #[arg(
        long,
        value_name = "CHANNEL",
        value_delimiter = ',',
        value_parser = channel,
        help_heading = heading::INPUT
    )]
    channel: Vec<String>,

    /// Request this version range, as spec.source.catalog.version does
    #[arg(long, value_name = "RANGE", help_heading = heading::INPUT)]
    range: Option<String>,

    #[command(flatten)]
    facts: FactsArgs,

    #[command(flatten)]
    edges: EdgesArgs,
}

/// The generations of OLM that a question can be about.
pub(super) const GENERATIONS: [NamedValue<Generation>; 2] = [
    ("v1", Generation::V1, "OLM v1, with ClusterExtensions"),
    ("v0", Generation::V0, "OLM v0, with Subscriptions"),
];

/// The facts, and the request for one package.
#[derive(Debug)]
pub(super) struct PackageFacts {
    pub(super) facts: Facts,
    pub(super) filter: Filter,
    /// The properties of an extension that upgrade policies match.
    pub(super) subject: PolicySubject,
    /// The settings with which the extension installs a bundle, if known.
    pub(super) install: Option<InstallRequest>,
    /// The user who makes the edits that policies judge, and the time.
    pub(super) requester: Requester,
}

/// The reason why there is nothing to print.
#[derive(Debug, thiserror::Error)]
pub(super) enum InquiryError {
    #[error("--in: found {}: expected one of {}", go::quote(name), known.join(", "))]
    NoCatalog { name: String, known: Vec<String> },
    #[error("--range: {0}{1}")]
    Range(ConstraintError, String),
    #[error(
        "--range: {}: the API server refuses this text for a version{instead}",
        go::quote(range)
    )]
    NotOfCrd { range: String, instead: String },
    #[error(
        "--channel: {}: the API server refuses this name for a channel; omit --channel for all channels",
        go::quote(channel)
    )]
    ChannelNotOfCrd { channel: String },
    #[error("{0}")]
    Nameless(String),
    #[error("{0}")]
    Usage(&'static str),
    #[error("FROM: {0}")]
    From(PartError),
}

impl InquiryArgs {
    /// Reads the facts for a question about this generation of OLM.
    pub(super) fn load_for(
        &self,
        olm: Generation,
        package: &str,
    ) -> Result<PackageFacts, CommandFailure> {
        match olm {
            Generation::V0 if self.range.is_some() || self.edges.is_given() => {
                Err(InquiryError::Usage(NOT_OF_V0).into())
            }
            Generation::V0 if self.channel.len() > 1 => {
                Err(InquiryError::Usage(ONE_CHANNEL).into())
            }
            Generation::V0 => {
                let typed = &self.facts.common.olm.typed;
                typed.refuse_but(&[], "--olm v0", "--olm v1")?;
                self.load(package)
            }
            Generation::V1 => self.load_v1(package),
        }
    }

    /// Reads the facts for a question about OLM v1, whose CRD limits the names of channels.
    pub(super) fn load_v1(&self, package: &str) -> Result<PackageFacts, CommandFailure> {
        let mut channels = self.channel.iter();
        match channels.find(|channel| !dns1123::is_subdomain(channel)) {
            Some(channel) => Err(InquiryError::ChannelNotOfCrd {
                channel: channel.clone(),
            }
            .into()),
            None => self.load(package),
        }
    }

    /// Reads the facts.
    pub(super) fn load(&self, package: &str) -> Result<PackageFacts, CommandFailure> {
        let requester = self.facts.policies.requester();
        let facts = self.load_any()?;
        if let Some(range) = &self.range {
            let masterminds = facts.snapshot.rules().masterminds;
            Constraint::parse(range, masterminds)
                .map_err(|error| InquiryError::Range(error, instead_of(range)))?;
            if !crd::fits_length(range) || !crd::fits_pattern(range) {
                let (range, instead) = (range.clone(), instead_of(range));
                return Err(InquiryError::NotOfCrd { range, instead }.into());
            }
        }
        let mut filter = Filter {
            package: package.to_owned(),
            version: self.range.clone(),
            channels: self.channel.clone(),
            ..Filter::default()
        };
        self.select(&mut filter);
        Ok(PackageFacts {
            facts,
            filter,
            subject: PolicySubject::default(),
            install: None,
            requester,
        })
    }

    /// Reads the facts for a question about no package in particular.
    pub(super) fn load_any(&self) -> Result<Facts, CommandFailure> {
        let facts = self.facts.load(self.edges)?;
        self.check_catalog(&facts)?;
        Ok(facts)
    }

    /// The paths of catalogs on this machine.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.facts.common.catalog.paths()
    }

    /// The catalog of `--in`.
    pub(super) fn catalog(&self) -> Option<&str> {
        self.catalog.as_deref()
    }

    /// Makes a filter select the catalog of `--in`, as `spec.source.catalog.selector` does.
    pub(super) fn select(&self, filter: &mut Filter) {
        if let Some(name) = &self.catalog {
            let label = (METADATA_NAME_LABEL.to_owned(), name.clone());
            let selector = LabelSelector {
                match_labels: [label].into(),
                ..LabelSelector::default()
            };
            filter.selector = Some(selector.into());
        }
    }

    fn check_catalog(&self, facts: &Facts) -> Result<(), InquiryError> {
        let catalogs = facts.snapshot.catalogs().iter();
        match &self.catalog {
            Some(name) if !facts.may_have_catalog(name) => Err(InquiryError::NoCatalog {
                name: name.clone(),
                known: catalogs.map(|catalog| go::quote(&catalog.name)).collect(),
            }),
            _ => Ok(()),
        }
    }
}

impl PackageFacts {
    /// The same facts for a package without an extension: removes policies that match by more than the package.
    pub(super) fn of_package_alone(mut self) -> Self {
        leave_out_by_extension(&mut self.facts, &self.filter.package);
        self
    }

    /// The query about upgrades from the installed bundle that the user states.
    pub(super) fn inquiry(&self, said: &StatedInstalled) -> Result<Inquiry<'_>, CommandFailure> {
        let inquiry = Inquiry::of(self.facts.basis(), &self.filter, said, self.context());
        inquiry.map_err(|why| self.not_answered(&said.text, "", &why))
    }

    /// The additional facts on which upgrade policies depend.
    pub(super) fn context(&self) -> EditContext<'_> {
        EditContext {
            install: self.install.as_ref().map(InstallContext::of_move),
            ..EditContext::of(&self.subject, &self.requester)
        }
    }

    /// The failure if there is no answer for these two versions.
    pub(super) fn not_answered(
        &self,
        from: &str,
        to: &str,
        why: &NotAnswered<'_>,
    ) -> CommandFailure {
        match why {
            NotAnswered::From(why) => self.nameless("FROM", from, why).into(),
            NotAnswered::To(why) => self.nameless("TO", to, why).into(),
            NotAnswered::Refused(decision) => {
                let own = match decision.verdict() {
                    Verdict::Undecided if decision.rests_on_bad_input() => Exit::BadInput,
                    Verdict::Undecided => Exit::Undecided,
                    _ => Exit::Denied,
                };
                let why = line(decision).unwrap_or_default();
                CommandFailure::new(why, self.facts.exit().unwrap_or(own))
            }
        }
    }

    /// The error for a text that names no bundle.
    pub(super) fn nameless(&self, what: &str, text: &str, why: &NamingError) -> InquiryError {
        InquiryError::Nameless(nameless(what, text, &self.filter.package, why))
    }

    /// The exit code of a command that has printed its result, which may be undecided.
    pub(super) fn exit(&self, is_good: bool, is_undecided: bool) -> Exit {
        let own = match (is_good, is_undecided) {
            (true, _) => Exit::Good,
            (false, true) => Exit::Undecided,
            (false, false) => Exit::Denied,
        };
        self.facts.exit().unwrap_or(own)
    }
}

/// Parses the name of a channel.
///
/// # Errors
/// If the name is empty.
pub(super) fn channel(text: &str) -> Result<String, &'static str> {
    if text.is_empty() {
        return Err(
            "the name is empty: expected the name of a channel; omit the flag for all channels",
        );
    }
    Ok(text.to_owned())
}

fn instead_of(range: &str) -> String {
    let instead = suggestion::constraint(range);
    let instead = instead.map(|instead| format!("; {}", explain::range::suggestion(&instead)));
    instead.unwrap_or_default()
}

ends_with!(Usage: InquiryError);

const NOT_OF_V0: &str =
    "--olm v0 has no version ranges and uses the edges of the catalog: omit --range and --graph";
const ONE_CHANNEL: &str = "--olm v0: a Subscription names one channel: give --channel once";

/// The exit codes of these commands.
pub(super) const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "the package, path or upgrade exists"),
    (Exit::Denied, "no such package, channel, path or upgrade"),
    (
        Exit::Usage,
        "wrong usage, or a version or name that the package does not have",
    ),
    (Exit::BadInput, "a catalog is unreadable"),
    (
        Exit::Undecided,
        "undecided because a fact is missing, such as a cluster's answer",
    ),
];
