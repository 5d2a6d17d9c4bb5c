//! Compares the output of commands that show a package with the rules themselves.
//!
//! Recorded packages are read if the shared directory exists. The packages in this file are always read.
#![expect(clippy::print_stdout, reason = "the counts are part of the result")]

use olmguard_engine::judge::Basis;
use olmguard_engine::resolve::EditContext;
use std::collections::BTreeSet;

use olmguard_catalog::olm::{EdgeSource, Rules};
use olmguard_catalog::{BundleIndex, Package};
use olmguard_engine::explain::{Answer, answer};
use olmguard_engine::extension::{Extension, Filter, Installed, InstalledBundle, Shape};
use olmguard_engine::inquiry::Inquiry;
use olmguard_engine::judge::{Edit, Requester, StatedInstalled, Token, Verdict, WalkEnd, walk};
use olmguard_engine::resolve::{Offer, Origin, Query};
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};
use olmguard_views::path::PathReport;
use olmguard_views::step::StepReport;
use olmguard_views::versions::VersionsReport;
use serde_json::{Value, json};

use olmguard_fixtures::question::{content, rules};
use olmguard_fixtures::shared::shared;
use olmguard_fixtures::written::{Written, written};

/// Returns every package: its name, and the snapshot of its catalog alone.
fn packages() -> Vec<(String, Snapshot)> {
    let rules = rules("1.11", &[]);
    let mut packages = Vec::new();
    for ours in OURS {
        packages.push(("P".to_owned(), alone(content(&ours.fbc(), &rules), &rules)));
    }
    let Some(folder) = shared().map(|shared| shared.join("vectors/decisions/catalogs")) else {
        println!("left out: the recorded packages, no shared folder");
        return packages;
    };
    let files = std::fs::read_dir(folder).expect("the folder of catalogs");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    assert_eq!(paths.len(), 25);
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a catalog");
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let stem = stem.expect("a name");
        let package = stem.split(['@', '~']).next().unwrap_or(stem);
        packages.push((package.to_owned(), alone(content(&text, &rules), &rules)));
    }
    packages
}

fn alone(content: Content, rules: &Rules) -> Snapshot {
    Snapshot::new(rules.clone(), [CatalogState::named("a", content)])
}

fn package<'s>(snapshot: &'s Snapshot, name: &str) -> &'s Package {
    let catalog = snapshot.catalogs().first().and_then(CatalogState::loaded);
    let package = catalog.and_then(|catalog| catalog.package(name));
    package.expect("a package").expect("decoded")
}

fn filter(package: &str) -> Filter {
    Filter {
        package: package.to_owned(),
        ..Filter::default()
    }
}

fn said(text: &str) -> StatedInstalled {
    StatedInstalled {
        text: text.to_owned(),
        ..StatedInstalled::default()
    }
}

/// Returns a sample of the bundles with a valid version: every `n`th, or all if there are few.
fn sample(package: &Package, most: usize) -> Vec<(BundleIndex, &str)> {
    let readable = package.bundles().filter(|(_, b)| b.version.is_ok());
    let readable: Vec<_> = readable.map(|(index, b)| (index, &*b.name)).collect();
    let step = readable.len().div_ceil(most).max(1);
    readable.into_iter().step_by(step).collect()
}

fn value(report: &impl serde::Serialize) -> Value {
    serde_json::to_value(report).expect("string keys only")
}

