use super::*;
use crate::olm::Rules;
use crate::{Catalog, CatalogBuilder, fbc};

/// The catalog of a package `p` whose channels have these entries, as in YAML.
fn catalog(text: &str) -> Catalog {
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    fbc::read("catalog", text.as_bytes(), &mut builder).expect("a catalog");
    builder.finish().expect("no bound")
}

const LANTERN: &str = r#"
{"schema": "olm.package", "name": "lantern", "defaultChannel": "stable"}
{"schema": "olm.channel", "package": "lantern", "name": "stable", "entries": [
    {"name": "lantern.v1.2.0", "replaces": "lantern.v1.0.0", "skips": ["lantern.v1.1.0"],
     "skipRange": ">=0.9.0 <1.3.0"},
    {"name": "lantern.v1.0.0", "replaces": "lantern.v0.9.0"}]}
{"schema": "olm.channel", "package": "lantern", "name": "fast", "entries": [
    {"name": "lantern.v1.2.0", "skipRange": "v1"}, {"name": "lantern.v1.3.0"}]}
{"schema": "olm.bundle", "package": "lantern", "name": "lantern.v1.0.0", "image": "i:1", "properties": [
    {"type": "olm.package", "value": {"packageName": "lantern", "version": "1.0.0"}}]}
{"schema": "olm.bundle", "package": "lantern", "name": "lantern.v1.2.0", "properties": [
    {"type": "olm.package", "value": {"packageName": "lantern", "version": "1.2.0"}}]}
{"schema": "olm.bundle", "package": "lantern", "name": "lantern.v0.8.0", "properties": [
    {"type": "olm.package", "value": {"packageName": "lantern", "version": "0.8.0"}}]}
"#;

fn edges(graph: &Graph<'_>, channel: &str) -> Vec<String> {
    let channel = graph.channel(channel).expect("a channel");
    let name = |node| graph.name_of(node).trim_start_matches("lantern.");
    let edge = |edge: GraphEdge<'_>| {
        format!(
            "{} {} {}",
            name(edge.to),
            edge.kind.field(),
            name(edge.from)
        )
    };
    channel.edges(graph).map(edge).collect()
}

#[test]
fn a_graph_has_what_its_author_wrote() {
    let catalog = catalog(LANTERN);
    let package = catalog.package("lantern").expect("it").expect("decoded");
    let graph = Graph::of("lantern", package);
    let names: Vec<_> = graph.nodes().map(|node| graph.name_of(node)).collect();
    assert_eq!(
        names,
        [
            "lantern.v1.2.0",
            "lantern.v1.0.0",
            "lantern.v0.8.0",
            "lantern.v0.9.0",
            "lantern.v1.1.0"
        ]
    );
    let bundles = graph.nodes().filter(|node| graph.bundle(*node).is_some());
    assert_eq!(bundles.count(), 3);
    assert_eq!(graph.default_channel(), Some("stable"));
    let first = graph.find("lantern.v1.0.0").expect("it");
    assert_eq!(
        graph.bundle(first).map(|bundle| &*bundle.image),
        Some("i:1")
    );
}

#[test]
fn edges_stand_by_entry_and_kind_and_keep_to_their_channel() {
    let catalog = catalog(LANTERN);
    let package = catalog.package("lantern").expect("it").expect("decoded");
    let graph = Graph::of("lantern", package);
    assert_eq!(
        edges(&graph, "stable"),
        [
            "v1.2.0 replaces v1.0.0",
            "v1.2.0 skips v1.1.0",
            "v1.2.0 skipRange v1.0.0",
            "v1.0.0 replaces v0.9.0",
        ]
    );
    assert_eq!(edges(&graph, "fast"), Vec::<String>::new());
    let fast = graph.channel("fast").expect("it");
    assert_eq!(fast.entries.len(), 1, "v1.3.0 has no bundle");
    assert_eq!(fast.entries[0].unread_ranges, ["v1"]);
}

#[test]
fn an_entry_that_replaces_or_skips_itself_is_no_head() {
    for edge in [
        r#""replaces": "lantern.v1.2.0""#,
        r#""skips": ["lantern.v1.2.0"]"#,
    ] {
        let own = format!(r#"{{"name": "lantern.v1.2.0", {edge}}}"#);
        let text = LANTERN.replace(r#"{"name": "lantern.v1.2.0", "skipRange": "v1"}"#, &own);
        let catalog = catalog(&text);
        let package = catalog.package("lantern").expect("it").expect("decoded");
        let graph = Graph::of("lantern", package);
        let fast = graph.channel("fast").expect("it");
        assert_eq!(fast.heads().count(), 0, "{edge}");
        let stable = graph.channel("stable").expect("it");
        assert_eq!(stable.heads().count(), 1, "{edge}");
    }
}

#[test]
fn the_version_is_what_follows_the_first_break_that_begins_one() {
    for (name, expected) in [
        ("lantern.v1.2.3", Some("1.2.3")),
        ("lantern-operator.1.2.3", Some("1.2.3")),
        ("lantern-operator-v0.1.0-rc.1", Some("0.1.0-rc.1")),
        ("v1.0.1", Some("1.0.1")),
        ("1.0.1+7", Some("1.0.1+7")),
        ("lantern2.v3.0.0", Some("3.0.0")),
        ("lantern", None),
        ("lantern.v1.2", None),
        ("", None),
    ] {
        let found = version_in_name(name).map(|version| version.to_string());
        assert_eq!(found.as_deref(), expected, "{name}");
    }
}

mod search {
    use super::super::*;

    /// There are steps from 1 to 2 and 3, from both to 4, and from 4 back to 1.
    fn steps_from(node: u32) -> Vec<(&'static str, u32)> {
        match node {
            1 => vec![("a", 2), ("b", 3), ("again", 2)],
            2 => vec![("c", 4)],
            3 => vec![("d", 4), ("e", 5)],
            4 => vec![("back", 1)],
            _ => Vec::new(),
        }
    }

    fn nodes<S>(visits: &[SearchVisit<u32, S>]) -> Vec<(u32, usize)> {
        visits
            .iter()
            .map(|visit| (visit.node, visit.steps))
            .collect()
    }

    #[test]
    fn what_is_fewer_steps_away_is_visited_first_and_nothing_twice() {
        let visits = search([1], None, steps_from);
        let expected = [(1, 0), (2, 1), (3, 1), (4, 2), (5, 2)];
        assert_eq!(nodes(visits.as_slice()), expected);
    }

    #[test]
    fn a_path_takes_the_step_that_was_given_first() {
        let visits = search([1], None, steps_from);
        let path = visits.shortest_path(4).expect("4 is reached");
        let steps: Vec<_> = path.iter().filter_map(|visit| visit.by).collect();
        assert_eq!(steps, [(0, "a"), (1, "c")]);
        assert!(visits.shortest_path(6).is_none(), "nothing leads to 6");
    }

    #[test]
    fn a_search_ends_at_its_goal() {
        let visits = search([1], Some(3), steps_from);
        assert_eq!(nodes(visits.as_slice()), [(1, 0), (2, 1), (3, 1)]);
        let there = search([3], Some(3), steps_from);
        assert_eq!(nodes(there.as_slice()), [(3, 0)]);
    }

    #[test]
    fn several_starts_are_no_step_away() {
        let visits = search([2, 3, 2], None, steps_from);
        let expected = [(2, 0), (3, 0), (4, 1), (5, 1), (1, 2)];
        assert_eq!(nodes(visits.as_slice()), expected);
    }
}
