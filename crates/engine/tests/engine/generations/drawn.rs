//! A package in shorthand, and the results of each generation of OLM.

use olmguard_catalog::graph::Graph;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::version::Version;
use olmguard_catalog::{Catalog, CatalogBuilder, Package, fbc};
use olmguard_engine::extension::{Filter, InstalledBundle};
use olmguard_engine::resolve::classic::{
    InstalledCsv, LineError, SubscribedChannel, SubscriptionOrder,
};
use olmguard_engine::resolve::{Origin, Query, choose, weigh};
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};

use olmguard_fixtures::written::written;

const PACKAGE: &str = "P";

pub(crate) struct Drawn(Catalog);

/// The behaviour of OLM v0 with a Subscription.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Classic {
    pub(crate) candidates: String,
    pub(crate) path: String,
}

impl Drawn {
    /// A package `P` in shorthand.
    pub(crate) fn read(lines: &str) -> Self {
        let fbc = written(lines).fbc();
        let rules = Rules::default();
        let mut builder = CatalogBuilder::new(&rules);
        fbc::read("drawn", fbc.as_bytes(), &mut builder).expect("a catalog");
        Self(builder.finish().expect("no bound"))
    }

    pub(crate) fn package(&self) -> &Package {
        let package = self.0.package(PACKAGE).expect("the package");
        package.expect("a package that decodes")
    }

    pub(crate) fn graph(&self) -> Graph<'_> {
        Graph::of(PACKAGE, self.package())
    }

    /// OLM v0 with a Subscription to a channel; `""` for none.
    pub(crate) fn v0(&self, channel: &str, installed: &str) -> Result<Classic, LineError> {
        let graph = self.graph();
        let line = SubscriptionOrder::of(&graph, subscribed(channel))?;
        let name = name(installed);
        let version = Version::parse(installed).expect("a version");
        let installed = InstalledCsv {
            name: &name,
            version: Some(&version),
        };
        let short = |node| graph.name_of(node).trim_start_matches("P.v");
        let list = |nodes: Vec<_>, with: &str| {
            let names: Vec<_> = nodes.into_iter().map(short).collect();
            names.join(with)
        };
        Ok(Classic {
            candidates: list(line.candidates(installed), ", "),
            path: list(line.walk(installed), ", "),
        })
    }

    /// The successors of OLM v1 in these channels, or in all if none is given, without the
    /// installed bundle.
    pub(crate) fn v1(&self, channels: &[&str], installed: &str) -> String {
        let package = self.package();
        let channels: Vec<_> = channels.iter().map(|name| (*name).to_owned()).collect();
        let asked = package.ask_channels(&channels);
        let (name, version) = (
            name(installed),
            Version::parse(installed).expect("a version"),
        );
        let mut successors = package.successors(Some(&name), &version, &asked).edges;
        successors.intersect(&package.members(&asked));
        let bundles = successors.iter().map(|index| package.bundle(index));
        let names = bundles.map(|bundle| bundle.name.trim_start_matches("P.v"));
        names
            .filter(|name| *name != installed)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// The bundle that OLM v1 resolves to with this range and these channels; `none` if it fails.
    pub(crate) fn v1_pick(&self, channels: &[&str], range: &str, installed: &str) -> String {
        pick(&[("a", 0, self)], channels, range, installed)
    }
}

/// The bundle that OLM v1 resolves to over several catalogs, as `CATALOG VERSION`. A single catalog
/// is not named.
pub(crate) fn pick(
    catalogs: &[(&str, i32, &Drawn)],
    channels: &[&str],
    range: &str,
    installed: &str,
) -> String {
    let states = catalogs.iter().map(|(name, priority, drawn)| {
        let content = Content::Loaded(drawn.0.clone().into());
        let mut state = CatalogState::named(name, content);
        state.priority = *priority;
        state
    });
    let rules = Rules::default();
    let snapshot = Snapshot::new(rules.clone(), states);
    let filter = Filter {
        package: PACKAGE.to_owned(),
        version: Some(range.to_owned()),
        channels: channels.iter().map(|name| (*name).to_owned()).collect(),
        ..Filter::default()
    };
    let query = Query::compile(&filter, &snapshot).expect("a query");
    let offers = query.offers(&query.in_play(&snapshot)).expect("offers");
    let bundle = InstalledBundle {
        name: Some(name(installed)),
        version: installed.to_owned(),
        release: None,
    };
    let origin = Origin::read(&bundle, &rules).expect("an origin");
    let matches = weigh(&offers, Some(&origin));
    let Ok(resolved) = choose(&matches) else {
        return "none".to_owned();
    };
    let version = resolved.choice.bundle().name.trim_start_matches("P.v");
    match catalogs {
        [_] => version.to_owned(),
        _ => format!("{} {version}", resolved.choice.catalog.name),
    }
}

/// Asserts a row: the entries that OLM v0 tries, the end of its walk, and the successors of OLM v1.
pub(crate) fn row(id: &str, drawn: &Drawn, installed: &str, v0: [&str; 2], v1: &str) {
    let classic = drawn
        .v0("c", installed)
        .unwrap_or_else(|e| panic!("{id}: {e}"));
    let [candidates, path] = v0.map(str::to_owned);
    assert_eq!(classic, Classic { candidates, path }, "{id}: OLM v0");
    assert_eq!(drawn.v1(&[], installed), v1, "{id}: OLM v1");
}

pub(crate) fn name(version: &str) -> String {
    format!("P.v{version}")
}

fn subscribed(channel: &str) -> SubscribedChannel<'_> {
    if channel.is_empty() {
        SubscribedChannel::ToAny
    } else {
        SubscribedChannel::To(channel)
    }
}
