//! A range of which not all has one fate is drawn in parts, and each says what it is a part of.

use olmguard_catalog::graph::Graph;
use olmguard_catalog::olm::EdgeSource;
use olmguard_views::picture::dot::dot;
use olmguard_views::picture::layout::layout;
use olmguard_views::picture::svg::svg;
use olmguard_views::picture::{GuardedSteps, Sketch, View};
use serde_json::json;

use super::guarded::with_rules;
use super::packages::Drawn;
use olmguard_fixtures::written::written;

/// The picture and the graphviz text of a package whose author lets nobody pass by 1.3.
#[track_caller]
fn told(lines: &str, edges: EdgeSource, titles: &[&str], range: &str) {
    let drawn = Drawn::new("parts", written(lines).fbc());
    let rules = json!({"schema": "olmguard.guardrails.v1alpha1", "package": drawn.package(),
        "rules": [{"id": "via-1.3", "kind": "PassThrough", "via": ">=1.3.0 <1.4.0-0"}]});
    with_rules(
        &drawn,
        &rules,
        |graph: &Graph<'_>, guarded: GuardedSteps<'_>| {
            let view = View {
                guarded: Some(guarded),
                edges,
                ..View::default()
            };
            let sketch = Sketch::of(graph, view).expect("not too large");
            let (picture, text) = (svg(&sketch, &layout(&sketch)), dot(&sketch));
            for title in titles {
                assert!(picture.contains(title), "{title}: {picture}");
            }
            let is_in_parts = picture.contains("versions, of which ");
            assert_eq!(is_in_parts, !titles.is_empty(), "{picture}");
            assert_eq!(text.matches(range).count(), 1, "{range}: {text}");
            assert_eq!(text.matches("/* ").count(), 1, "{text}");
        },
    );
}

#[test]
fn what_guardrails_forbid_of_a_range_and_what_is_left_of_it() {
    let lines = "stable: 1.0.0; 1.1.0; 1.2.0; 1.3.0; 1.4.0; 1.5.0 skipRange >=1.0.0 <1.5.0";
    let forbidden = ": 5 versions, of which guardrails forbid 3";
    let taken = ": 5 versions, of which OLM uses 2";
    let range = "skipRange >=1.0.0 <1.5.0: 5 shown, 0 of other channels */";
    told(lines, EdgeSource::Catalog, &[taken, forbidden], range);
}

#[test]
fn three_parts_of_a_range_are_told_as_parts_of_one() {
    let lines = "stable: 0.1.0; 0.2.0; 1.0.0; 1.3.0; 1.5.0 skipRange <1.5.0";
    let titles = [
        ": 4 versions, of which OLM uses 1",
        ": 4 versions, of which guardrails forbid 1",
        ": 4 versions, of which OLM ignores 2",
    ];
    let range = "skipRange <1.5.0: 4 shown, 0 of other channels */";
    told(lines, EdgeSource::Both, &titles, range);
}

#[test]
fn one_version_of_a_range_that_is_not_taken() {
    let lines = "stable: 0.1.0; 1.3.0; 1.4.0; 1.5.0 skipRange <1.5.0\n(none): 9.0.0";
    let titles = [
        ": 3 versions, of which OLM uses 2",
        ": 3 versions, of which OLM ignores 1",
    ];
    let range = "skipRange <1.5.0: 3 shown, 0 of other channels */";
    told(lines, EdgeSource::Both, &titles, range);
}

#[test]
fn a_range_of_one_fate_is_told_as_a_whole() {
    let lines = "stable: 1.3.0; 1.4.0; 1.5.0 skipRange <1.5.0";
    let range = "skipRange <1.5.0: 2 shown, 0 of other channels */";
    told(lines, EdgeSource::Catalog, &[], range);
}
