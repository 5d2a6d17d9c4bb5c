//! The pictures of upgrade graphs, as a reader of SVG and HTML sees them: nothing overlaps,
//! nothing is missing or occurs twice, everything is legible, and names cannot inject markup.

#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a test may fail, and says how much it looked at"
)]

use olmguard_catalog::olm::EdgeSource;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use olmguard_catalog::graph::Graph;
use olmguard_engine::resolve::Refusal;
use olmguard_views::picture::html::html;
use olmguard_views::picture::layout::layout;
use olmguard_views::picture::sketch::VersionRow;
use olmguard_views::picture::svg::svg;
use olmguard_views::picture::walk::RowStep;
use olmguard_views::picture::{EdgeFate, ShownGuards, Sketch, View};
use olmguard_views::see::Generation;

use crate::picture::guarded::with_guardrails;
use crate::picture::packages::{Drawn, fixtures, recorded};
use crate::picture::seen::{Seen, seen};

/// Several views of a graph: unchanged, from two thirds down, by the rules of OLM v0, by both graphs, with
/// guardrails.
fn views<'g>(graph: &Graph<'_>, guarded: ShownGuards<'g>) -> Vec<View<'g>> {
    let nodes: Vec<_> = graph.nodes().collect();
    let low = nodes.get(nodes.len() * 2 / 3).copied();
    let plain = View {
        catalog: "hub",
        ..View::default()
    };
    let walk = View {
        installed: low,
        from: low,
        ..plain.clone()
    };
    let classic = View {
        olm: Generation::V0,
        ..walk.clone()
    };
    let both = View {
        edges: EdgeSource::Both,
        ..plain.clone()
    };
    let guarded_walk = View {
        guarded: Some(guarded),
        ..walk.clone()
    };
    vec![plain, walk, classic, both, guarded_walk]
}

fn everything() -> Vec<Drawn> {
    let mut all = fixtures();
    match recorded() {
        Some(recorded) => all.extend(recorded),
        None => println!("left out: pictures of the recorded packages, they are not here"),
    }
    all
}

