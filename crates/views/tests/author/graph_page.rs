//! Parts of the page of an upgrade graph besides the picture: folds, notes, and differences between two catalogs.

use olmguard_catalog::graph::Graph;
use olmguard_fixtures::written::written;
use olmguard_views::picture::html::html;
use olmguard_views::picture::layout::{layout, layout_for_page};
use olmguard_views::picture::svg::svg;
use olmguard_views::picture::{ShownGuards, Sketch, View, pick, removed};
use serde_json::{Value, json};

use crate::picture::guarded::with_rules;
use crate::picture::packages::Drawn;
use crate::picture::seen::seen;

/// Returns the data of the page of a package.
fn data(lines: &str, installed: Option<&str>) -> Value {
    let drawn = Drawn::new("page", written(lines).fbc());
    let package = drawn.catalog.package("P").expect("it").expect("decoded");
    let graph = Graph::of("P", package);
    let installed = installed.map(|text| pick(&graph, text).expect("a version"));
    let view = View {
        installed,
        from: installed,
        ..View::default()
    };
    of_page(&Sketch::of(&graph, view).expect("not too large"))
}

fn of_page(sketch: &Sketch<'_, '_>) -> Value {
    let page = html(sketch, &layout_for_page(sketch));
    let (_, rest) = page.split_once("id=\"data\">").expect("data");
    let (data, _) = rest.split_once("</script>").expect("an end");
    serde_json::from_str(data).expect("JSON")
}

/// Versions 1.0.0 to 1.0.N, each of which replaces the one before.
fn line(channel: &str, count: u32) -> String {
    let entries = (0..count).map(|patch| match patch {
        0 => "1.0.0".to_owned(),
        patch => format!("1.0.{patch} replaces 1.0.{}", patch - 1),
    });
    format!("{channel}: {}", entries.collect::<Vec<_>>().join("; "))
}

#[test]
fn long_runs_without_a_branch_are_folded_but_for_their_ends() {
    let line = line("a", 40);
    let with = |more: &str| format!("{line}\n{more}");
    for (name, lines, installed, expected) in [
        ("a line", line.clone(), None, json!([[1, 38]])),
        (
            "the installed one is kept",
            line.clone(),
            Some("1.0.20"),
            json!([[1, 18], [20, 38]]),
        ),
        (
            "so is a head, and the room of a heading",
            with("b: 1.0.20"),
            None,
            json!([[1, 16], [21, 38]]),
        ),
        (
            "and a branch",
            line.clone() + "; 1.0.99 replaces 1.0.20",
            None,
            json!([[2, 19], [21, 39]]),
        ),
        (
            "and what is deprecated is no part of the run",
            with("(deprecated): 1.0.20"),
            None,
            json!([[1, 18], [20, 38]]),
        ),
    ] {
        assert_eq!(data(&lines, installed)["folds"], expected, "{name}");
    }
    assert_eq!(
        data(&self::line("a", 29), None)["folds"],
        json!([]),
        "a screen has room for these"
    );
}

#[test]
fn dead_ends_and_gaps_are_told() {
    for (lines, expected) in [
        ("a: 1.0.0; 1.1.0 replaces 1.0.0", json!([])),
        (
            "a: 1.0.0; 1.1.0 replaces 1.0.0\nb: 2.0.0; 2.1.0 replaces 2.0.0",
            json!([[
                2,
                true,
                "Gap: no upgrade crosses this line: 1.1.0 and older cannot reach 2.0.0 or newer."
            ]]),
        ),
        (
            "a: 1.0.0; 1.1.0 replaces 1.0.0; 2.0.0\nb: 3.0.0",
            json!([[
                1,
                true,
                "Gap: no upgrade crosses this line: 2.0.0 and older cannot reach 3.0.0 or newer. 2.0.0 is alone between two gaps."
            ]]),
        ),
        (
            "a: 1.0.0; 2.0.0 replaces 1.0.0\nb: 1.1.0; 1.2.0",
            json!([[
                1,
                false,
                "Dead ends: 2 versions, 1.2.0 to 1.1.0, have no upgrade. 1 newer version exists."
            ]]),
        ),
        (
            "a: 1.0.0; 2.0.0 replaces 1.0.0; 3.0.0 replaces 2.0.0\nb: 1.1.0",
            json!([[
                2,
                false,
                "Dead end: 1.1.0 has no upgrade. 2 newer versions exist."
            ]]),
        ),
    ] {
        assert_eq!(data(lines, None)["notes"], expected, "{lines}");
    }
}

