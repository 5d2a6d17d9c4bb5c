//! Packages with guardrails that forbid some edges of their authors.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use olmguard_catalog::graph::Graph;
use olmguard_catalog::guardrail::{AdministratorGuardrails, ImposedBy};
use olmguard_catalog::olm::{EdgeSource, Rules};
use olmguard_engine::extension::Filter;
use olmguard_engine::resolve::{Guards, Query};
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_fixtures::written::written;
use olmguard_views::picture::dot::dot;
use olmguard_views::picture::html::html;
use olmguard_views::picture::json::GraphJson;
use olmguard_views::picture::layout::layout;
use olmguard_views::picture::mermaid::mermaid;
use olmguard_views::picture::svg::svg;
use olmguard_views::picture::{ShownGuards, Sketch, View, pick};
use serde_json::{Value, json};

use crate::picture::packages::Drawn;

/// A package with rules of an administrator: the semver rules, and one whose id is an injection attempt.
pub(crate) fn with_guardrails(drawn: &Drawn, test: impl FnOnce(&Graph<'_>, ShownGuards<'_>)) {
    let rules = json!({"schema": "olmguard.guardrails.v1alpha1", "package": drawn.package(),
        "graph": "Semver", "rules": [{"id": "</script><b>", "kind": "MaxMinorStep", "step": 1,
            "reason": "]]>\u{202e}\u{1b}"}]});
    with_rules(drawn, &rules, test);
}

/// A package with rules of an administrator.
pub(crate) fn with_rules(
    drawn: &Drawn,
    rules: &Value,
    test: impl FnOnce(&Graph<'_>, ShownGuards<'_>),
) {
    let stated = olmguard_catalog::guardrail::read(rules);
    let place = "rules.yaml:1".into();
    let mut imposed = AdministratorGuardrails::default();
    imposed.add(Some(drawn.package()), ImposedBy { place, stated });
    let content = Content::Loaded(Arc::new(drawn.catalog.clone()));
    let catalog = CatalogState::named("hub", content);
    let snapshot = Snapshot::new(Rules::default(), [catalog]);
    let filter = Filter {
        package: drawn.package().to_owned(),
        ..Filter::default()
    };
    let query = Query::compile(&filter, &snapshot).expect("a filter");
    let offers = query.offers(&query.in_play(&snapshot)).expect("loaded");
    let guards = Guards::of(&imposed, &filter.package, &offers);
    let guarded = ShownGuards {
        guards: &guards,
        policies: None,
        rules: snapshot.rules(),
        catalog: offers[0].catalog,
    };
    test(&Graph::of(drawn.package(), offers[0].package), guarded);
}

// === A range with several fates is drawn in parts, and each part describes the whole ===

