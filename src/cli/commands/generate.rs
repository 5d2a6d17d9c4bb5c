//! `olmguard generate`: catalogs made of templates, and catalogs with one more release.
//!
//! The catalog goes to stdout, whatever is worth knowing about it to stderr.

mod command;
mod files;
mod promote;
mod report;
mod template;
mod z_stream;

use std::path::PathBuf;

use clap::Subcommand;

use crate::cli::args::heading;
use crate::cli::help;
use crate::cli::output;
use crate::cli::output::OutputArgs;
use crate::cli::{Exit, say};
use command::GenerateError;
use olmguard_views::author::{CatalogText, Format};
pub use report::PromotionReport;

/// Generate catalogs: templates, z-streams, promotions
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES))]
pub(crate) struct GenerateArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Subcommand)]
enum Command {
    Template(template::TemplateArgs),
    ZStream(z_stream::ZStreamArgs),
    Promote(promote::PromoteArgs),
}

/// How the catalog is printed, and what it is made from besides.
#[derive(Clone, Debug, clap::Args)]
struct CommonArgs {
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

/// Prints the catalog; a fault goes to stderr.
pub(crate) fn run(args: &GenerateArgs) -> Exit {
    let made = match &args.command {
        Command::Template(args) => template::run(args),
        Command::ZStream(args) => z_stream::run(args),
        Command::Promote(args) => promote::run(args),
    };
    match made {
        Ok(()) => Exit::Good,
        Err(error) => {
            say(&error);
            error.exit()
        }
    }
}

impl CommonArgs {
    fn print(&self, catalog: &CatalogText) -> Result<(), GenerateError> {
        let format = match self.output.form {
            OutputFormat::Yaml => Format::Yaml,
            OutputFormat::Json => Format::Json,
        };
        let text = catalog.to_text(format);
        output::raw(text.as_bytes()).map_err(GenerateError::Write)
    }
}