#[track_caller]
fn for_each_picture(mut test: impl FnMut(&str, &Graph<'_>, &Sketch<'_, '_>, &Seen)) {
    // Several tests use the same pictures, so each is laid out only once.
    static PICTURES: LazyLock<Vec<Seen>> = LazyLock::new(|| {
        let mut pictures = Vec::new();
        for_each_sketch(|_, _, sketch| pictures.push(seen(&svg(sketch, &layout(sketch)))));
        pictures
    });
    let mut pictures = PICTURES.iter();
    for_each_sketch(|name, graph, sketch| {
        test(name, graph, sketch, pictures.next().expect("a picture"));
    });
    println!("{} pictures, 5 of each package", PICTURES.len());
}

fn for_each_sketch(mut each: impl FnMut(&str, &Graph<'_>, &Sketch<'_, '_>)) {
    for drawn in &everything() {
        with_guardrails(drawn, |graph, guarded| {
            for view in views(graph, guarded) {
                let sketch = Sketch::of(graph, view).expect("not too large");
                each(&drawn.name, graph, &sketch);
            }
        });
    }
}

#[test]
fn no_two_labels_overlap() {
    for_each_picture(|name, _, _, seen| {
        for boxes in [&seen.texts, &seen.pills] {
            for (at, one) in boxes.iter().enumerate() {
                let other = boxes[at + 1..].iter().find(|other| one.overlaps(other));
                let other = other.map(|other| &other.text);
                assert_eq!(other, None, "{name}: {} at {} {}", one.text, one.x, one.y);
            }
        }
    });
}

#[test]
fn every_version_is_there_once_in_each_of_its_channels() {
    for_each_picture(|name, graph, sketch, seen| {
        for (lane, found) in (0..).zip(&sketch.lanes) {
            let rows = seen.lanes.get(&lane).cloned().unwrap_or_default();
            let names: Vec<_> = rows.iter().map(|row| seen.rows[row].clone()).collect();
            let once: BTreeSet<_> = rows.iter().collect();
            assert_eq!(once.len(), rows.len(), "{name} {}", found.name);
            let Some(channel) = graph.channel(found.name).filter(|_| !found.name.is_empty()) else {
                continue;
            };
            let entries = channel.entries.iter();
            let expected: BTreeSet<_> = entries
                .flat_map(|entry| {
                    entry
                        .replaces
                        .iter()
                        .chain(&entry.skips)
                        .chain([&entry.node])
                })
                .map(|node| escaped(graph.name_of(*node)))
                .collect();
            let names: BTreeSet<_> = names.into_iter().collect();
            assert_eq!(names, expected, "{name} {}", found.name);
        }
        assert_eq!(seen.titles.len(), sketch.lanes.len(), "{name}");
    });
}

#[test]
fn every_edge_is_there_once_with_its_kind() {
    let mut kinds = BTreeSet::new();
    for_each_picture(|name, graph, sketch, seen| {
        for (lane, found) in (0..).zip(&sketch.lanes) {
            let Some(channel) = graph.channel(found.name).filter(|_| !found.name.is_empty()) else {
                continue;
            };
            let mut edges = seen.edges.get(&lane).cloned().unwrap_or_default();
            let mut expected: Vec<_> = channel
                .edges(graph)
                .map(|edge| {
                    let row = |node| {
                        let mut rows = (0..).zip(&sketch.rows);
                        rows.find(|(_, facts)| facts.node == node).expect("a row").0
                    };
                    (edge.kind.field().to_owned(), row(edge.from), row(edge.to))
                })
                .collect();
            edges.sort();
            expected.sort();
            assert_eq!(edges, expected, "{name} {}", found.name);
            kinds.extend(edges.into_iter().map(|(kind, _, _)| kind));
        }
    });
    let all = ["replaces", "skipRange", "skips"].map(str::to_owned);
    assert_eq!(kinds, BTreeSet::from(all));
}

#[test]
fn the_text_is_legible_and_inside() {
    for_each_picture(|name, _, _, seen| {
        assert!(seen.font_sizes.iter().all(|size| *size >= 11), "{name}");
        let (width, height) = seen.view;
        for (x, y) in &seen.places {
            let inside = (0.0..=width).contains(x) && (0.0..=height).contains(y);
            assert!(inside, "{name}: {x} {y} of {width} {height}");
        }
        for text in &seen.texts {
            assert!(
                text.x >= 0.0 && text.x + text.width <= width,
                "{name}: {text:?}"
            );
        }
    });
}

#[test]
fn what_each_edge_and_version_is_can_be_seen() {
    let mut classes = BTreeSet::new();
    for_each_picture(|_, _, _, seen| classes.extend(seen.classes.iter().cloned()));
    for class in [
        "replaces",
        "skips",
        "skipRange",
        "semver",
        "unused",
        "forbidden",
        "head",
        "deprecated",
        "skipped",
        "stranded-v0",
        "stranded-v1",
        "installed",
        "virtual",
        "elsewhere",
        "far",
        "on-way",
        "way",
    ] {
        assert!(classes.contains(class), "{class}");
    }
}

#[test]
fn the_same_graph_gives_the_same_bytes() {
    for drawn in fixtures() {
        let draw = || {
            let package = drawn
                .catalog
                .package(drawn.package())
                .expect("it")
                .expect("decoded");
            let graph = Graph::of(drawn.package(), package);
            let sketch = Sketch::of(&graph, View::default()).expect("not too large");
            html(&sketch, &layout(&sketch))
        };
        assert_eq!(draw(), draw(), "{}", drawn.name);
    }
}

#[test]
fn steps_are_what_operator_controller_accepts() {
    for drawn in everything() {
        let package = drawn
            .catalog
            .package(drawn.package())
            .expect("it")
            .expect("decoded");
        let graph = Graph::of(drawn.package(), package);
        let sketch = Sketch::of(&graph, View::default()).expect("not too large");
        let all = package.ask_channels(&[]);
        for (row, facts) in (0..).zip(&sketch.rows) {
            let Some(bundle) = graph.bundle(facts.node) else {
                continue;
            };
            let Ok(version) = &bundle.version else {
                continue;
            };
            let found = package.successors(Some(&bundle.name), &version.version, &all);
            let mut expected: Vec<_> = found.edges.iter().map(|to| graph.node_of(to)).collect();
            expected.retain(|node| *node != facts.node);
            // No step goes to or through a bundle that OLM selects and then refuses.
            let is_refused = |node| graph.bundle(node).and_then(Refusal::of).is_some();
            expected.retain(|node| !is_refused(*node));
            let hops = sketch.walk.from(VersionRow(row)).iter();
            let hops: BTreeSet<_> = hops
                .filter_map(|hop| sketch.row(hop.to))
                .map(|facts| facts.node)
                .collect();
            let expected: BTreeSet<_> = expected.into_iter().collect();
            assert_eq!(hops, expected, "{} {}", drawn.name, facts.name);
        }
    }
}

#[test]
fn a_page_holds_the_picture_and_nothing_that_a_name_brought() {
    for drawn in everything() {
        with_guardrails(&drawn, |graph, guarded| {
            page_holds_the_picture(&drawn, graph, None);
            page_holds_the_picture(&drawn, graph, Some(guarded));
        });
    }
}

fn page_holds_the_picture(drawn: &Drawn, graph: &Graph<'_>, guarded: Option<ShownGuards<'_>>) {
    let view = View {
        guarded,
        ..View::default()
    };
    let sketch = Sketch::of(graph, view).expect("not too large");
    let scene = layout(&sketch);
    let page = html(&sketch, &scene);
    let name = &drawn.name;
    let image = "role=\"img\"";
    let drawn_there = svg(&sketch, &scene).replacen(image, "role=\"group\"", 1);
    assert!(page.contains(&drawn_there), "{name}");
    assert!(!page.contains(image), "{name}: it has buttons");
    for (part, times) in [
        ("<script", 2),
        ("</script", 2),
        ("<style", 2),
        ("<svg", 1),
        ("<img", 0),
    ] {
        assert_eq!(page.matches(part).count(), times, "{name} {part}");
    }
    for part in [
        " src=\"", " href=\"", "url(", "@import", "<b>", "\u{202e}", "\u{1b}", "\0",
    ] {
        assert!(!page.contains(part), "{name} {part:?}");
    }
    let links = page.matches("http").count();
    assert_eq!(
        links,
        page.matches("http-equiv").count() + 1,
        "{name}: the namespace"
    );
    let data = between(&page, "id=\"data\">", "</script>");
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(
        data["rows"].as_array().expect("rows").len(),
        sketch.rows.len()
    );
    let reasons = data["reasons"].as_array().expect("reasons");
    assert_eq!(reasons.len(), sketch.barred.reasons().len(), "{name}");
}

#[test]
fn what_guardrails_forbid_leads_nowhere_and_all_else_is_as_without_them() {
    for drawn in everything() {
        with_guardrails(&drawn, |graph, guarded| {
            let sketch = |guarded| {
                let view = View {
                    guarded,
                    ..View::default()
                };
                Sketch::of(graph, view).expect("not too large")
            };
            let (plain, judged) = (sketch(None), sketch(Some(guarded)));
            let is_barred = |from, to| judged.barred.from(from).any(|(barred, _)| barred == to);
            for (row, facts) in (0..).map(VersionRow).zip(&plain.rows) {
                let left: Vec<_> = plain.walk.from(row).iter().collect();
                let (forbidden, taken): (Vec<&RowStep>, Vec<&RowStep>) =
                    left.into_iter().partition(|hop| is_barred(row, hop.to));
                let expected: Vec<_> = judged.walk.from(row).iter().collect();
                assert_eq!(taken, expected, "{} {}", drawn.name, facts.name);
                let forbidden: BTreeSet<_> = forbidden.iter().map(|hop| hop.to).collect();
                let barred: BTreeSet<_> = judged.barred.from(row).map(|(to, _)| to).collect();
                assert_eq!(forbidden, barred, "{} {}", drawn.name, facts.name);
            }
            let fans = judged.lanes.iter().flat_map(|lane| &lane.fans);
            let fans = fans.filter(|fan| fan.fate == EdgeFate::Forbidden);
            for (fan, from) in fans.flat_map(|fan| fan.from.iter().map(move |from| (fan, from))) {
                assert!(is_barred(*from, fan.to));
            }
        });
    }
}

#[test]
fn the_policy_of_a_page_names_what_is_in_it() {
    let drawn = &fixtures()[0];
    let package = drawn
        .catalog
        .package(drawn.package())
        .expect("it")
        .expect("decoded");
    let graph = Graph::of(drawn.package(), package);
    let sketch = Sketch::of(&graph, View::default()).expect("not too large");
    names_what_is_in_it(&html(&sketch, &layout(&sketch)));
    let before = Sketch::of(&graph, View::default()).expect("not too large");
    let sketch = sketch.compared(Some(before), "old.yaml");
    names_what_is_in_it(&html(&sketch, &layout(&sketch)));
}

#[track_caller]
fn names_what_is_in_it(page: &str) {
    let policy = between(page, "Content-Security-Policy\" content=\"", "\"");
    let digest = |text: &str| {
        let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
        let digest = base64_simd::STANDARD.encode_to_string(digest.as_ref());
        format!("&#39;sha256-{digest}&#39;")
    };
    let styles: Vec<_> = page
        .split("<style>")
        .skip(1)
        .map(|rest| between(rest, "", "</style>"))
        .collect();
    let script = between(page, "<script>", "</script>");
    assert_eq!(
        policy,
        format!(
            "default-src &#39;none&#39;; script-src {}; style-src {} {}; base-uri &#39;none&#39;; form-action &#39;none&#39;",
            digest(script),
            digest(styles[0]),
            digest(styles[1])
        )
    );
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, rest) = text
        .split_once(start)
        .unwrap_or_else(|| panic!("no {start}"));
    let (found, _) = rest.split_once(end).unwrap_or_else(|| panic!("no {end}"));
    found
}

/// Escapes a name as in the picture.
fn escaped(name: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' | '\n' => c.to_string(),
        other => olmguard_catalog::version::go::escape(&other.to_string()),
    };
    name.chars().map(escape).collect()
}
