//! `olmguard path PACKAGE FROM [TO]`: the edits that upgrade from one version to another, and the automatic upgrades
//! without an edit.

use std::io;
use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

use crate::cli::args::installed::SaidArg;
use crate::cli::args::{heading, one_of};
use crate::cli::commands::all_objects;
use crate::cli::commands::inquiry::{
    EXIT_CODES, GENERATIONS, InquiryArgs, InquiryError, PackageFacts,
};
use crate::cli::facts::check_stdin;
use crate::cli::output::{self, OutputArgs, yaml};
use crate::cli::{CommandFailure, Exit, ends_with, help, say};
use crate::manifest::Inputs;
use olmguard_catalog::dns1123;
use olmguard_engine::extension::{Extension, Filter, PolicySubject, Shape};
use olmguard_views::path::{Frame, ManifestOfPath, PathReport, manifests};
use olmguard_views::see::Generation;

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
    #[arg(value_parser = NonEmptyStringValueParser::new())]
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

/// Runs `olmguard path`.
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
            output::plain(text_of(&manifests(&report, &frame)))?;
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
    /// Whether the path is for a new extension, which is defined by flags and printed.
    fn is_about_new(&self) -> bool {
        self.olm == Generation::V1
            && (self.output.form == Form::Yaml || self.frame.given().next().is_some())
    }

    /// Reads the facts, and the manifest that each step changes.
    fn load(&self) -> Result<(PackageFacts, Frame), CommandFailure> {
        check_stdin(self.see.paths().chain(self.frame.filename.as_deref()))?;
        let mut seen = self.see.load_for(self.olm, &self.package)?;
        let (mut frame, extension) = self.frame.frame(&mut seen.filter)?;
        match extension {
            Some(extension) => {
                seen.subject = extension.subject;
                seen.install = extension.install;
            }
            None if self.is_about_new() => seen.subject = self.frame.subject(&self.package),
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

/// Several documents, each with its comment above it.
fn text_of(manifests: &[ManifestOfPath]) -> String {
    let documents = manifests.iter().map(|manifest| {
        let document = yaml::document(&manifest.object);
        format!("---\n# {}\n{document}", manifest.comment)
    });
    documents.collect()
}

const NO_MANIFESTS: &str =
    "-o yaml prints ClusterExtensions, which --olm v0 does not have: use -o text or -o json";

// === The manifest that each step changes: from a file, or a new one ===

/// The flags about the manifest.
#[derive(Args, Clone, Debug)]
struct FrameArgs {
    /// Change the ClusterExtension in this file (- for standard input)
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "PATH",
        help_heading = heading::MANIFEST
    )]
    filename: Option<PathBuf>,

    /// Name of a new ClusterExtension [default: name of the package]
    #[arg(long, value_name = "NAME", help_heading = heading::MANIFEST)]
    name: Option<String>,

    /// Namespace to install into [default: name of the ClusterExtension]
    #[arg(long, value_name = "NAMESPACE", help_heading = heading::MANIFEST)]
    namespace: Option<String>,

    /// Service account of the installer [default: NAME-installer]
    #[arg(long, value_name = "NAME", help_heading = heading::MANIFEST)]
    service_account: Option<String>,
}

/// The reason why there is no manifest to change.
#[derive(Debug, thiserror::Error)]
enum FrameError {
    #[error("-f: found {found} ClusterExtensions of API v1 for package {package:?}: expected one")]
    Count { found: usize, package: String },
    #[error("{flag} and -f cannot be used together: the flag is for a new ClusterExtension")]
    Both { flag: &'static str },
    #[error("{flag}: found {found:?}: expected {expected}, lower-case letters, digits and hyphens")]
    Name {
        flag: &'static str,
        found: String,
        expected: &'static str,
    },
}

impl FrameArgs {
    /// The manifest, and its extension if it is from a file. Adds the other requests of the file to the filter.
    fn frame(&self, filter: &mut Filter) -> Result<(Frame, Option<Extension>), CommandFailure> {
        match &self.filename {
            Some(file) => {
                self.check_new()?;
                let (frame, extension) = of_file(file.clone(), filter)?;
                Ok((frame, Some(extension)))
            }
            None => Ok((self.new_frame(filter), None)),
        }
    }

    /// The flags for a new object that are given.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let flags = [
            ("--name", &self.name),
            ("--namespace", &self.namespace),
            ("--service-account", &self.service_account),
        ];
        let given = flags.into_iter().filter(|(_, value)| value.is_some());
        given.map(|(flag, _)| flag)
    }

    fn check_new(&self) -> Result<(), FrameError> {
        let given = self.given().next();
        given.map_or(Ok(()), |flag| Err(FrameError::Both { flag }))
    }

    /// The properties of a new object that policies match. It has no labels.
    fn subject(&self, package: &str) -> PolicySubject {
        let [_, namespace, _] = self.names(package);
        PolicySubject {
            namespace,
            ..PolicySubject::default()
        }
    }

    /// Checks that an API server accepts the names of a new object.
    fn check_names(&self, package: &str) -> Result<(), FrameError> {
        if self.filename.is_some() {
            return Ok(());
        }
        let [name, namespace, account] = self.names(package);
        let is_name = |text: &str| text.len() <= 253 && dns1123::is_subdomain(text);
        let is_namespace = |text: &str| text.len() <= 63 && dns1123::is_label(text);
        let name_of = |flag, found| FrameError::Name {
            flag,
            found,
            expected: "a DNS subdomain of at most 253 characters",
        };
        if !is_name(&name) {
            return Err(name_of("--name", name));
        }
        if !is_namespace(&namespace) {
            return Err(FrameError::Name {
                flag: "--namespace",
                found: namespace,
                expected: "a DNS label of at most 63 characters",
            });
        }
        if !is_name(&account) {
            return Err(name_of("--service-account", account));
        }
        Ok(())
    }

    /// The name, the namespace and the service account of a new object.
    fn names(&self, package: &str) -> [String; 3] {
        let name = self.name.as_deref().unwrap_or(package);
        let namespace = self.namespace.as_deref().unwrap_or(name);
        let installer = format!("{name}-installer");
        let account = self.service_account.as_deref().unwrap_or(&installer);
        [name, namespace, account].map(str::to_owned)
    }

    fn new_frame(&self, filter: &Filter) -> Frame {
        let [name, namespace, account] = self.names(&filter.package);
        Frame::new(&name, &namespace, &account, filter)
    }
}

fn of_file(file: PathBuf, filter: &mut Filter) -> Result<(Frame, Extension), CommandFailure> {
    let objects = all_objects(Inputs::new([file], io::stdin()))?;
    let found = objects.into_iter().filter_map(|object| {
        let extension = Extension::read(Shape::V1, &object.value);
        let asked = extension.filter.clone().ok()?;
        let frame = Frame::of(object.value)?;
        (asked.package == filter.package).then_some((frame, asked, extension))
    });
    match <[_; 1]>::try_from(found.collect::<Vec<_>>()) {
        Ok([(frame, asked, extension)]) => {
            filter.selector = asked.selector;
            filter.policy = asked.policy;
            filter.version = filter.version.take().or(asked.version);
            if filter.channels.is_empty() {
                filter.channels = asked.channels;
                return Ok((frame, extension));
            }
            Ok((frame.with_channels(&filter.channels), extension))
        }
        Err(found) => Err(FrameError::Count {
            found: found.len(),
            package: filter.package.clone(),
        }
        .into()),
    }
}

ends_with!(Usage: FrameError);
