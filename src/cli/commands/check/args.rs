//! The flags of `check`, as typed and as meant.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::builder::{BoolishValueParser, NonEmptyStringValueParser};
use clap::{Args, ValueEnum};

use crate::admission::OnUndecided;
use crate::cli::Exit;
use crate::cli::args::catalogs::{CommonArgs, UsageError};
use crate::cli::args::edges::EdgesArgs;
use crate::cli::args::guardrails::GuardrailsArgs;
use crate::cli::commands::check::installed::{InstalledArg, InstalledList};
use crate::cli::exit;
use crate::cli::facts::check_stdin;
use crate::cli::facts::look::LookArgs;
use crate::cli::output::OutputArgs;
use olmguard_catalog::olm::Rules;

/// Judge manifests as the webhook would judge them, with or without a cluster.
#[expect(
    clippy::struct_excessive_bools,
    reason = "a switch of a command line is a bool"
)]
#[derive(Args, Clone, Debug)]
#[command(after_help = exit::table(EXIT_CODES))]
#[command(mut_arg("output", |output| output.help("The form of the results")))]
pub(crate) struct CheckArgs {
    /// Manifests: files, folders, or - for standard input
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "PATH",
        num_args = 1..,
        required = true,
        value_delimiter = ','
    )]
    pub(super) filename: Vec<PathBuf>,

    /// What there was before: a git revision of the repository that the manifests are in, A...B for
    /// what two have in common, or a folder; what has not changed is not judged
    #[arg(long, value_name = "REV|DIR", value_parser = NonEmptyStringValueParser::new())]
    pub(super) base: Option<String>,

    /// With --base: judge what has not changed as well
    #[arg(long, value_parser = BoolishValueParser::new())]
    pub(super) all: bool,

    #[command(flatten)]
    pub(super) common: CommonArgs,

    /// A file of olmguard snapshot save: the catalogs and the OLM of a cluster; --catalog gives one
    /// of them other content, a ClusterCatalog among the inputs other labels, priority and mode
    #[arg(long, value_name = "FILE")]
    pub(super) snapshot: Option<PathBuf>,

    /// Ask a cluster, and change nothing there: its catalogs, its OLM, and what is installed of the
    /// extensions in the manifests; what else gives catalogs counts as with --snapshot
    #[arg(long, value_parser = BoolishValueParser::new())]
    pub(super) from_cluster: bool,

    #[command(flatten)]
    pub(super) look: LookArgs,

    #[command(flatten)]
    pub(super) edges: EdgesArgs,

    #[command(flatten)]
    pub(super) guardrails: GuardrailsArgs,

    /// What is installed, whatever a cluster, the base or the manifest's status says; may be repeated
    #[arg(long, value_name = "EXTENSION=VERSION[,bundle=NAME][,release=R]")]
    pub(super) installed: Vec<InstalledList>,

    /// Apply none of the CRD's own rules: show what the resolver alone would say
    #[arg(long, value_parser = BoolishValueParser::new())]
    pub(super) no_schema: bool,

    /// What an undecided edit counts as; exit code 4 where this is not given
    #[arg(long, value_name = "HOW")]
    pub(super) on_undecided: Option<OnUndecided>,

    #[command(flatten)]
    pub(super) output: OutputArgs<Output>,

    /// Count any warning as a denial
    #[arg(long, value_parser = BoolishValueParser::new())]
    pub(super) warn_as_error: bool,

    /// Fail where the inputs hold no extension
    #[arg(long, value_parser = BoolishValueParser::new())]
    pub(super) require_match: bool,

    /// Print only what does not count as good; JSON, YAML, SARIF and JUnit always hold everything
    #[arg(short, long, value_parser = BoolishValueParser::new())]
    pub(super) quiet: bool,
}

/// The form of the results.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(super) enum Output {
    /// For people
    #[default]
    Text,
    /// One JSON object, schema olmguard.check/v1
    Json,
    /// The same object as YAML
    Yaml,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
    /// Test results in XML, as pipelines read them
    Junit,
    /// Workflow commands of GitHub, shown beside the lines of a pull request
    Github,
    /// A table for the comment of a pull request
    Markdown,
}

/// What the flags mean, once they are known to agree.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) rules: Rules,
    pub(super) schema: Schema,
    /// By the extension's name.
    pub(super) installed: BTreeMap<String, InstalledArg>,
}

/// Whether the CRD's own rules are applied.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Schema {
    Applied,
    LeftOut,
}

impl CheckArgs {
    /// The flags as meant, with these rules, or why they do not agree.
    pub(super) fn plan(&self, rules: Rules) -> Result<Plan, UsageError> {
        let mut installed = BTreeMap::new();
        for given in self.installed.iter().flat_map(|list| &list.0) {
            if installed
                .insert(given.extension.clone(), given.clone())
                .is_some()
            {
                return Err(UsageError::InstalledTwice {
                    extension: given.extension.clone(),
                });
            }
        }
        if self.all && self.base.is_none() {
            return Err(UsageError::Without {
                flag: "--all",
                without: "--base",
            });
        }
        let catalogs = self.common.catalog.paths();
        check_stdin(self.filename.iter().map(PathBuf::as_path).chain(catalogs))?;
        Ok(Plan {
            rules,
            schema: if self.no_schema {
                Schema::LeftOut
            } else {
                Schema::Applied
            },
            installed,
        })
    }
}

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "nothing denied or undecided"),
    (Exit::Denied, "something denied"),
    (Exit::Usage, "wrong usage, nothing was judged"),
    (
        Exit::BadInput,
        "an input (manifest, catalog) could not be read",
    ),
    (
        Exit::Undecided,
        "undecided for another reason, such as a cluster that does not answer",
    ),
];
