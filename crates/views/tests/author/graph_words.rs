//! Every sentence of the picture of an upgrade graph: pictures that contain all of them, and the texts that a reader
//! of the SVG finds there.

use olmguard_catalog::olm::EdgeSource;
use std::collections::BTreeSet;

use olmguard_catalog::graph::Graph;
use olmguard_catalog::olm::Rules;
use olmguard_catalog::{Catalog, CatalogBuilder, fbc};
use olmguard_views::picture::layout::layout;
use olmguard_views::picture::svg::svg;
use olmguard_views::picture::{Sketch, View, pick};
use olmguard_views::see::Generation;

use olmguard_fixtures::written::written;

/// A picture: its package and its view.
struct Picture {
    name: &'static str,
    lines: &'static str,
    channel: Option<&'static str>,
    installed: Option<&'static str>,
    to: Option<&'static str>,
    olm: Generation,
    edges: EdgeSource,
}

/// A package in the default view of OLM v1.
const fn plain(name: &'static str, lines: &'static str) -> Picture {
    Picture {
        name,
        lines,
        channel: None,
        installed: None,
        to: None,
        olm: Generation::V1,
        edges: EdgeSource::Catalog,
    }
}

const fn from(
    name: &'static str,
    lines: &'static str,
    installed: &'static str,
    to: Option<&'static str>,
) -> Picture {
    Picture {
        installed: Some(installed),
        to,
        ..plain(name, lines)
    }
}

const LINE: &str = "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0\n(default): a";

const PICTURES: [Picture; 17] = [
    plain("one version", "a: 1.0.0"),
    plain(
        "names",
        ": 1.0.0; 1.1.0 replaces 1.0.0\nb: 1.1.0 replaces 1.0.0",
    ),
    plain(
        "deprecated",
        "a: 1.0.0; 1.1.0 replaces 1.0.0\n(deprecated): 1.0.0; channel a; package",
    ),
    plain(
        "skipped and gone",
        "a: 1.3.0 replaces 1.1.0 skips 1.2.0,1.0.5 skipRange >=1.0.0 <1.3.0; 1.2.0 replaces 1.1.0; \
         1.1.0 replaces 1.0.0; 1.0.0\nb: 2.0.0 skips 1.1.0",
    ),
    plain(
        "stranded",
        "a: 2.0.0 replaces 1.9.0; 1.0.0\nb: 3.0.0 replaces 2.0.0",
    ),
    plain(
        "cut off in OLM v0",
        "a: 1.0.0; 1.1.0 replaces 1.0.0; 2.0.0 replaces 1.1.0 skips 1.0.0; 2.1.0 replaces 2.0.0 skips 1.1.0; \
         2.2.0 replaces 2.1.0 skips 2.0.0",
    ),
    plain(
        "refused",
        "a: 1.x; 1.1.0 skipRange >=1.0.0 <x; 1.2.0 replaces 1.1.0\n(requires): 1.2.0 olm.gvk.required",
    ),
    from("no way on", LINE, "1.2.0", None),
    from("one hop", LINE, "1.1.0", Some("1.2.0")),
    from("two hops", LINE, "1.0.0", Some("1.2.0")),
    from("an end out of reach", LINE, "1.1.0", Some("1.0.0")),
    Picture {
        olm: Generation::V0,
        ..plain(
            "a channel that OLM v0 refuses",
            "a: 1.0.0; 1.1.0; 1.2.0\n(default): a",
        )
    },
    Picture {
        olm: Generation::V0,
        channel: Some("a"),
        ..from(
            "subscribed to a channel",
            "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0 skips 1.0.0",
            "1.0.0",
            None,
        )
    },
    Picture {
        olm: Generation::V0,
        ..from(
            "subscribed to none",
            "a: 1.0.0; 1.1.0 replaces 1.0.0\nb: 1.0.0; 1.2.0 replaces 1.0.0\n(default): a",
            "1.0.0",
            None,
        )
    },
    Picture {
        edges: EdgeSource::CaretRange,
        ..plain(
            "semver rules",
            "a: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0; 2.0.0",
        )
    },
    Picture {
        edges: EdgeSource::Both,
        ..plain(
            "both graphs",
            "a: 1.0.0; 2.0.0 replaces 1.0.0 skipRange <2.0.0; 2.1.0 skips 2.0.0,1.0.0",
        )
    },
    plain(
        "long names",
        "a-channel-with-a-name-that-is-longer-than-forty-columns: 1.0.0\n\
         (default): a-channel-with-a-name-that-is-longer-than-forty-columns",
    ),
];

