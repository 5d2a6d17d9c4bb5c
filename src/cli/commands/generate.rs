//! `olmguard generate`: catalogs rendered from templates, and catalogs with one more release.
//!
//! The catalog goes to stdout, and everything worth knowing about it to stderr.

mod promote;
mod z_stream;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fmt, io};

use clap::Subcommand;
use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::args::catalogs::UsageError;
use crate::cli::args::heading;
use crate::cli::facts::check_stdin;
use crate::cli::output::{self, OutputArgs};
use crate::cli::{CommandFailure, Exit, ends_with, help};
use crate::source::{SourceError, each_file};
use olmguard_catalog::version::go;
use olmguard_views::author::promote::{PromoteError, Promotion};
use olmguard_views::author::reach::{ChannelReach, Course};
use olmguard_views::author::template::{TemplateError, render};
use olmguard_views::author::zstream::ZStreamError;
use olmguard_views::author::{BlobText, CatalogText, Format, Shelf, ShelfError, WrittenError};

/// Generate catalogs: templates, z-streams, promotions
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES))]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    command: GenerateCommand,
}

#[derive(Clone, Debug, Subcommand)]
enum GenerateCommand {
    Template(TemplateArgs),
    ZStream(z_stream::ZStreamArgs),
    Promote(promote::PromoteArgs),
}

/// How the catalog is printed, and what it is made from besides.
#[derive(Clone, Debug, clap::Args)]
struct CatalogOutputArgs {
    /// Read bundles from this file or directory, as opm render prints them (repeatable)
    #[arg(long, value_name = "PATH", value_delimiter = ',', help_heading = heading::INPUT)]
    bundles: Vec<PathBuf>,

    #[command(flatten)]
    output: OutputArgs<OutputFormat>,
}

/// How a catalog is printed.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum OutputFormat {
    /// A YAML document for each blob
    #[default]
    Yaml,
    /// A JSON object for each blob
    Json,
}

const EXAMPLES: &[&str] = &[
    "olmguard generate template template.yaml --bundles bundles/ > hub.yaml",
    "olmguard generate z-stream --help",
    "olmguard generate promote --help",
];

/// Runs `olmguard generate`.
pub(crate) fn run(args: &GenerateArgs) -> Result<Exit, CommandFailure> {
    match &args.command {
        GenerateCommand::Template(args) => rendered(args),
        GenerateCommand::ZStream(args) => z_stream::run(args),
        GenerateCommand::Promote(args) => promote::run(args),
    }?;
    Ok(Exit::Good)
}

impl CatalogOutputArgs {
    fn print(&self, catalog: &CatalogText) -> io::Result<()> {
        let format = match self.output.form {
            OutputFormat::Yaml => Format::Yaml,
            OutputFormat::Json => Format::Json,
        };
        let text = catalog.to_text(format);
        output::raw(text.as_bytes())
    }
}

/// Render a template of opm without a registry
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(TEMPLATE_EXAMPLES), after_long_help = help::examples_and_exits(TEMPLATE_EXAMPLES, EXIT_CODES))]
struct TemplateArgs {
    #[command(flatten)]
    common: CatalogOutputArgs,

    /// Template, olm.semver or olm.template.basic, or - for standard input
    file: PathBuf,
}

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "the catalog is printed"),
    (Exit::Usage, "wrong usage"),
    (Exit::BadInput, "an input cannot be read or used"),
];

const TEMPLATE_EXAMPLES: &[&str] = &[
    "olmguard generate template template.yaml --bundles bundles/ > hub.yaml",
    "olmguard generate template - --bundles bundles.json -o json < template.yaml",
];

/// Renders a template of opm without a registry.
fn rendered(args: &TemplateArgs) -> Result<(), CommandFailure> {
    let TemplateArgs { common, file } = args;
    common.check_stdin(file)?;
    let (name, text) = template_text(file)?;
    let shelf = Shelf::of(&blobs(&common.bundles)?)?;
    Ok(common.print(&render(&name, &text, &shelf)?)?)
}

/// Reads the template, with its name. A directory is read as one file, so it is rejected as more than one document.
fn template_text(file: &Path) -> Result<(String, Vec<u8>), SourceError> {
    let mut whole = Vec::new();
    each_file(file, &mut |_, text| {
        whole.extend_from_slice(text);
    })?;
    Ok((file.display().to_string(), whole))
}

/// Reads the catalog at a path.
fn catalog(path: &Path) -> Result<CatalogText, CommandFailure> {
    let written = blobs(&[path])?;
    written.check_guardrails()?;
    Ok(written)
}

/// Reads the blobs of several paths.
fn blobs(paths: &[impl AsRef<Path>]) -> Result<CatalogText, CommandFailure> {
    let mut written = CatalogText::default();
    for path in paths {
        let mut read = Ok(());
        each_file(path.as_ref(), &mut |name, text| {
            if read.is_ok() {
                read = written.read(name, text);
            }
        })?;
        read?;
    }
    Ok(written)
}

impl CatalogOutputArgs {
    /// Adds the bundle that is released from `--bundles`, unless the catalog has it.
    fn add_bundle(
        &self,
        catalog: &mut CatalogText,
        package: &str,
        is_released: impl Fn(&BlobText) -> bool,
    ) -> Result<(), CommandFailure> {
        if catalog.bundles(package).any(&is_released) {
            return Ok(());
        }
        let given = blobs(&self.bundles)?;
        let mut given = given.bundles(package);
        if let Some(bundle) = given.find(|bundle| is_released(bundle)) {
            catalog.blobs.push(bundle.clone());
        }
        Ok(())
    }

