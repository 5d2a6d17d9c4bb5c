//! `olmguard graph PACKAGE`: the upgrade graph of a package, as a picture, text or JSON.

mod error;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use error::GraphError;

use crate::cli::args::olm::EdgesArgs;
use crate::cli::args::{heading, one_of};
use crate::cli::commands::MOST_NEAR;
use crate::cli::commands::inquiry::GENERATIONS;
use crate::cli::facts::{FactsArgs, check_stdin, leave_out_by_extension};
use crate::cli::{CommandFailure, Exit, help, note, output, warn};
use crate::facts::{Facts, instead};
use crate::source::CatalogPlace;
use olmguard_catalog::graph::{Graph, NodeIndex};
use olmguard_catalog::olm::EdgeSource;
use olmguard_catalog::{Catalog, Package};
use olmguard_engine::extension::{Filter, PolicySubject};
use olmguard_engine::resolve::{EditContext, Guards, MatchingPolicies, Query};
use olmguard_engine::snapshot::CatalogState;
use olmguard_views::picture::json::GraphJson;
use olmguard_views::picture::layout::{layout, layout_for_page};
use olmguard_views::picture::walk::ReachedRows;
use olmguard_views::picture::{self, AbsentBundle, GraphTooLarge, ShownGuards, Sketch, View};
use olmguard_views::see::Generation;

/// Draw the upgrade graph (HTML, SVG, Mermaid, DOT, JSON)
#[derive(Clone, Debug, Args)]
#[command(after_help = help::examples(EXAMPLES), after_long_help = help::examples_and_exits(EXAMPLES, EXIT_CODES))]
pub(crate) struct GraphArgs {
    /// Draw from this catalog, if several have the package
    #[arg(id = "in", long = "in", value_name = "CATALOG", help_heading = heading::INPUT)]
    catalog: Option<String>,

    /// Draw only this channel (repeatable) [default: all channels]
    #[arg(
        long,
        value_name = "CHANNEL",
        value_delimiter = ',',
        value_parser = crate::cli::commands::inquiry::channel,
        help_heading = heading::INPUT
    )]
    channel: Vec<String>,

    /// Mark this version as installed, and what it can be upgraded to
    #[arg(long, value_name = "VERSION", help_heading = heading::INPUT)]
    installed: Option<String>,

    /// Show upgrades from this version [default: the installed version]
    #[arg(long, value_name = "VERSION", help_heading = heading::INPUT)]
    from: Option<String>,

    /// Show the path to this version [default: the highest reachable]
    #[arg(long, value_name = "VERSION", help_heading = heading::INPUT)]
    to: Option<String>,

    /// Draw what changed since this catalog, a file, directory or oci:IMAGE (svg and html)
    #[arg(long, value_name = "OLD", help_heading = heading::INPUT)]
    base: Option<CatalogPlace>,

    /// Draw edges pale that this generation of OLM does not use
    #[arg(
        long,
        value_name = "GENERATION",
        value_parser = one_of(&GENERATIONS),
        default_value = "v1",
        help_heading = heading::INPUT
    )]
    olm: Generation,

    #[command(flatten)]
    facts: FactsArgs,

    #[command(flatten)]
    edges: EdgesArgs,

    /// Format of the output [default: by the name of the output file, otherwise mermaid]
    #[arg(
        id = "output",
        short = 'o',
        long = "output",
        value_name = "FORMAT",
        value_enum,
        help_heading = heading::OUTPUT
    )]
    form: Option<Form>,

    /// Write to this file: .svg, .html, .dot, .json, .mmd, .md or .txt [default: standard output]
    #[arg(long, value_name = "FILE", help_heading = heading::OUTPUT)]
    output_file: Option<PathBuf>,

    /// Name of the package
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    package: String,
}

/// What is printed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, clap::ValueEnum)]
enum Form {
    /// Text for Markdown, as opm alpha render-graph prints it
    #[default]
    Mermaid,
    /// Text for Graphviz
    Dot,
    /// A picture
    Svg,
    /// A page with zoom, search and paths
    Html,
    /// One JSON object, described by schemas/olmguard.graph.v1.json
    Json,
}

