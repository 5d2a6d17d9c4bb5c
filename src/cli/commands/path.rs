//! `olmguard path PACKAGE FROM [TO]`: the edits that lead from here to there, and what happens without
//! one.

mod frame;

use crate::cli::args::installed::SaidArg;
use crate::cli::args::{heading, one_of};
use crate::cli::commands::inquiry::{
    EXIT_CODES, GENERATIONS, InquiryArgs, InquiryError, PackageFacts,
};
use crate::cli::output::{OutputArgs, yaml};
use crate::cli::{CommandFailure, Exit, help, output, say};
use frame::FrameArgs;
use olmguard_views::generation::Generation;
use olmguard_views::path::{Frame, ManifestOfPath, PathReport, manifests};

/// Show the upgrade path between two versions
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct PathArgs {
    #[command(flatten)]
    see: InquiryArgs,

    #[command(flatten)]
    frame: FrameArgs,

    /// Generation of OLM to answer for
    #[arg(
        long,
        value_name = "GENERATION",
        value_parser = one_of(&GENERATIONS),
        default_value = "v1",
        help_heading = heading::INPUT
    )]
    olm: Generation,

    #[command(flatten)]
    output: OutputArgs<Form>,

    /// Name of the package
    package: String,

    /// Installed version or bundle name, also VERSION,bundle=NAME,release=R
    from: SaidArg,

    /// Version or bundle name to reach [default: the highest reachable]
    to: Option<String>,
}

/// What is printed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
enum Form {
    /// Text for people
    #[default]
    Text,
    /// One JSON object, described by schemas/olmguard.path.v1.json
    Json,
    /// A ClusterExtension for the one edit that is enough, and for each step
    Yaml,
}

const EXAMPLES: &[&str] = &[
    "olmguard path lantern-operator 1.2.0 --from-cluster",
    "olmguard path lantern-operator 1.2.0 2.0.0 --catalog hub=hub.yaml",
    "olmguard path lantern-operator 1.2.0 2.0.0 --from-cluster -o yaml > steps.yaml",
];

/// Runs the command.
pub(super) fn run(args: &PathArgs) -> Result<Exit, CommandFailure> {
    if args.output.form == Form::Yaml && args.olm == Generation::V0 {
        return Err(InquiryError::Usage(NO_MANIFESTS).into());
    }
    let (seen, frame) = args.load()?;
    if args.output.form == Form::Yaml {
        args.frame.check_names(&args.package)?;
    }
    let inquiry = seen.inquiry(&args.from.0)?;
    let to = args.to.as_deref();
    let report = match args.olm {
        Generation::V1 => PathReport::of(&inquiry, to),
        Generation::V0 => PathReport::of_classic(&inquiry, to),
    };
    let report = report.map_err(|why| {
        let to = to.unwrap_or_default();
        seen.not_answered(&args.from.0.text, to, &why)
    })?;
    match args.output.form {
        Form::Text => output::toned(&report.to_text())?,
        Form::Json => output::json(&report)?,
        Form::Yaml => {
            let documents = documents(&manifests(&report, &frame));
            output::text(|stdout| stdout.write_all(documents.as_bytes()))?;
            if let Some(why) = report.no_way() {
                say(&why);
            }
            if let Some(why) = report.uninstallable() {
                say(&why);
            }
        }
    }
    Ok(seen.exit(report.is_found(), report.is_undecided()))
}

impl PathArgs {
    /// Reads the facts, and the manifest that each step changes.
    fn load(&self) -> Result<(PackageFacts, Frame), CommandFailure> {
        let mut seen = self.see.load_for(self.olm, &self.package)?;
        let (mut frame, extension) = self.frame.frame(&mut seen.filter)?;
        match extension {
            Some(extension) => {
                seen.subject = extension.subject;
                seen.install = extension.install;
            }
            None if self.olm == Generation::V1 => seen = seen.of_package_alone(),
            None => {}
        }
        if let Some(catalog) = self.see.catalog() {
            self.see.select(&mut seen.filter);
            frame = frame.with_catalog(catalog);
        }
        Ok((seen, frame))
    }
}

/// Several documents, each after its comment.
fn documents(manifests: &[ManifestOfPath]) -> String {
    let documents = manifests.iter().map(|manifest| {
        let document = yaml::document(&manifest.object);
        format!("---\n# {}\n{document}", manifest.comment)
    });
    documents.collect()
}

const NO_MANIFESTS: &str =
    "-o yaml prints ClusterExtensions, which --olm v0 does not have: use -o text or -o json";