#[test]
fn marks_agree_with_the_successors_of_the_package() {
    let (mut marks, mut left_out) = (0, 0);
    for (name, snapshot) in packages() {
        let package = package(&snapshot, &name);
        for (index, from) in sample(package, 40) {
            let Ok(report) = VersionsReport::of(
                Basis::without_policies(&snapshot),
                &filter(&name),
                Some(&said(from)),
                EditContext::unknown(),
            ) else {
                left_out += 1;
                continue;
            };
            let version = &package.bundle(index).version.as_ref().expect("readable");
            let asked = package.ask_channels(&[]);
            let edges = package
                .successors(Some(from), &version.version, &asked)
                .edges;
            let same = package.same_version(version);
            let report = value(&report);
            let rows = report["catalogs"][0]["bundles"].as_array().expect("rows");
            for ((index, _), row) in package.bundles().zip(rows) {
                let standing = row["standing"].as_str();
                assert_eq!(standing == Some("installed"), same.contains(index), "{row}");
                let is_successor = edges.contains(index) && !same.contains(index);
                assert_eq!(standing == Some("successor"), is_successor, "{row}");
                marks += 1;
            }
        }
    }
    println!("marks of versions: {marks} compared, {left_out} left out (several have that name)");
}

#[test]
fn written_edges_are_those_that_decide() {
    let mut compared = 0;
    for (name, snapshot) in packages() {
        let filter = filter(&name);
        let query = Query::compile(&filter, &snapshot).expect("a query");
        let offers = query.offers(&query.in_play(&snapshot)).expect("loaded");
        let [offer] = offers.as_slice() else {
            continue;
        };
        for (index, _) in offer.package.bundles() {
            let Some(origin) = Origin::of_choice(offer.choice(index), snapshot.rules()) else {
                continue;
            };
            let decides = origin.successors(offer.package, &offer.asked).edges;
            let leading = offer.edges().filter(|edge| edge.starts_at(&origin));
            let leading: BTreeSet<_> = leading.map(|edge| edge.to.index).collect();
            assert!(decides.iter().eq(leading), "{name} {index:?}");
            compared += 1;
        }
    }
    println!("written edges: {compared} compared, 0 left out");
}

/// Returns the answer to an edit of an extension with this request.
fn ask(snapshot: &Snapshot, catalog: &Value, installed: &Installed) -> Answer {
    let object = json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": "x"},
        "spec": {"source": {"sourceType": "Catalog", "catalog": catalog}},
    });
    let extension = Extension::read(Shape::V1, &object);
    let edit = Edit {
        new: &extension,
        old: None,
        installed,
        schema: &[],
        requester: Requester::unknown(),
    };
    answer(Basis::without_policies(snapshot), &edit)
}

fn recorded(answer: &Answer) -> Installed {
    let resolved = answer.resolved.clone().expect("it resolves");
    let version = match resolved.release {
        Some(release) => format!("{}+{release}", resolved.version),
        None => resolved.version,
    };
    Installed::Bundle(InstalledBundle {
        name: Some(resolved.bundle),
        version,
        release: None,
    })
}

fn installed_of(package: &Package, index: BundleIndex) -> InstalledBundle {
    let bundle = package.bundle(index);
    let version = bundle.version.as_ref().expect("readable");
    let release = version.release.as_ref().filter(|r| !r.is_empty());
    let version = match release {
        Some(release) => format!("{}+{release}", version.version),
        None => version.version.to_string(),
    };
    InstalledBundle {
        name: Some(bundle.name.to_string()),
        version,
        release: None,
    }
}

#[test]
fn every_hop_of_a_path_is_admitted() {
    let (mut ways, mut hops, mut none) = (0, 0, 0);
    for (name, snapshot) in packages() {
        let package = package(&snapshot, &name);
        for (index, from) in sample(package, 12) {
            for (_, to) in sample(package, 12) {
                let filter = filter(&name);
                let Ok(inquiry) = Inquiry::of(
                    Basis::without_policies(&snapshot),
                    &filter,
                    &said(from),
                    EditContext::unknown(),
                ) else {
                    continue;
                };
                let report = PathReport::of(&inquiry, Some(to)).expect("a bundle");
                if !report.is_found() {
                    none += 1;
                    continue;
                }
                let mut installed = Installed::Bundle(installed_of(package, index));
                for hop in report.hops() {
                    let catalog = json!({"packageName": name, "version": hop.version});
                    let answer = ask(&snapshot, &catalog, &installed);
                    assert_eq!(answer.token, Token::Resolved, "{name}: {from} {to}");
                    installed = recorded(&answer);
                    let bundle = installed.bundle().and_then(|bundle| bundle.name.as_ref());
                    assert_eq!(bundle, Some(&hop.bundle.bundle), "{name}: {from} {to}");
                    hops += 1;
                }
                let end = installed.bundle().and_then(|bundle| bundle.name.as_deref());
                assert_eq!(end, Some(to), "{name}: {from} {to}");
                ways += 1;
            }
        }
    }
    println!("paths: {ways} walked in {hops} hops, {none} left out (there is none)");
    assert!(ways > 20 && none > 0, "{ways} {none}");
}