impl Form {
    /// The form of files whose name has this extension, in lower case.
    fn of_extension(extension: &str) -> Option<Self> {
        Some(match extension {
            "mmd" | "md" | TEXT => Self::Mermaid,
            "dot" | "gv" => Self::Dot,
            "svg" => Self::Svg,
            "html" | "htm" => Self::Html,
            "json" => Self::Json,
            _ => return None,
        })
    }
}

const EXAMPLES: &[&str] = &[
    "olmguard graph lantern-operator --from-cluster --output-file graph.html",
    "olmguard graph lantern-operator --from-cluster --installed 1.2.0 -o svg",
    "olmguard graph lantern-operator --catalog hub=hub.yaml --channel stable",
];

/// Runs `olmguard graph`.
pub(super) fn run(args: &GraphArgs) -> Result<Exit, CommandFailure> {
    let form = args.form()?;
    args.check(form)?;
    let mut facts = args.facts.load(args.edges)?;
    leave_out_by_extension(&mut facts, &args.package);
    let (catalog, package) = args.choose(&facts)?;
    let filter = args.filter();
    let guards = guards(&facts, &filter, catalog);
    let (subject, requester) = (PolicySubject::default(), args.facts.policies.requester());
    let context = EditContext::of(&subject, &requester);
    let (upgrades, rules) = (&facts.policies.upgrades, facts.snapshot.rules());
    let policies = MatchingPolicies::of(upgrades, &filter, context, rules.masterminds);
    let base = args.base(&facts)?;
    let before = args.before(base.as_deref())?;
    let mut graph = Graph::of(&args.package, package);
    let absent = args.absent(&graph, before.as_ref());
    for one in &absent {
        graph.state(&one.name, &one.version);
    }
    let guarded = ShownGuards {
        guards: &guards,
        policies: Some(&policies),
        rules: facts.snapshot.rules(),
        catalog,
    };
    let view = args.view(&facts, guarded, &graph, before.as_ref())?;
    let old = before.as_ref().map(|graph| sketch_before(graph, &view));
    let old = old.transpose()?;
    let mut sketch = Sketch::of(&graph, view)?;
    if let Some(base) = &args.base {
        sketch = sketch.compared(old, &base.to_string());
    }
    args.put(&sketch, form)?;
    let own = Exit::denied_if(misses_goal(&sketch));
    Ok(facts.exit().unwrap_or(own))
}

impl GraphArgs {
    /// The requested form, otherwise the form for the name of the output file.
    fn form(&self) -> Result<Form, GraphError> {
        let file = self.output_file.clone().unwrap_or_default();
        let extension = file.extension().and_then(OsStr::to_str).unwrap_or_default();
        let extension = &*extension.to_ascii_lowercase();
        match (self.form, Form::of_extension(extension)) {
            (Some(form), Some(named)) if form != named && extension != TEXT => {
                Err(GraphError::Contradiction { file })
            }
            (Some(form), _) | (None, Some(form)) => Ok(form),
            (None, None) if extension.is_empty() => Ok(Form::default()),
            (None, None) => Err(GraphError::UnknownExtension { file }),
        }
    }

    fn check(&self, form: Form) -> Result<(), CommandFailure> {
        if self.to.is_some() && self.from.is_none() && self.installed.is_none() {
            return Err(GraphError::NoStart.into());
        }
        if self.base.is_some() && !matches!(form, Form::Svg | Form::Html) {
            return Err(GraphError::NoPicture.into());
        }
        let paths = self.facts.common.catalog.paths();
        check_stdin(paths.chain(self.base.as_ref().and_then(CatalogPlace::path)))?;
        if self.olm == Generation::V0 {
            if self.edges.is_given() {
                return Err(GraphError::NotOfV0.into());
            }
            let typed = &self.facts.common.olm.typed;
            typed.refuse_but(&[], "--olm v0", "--olm v1")?;
        }
        Ok(())
    }