#[test]
fn what_guardrails_alone_keep_apart_is_told_so() {
    let drawn = Drawn::new("page", written("a: 1.0.0; 2.0.0 replaces 1.0.0").fbc());
    let rules = json!({"schema": "olmguard.guardrails.v1alpha1", "package": "P",
        "rules": [{"id": "no", "kind": "PassThrough", "via": ">=1.5.0 <1.6.0"}]});
    with_rules(
        &drawn,
        &rules,
        |graph: &Graph<'_>, guarded: ShownGuards<'_>| {
            let view = View {
                guarded: Some(guarded),
                ..View::default()
            };
            let notes = &of_page(&Sketch::of(graph, view).expect("not too large"))["notes"];
            let text = "Guardrails forbid every upgrade across this line: 1.0.0 and older cannot reach 2.0.0 or newer.";
            assert_eq!(*notes, json!([[1, true, text]]));
        },
    );
}

#[test]
fn channels_have_columns_of_their_own_where_a_window_has_room() {
    let lines = "a: 1.9.0\nb: 1.5.0; 1.6.0\nc: 1.0.0";
    let drawn = Drawn::new("page", written(lines).fbc());
    let package = drawn.catalog.package("P").expect("it").expect("decoded");
    let graph = Graph::of("P", package);
    let sketch = Sketch::of(&graph, View::default()).expect("not too large");
    let lefts = |cards: &[olmguard_views::picture::scene::Card]| {
        let lefts = cards.iter().map(|card| card.area.x);
        lefts.collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(lefts(&layout_for_page(&sketch).cards), 3);
    assert!(lefts(&layout(&sketch).cards) < 3);
}

/// Draws a comparison of two packages.
fn compared(before: Option<&str>, now: &str, test: impl Fn(&Sketch<'_, '_>)) {
    let before = before.map(|lines| written(lines).fbc());
    compared_catalogs(before, written(now).fbc(), test);
}

/// Draws a comparison of two catalogs.
fn compared_catalogs(before: Option<String>, now: String, test: impl Fn(&Sketch<'_, '_>)) {
    let draw = |text| Drawn::new("page", text);
    let (old, new) = (before.map(draw), draw(now));
    let graph = |drawn: &'static Drawn| {
        let package = drawn.catalog.package("P").expect("it").expect("decoded");
        Graph::of("P", package)
    };
    // The test may keep the picture, so everything must live as long.
    let old = old.map(|old| graph(Box::leak(Box::new(old))));
    let mut new = graph(Box::leak(Box::new(new)));
    let gone = old.as_ref().map_or_else(Vec::new, |old| removed(&new, old));
    for bundle in Vec::leak(gone) {
        new.state(&bundle.name, &bundle.version);
    }
    let sketch = |graph| Sketch::of(graph, View::default()).expect("not too large");
    let old = old.as_ref().map(sketch);
    test(&sketch(&new).compared(old, "old.yaml"));
}

const BEFORE: &str = "stable: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0 skipRange >=1.0.0 <1.2.0\nold: 1.0.0";
const NOW: &str =
    "stable: 1.0.0; 1.2.0 replaces 1.0.0 skipRange >=1.0.0 <1.2.0; 1.3.0 skips 1.2.0\nfast: 1.3.0";

