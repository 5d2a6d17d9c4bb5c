//! Compares the mermaid text with that of `opm alpha render-graph`: the same channels, nodes and edges.
//!
//! `OLMGUARD_OPM` names the program. Without it the comparison is skipped.

#![expect(
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails there"
)]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use olmguard_catalog::graph::Graph;
use olmguard_views::picture::mermaid::mermaid;
use olmguard_views::picture::{Sketch, View};
use serde_json::Value;

use crate::picture::packages::{Drawn, fixtures, recorded};
use olmguard_fixtures::tally::Tally;

/// Parts of a text: channel and name of a node, or channel, name, label and name of an edge.
type Parts = BTreeSet<Vec<String>>;

#[test]
fn mermaid_draws_what_opm_draws() {
    let Some(opm) = std::env::var_os("OLMGUARD_OPM") else {
        println!("left out: mermaid beside opm's, OLMGUARD_OPM names no program");
        return;
    };
    let (mut tally, mut refused, mut edges) = (Tally::default(), 0, 0);
    let recorded = recorded().unwrap_or_default();
    for drawn in fixtures().iter().chain(&recorded) {
        match theirs(Path::new(&opm), drawn) {
            Some(theirs) => {
                let bundleless = bundleless(drawn);
                let seen_by_both = |parts: Parts| -> Parts {
                    let parts = parts.into_iter();
                    parts
                        .filter(|part| !is_of_bundleless(part, &bundleless))
                        .collect()
                };
                let theirs = seen_by_both(theirs);
                edges += theirs.iter().filter(|part| part.len() == 4).count();
                tally.compare(&drawn.name, &seen_by_both(ours(drawn)), &theirs);
            }
            None => refused += 1,
        }
    }
    tally.finish(
        "mermaid of opm",
        refused,
        "opm refuses the catalog, or its text cannot be read back",
    );
    println!("mermaid of opm: {edges} edges are the same");
}

fn ours(drawn: &Drawn) -> Parts {
    let package = drawn
        .catalog
        .package(drawn.package())
        .expect("it")
        .expect("decoded");
    let graph = Graph::of(drawn.package(), package);
    let sketch = Sketch::of(&graph, View::default()).expect("not too large");
    parts(&mermaid(&sketch))
}

/// Returns the names of entries without a bundle. OLM v1 and olmguard do not see them, but opm draws them.
fn bundleless(drawn: &Drawn) -> BTreeSet<String> {
    let blobs = drawn
        .text
        .lines()
        .map(|line| -> Value { serde_json::from_str(line).expect("a blob") });
    let (mut entries, mut bundles) = (BTreeSet::new(), BTreeSet::new());
    for blob in blobs {
        let names = blob["entries"].as_array().into_iter().flatten();
        let names = names.filter_map(|entry| entry["name"].as_str().map(str::to_owned));
        entries.extend(names);
        if blob["schema"] == "olm.bundle" {
            bundles.extend(blob["name"].as_str().map(str::to_owned));
        }
    }
    &entries - &bundles
}

/// Whether a node is such an entry, or an edge goes to one, or a range includes one.
fn is_of_bundleless(part: &[String], bundleless: &BTreeSet<String>) -> bool {
    match part {
        [_, node] => bundleless.contains(node),
        [_, from, label, to] => {
            bundleless.contains(to) || (label.starts_with("skipRange") && bundleless.contains(from))
        }
        _ => false,
    }
}

/// Returns the parts that opm draws. `None` if it refuses the catalog, or writes names that end their quotes.
fn theirs(opm: &Path, drawn: &Drawn) -> Option<Parts> {
    if drawn.name == "hostile" {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("catalog.json"), &drawn.text).expect("a file");
    let run = Command::new(opm)
        .args(["alpha", "render-graph"])
        .arg(folder.path())
        .output()
        .expect("opm runs");
    let text = String::from_utf8(run.stdout).expect("UTF-8");
    run.status.success().then(|| parts(&text))
}

/// Parses `ID["NAME"]` and `ID["NAME"]-- LABEL --> ID["NAME"]`. Later uses can omit the name.
fn parts(text: &str) -> Parts {
    let mut names = std::collections::BTreeMap::new();
    let (mut channel, mut depth) = (String::new(), 0);
    let mut parts = Parts::new();
    for line in text.lines().map(str::trim) {
        if line.starts_with("subgraph ") {
            depth += 1;
            if depth == 2 {
                channel = name(line, &mut names);
            }
        } else if line == "end" {
            depth -= 1;
        } else if depth == 2 && !line.starts_with("%%") {
            if let Some((from, rest)) = line.split_once("-- ") {
                let (label, to) = rest.split_once(" -->").expect("an edge");
                let (from, to) = (name(from, &mut names), name(to.trim(), &mut names));
                let label = label
                    .trim_matches('"')
                    .replace("#60;", "<")
                    .replace("#62;", ">");
                parts.insert([&channel, &from, &label, &to].map(String::clone).to_vec());
            } else {
                let node = name(line, &mut names);
                parts.insert(vec![channel.clone(), node]);
            }
        }
    }
    // opm declares a node that is not an entry only by its edges.
    let ends: Vec<_> = parts
        .iter()
        .filter(|part| part.len() == 4)
        .cloned()
        .collect();
    for edge in ends {
        parts.extend([&edge[1], &edge[3]].map(|node| vec![edge[0].clone(), node.clone()]));
    }
    parts
}

fn name(text: &str, names: &mut std::collections::BTreeMap<String, String>) -> String {
    match text.split_once("[\"") {
        Some((id, rest)) => {
            let name = rest.trim_end_matches("\"]").to_owned();
            names.insert(id.to_owned(), name.clone());
            name
        }
        None => names
            .get(text)
            .expect("a node that was named before")
            .clone(),
    }
}
