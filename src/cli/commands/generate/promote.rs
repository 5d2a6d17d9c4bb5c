//! `olmguard generate promote`: adds a bundle to a channel, and reports the versions that have no upgrade.

use std::io::Write as _;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;

use super::{CatalogOutputArgs, PromotionReport, check_package};
use crate::cli::args::{NamedValue, heading, one_of};
use crate::cli::output::{TextOrJson, json};
use crate::cli::{CommandFailure, help};
use olmguard_catalog::olm::Rules;
use olmguard_views::author::promote::{self, Promotion};
use olmguard_views::author::reach::{ChannelReach, reach};
use olmguard_views::author::{BlobText, CatalogText, WrittenError, words};

/// Add a bundle to a channel, and report stranded versions
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, super::EXIT_CODES))]
pub(super) struct PromoteArgs {
    #[command(flatten)]
    common: CatalogOutputArgs,

    /// Name of the package
    #[arg(long, value_name = "PACKAGE", help_heading = heading::INPUT)]
    package: String,

    /// Bundle to add
    #[arg(long, value_name = "BUNDLE", help_heading = heading::INPUT)]
    bundle: String,

    /// Channel to add the bundle to, also a new one
    #[arg(
        long,
        value_name = "CHANNEL",
        value_parser = NonEmptyStringValueParser::new(),
        help_heading = heading::INPUT
    )]
    channel: String,

    /// How upgrades reach the bundle
    #[arg(long, value_parser = one_of(&METHODS), help_heading = heading::INPUT)]
    method: promote::Method,

    /// Format of the report on standard error
    #[arg(
        long,
        value_name = "FORMAT",
        value_enum,
        default_value_t,
        help_heading = heading::OUTPUT
    )]
    report: TextOrJson,

    /// Catalog: a file, a directory, or - for standard input
    catalog: PathBuf,
}

const EXAMPLES: &[&str] = &[
    "olmguard generate promote hub.yaml --package p --bundle p.v1.2.0 \\",
    "    --channel stable --method replaces > new.yaml",
];

const METHODS: [NamedValue<promote::Method>; 3] = [
    (
        "replaces",
        promote::Method::Replaces,
        "The bundle replaces the channel head; in a new channel, what it replaces elsewhere",
    ),
    (
        "skips",
        promote::Method::Skips,
        "The bundle also skips every lower version that is not in the channel",
    ),
    (
        "skip-range",
        promote::Method::SkipRange,
        "The bundle also has a skipRange over every lower version of the package",
    ),
];

pub(super) fn run(args: &PromoteArgs) -> Result<(), CommandFailure> {
    args.common.check_stdin(&args.catalog)?;
    let mut catalog = super::catalog(&args.catalog)?;
    check_package(&catalog, &args.package)?;
    let is_it = |bundle: &BlobText| bundle.name() == args.bundle;
    args.common.add_bundle(&mut catalog, &args.package, is_it)?;
    let asked = args.asked();
    let channel = promote::promote(&catalog, asked)?;
    let before = args.reach(&catalog)?;
    catalog.put_channel(&args.package, channel);
    let after = args.reach(&catalog)?;
    args.tell(asked, &before, &after);
    Ok(args.common.print(&catalog)?)
}

impl PromoteArgs {
    fn asked(&self) -> Promotion<'_> {
        Promotion {
            package: &self.package,
            bundle: &self.bundle,
            channel: &self.channel,
            method: self.method,
        }
    }

    fn reach(&self, catalog: &CatalogText) -> Result<ChannelReach, WrittenError> {
        reach(catalog, &Rules::default(), &self.package, &self.channel)
    }

    fn tell(&self, asked: Promotion<'_>, before: &ChannelReach, after: &ChannelReach) {
        let mut stderr = anstream::stderr();
        // If stderr is gone, the report cannot be printed anywhere.
        let _gone = match self.report {
            TextOrJson::Text => {
                let text = words::promotion(asked, before, after);
                stderr.write_all(text.as_bytes())
            }
            TextOrJson::Json => {
                json::write_line(&PromotionReport::of(asked, before, after), &mut stderr)
            }
        };
    }
}