#[test]
fn a_comparison_tells_what_is_added_and_removed() {
    compared(Some(BEFORE), NOW, |sketch| {
        let changes = of_page(sketch)["changes"].clone();
        let texts = changes.as_array().expect("a list").iter();
        let texts: Vec<_> = texts
            .map(|change| change[1].as_str().expect("a text"))
            .collect();
        assert_eq!(
            texts,
            [
                "1.3.0 added",
                "1.1.0 removed",
                "channel fast added",
                "upgrade added: 1.0.0 → 1.2.0 (replaces in stable)",
                "upgrade removed: 1.1.0 → 1.2.0 (replaces in stable)",
                "upgrade removed: 1.0.0 → 1.1.0 (replaces in stable)",
                "upgrade added: 1.2.0 → 1.3.0 (skips in stable)",
                "channel old removed",
            ]
        );
        let picture = svg(sketch, &layout_for_page(sketch));
        let told = "Compared with old.yaml: 1 version added and 1 removed; 2 upgrade edges added and 2 removed.";
        for text in [
            told,
            "catalog  · 3 versions · 2 channels",
            ">1.3.0 added<",
            ">1.1.0 removed<",
            ">edge added<",
            ">edge removed<",
            "class=\"change added\"",
        ] {
            assert!(picture.contains(text), "{text}: {picture}");
        }
    });
}

/// The version of the removed bundle is invalid, so its row is last in the base.
#[test]
fn an_edge_of_a_comparison_starts_at_its_own_version() {
    let before = written("a: 0.9.0; 1.0.0; 1.5.0 skips 0.9.0,1.0.0").fbc();
    let before = before.replace("\"version\":\"1.0.0\"", "\"version\":\"v1.0.0\"");
    let now = written("a: 0.9.0; 2.0.0 replaces 1.0.0 skips 0.9.0").fbc();
    compared_catalogs(Some(before), now, |sketch| {
        let changes = of_page(sketch)["changes"].clone();
        let changes = changes.as_array().expect("a list").iter();
        let texts: Vec<_> = changes.map(|change| change[1].clone()).collect();
        assert_eq!(
            texts,
            [
                "2.0.0 added",
                "1.5.0 removed",
                "P.v1.0.0 removed",
                "upgrade added: P.v1.0.0 → 2.0.0 (replaces in a)",
                "upgrade added: 0.9.0 → 2.0.0 (skips in a)",
                "upgrades removed: 2 versions → 1.5.0 (skips in a)",
            ]
        );
        let mut fans = sketch.lanes.iter().flat_map(|lane| &lane.fans);
        assert!(fans.all(|fan| fan.from.is_sorted()));
    });
}

#[test]
fn nothing_of_a_comparison_overlaps_and_it_has_the_same_bytes_again() {
    for (before, now) in [
        (Some(BEFORE), NOW),
        (Some(NOW), BEFORE),
        (Some(NOW), NOW),
        (None, NOW),
    ] {
        compared(before, now, |sketch| {
            let picture = svg(sketch, &layout(sketch));
            assert_eq!(picture, svg(sketch, &layout(sketch)));
            let seen = seen(&picture);
            for (at, one) in seen.texts.iter().enumerate() {
                let mut rest = seen.texts.iter().skip(at + 1);
                assert_eq!(
                    rest.find(|other| one.overlaps(other))
                        .map(|other| &other.text),
                    None,
                    "{}",
                    one.text
                );
            }
        });
    }
    compared(Some(NOW), NOW, |sketch| {
        assert_eq!(of_page(sketch)["changes"], json!([]));
    });
}

#[test]
fn what_was_removed_is_left_by_ranges_and_never_reached() {
    compared(Some(BEFORE), NOW, |sketch| {
        let rows = of_page(sketch)["rows"].clone();
        let rows = rows.as_array().expect("rows").iter();
        let next: Vec<_> = rows
            .map(|row| {
                (
                    row["label"].clone(),
                    row["next"].as_array().expect("a list").len(),
                )
            })
            .collect();
        assert_eq!(
            next,
            [("1.3.0", 0), ("1.2.0", 1), ("1.1.0", 1), ("1.0.0", 2)]
                .map(|(label, next)| (json!(label), next))
        );
    });
}

/// `versions` and `lint` do not find a head either.
#[test]
fn an_entry_that_skips_itself_is_no_head() {
    let marks = |lines: &str| {
        let drawn = Drawn::new("page", written(lines).fbc());
        let package = drawn.catalog.package("P").expect("it").expect("decoded");
        let graph = Graph::of("P", package);
        let sketch = Sketch::of(&graph, View::default()).expect("not too large");
        svg(&sketch, &layout(&sketch)).contains("channel head: no entry")
    };
    assert!(marks("a: 1.0.0; 1.2.0 skips 1.0.0"));
    assert!(!marks("a: 1.2.0 skips 1.2.0"));
}