    /// Checks that standard input is at most one of the inputs, which are the bundles and this file.
    fn check_stdin(&self, file: &Path) -> Result<(), UsageError> {
        let bundles = self.bundles.iter().map(PathBuf::as_path);
        check_stdin(bundles.chain([file]))
    }
}

/// Checks that the catalog has a package.
fn check_package(catalog: &CatalogText, package: &str) -> Result<(), GenerateError> {
    let names = || catalog.blobs.iter().map(BlobText::package);
    if names().any(|name| name == package) {
        return Ok(());
    }
    let found: BTreeSet<_> = names().filter(|name| !name.is_empty()).collect();
    Err(GenerateError::NoPackage {
        package: package.to_owned(),
        found: OfferedNames(found.into_iter().map(go::quote).collect()),
    })
}

/// The reason why there is no catalog to print.
#[derive(Debug, thiserror::Error)]
enum GenerateError {
    #[error(
        "the catalog has no channel {} of package {}: expected one of {found}",
        go::quote(channel),
        go::quote(package)
    )]
    NoChannel {
        package: String,
        channel: String,
        found: OfferedNames,
    },
    #[error(
        "the catalog has no package {}: expected one of {found}",
        go::quote(package)
    )]
    NoPackage {
        package: String,
        found: OfferedNames,
    },
    #[error(
        "no bundle of package {} has {what}: expected one in the catalog or in --bundles",
        go::quote(package)
    )]
    NoBundle { package: String, what: String },
    #[error("channel {}: {source}", go::quote(channel))]
    ZStream {
        channel: String,
        source: ZStreamError,
    },
}

/// The existing names, which an error offers in place of the requested one.
#[derive(Debug)]
struct OfferedNames(Vec<String>);

impl fmt::Display for OfferedNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => f.write_str("none, for it has none"),
            names => f.write_str(&names.join(", ")),
        }
    }
}

ends_with!(BadInput: GenerateError, WrittenError, ShelfError, TemplateError, PromoteError);

// === The versions that a promotion strands, as JSON ===

/// Output of `olmguard generate promote --report json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PromotionReport {
    /// Schema of this object.
    schema: &'static str,
    /// Name of the package.
    package: String,
    /// Bundle that was promoted.
    bundle: String,
    /// Channel that the bundle was promoted to.
    channel: String,
    /// Every version of the package, the highest first.
    installed: Vec<Installed>,
}

/// What users of one installed version get from the channel.
#[derive(Debug, JsonSchema, Serialize)]
struct Installed {
    /// Name of the installed bundle.
    name: String,
    /// Version of the installed bundle. Null if no bundle has this name.
    version: Option<String>,
    /// Automatic upgrades with OLM v1. Null if the version is unknown.
    v1: Option<Change>,
    /// Automatic upgrades with OLM v0.
    v0: Change,
}

/// Automatic upgrades before and after the promotion.
#[derive(Debug, JsonSchema, Serialize)]
struct Change {
    before: CourseReport,
    after: CourseReport,
}

/// Bundles that are installed one after another, from one installed version.
#[derive(Debug, JsonSchema, Serialize)]
struct CourseReport {
    /// How the upgrades end.
    ends: Ends,
    /// Installed bundles, in order.
    hops: Vec<String>,
}

/// How a sequence of automatic upgrades ends.
#[derive(Debug, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
enum Ends {
    /// At the channel head.
    AtHead,
    /// Below the channel head.
    BelowHead,
    /// At a version after which OLM v1 selects a bundle that it does not install.
    Blocked,
    /// At a version from which OLM v1 panics on a skipRange.
    Crashes,
    /// At the start: there is no upgrade from it.
    Stranded,
    /// With an error of OLM v1: the version is not in the channel, and no edge leads into the
    /// channel.
    Fails,
}

impl PromotionReport {
    fn of(asked: Promotion<'_>, before: &ChannelReach, after: &ChannelReach) -> Self {
        let rows = after.rows.iter().zip(&before.rows);
        Self {
            schema: SCHEMA,
            package: asked.package.to_owned(),
            bundle: asked.bundle.to_owned(),
            channel: asked.channel.to_owned(),
            installed: rows
                .map(|(after, before)| Installed {
                    name: after.name.to_string(),
                    version: after.version.as_ref().map(ToString::to_string),
                    v1: after
                        .v1
                        .as_ref()
                        .zip(before.v1.as_ref())
                        .map(|(after, before)| Change::of(before, after)),
                    v0: Change::of(&before.v0, &after.v0),
                })
                .collect(),
        }
    }
}

impl Change {
    fn of(before: &Course, after: &Course) -> Self {
        let [before, after] = [before, after].map(CourseReport::of);
        Self { before, after }
    }
}

impl CourseReport {
    fn of(course: &Course) -> Self {
        let (ends, hops) = match course {
            Course::AtHead => (Ends::AtHead, None),
            Course::ToHead(hops) => (Ends::AtHead, Some(hops)),
            Course::EndsBelow(hops) => (Ends::BelowHead, Some(hops)),
            Course::Blocked { after, .. } => (Ends::Blocked, Some(after)),
            Course::Crashes(after) => (Ends::Crashes, Some(after)),
            Course::Stranded => (Ends::Stranded, None),
            Course::Fails => (Ends::Fails, None),
        };
        let hops = hops.into_iter().flatten();
        Self {
            ends,
            hops: hops.map(ToString::to_string).collect(),
        }
    }
}

const SCHEMA: &str = "olmguard.promotion/v1";
