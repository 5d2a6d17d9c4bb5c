//! The flags of `check`, as typed and as meant.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::builder::{BoolishValueParser, NonEmptyStringValueParser};
use clap::{Args, ValueEnum};

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::installed::{InstalledArg, InstalledList, SaidArg};
use crate::cli::args::olm::{EdgesArgs, PREFLIGHT};
use crate::cli::args::{UNDECIDED, heading, one_of};
use crate::cli::facts::{FactsArgs, check_stdin};
use crate::cli::output::OutputArgs;
use crate::cli::project::Project;
use crate::cli::{Exit, help};
use olmguard_admission::OnUndecided;
use olmguard_catalog::olm::{PreflightMode, Rules};
use olmguard_engine::judge::Requester;

/// Check manifests, with or without a cluster
#[expect(
    clippy::struct_excessive_bools,
    reason = "a switch of a command line is a bool"
)]
#[derive(Args, Clone, Debug)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
#[command(mut_arg("from_cluster", |flag| flag.help("Read all facts from the cluster (read-only)")))]
pub(crate) struct CheckArgs {
    /// Manifests to check: files, directories, or - for standard input
    #[arg(value_name = "PATH")]
    pub(super) paths: Vec<PathBuf>,

    /// Manifests to check, as with kubectl
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "PATH",
        num_args = 1..,
        value_delimiter = ',',
        help_heading = heading::INPUT
    )]
    filename: Vec<PathBuf>,

    /// Compare with a revision or directory
    #[arg(
        long,
        value_name = "REV|DIR",
        value_parser = NonEmptyStringValueParser::new(),
        help_heading = heading::INPUT
    )]
    pub(super) base: Option<String>,

    /// With --base, check unchanged ones too
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::INPUT)]
    pub(super) all: bool,

    #[command(flatten)]
    pub(super) facts: FactsArgs,

    #[command(flatten)]
    pub(super) edges: EdgesArgs,

    /// What to do with a bundle that resolves and cannot be installed
    #[arg(
        long,
        value_name = "WHAT",
        value_parser = one_of(&PREFLIGHT),
        default_value = "deny",
        help_heading = heading::RESULT
    )]
    pub(super) preflight: PreflightMode,

    /// Pull the images of the bundles, and check their manifests and CRDs too
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::RESULT)]
    pub(super) pull: bool,

    /// Installed version[,bundle=B][,release=R]
    #[arg(long, value_name = "EXTENSION=VERSION", help_heading = heading::INPUT)]
    pub(super) installed: Vec<InstalledList>,

    /// What the project file says is installed; unlike the flag, also of extensions that are not checked.
    #[arg(skip)]
    project_installed: BTreeMap<String, SaidArg>,

    /// Whether the manifests are exactly what the project file names.
    #[arg(skip)]
    is_whole_project: bool,

    /// Skip the validation rules of the CRD
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::RESULT)]
    pub(super) no_schema: bool,

    /// Count an undecided change as this
    #[arg(
        long,
        value_name = "HOW",
        value_parser = one_of(&UNDECIDED),
        help_heading = heading::RESULT
    )]
    pub(super) on_undecided: Option<OnUndecided>,

    #[command(flatten)]
    pub(super) output: OutputArgs<Output>,

    /// Count every warning as a denial
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::RESULT)]
    pub(super) warn_as_error: bool,

    /// Fail if the manifests contain no ClusterExtension
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::RESULT)]
    pub(super) require_match: bool,

    /// Hide changes that pass (in text, github and markdown)
    #[arg(short, long, value_parser = BoolishValueParser::new(), help_heading = heading::OUTPUT)]
    pub(super) quiet: bool,
}

/// The form of the results.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(super) enum Output {
    /// Text for people
    #[default]
    Text,
    /// One JSON object, schema olmguard.check/v1
    Json,
    /// The same object as YAML
    Yaml,
    /// SARIF 2.1.0, for code hosts and editors
    Sarif,
    /// JUnit XML, for pipelines
    Junit,
    /// Workflow commands of GitHub, shown at the lines of a pull request
    Github,
    /// A table for a comment on a pull request
    Markdown,
}

/// The flags and their meaning, once they are known to be consistent.
#[derive(Clone, Debug)]
pub(super) struct CheckPlan<'a> {
    pub(super) args: &'a CheckArgs,
    pub(super) rules: Rules,
    /// The user who makes the edits that policies judge, and the time.
    pub(super) requester: Requester,
    /// The installed bundles, by the name of the extension.
    pub(super) installed: BTreeMap<String, SaidArg>,
    /// The extensions in `installed` that a flag names.
    pub(super) named: Vec<String>,
}

impl CheckArgs {
    /// These flags, with the values of the project file for flags that are not given. All manifests are in `paths`.
    pub(super) fn within(mut self, mut project: Project) -> Result<Self, UsageError> {
        self.facts = self.facts.within(&mut project);
        self.paths.append(&mut self.filename);
        if self.paths.is_empty() {
            self.paths = project.paths;
            self.is_whole_project = true;
        }
        if self.paths.is_empty() {
            return Err(UsageError::NoManifest);
        }
        self.base = self.base.or(project.base);
        self.project_installed = project.installed;
        self.on_undecided = self.on_undecided.or(project.on_undecided);
        Ok(self)
    }

    /// The extensions that must be in the manifests, because the project file says what is installed of them.
    pub(super) fn expected(&self) -> impl Iterator<Item = &String> {
        let names = self.project_installed.keys();
        names.filter(|_| self.is_whole_project)
    }

    /// The plan of these flags with these rules, or an error if the flags are not consistent.
    pub(super) fn plan(&self, rules: Rules) -> Result<CheckPlan<'_>, UsageError> {
        let mut installed = self.project_installed.clone();
        let mut named = Vec::new();
        for InstalledArg { extension, said } in self.installed.iter().flat_map(|list| &list.0) {
            if named.contains(extension) {
                return Err(UsageError::InstalledTwice {
                    extension: extension.clone(),
                });
            }
            installed.insert(extension.clone(), said.clone());
            named.push(extension.clone());
        }
        if self.all && self.base.is_none() {
            return Err(UsageError::Without {
                flag: "--all",
                without: "--base",
            });
        }
        if self.pull && self.preflight == PreflightMode::Off {
            return Err(UsageError::PullUnchecked);
        }
        let catalogs = self.facts.common.catalog.paths();
        check_stdin(self.paths.iter().map(PathBuf::as_path).chain(catalogs))?;
        Ok(CheckPlan {
            args: self,
            rules,
            requester: self.facts.policies.requester(),
            installed,
            named,
        })
    }
}

const EXAMPLES: &[&str] = &[
    "olmguard check apps/ --from-cluster",
    "olmguard check apps/ --base main --snapshot prod.snapshot",
    "olmguard check app.yaml --catalog hub=hub.yaml --installed lantern=1.0.0",
    "kubectl kustomize apps | olmguard check -f - --snapshot prod.snapshot",
];

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "nothing is denied or undecided"),
    (Exit::Denied, "a change is denied"),
    (Exit::Usage, "wrong usage; nothing was checked"),
    (Exit::BadInput, "a manifest or a catalog is unreadable"),
    (
        Exit::Undecided,
        "a change is undecided because a fact is missing",
    ),
];
