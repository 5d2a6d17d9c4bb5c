use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::extension::{Filter, InstalledBundle};
use crate::resolve::{Query, SearchBudget};
use crate::snapshot::{CatalogState, Content, Snapshot};
use olmguard_catalog::{CatalogBuilder, fbc};

/// A catalog of package `p` with one channel of these entries, which are named after their versions.
fn catalog(entries: &Value) -> Content {
    let names = entries.as_array().expect("a list").iter();
    let versions = names.map(|entry| entry["name"].as_str().expect("a name"));
    let mut blobs: Vec<Value> = versions
        .map(|version| {
            let value = json!({"packageName": "p", "version": version});
            json!({"schema": "olm.bundle", "package": "p", "name": version,
                "properties": [{"type": "olm.package", "value": value}]})
        })
        .collect();
    blobs.push(json!({"schema": "olm.channel", "package": "p", "name": "c", "entries": entries}));
    let lines: Vec<_> = blobs.iter().map(Value::to_string).collect();
    let rules = Rules::default();
    let mut builder = CatalogBuilder::new(&rules);
    fbc::read("catalog", lines.join("\n").as_bytes(), &mut builder).expect("a catalog");
    Content::Loaded(Arc::new(builder.finish().expect("no bound")))
}

fn search<T>(catalogs: &[(&str, Value)], look: impl FnOnce(&[Offer<'_>], &Origin<'_>) -> T) -> T {
    let state = |(name, entries): &(&str, Value)| CatalogState::named(name, catalog(entries));
    search_in(catalogs.iter().map(state), look)
}

fn search_in<T>(
    catalogs: impl Iterator<Item = CatalogState>,
    look: impl FnOnce(&[Offer<'_>], &Origin<'_>) -> T,
) -> T {
    let snapshot = Snapshot::new(Rules::default(), catalogs);
    let filter = Filter {
        package: "p".to_owned(),
        ..Filter::default()
    };
    let query = Query::compile(&filter, &snapshot).expect("a filter without texts");
    let offers = query.offers(&query.in_play(&snapshot)).expect("loaded");
    let installed = InstalledBundle {
        name: Some("1.0.0".to_owned()),
        version: "1.0.0".to_owned(),
        release: None,
    };
    let origin = Origin::read(&installed, snapshot.rules()).expect("a version");
    look(&offers, &origin)
}

fn unbound<'a, 's>(rules: &'a Rules, guards: &'a Guards<'s>) -> Bounds<'a, 's> {
    Bounds {
        rules,
        guards,
        policies: None,
        install: None,
        effort: None,
    }
}

fn names(steps: &[Choice<'_>]) -> Vec<String> {
    steps
        .iter()
        .map(|step| step.bundle().name.to_string())
        .collect()
}

#[test]
fn a_version_that_crashes_in_one_catalog_is_pinned_in_none() {
    let sound = json!([
        {"name": "1.0.0"},
        {"name": "1.1.0", "replaces": "1.0.0"},
        {"name": "1.2.0", "skips": ["1.0.0"]},
        {"name": "1.3.0", "skips": ["1.0.0"]},
    ]);
    let broken = json!([{"name": "1.2.0", "skipRange": "<0.1.0 || || >9.0.0"}]);
    let steps = |catalogs: &[_]| {
        search(catalogs, |offers, from| {
            let (rules, guards) = (Rules::default(), Guards::default());
            names(&PathSearch::from(offers, from, &unbound(&rules, &guards)).next_steps())
        })
    };
    let alone = steps(&[("a", sound.clone())]);
    assert_eq!(alone, ["1.3.0", "1.2.0", "1.1.0"]);
    for other in ["0", "b"] {
        let both = steps(&[("a", sound.clone()), (other, broken.clone())]);
        assert_eq!(both, ["1.3.0", "1.1.0"], "the broken one is called {other}");
    }
}

/// Pinning 2.0.0 from the 2.0.0 of the lower catalog stays there. From 1.1.0, it resolves to the 2.0.0 of the higher
/// one.
#[test]
fn a_bundle_that_counts_as_another_is_reached_from_elsewhere() {
    let low = json!([{"name": "2.0.0", "skips": ["1.0.0"]}]);
    let high = json!([
        {"name": "1.1.0", "skips": ["1.0.0"]},
        {"name": "2.0.0", "skips": ["1.1.0"]},
    ]);
    let mut states = [("low", low), ("high", high)]
        .map(|(name, entries)| CatalogState::named(name, catalog(&entries)));
    states[1].priority = 1;
    search_in(states.into_iter(), |offers, origin| {
        let offer = offers.first().expect("the catalogs stand in order");
        let goal = offer.choice(offer.find("2.0.0").expect("it has one"));
        let (rules, guards) = (Rules::default(), Guards::default());
        let bounds = unbound(&rules, &guards);
        let mut search = PathSearch::from(offers, origin, &bounds);
        assert_eq!(names(&search.next_steps()), ["2.0.0", "1.1.0"]);
        let steps = search.path_to(Some(goal), offers).steps.expect("a path");
        assert_eq!(names(&steps), ["1.1.0", "2.0.0"]);
        assert_eq!(steps.last(), Some(&goal));
    });
}

/// The names of the steps of a path to the bundle of this name.
fn path(budget: SearchBudget, entries: &Value, goal: &str) -> Option<Vec<String>> {
    search(&[("a", entries.clone())], |offers, origin| {
        let mut choices = offers.iter().flat_map(|offer| {
            let bundles = offer.package.bundles();
            bundles.map(|(index, _)| offer.choice(index))
        });
        let goal = choices.find(|choice| *choice.bundle().name == *goal);
        let (rules, guards) = (Rules::default(), Guards::default());
        let bounds = unbound(&rules, &guards);
        let found = PathSearch::within(budget, offers, origin, &bounds).path_to(goal, offers);
        found.steps.map(|steps| names(&steps))
    })
}

/// `1.0.0 <- 1.1.0 <- 1.2.0 ...`, each replacing the previous one.
fn chain(length: usize) -> Value {
    let name = |minor| format!("1.{minor}.0");
    let later = (1..length).map(|at| json!({"name": name(at), "replaces": name(at - 1)}));
    std::iter::once(json!({"name": name(0)}))
        .chain(later)
        .collect()
}

#[test]
fn of_ways_of_one_length_that_with_the_fewest_prereleases_is_taken() {
    let either = json!([
        {"name": "1.0.0"},
        {"name": "1.1.0", "skips": ["1.0.0"]},
        {"name": "1.2.0-rc.1", "skips": ["1.0.0"]},
        {"name": "2.0.0", "skips": ["1.1.0", "1.2.0-rc.1"]},
    ]);
    let steps = path(SearchBudget::FULL, &either, "2.0.0").expect("a path");
    assert_eq!(steps, ["1.1.0", "2.0.0"]);
    let in_all = json!([
        {"name": "1.0.0"},
        {"name": "1.1.0", "skips": ["1.0.0"]},
        {"name": "1.2.0-rc.1", "skips": ["1.1.0"]},
        {"name": "1.3.0-rc.1", "skips": ["1.2.0-rc.1"]},
        {"name": "1.1.0-rc.1", "skips": ["1.0.0"]},
        {"name": "1.2.0", "skips": ["1.1.0-rc.1"]},
        {"name": "1.3.0", "skips": ["1.2.0"]},
        {"name": "2.0.0", "skips": ["1.3.0-rc.1", "1.3.0"]},
    ]);
    let steps = path(SearchBudget::FULL, &in_all, "2.0.0").expect("a path");
    assert_eq!(steps, ["1.1.0-rc.1", "1.2.0", "1.3.0", "2.0.0"]);
}

#[test]
fn a_shorter_way_may_lead_over_a_prerelease() {
    let entries = json!([
        {"name": "1.0.0"},
        {"name": "1.1.0", "skips": ["1.0.0"]},
        {"name": "1.2.0", "skips": ["1.1.0"]},
        {"name": "1.2.0-rc.1", "skips": ["1.0.0"]},
        {"name": "2.0.0", "skips": ["1.2.0", "1.2.0-rc.1"]},
    ]);
    let steps = path(SearchBudget::FULL, &entries, "2.0.0").expect("a path");
    assert_eq!(steps, ["1.2.0-rc.1", "2.0.0"]);
}

#[test]
fn a_search_out_of_budget_gives_the_best_so_far() {
    let full = ["1.1.0", "1.2.0", "1.3.0"];
    for (expansions, pins, reached) in [
        (3, 100, 3),
        (2, 100, 2),
        (1, 100, 1),
        (0, 100, 1),
        (100, 4, 3),
        (100, 3, 2),
        (100, 0, 1),
    ] {
        let budget = SearchBudget {
            expansions,
            pins,
            ..SearchBudget::FULL
        };
        let steps = path(budget, &chain(9), "1.3.0").expect("a candidate is reached");
        let expected = full.get(..reached).expect("a part of it");
        assert_eq!(steps, expected, "{expansions} expansions, {pins} pins");
    }
}

#[test]
fn a_search_that_its_budget_ends_says_so() {
    let is_cut = |expansions, length| {
        let budget = SearchBudget {
            expansions,
            ..SearchBudget::FULL
        };
        search(&[("a", chain(length))], |offers, origin| {
            let (rules, guards) = (Rules::default(), Guards::default());
            let bounds = unbound(&rules, &guards);
            let search = || PathSearch::within(budget, offers, origin, &bounds);
            let (reach, path) = (search().everywhere(), search().path_to(None, offers));
            assert_eq!(reach.is_cut, path.is_cut);
            path.is_cut
        })
    };
    // The first of four bundles reaches the three others, so expanding the last one finds nothing.
    assert!(!is_cut(4, 4));
    assert!(is_cut(3, 4));
    assert!(is_cut(1, 4));
}

#[test]
fn a_chain_within_the_budget_is_gone_through() {
    let steps = path(SearchBudget::FULL, &chain(500), "1.499.0").expect("the head is reached");
    assert_eq!(steps.len(), 499);
}

#[test]
fn edges_from_everything_to_everything_end_with_the_budget() {
    let entry = |patch| json!({"name": format!("1.0.{patch}"), "skipRange": ">=1.0.0"});
    let dense: Value = (0..200).map(entry).collect();
    let budget = SearchBudget {
        expansions: 3,
        ..SearchBudget::FULL
    };
    let unreachable = json!({"name": "2.0.0", "replaces": "nothing"});
    let mut entries = dense;
    entries.as_array_mut().expect("a list").push(unreachable);
    assert_eq!(
        path(budget, &entries, "2.0.0"),
        Some(vec!["1.0.199".to_owned()])
    );
}
