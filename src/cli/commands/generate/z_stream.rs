//! `olmguard generate z-stream`: adds a patch release that replaces older releases of its minor version.

use std::path::PathBuf;

use super::{CatalogOutputArgs, GenerateError, OfferedNames, check_package};
use crate::cli::args::heading;
use crate::cli::{CommandFailure, help, line};
use clap::builder::BoolishValueParser;
use olmguard_catalog::graph::version_in_name;
use olmguard_catalog::version::{Version, go};
use olmguard_views::author::zstream::{self, Manner, StreamRelease};
use olmguard_views::author::{BlobText, CatalogText, words};

/// Add a patch release that replaces older ones of its minor
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, super::EXIT_CODES))]
pub(super) struct ZStreamArgs {
    #[command(flatten)]
    common: CatalogOutputArgs,

    /// Name of the package
    #[arg(long, value_name = "PACKAGE", help_heading = heading::INPUT)]
    package: String,

    /// Channel to add the release to
    #[arg(long, value_name = "CHANNEL", help_heading = heading::INPUT)]
    channel: String,

    #[command(flatten)]
    release: ReleaseArgs,

    /// Keep the older releases, and add a skipRange over them
    #[arg(long, value_parser = BoolishValueParser::new(), help_heading = heading::INPUT)]
    with_range: bool,

    /// Catalog: a file, a directory, or - for standard input
    catalog: PathBuf,
}

const EXAMPLES: &[&str] = &[
    "olmguard generate z-stream hub.yaml --package p --channel stable \\",
    "    --new-version 1.1.2 --bundles patch.yaml > new.yaml",
];

/// Which bundle is released.
#[derive(Clone, Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct ReleaseArgs {
    /// Bundle to release, by name
    #[arg(long, value_name = "BUNDLE", help_heading = heading::INPUT)]
    bundle: Option<String>,

    /// Bundle to release, by version
    #[arg(long, value_name = "VERSION", help_heading = heading::INPUT)]
    new_version: Option<String>,
}

pub(super) fn run(args: &ZStreamArgs) -> Result<(), CommandFailure> {
    args.common.check_stdin(&args.catalog)?;
    let mut catalog = super::catalog(&args.catalog)?;
    check_package(&catalog, &args.package)?;
    let channel = catalog.channel(&args.package, &args.channel);
    let channel = channel.ok_or_else(|| no_channel(&catalog, args))?;
    let is_released = |bundle: &BlobText| args.release.names(bundle);
    args.common
        .add_bundle(&mut catalog, &args.package, is_released)?;
    let (name, version) = released(&catalog, args)?;
    let release = StreamRelease {
        name: &name,
        version: &version,
    };
    let manner = if args.with_range {
        Manner::Range
    } else {
        Manner::Skips
    };
    let version_of = |name: &str| version_of(&catalog, &args.package, name);
    let outcome = zstream::add(&channel, release, manner, &version_of);
    let outcome = outcome.map_err(|source| GenerateError::ZStream {
        channel: args.channel.clone(),
        source,
    })?;
    catalog.put_channel(&args.package, outcome.channel);
    let removed: Vec<_> = outcome
        .removed
        .into_iter()
        .map(|entry| entry.name)
        .collect();
    let dropped = catalog.drop_unlisted(&args.package, &removed);
    for said in words::z_stream(&args.channel, &removed, &dropped, &outcome.unread) {
        line("note", &said);
    }
    Ok(args.common.print(&catalog)?)
}

/// The bundle to release, with its version.
fn released(catalog: &CatalogText, args: &ZStreamArgs) -> Result<(String, Version), GenerateError> {
    let bundles = catalog.bundles(&args.package);
    let mut bundles = bundles.filter(|bundle| args.release.names(bundle));
    let found = bundles.find_map(|bundle| Some((bundle.name().to_owned(), bundle.version()?)));
    found.ok_or_else(|| GenerateError::NoBundle {
        package: args.package.clone(),
        what: args.release.to_words(),
    })
}

/// The version of a bundle, or the version in its name if the bundle has none.
fn version_of(catalog: &CatalogText, package: &str, name: &str) -> Option<Version> {
    let mut bundles = catalog
        .bundles(package)
        .filter(|bundle| bundle.name() == name);
    let version = bundles.find_map(BlobText::version);
    version.or_else(|| version_in_name(name))
}

fn no_channel(catalog: &CatalogText, args: &ZStreamArgs) -> GenerateError {
    let found = catalog.channels(&args.package);
    GenerateError::NoChannel {
        package: args.package.clone(),
        channel: args.channel.clone(),
        found: OfferedNames(found.map(|channel| go::quote(channel.name())).collect()),
    }
}

impl ReleaseArgs {
    fn names(&self, bundle: &BlobText) -> bool {
        let is_version = |asked: &String| {
            let version = bundle.version();
            version.is_some_and(|version| version.to_string() == *asked)
        };
        let by_name = self
            .bundle
            .as_ref()
            .is_some_and(|name| name == bundle.name());
        by_name || self.new_version.as_ref().is_some_and(is_version)
    }

    fn to_words(&self) -> String {
        match (&self.bundle, &self.new_version) {
            (Some(name), _) => format!("the name {} and a version", go::quote(name)),
            (None, version) => format!(
                "version {}",
                go::quote(version.as_deref().unwrap_or_default())
            ),
        }
    }
}