    /// The only catalog that has the package, or the catalog of `--in`.
    fn choose<'f>(&self, facts: &'f Facts) -> Result<(&'f CatalogState, &'f Package), GraphError> {
        let having = self.catalogs(facts)?.into_iter().filter_map(|catalog| {
            let found = catalog.loaded()?.package(&self.package)?;
            Some((catalog, found))
        });
        let having: Vec<_> = having.collect();
        match *having.as_slice() {
            [] => Err(facts
                .exit()
                .map_or_else(|| self.no_package(facts), GraphError::Missing)),
            [(catalog, Ok(package))] => Ok((catalog, package)),
            [(catalog, Err(fault))] => Err(GraphError::Undecodable {
                catalog: catalog.name.clone(),
                package: self.package.clone(),
                fault: fault.clone(),
            }),
            [..] => {
                let names = having.iter().map(|(catalog, _)| catalog.name.clone());
                Err(GraphError::Several {
                    catalogs: names.collect(),
                })
            }
        }
    }

    /// All catalogs, or only the catalog of `--in`.
    fn catalogs<'f>(&self, facts: &'f Facts) -> Result<Vec<&'f CatalogState>, GraphError> {
        let catalogs = facts.snapshot.catalogs().iter();
        let Some(name) = &self.catalog else {
            return Ok(catalogs.collect());
        };
        let named: Vec<_> = catalogs.filter(|one| one.name == *name).collect();
        if !facts.may_have_catalog(name) {
            let known = facts.snapshot.catalogs().iter();
            return Err(GraphError::NoCatalog {
                name: name.clone(),
                known: known.map(|catalog| catalog.name.clone()).collect(),
            });
        }
        Ok(named)
    }

    fn no_package(&self, facts: &Facts) -> GraphError {
        let loaded = facts.snapshot.catalogs().iter();
        let loaded = loaded.filter_map(CatalogState::loaded);
        let known = loaded.flat_map(Catalog::package_names);
        GraphError::NoPackage {
            package: self.package.clone(),
            instead: instead(&self.package, known, MOST_NEAR),
        }
    }

    /// The filter of an extension to which the drawn bundles would be offered.
    fn filter(&self) -> Filter {
        Filter {
            package: self.package.clone(),
            channels: self.channel.clone(),
            ..Filter::default()
        }
    }

    /// Loads the catalog of `--base`.
    fn base(&self, facts: &Facts) -> Result<Option<Arc<Catalog>>, GraphError> {
        let load = |place| super::diff::load(place, facts.snapshot.rules());
        let base = self.base.as_ref().map(load).transpose();
        base.map_err(GraphError::Base)
    }

    /// The graph of the package in the base; `None` if the package is new.
    fn before<'c>(&'c self, base: Option<&'c Catalog>) -> Result<Option<Graph<'c>>, GraphError> {
        match base.and_then(|base| base.package(&self.package)) {
            None => Ok(None),
            Some(Ok(package)) => Ok(Some(Graph::of(&self.package, package))),
            Some(Err(fault)) => Err(GraphError::BaseUndecodable {
                package: self.package.clone(),
                fault: fault.clone(),
            }),
        }
    }

    /// Versions that may be installed although they are no longer bundles: versions that the user names, and removed
    /// bundles. Ranges can match them.
    fn absent(&self, graph: &Graph<'_>, before: Option<&Graph<'_>>) -> Vec<AbsentBundle> {
        let removed = before
            .into_iter()
            .flat_map(|before| picture::removed(graph, before));
        let removed: Vec<_> = removed.collect();
        let texts = [&self.installed, &self.from].into_iter().flatten();
        let is_removed = |text: &str| removed.iter().any(|bundle| bundle.is_called(text));
        let named = texts.filter(|text| !is_removed(text));
        let named: Vec<_> = named
            .filter_map(|text| picture::absent(graph, text))
            .collect();
        removed.into_iter().chain(named).collect()
    }

    fn view<'g>(
        &'g self,
        facts: &Facts,
        guarded: ShownGuards<'g>,
        graph: &Graph<'_>,
        before: Option<&Graph<'_>>,
    ) -> Result<View<'g>, GraphError> {
        let was = |name: &str| before.is_some_and(|before| before.channel(name).is_some());
        let strange = |name: &&String| graph.channel(name).is_none() && !was(name);
        if let Some(name) = self.channel.iter().find(strange) {
            let known = graph.channels().iter();
            return Err(GraphError::NoChannel {
                name: name.clone(),
                known: known.map(|channel| channel.name.to_owned()).collect(),
            });
        }
        let installed = picked(graph, "--installed", self.installed.as_deref())?;
        Ok(View {
            catalog: &guarded.catalog.name,
            channels: &self.channel,
            installed,
            from: picked(graph, "--from", self.from.as_deref())?.or(installed),
            to: picked(graph, "--to", self.to.as_deref())?,
            olm: self.olm,
            edges: match self.olm {
                Generation::V0 => EdgeSource::Catalog,
                Generation::V1 => facts.snapshot.rules().edges,
            },
            guarded: Some(guarded),
        })
    }

    fn put(&self, sketch: &Sketch<'_, '_>, form: Form) -> Result<(), CommandFailure> {
        // Pictures contain this message, and JSON is for programs.
        if matches!(form, Form::Mermaid | Form::Dot)
            && let Some(no_version) = picture::no_version(sketch)
        {
            warn(&no_version);
        }
        if misses_goal(sketch) {
            note(&"the graph has no upgrade path to the version of --to");
        }
        let text = match form {
            Form::Mermaid => picture::mermaid::mermaid(sketch),
            Form::Dot => picture::dot::dot(sketch),
            Form::Svg => picture::svg::svg(sketch, &layout(sketch)),
            Form::Html => picture::html::html(sketch, &layout_for_page(sketch)),
            Form::Json => output::json_line(&GraphJson::of(sketch))?,
        };
        match &self.output_file {
            Some(file) => std::fs::write(file, text).map_err(|source| {
                let file = file.clone();
                GraphError::File { file, source }.into()
            }),
            None => Ok(output::plain(text)?),
        }
    }
}

