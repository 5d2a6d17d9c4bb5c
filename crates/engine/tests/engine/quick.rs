//! The edits that are quick enough for the thread of a connection.

use olmguard_catalog::guardrail::AdministratorGuardrails;
use olmguard_catalog::olm::Rules;
use olmguard_engine::extension::{Filter, Installed, InstalledBundle};
use olmguard_engine::judge::{Basis, Policies, UpgradePolicies};
use olmguard_engine::snapshot::{CatalogState, Snapshot};
use olmguard_fixtures::guardrails::catalog::{blobs, content, guardrails, imposed};
use olmguard_policy::UpgradePolicy;
use serde_json::{Value, json};

/// Catalogs with these blobs each.
fn catalogs(names: &[&str], blobs: &[Value]) -> Snapshot {
    let state = |name: &&str| CatalogState::named(name, content(blobs));
    Snapshot::new(Rules::default(), names.iter().map(state))
}

fn of(bundles: usize) -> Vec<Value> {
    let versions: Vec<_> = (0..bundles).map(|patch| format!("1.0.{patch}")).collect();
    let versions: Vec<_> = versions.iter().map(String::as_str).collect();
    blobs(&versions, "1.0.0")
}

fn filter(package: &str) -> Filter {
    Filter {
        package: package.to_owned(),
        ..Filter::default()
    }
}

fn is_quick(snapshot: &Snapshot, filter: &Filter) -> bool {
    Basis::without_policies(snapshot).is_quick_on(filter, &Installed::Nothing)
}

#[test]
fn a_package_of_few_bundles_over_all_catalogs_is_quick() {
    for (names, bundles, expected) in [
        (&["a"][..], 1, true),
        (&["a"], 256, true),
        (&["a"], 257, false),
        (&["a", "b"], 128, true),
        (&["a", "b"], 129, false),
    ] {
        let snapshot = catalogs(names, &of(bundles));
        let found = is_quick(&snapshot, &filter("p"));
        assert_eq!(found, expected, "{bundles} bundles in {names:?}");
    }
}

#[test]
fn a_package_that_does_not_exist_is_not_quick() {
    assert!(!is_quick(&catalogs(&["a"], &of(3)), &filter("q")));
}

#[test]
fn an_installed_bundle_without_a_name_is_not_quick() {
    let snapshot = catalogs(&["a"], &of(3));
    let installed = |name: Option<&str>| {
        Installed::Bundle(InstalledBundle {
            name: name.map(str::to_owned),
            version: "1.0.0".to_owned(),
            release: None,
        })
    };
    let basis = Basis::without_policies(&snapshot);
    assert!(basis.is_quick_on(&filter("p"), &installed(Some("p.v1.0.0"))));
    assert!(!basis.is_quick_on(&filter("p"), &installed(None)));
}

#[test]
fn a_long_filter_is_not_quick() {
    let snapshot = catalogs(&["a"], &of(3));
    let channels = |count: usize| Filter {
        channels: (0..count).map(|n| format!("c{n}")).collect(),
        ..filter("p")
    };
    assert!(is_quick(&snapshot, &channels(32)));
    assert!(!is_quick(&snapshot, &channels(33)));
    let range = |bytes: usize| filter("p").with_version(&"1".repeat(bytes));
    assert!(is_quick(&snapshot, &range(64)));
    assert!(!is_quick(&snapshot, &range(65)));
}

#[test]
fn rules_are_not_quick() {
    let rules = json!([{"kind": "MaxMinorStep", "step": 1}]);
    let mut authored = of(3);
    authored.push(guardrails("Catalog", &rules));
    assert!(!is_quick(&catalogs(&["a"], &authored), &filter("p")));
    let snapshot = catalogs(&["a"], &of(3));
    let under = |guardrails: AdministratorGuardrails, upgrades: UpgradePolicies| {
        let policies = Policies {
            guardrails,
            upgrades,
            ..Policies::default()
        };
        let basis = Basis {
            snapshot: &snapshot,
            policies: &policies,
        };
        basis.is_quick_on(&filter("p"), &Installed::Nothing)
    };
    assert!(under(
        AdministratorGuardrails::default(),
        UpgradePolicies::default()
    ));
    assert!(!under(
        imposed("Catalog", &rules),
        UpgradePolicies::default()
    ));
    let policy = UpgradePolicy::read(&json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy", "metadata": {"name": "a"},
        "spec": {"rules": [{"type": "NoMajorUpgrade"}]},
    }));
    assert!(!under(
        AdministratorGuardrails::default(),
        UpgradePolicies::of([policy])
    ));
}