/// Checks the picture and the graphviz text of a package whose author requires 1.3 on every path.
#[track_caller]
fn told(lines: &str, edges: EdgeSource, titles: &[&str], range: &str) {
    let drawn = Drawn::new("parts", written(lines).fbc());
    let rules = json!({"schema": "olmguard.guardrails.v1alpha1", "package": drawn.package(),
        "rules": [{"id": "via-1.3", "kind": "PassThrough", "via": ">=1.3.0 <1.4.0-0"}]});
    with_rules(
        &drawn,
        &rules,
        |graph: &Graph<'_>, guarded: ShownGuards<'_>| {
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

// === Bundles that OLM v1 selects and does not install ===

/// A package with a bundle whose image reference OLM v1 does not accept, and one without a supported install mode.
fn with_bundles_that_are_never_installed() -> Drawn {
    let lines = "stable: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0 skips 1.0.0; 1.3.0 replaces 1.2.0";
    let text = written(lines).fbc();
    let blobs = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    let blobs = blobs.map(|blob| {
        let mut blob = blob.expect("a blob");
        let name = blob["name"].as_str().unwrap_or_default().to_owned();
        if blob["schema"] == "olm.bundle" && name.ends_with("1.1.0") {
            blob["image"] = json!("short:1");
        } else if blob["schema"] == "olm.bundle" && name.ends_with("1.2.0") {
            let modes = json!([{"type": "MultiNamespace", "supported": true}]);
            let property = json!({"type": "olm.csv.metadata", "value": {"installModes": modes}});
            blob["properties"]
                .as_array_mut()
                .expect("a list")
                .push(property);
        }
        blob.to_string()
    });
    Drawn::new("blocked", blobs.collect())
}

#[test]
fn no_path_goes_to_a_bundle_that_olm_does_not_install() {
    let drawn = with_bundles_that_are_never_installed();
    let none =
        json!({"schema": "olmguard.guardrails.v1alpha1", "package": drawn.package(), "rules": []});
    with_rules(&drawn, &none, |graph, guarded| {
        let sketch = |from: &str, to: &str| {
            let [from, to] = [from, to].map(|version| pick(graph, version).expect("a version"));
            let view = View {
                guarded: Some(guarded),
                from: Some(from),
                to: Some(to),
                ..View::default()
            };
            Sketch::of(graph, view).expect("not too large")
        };
        for (from, to, misses) in [
            ("1.0.0", "1.1.0", true),
            ("1.0.0", "1.2.0", true),
            ("1.2.0", "1.3.0", false),
        ] {
            let reach = sketch(from, to).reach.expect("a start");
            assert_eq!(reach.misses_goal(), misses, "{from} to {to}");
        }
        let sketch = sketch("1.0.0", "1.3.0");
        let picture = svg(&sketch, &layout(&sketch));
        for why in [
            "OLM v1 cannot install it: error parsing image reference",
            "OLM v1 cannot install it: it needs a feature that OLM v1 does not support",
        ] {
            assert!(picture.contains(why), "{why}: {picture}");
        }
    });
}

// === Expensive rules: the size of the picture stays in proportion to the edges ===

const VERSIONS: usize = 60;
const EDGES: usize = VERSIONS * (VERSIONS - 1) / 2;

/// A package in which every version has edges from all lower ones.
fn dense() -> Drawn {
    let mut lines = "stable: 1.0.0".to_owned();
    for at in 1..VERSIONS {
        let _infallible = write!(lines, "; 1.{at}.0 skipRange >=1.0.0 <1.{at}.0");
    }
    Drawn::new("dense", written(&lines).fbc())
}

/// The maximum number of rules, each of which forbids every step with a long reason.
fn rules(package: &str) -> Value {
    let long = "x".repeat(1000);
    let rule = |at| {
        json!({"id": format!("r{at:03}-{long}"), "kind": "PassThrough", "via": ">2.0.0 <1.0.0",
            "reason": long})
    };
    let rules: Vec<_> = (0..256).map(rule).collect();
    json!({"schema": "olmguard.guardrails.v1alpha1", "package": package, "rules": rules})
}

fn with_dense(test: impl Fn(&Sketch<'_, '_>)) {
    let drawn = dense();
    let draw = |graph: &Graph<'_>, guarded: ShownGuards<'_>| {
        let view = View {
            guarded: Some(guarded),
            ..View::default()
        };
        test(&Sketch::of(graph, view).expect("not too large"));
    };
    with_rules(&drawn, &rules(drawn.package()), draw);
}

#[test]
fn steps_forbidden_for_the_same_reasons_share_them() {
    with_dense(|sketch| {
        assert_eq!(sketch.barred.reasons().len(), 256);
        assert_eq!(sketch.barred.len(), EDGES);
        let rows = (0..).zip(&sketch.rows);
        let rows = rows.map(|(row, _)| olmguard_views::picture::sketch::VersionRow(row));
        let lists = rows.flat_map(|row| sketch.barred.from(row));
        let lists: BTreeSet<_> = lists.map(|(_, places)| places.as_ptr()).collect();
        assert_eq!(lists.len(), 1);
    });
}

#[test]
fn the_label_of_an_edge_names_few_rules_and_cuts_long_names() {
    with_dense(|sketch| {
        for text in [dot(sketch), mermaid(sketch)] {
            let forbidden = text
                .lines()
                .filter(|line| line.contains("forbidden: r000-x"));
            let lengths: Vec<_> = forbidden.map(str::len).collect();
            assert_eq!(lengths.len(), EDGES);
            assert!(lengths.iter().all(|length| *length < 500), "{lengths:?}");
            assert_eq!(text.matches(" and 252 more").count(), EDGES);
        }
    });
}

#[test]
fn a_line_tells_four_reasons_at_most_and_json_each_once() {
    with_dense(|sketch| {
        let page = html(sketch, &layout(sketch));
        // A fan has its sentence at its line and at its count. A fan of one version has no count.
        let titles = page.matches("forbidden: r0").count();
        assert_eq!(titles, 4 * (2 * (VERSIONS - 2) + 1));
        let json = serde_json::to_string(&GraphJson::of(sketch)).expect("JSON");
        assert_eq!(json.matches("\"rule\":\"r007-x").count(), 1);
    });
}

// === A graph with too much work for guardrails ===

/// A thousand versions, each with an edge from all lower ones, and the maximum number of rules.
#[test]
fn what_would_take_too_long_to_judge_is_refused() {
    let entries = (0..1000).map(|patch| format!("1.0.{patch} skipRange <1.0.{patch}"));
    let lines = format!("stable: {}", entries.collect::<Vec<_>>().join("; "));
    let drawn = Drawn::new("wide", written(&lines).fbc());
    let rules = (0..256).map(|id| json!({"id": format!("{id}"), "kind": "LatestPatchFirst"}));
    let rules: Vec<_> = rules.collect();
    let rules = json!({"schema": "olmguard.guardrails.v1alpha1", "package": "P", "rules": rules});
    with_rules(&drawn, &rules, |graph, guarded| {
        let view = View {
            guarded: Some(guarded),
            ..View::default()
        };
        let refused = Sketch::of(graph, view).expect_err("too large");
        let expected =
            "499500 edges and guardrails of 256 comparisons each: fewer channels have fewer edges";
        assert_eq!(refused.to_string(), expected);
    });
}