fn misses_goal(sketch: &Sketch<'_, '_>) -> bool {
    sketch.reach.as_ref().is_some_and(ReachedRows::misses_goal)
}

/// The picture of the base, with the same channels and rules.
fn sketch_before<'g>(
    graph: &'g Graph<'g>,
    view: &View<'g>,
) -> Result<Sketch<'g, 'g>, GraphTooLarge> {
    let view = View {
        installed: None,
        from: None,
        to: None,
        guarded: None,
        ..view.clone()
    };
    Sketch::of(graph, view)
}

/// The guardrails for the steps to the bundles of a catalog.
fn guards<'f>(facts: &'f Facts, filter: &Filter, catalog: &'f CatalogState) -> Guards<'f> {
    let query = Query::compile(filter, &facts.snapshot).ok();
    let offers = query.and_then(|query| query.offers(&catalog.into()).ok());
    let offers = offers.unwrap_or_default();
    Guards::of(&facts.policies.guardrails, &filter.package, &offers)
}

fn picked(
    graph: &Graph<'_>,
    flag: &'static str,
    text: Option<&str>,
) -> Result<Option<NodeIndex>, GraphError> {
    let picked = text.map(|text| picture::pick(graph, text)).transpose();
    picked.map_err(|source| GraphError::Version { flag, source })
}

/// The extension of a file with any text: Mermaid, unless another format is requested.
const TEXT: &str = "txt";

const EXIT_CODES: &[(Exit, &str)] = &[
    (Exit::Good, "the graph is drawn"),
    (
        Exit::Denied,
        "no such package or channel; or drawn, and no path to the version of --to",
    ),
    (
        Exit::Usage,
        "wrong usage, or a version that the package does not have",
    ),
    (Exit::BadInput, "a catalog is unreadable"),
    (
        Exit::Undecided,
        "undecided because a fact is missing, such as a cluster's answer",
    ),
];