#[test]
fn a_walk_is_what_repeated_answers_say() {
    let mut walks = 0;
    for (name, snapshot) in packages() {
        let package = package(&snapshot, &name);
        for (index, from) in sample(package, 20) {
            for range in [None, Some(">=0.0.0-0"), Some("<2"), Some(">=1.1, <3")] {
                let filter = Filter {
                    version: range.map(str::to_owned),
                    ..filter(&name)
                };
                let first = installed_of(package, index);
                let walked = walk(Basis::without_policies(&snapshot), &filter, None, &first);
                let mut installed = Installed::Bundle(first);
                let catalog = json!({"packageName": name, "version": range});
                for step in &walked.steps {
                    let answer = ask(&snapshot, &catalog, &installed);
                    assert_eq!(answer.token, Token::Resolved, "{name}: {from} {range:?}");
                    installed = recorded(&answer);
                    let bundle = installed.bundle().and_then(|b| b.name.as_deref());
                    assert_eq!(bundle, Some(&*step.bundle().name));
                }
                let last = ask(&snapshot, &catalog, &installed);
                match walked.end {
                    WalkEnd::Stays(_) => assert_eq!(last.token, Token::Unchanged),
                    WalkEnd::Stops(_) => assert_eq!(last.verdict(), Verdict::Deny),
                    WalkEnd::NotInstalled(_) => panic!("no extension is known"),
                }
                walks += 1;
            }
        }
    }
    println!("walks: {walks} compared, 0 left out");
}

#[test]
fn an_explained_step_is_what_check_says() {
    let (mut allowed, mut refused) = (0, 0);
    for (name, snapshot) in packages() {
        let package = package(&snapshot, &name);
        for (index, from) in sample(package, 10) {
            for (to_index, to) in sample(package, 10) {
                let filter = filter(&name);
                let inquiry = Inquiry::of(
                    Basis::without_policies(&snapshot),
                    &filter,
                    &said(from),
                    EditContext::unknown(),
                )
                .expect("known");
                let report = StepReport::of(&inquiry, to, olmguard_views::see::Generation::V1);
                let report = report.expect("a bundle");
                let pinned = package.bundle(to_index).version.as_ref().expect("readable");
                let version = pinned.version.without_build().to_string();
                let installed = Installed::Bundle(installed_of(package, index));
                let catalog = json!({"packageName": name, "version": version});
                let answer = ask(&snapshot, &catalog, &installed);
                let said = value(&report);
                let resolved = answer.resolved.as_ref().map(|resolved| &*resolved.bundle);
                let is_it = resolved == Some(&*package.bundle(to_index).name);
                let is_allowed = answer.verdict() == Verdict::Allow && is_it;
                assert_eq!(report.is_allowed(), is_allowed, "{name} {from} {to}");
                assert_eq!(
                    said["olm"]["token"],
                    answer.token.as_str(),
                    "{name} {from} {to}"
                );
                let needs_nothing = said["olm"]["needed"].as_array().is_some_and(Vec::is_empty);
                if report.is_allowed() {
                    allowed += 1;
                } else {
                    assert!(!needs_nothing, "{name}: {from} {to}: {said}");
                    refused += 1;
                }
            }
        }
    }
    println!("steps: {} compared, 0 left out", allowed + refused);
    assert!(allowed > 20 && refused > 20, "{allowed} {refused}");
}

