//! What the page of an upgrade graph has beside the picture: folds and notes.

use olmguard_catalog::graph::Graph;
use olmguard_fixtures::written::written;
use olmguard_views::picture::html::html;
use olmguard_views::picture::layout::{layout, layout_for_page};
use olmguard_views::picture::{GuardedSteps, Sketch, View, pick};
use serde_json::{Value, json};

use crate::picture::guarded::with_rules;
use crate::picture::packages::Drawn;

/// The data of the page of a package.
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
        |graph: &Graph<'_>, guarded: GuardedSteps<'_>| {
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
