//! Every suggestion is allowed when it is applied, to the end of its path and from every installed
//! bundle.
//!
//! The recorded packages are read if the shared directory exists; our own packages are always read.
//! The installed bundles are none, each bundle, and unknown ones. The requests are a deterministic
//! sample of versions, ranges and channels, in one catalog and in several.
#![expect(clippy::print_stdout, reason = "the counts are part of the result")]

use std::collections::BTreeMap;
use std::path::Path;

use olmguard_catalog::olm::Rules;
use olmguard_engine::snapshot::{CatalogState, Content, Snapshot};

use crate::suggestions::requests::Sample;
use crate::suggestions::suggestion::Walked;
use olmguard_fixtures::question::{ask, content, rules};
use olmguard_fixtures::shared::shared;
use olmguard_fixtures::written::{Written, written};

mod requests;
mod suggestion;

#[test]
fn packages_of_our_own() {
    let mut walked = Walked::default();
    for gates in [&[][..], &["BundleReleaseSupport=true"]] {
        let rules = rules("1.11", gates);
        let contents: Vec<_> = OURS
            .iter()
            .map(|ours| content(&ours.fbc(), &rules))
            .collect();
        for one in &contents {
            walk(
                &mut walked,
                &rules,
                "P",
                &[("a", 0, one)],
                Sample::EVERYTHING,
            );
            for other in &contents {
                for priority in [0, 1] {
                    let two = [("a", 0, one), ("b", priority, other)];
                    walk(&mut walked, &rules, "P", &two, Sample::SOME);
                }
            }
        }
    }
    walked.finish("packages of our own");
}

/// A pin resolves to the bundle of its version that is not deprecated, regardless of the order.
#[test]
fn a_path_goes_through_the_bundle_that_its_pin_gives() {
    let lines = "a: 1.0.0; 1.1.0+1 replaces 1.0.0; 1.1.0+2 replaces 1.0.0; 1.2.0 replaces 1.1.0+1
                 (deprecated): 1.1.0+2";
    let question = ask(&[("a", 0, &written(lines))]);
    let answer = question.installed("1.0.0").range("1.2.0").answer();
    assert_eq!(answer.advice.path, ["1.0.0", "1.1.0", "1.2.0"]);
}

/// A pin gives the bundle of its version that has an edge, although another one is better.
#[test]
fn a_path_ends_at_the_first_bundle_of_the_requested_version() {
    let lines = "a: 1.0.0; 1.1.0 replaces 1.0.0; 2.0.0+1 replaces 1.1.0; 2.1.0 replaces 2.0.0+1; \
                 2.0.0+2 replaces 2.1.0";
    let question = ask(&[("a", 0, &written(lines))]);
    let answer = question.installed("1.0.0").range("2.0.0").answer();
    assert_eq!(answer.advice.path, ["1.0.0", "1.1.0", "2.0.0"]);
}

#[test]
fn recorded_packages() {
    let Some(folder) = shared().map(|shared| shared.join("vectors/decisions/catalogs")) else {
        println!("left out: the recorded packages, no shared folder");
        return;
    };
    let rules = rules("1.11", &[]);
    let families = families(&folder, &rules);
    let mut walked = Walked::default();
    let mut packages = 0;
    for (package, members) in &families {
        for one in members {
            packages += 1;
            walk(&mut walked, &rules, package, &[("a", 0, one)], Sample::MANY);
            for (other, priority) in members.iter().zip([0, 1, 0, 1]) {
                let two = [("a", 0, one), ("b", priority, other)];
                walk(&mut walked, &rules, package, &two, Sample::FEW);
            }
        }
    }
    assert_eq!(packages, 25);
    walked.finish("25 recorded packages");
}

/// The recorded catalogs of each package.
fn families(folder: &Path, rules: &Rules) -> BTreeMap<String, Vec<Content>> {
    let files = std::fs::read_dir(folder).expect("the folder of catalogs");
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    let mut families = BTreeMap::<String, Vec<Content>>::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("a catalog");
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("a name");
        let package = stem.split(['@', '~']).next().unwrap_or(stem);
        families
            .entry(package.to_owned())
            .or_default()
            .push(content(&text, rules));
    }
    families
}

fn walk(
    walked: &mut Walked,
    rules: &Rules,
    package: &str,
    catalogs: &[(&str, i32, &Content)],
    sample: Sample,
) {
    let states = catalogs.iter().map(|(name, priority, content)| {
        let mut state = CatalogState::named(name, (*content).clone());
        state.priority = *priority;
        state
    });
    let snapshot = Snapshot::new(rules.clone(), states);
    walked.tried.clear();
    for (asked, installed) in requests::requests(&snapshot, package, sample) {
        suggestion::walk(walked, &snapshot, &asked, &installed);
    }
}

/// A chain, a fork with a skipRange, releases, a broken skipRange, dependencies, deprecations.
const OURS: &[Written<'_>] = &[
    written("stable: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0; 2.0.0 replaces 1.2.0"),
    written(
        "alpha: 1.0.0; 1.0.1 skipRange >=1.0.0 <1.0.1; 1.1.0 replaces 1.0.1
         beta: 1.1.0; 2.0.0 replaces 1.1.0 skips 1.0.1; 3.0.0 skipRange >=2.0.0 <3.0.0
         (none): 4.0.0
         (deprecated): 1.1.0; 3.0.0; channel beta",
    ),
    written(
        "stable: 1.0.0; 1.0.0+1 replaces 1.0.0; 1.0.0+2 replaces 1.0.0+1; 1.1.0 replaces 1.0.0+2; \
                 1.1.0+build.7 replaces 1.1.0",
    ),
    written(
        "stable: 1.0.0; 1.1.0 replaces 1.0.0 skipRange <1.0.0 || || >1.0.0; 1.2.0 skipRange <1.0.0 ||
         fast: 1.2.0; 2.0.0 replaces 1.2.0",
    ),
    written(
        "stable: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 replaces 1.1.0 skips 1.0.0
         edge: 1.2.0; 1.3.0-rc.1 replaces 1.2.0; broken replaces 1.0.0
         (requires): 1.2.0 olm.gvk.required; 1.3.0-rc.1 olm.constraint",
    ),
];
