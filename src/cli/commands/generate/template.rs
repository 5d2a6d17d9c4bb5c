//! `olmguard generate template`: a template of opm, rendered without a registry.

use std::path::{Path, PathBuf};

use super::command::GenerateError;
use super::{CommonArgs, files};
use crate::cli::help;
use crate::source::each_file;
use olmguard_views::author::template::render;

/// Render a template of opm without a registry
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES))]
pub(super) struct TemplateArgs {
    #[command(flatten)]
    common: CommonArgs,

    /// Template, olm.semver or olm.template.basic, or - for standard input
    file: PathBuf,
}

const EXAMPLES: &[&str] = &[
    "olmguard generate template template.yaml --bundles bundles/ > hub.yaml",
    "olmguard generate template - --bundles bundles.json -o json < template.yaml",
];

pub(super) fn run(args: &TemplateArgs) -> Result<(), GenerateError> {
    let TemplateArgs { common, file } = args;
    files::check_stdin(file, &common.bundles)?;
    let (name, text) = text(file)?;
    let shelf = files::shelf(&common.bundles)?;
    common.print(&render(&name, &text, &shelf)?)
}

/// The template with its name; a folder is read as one file, so that it is refused as more than one
/// document.
fn text(file: &Path) -> Result<(String, Vec<u8>), GenerateError> {
    let mut whole = Vec::new();
    each_file(file, &mut |_, text| {
        whole.extend_from_slice(text);
    })?;
    Ok((file.display().to_string(), whole))
}