#[test]
fn a_walk_does_not_come_back_even_where_edges_do() {
    let rules = rules("1.11", &[]);
    let round = written(
        "stable: 1.0.0 skips 2.0.0; 2.0.0 skips 1.0.0
         (deprecated): 1.0.0; 2.0.0",
    );
    let snapshot = alone(content(&round.fbc(), &rules), &rules);
    let walked = walk(
        Basis::without_policies(&snapshot),
        &filter("P"),
        None,
        &InstalledBundle {
            name: Some("P.v1.0.0".to_owned()),
            version: "1.0.0".to_owned(),
            release: None,
        },
    );
    assert!(matches!(walked.end, WalkEnd::Stays(_)), "{walked:?}");
    assert_eq!(walked.steps.len(), 1);
}

#[test]
fn other_steps_count_where_they_are_asked_for() {
    let rules = rules("1.11", &[]);
    let chain = written("stable: 1.0.0; 1.1.0; 1.2.0 replaces 1.0.0; 2.0.0 replaces 1.0.0");
    let content = content(&chain.fbc(), &rules);
    for (edges, expected) in [
        (EdgeSource::Catalog, &["2.0.0", "1.2.0"][..]),
        (EdgeSource::CaretRange, &["1.2.0", "1.1.0"]),
        (EdgeSource::Both, &["1.2.0"]),
    ] {
        let snapshot = alone(content.clone(), &rules.clone().with_edges(edges));
        let report = VersionsReport::of(
            Basis::without_policies(&snapshot),
            &filter("P"),
            Some(&said("1.0.0")),
            EditContext::unknown(),
        );
        let report = value(&report.expect("known"));
        let rows = report["catalogs"][0]["bundles"].as_array().expect("rows");
        let successors = rows.iter().filter(|row| row["standing"] == "successor");
        let versions: Vec<_> = successors
            .filter_map(|row| row["version"].as_str())
            .collect();
        assert_eq!(versions, expected, "{edges:?}");
    }
}

#[test]
fn what_is_offered_is_found_by_name() {
    let rules = rules("1.11", &[]);
    let snapshot = alone(
        content(&written("stable: 1.0.0; 1.1.0").fbc(), &rules),
        &rules,
    );
    let filter = filter("P");
    let query = Query::compile(&filter, &snapshot).expect("a query");
    let offers: Vec<Offer<'_>> = query.offers(&query.in_play(&snapshot)).expect("loaded");
    let found = offers[0].find("P.v1.0.0").map(BundleIndex::get);
    assert_eq!((found, offers[0].find("P.v9")), (Some(1), None));
}

/// A chain, a fork with a skipRange, releases, a broken skipRange, dependencies, deprecations, a name
/// without a bundle.
const OURS: &[Written<'_>] = &[
    written("stable: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0; 2.0.0 replaces 1.2.0"),
    written(
        "alpha: 1.0.0 replaces 0.9.0; 1.0.1 skipRange >=1.0.0 <1.0.1; 1.1.0 replaces 1.0.1
         beta: 1.1.0; 2.0.0 replaces 1.1.0 skips 1.0.1; 3.0.0 skipRange >=2.0.0 <3.0.0
         (none): 4.0.0
         (deprecated): 1.1.0; 3.0.0; channel beta",
    ),
    written(
        "stable: 1.0.0; 1.0.0+1 replaces 1.0.0; 1.0.0+2 replaces 1.0.0+1; 1.1.0 replaces 1.0.0+2",
    ),
    written(
        "stable: 1.0.0; 1.1.0 replaces 1.0.0 skipRange <1.0.0 || || >1.0.0; 1.2.0 skipRange <1.0.0 ||
         fast: 1.2.0; 2.0.0 replaces 1.2.0",
    ),
    written(
        "stable: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0 skips 1.0.0
         edge: 1.2.0; 1.3.0-rc.1 replaces 1.2.0
         (requires): 1.2.0 olm.gvk.required; 1.3.0-rc.1 olm.constraint",
    ),
];