#[test]
fn every_sentence_of_the_picture() {
    let told = PICTURES.iter().flat_map(|picture| {
        let texts = texts(picture).into_iter();
        let texts = texts.map(|text| text.replace('\n', "\n  "));
        std::iter::once(format!("== {}", picture.name)).chain(texts)
    });
    let told: String = told.map(|line| line + "\n").collect();
    olmguard_fixtures::committed::compare("crates/views/tests/author/picture/words.txt", &told);
}

/// Returns the texts that a reader finds, each once.
fn texts(picture: &Picture) -> Vec<String> {
    let shown = drawn(picture);
    let document = roxmltree::Document::parse(&shown).expect("XML");
    let mut known = BTreeSet::new();
    let elements = document.descendants().filter(|node| {
        let name = node.tag_name().name();
        ["title", "desc", "text"].contains(&name)
    });
    let texts = elements.map(|node| {
        let parts = node.descendants().filter(roxmltree::Node::is_text);
        let whole: String = parts.filter_map(|part| part.text()).collect();
        format!("{}: {whole}", node.tag_name().name())
    });
    texts.filter(|text| known.insert(text.clone())).collect()
}

fn drawn(picture: &Picture) -> String {
    let catalog = catalog(picture.lines);
    let package = catalog.package("P").expect("it").expect("decoded");
    let graph = Graph::of("P", package);
    let node = |text: &str| pick(&graph, text).expect("a version");
    let installed = picture.installed.map(node);
    let channels: Vec<_> = picture.channel.map(str::to_owned).into_iter().collect();
    let view = View {
        catalog: "hub",
        channels: &channels,
        installed,
        from: installed,
        to: picture.to.map(node),
        olm: picture.olm,
        edges: picture.edges,
        guarded: None,
    };
    let sketch = Sketch::of(&graph, view).expect("not too large");
    svg(&sketch, &layout(&sketch))
}

/// `path` chooses the same channel.
#[test]
fn a_subscription_of_olm_v0_stays_in_the_first_requested_channel() {
    let catalog =
        catalog("a: 1.0.0; 1.1.0 replaces 1.0.0\nb: 1.0.0; 1.2.0 replaces 1.0.0\n(default): a");
    let package = catalog.package("P").expect("it").expect("decoded");
    let graph = Graph::of("P", package);
    let reached = |channels: &[&str]| {
        let channels: Vec<_> = channels.iter().copied().map(str::to_owned).collect();
        let view = View {
            channels: &channels,
            from: graph.find("P.v1.0.0"),
            olm: Generation::V0,
            ..View::default()
        };
        let sketch = Sketch::of(&graph, view).expect("not too large");
        let way = &sketch.reach.as_ref().expect("a start").way;
        let labels = way.iter().map(|(_, hop)| sketch.label(hop.to).to_owned());
        labels.collect::<Vec<_>>()
    };
    assert_eq!(reached(&["b", "a"]), ["1.2.0"]);
    assert_eq!(reached(&["a", "b"]), ["1.1.0"]);
    assert_eq!(reached(&["gone", "a"]), [""; 0]);
}

#[test]
fn the_edges_of_the_semver_rules_count_toward_the_limit() {
    let versions: Vec<_> = (0..1_500).map(|patch| format!("1.0.{patch}")).collect();
    let catalog = catalog(&format!("a: {}", versions.join("; ")));
    let package = catalog.package("P").expect("it").expect("decoded");
    let graph = Graph::of("P", package);
    let view = View {
        edges: EdgeSource::CaretRange,
        ..View::default()
    };
    let error = Sketch::of(&graph, view)
        .err()
        .map(|error| error.to_string());
    assert_eq!(
        error.as_deref(),
        Some("more than 1000000 edges: fewer channels have fewer")
    );
}

fn catalog(lines: &str) -> Catalog {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    let text = written(lines).fbc();
    fbc::read("c.jsonl", text.as_bytes(), &mut builder).expect("a catalog");
    builder.finish().expect("no bound")
}
