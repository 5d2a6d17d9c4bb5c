//! The installed bundle as a user states it, and the bundles that a text identifies as a target.

use olmguard_engine::extension::{Extension, Filter, Installed, InstalledBundle, Shape};
use olmguard_engine::judge::{CatalogKnowledge, NamingError, StatedInstalled, target};
use olmguard_engine::resolve::Offer;
use olmguard_engine::snapshot::Snapshot;
use olmguard_fixtures::question::ask;
use olmguard_fixtures::written::written;
use serde_json::json;

const LINES: &str =
    "stable: 1.0.0; 1.1.0 replaces 1.0.0; 1.2.0 skips 0.9.0; 1.2.0+3; 1.3.0+2; 1.3.0+3";

fn snapshot() -> Snapshot {
    ask(&[("hub", 0, &written(LINES))]).snapshot()
}

fn filter(package: &str) -> Filter {
    let extension = Extension::read(
        Shape::V1,
        &json!({
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {"name": "ext"},
            "spec": {"namespace": "ns", "source": {"sourceType": "Catalog", "catalog": {"packageName": package}}},
        }),
    );
    extension.filter.expect("a filter")
}

fn bundle(name: Option<&str>, version: &str, release: Option<&str>) -> InstalledBundle {
    InstalledBundle {
        name: name.map(str::to_owned),
        version: version.to_owned(),
        release: release.map(str::to_owned),
    }
}

fn stated(text: &str, name: Option<&str>, release: Option<&str>) -> StatedInstalled {
    StatedInstalled {
        text: text.to_owned(),
        bundle: name.map(str::to_owned),
        release: release.map(str::to_owned),
    }
}

#[test]
fn a_version_or_a_name_is_what_is_installed() {
    let snapshot = snapshot();
    let is = |text, name, release| stated(text, name, release).installed(&snapshot, &filter("P"));
    let known = |name, version| Ok(Installed::Bundle(bundle(Some(name), version, None)));
    assert_eq!(is("1.1.0", None, None), known("P.v1.1.0", "1.1.0"));
    assert_eq!(is("P.v1.1.0", None, None), known("P.v1.1.0", "1.1.0"));
    // A name that only edges mention is certain if it is stated, and inferred if only its version
    // is stated.
    assert_eq!(is("P.v0.9.0", None, None), known("P.v0.9.0", "0.9.0"));
    let inferred = Installed::Inferred(bundle(Some("P.v0.9.0"), "0.9.0", None));
    assert_eq!(is("0.9.0", None, None), Ok(inferred));
    // Both are taken as stated.
    assert_eq!(is("1.1.0", Some("other"), None), known("other", "1.1.0"));
    let offers = Offer::of(&snapshot, &filter("P")).expect("readable catalogs");
    let grasp = |name| {
        let said = stated("1.1.0", Some(name), None);
        let found = said.find(snapshot.rules(), &offers);
        found.map(|found| found.known)
    };
    assert_eq!(grasp("other"), Ok(CatalogKnowledge::Stranger));
    assert_eq!(grasp("P.v0.9.0"), Ok(CatalogKnowledge::Whole));
    assert_eq!(grasp("P.v1.0.0"), Ok(CatalogKnowledge::Whole));
    let none = Installed::Bundle(bundle(None, "3.0.0", Some("7")));
    assert_eq!(is("3.0.0", None, Some("7")), Ok(none));
    let nearest = ["P.v1.1.0", "P.v1.0.0", "P.v1.2.0"]
        .map(str::to_owned)
        .to_vec();
    let unknown = Err(NamingError::Unknown { nearest });
    assert_eq!(is("P.v1.1.O", None, None), unknown);
    assert_eq!(is("1.2.0", None, None), known("P.v1.2.0", "1.2.0"));
}

/// A row then reports that no catalog has the package.
#[test]
fn without_a_catalog_the_version_is_read_from_the_name() {
    let snapshot = snapshot();
    let is = |text, name, release| stated(text, name, release).installed(&snapshot, &filter("Q"));
    let known = |name, version, release| Ok(Installed::Bundle(bundle(name, version, release)));
    assert_eq!(
        is("Q.v1.1.0", None, Some("2")),
        known(Some("Q.v1.1.0"), "1.1.0", Some("2"))
    );
    assert_eq!(is("1.1.0", None, None), known(None, "1.1.0", None));
    assert_eq!(
        is("1.1.0", Some("q"), None),
        known(Some("q"), "1.1.0", None)
    );
    assert_eq!(is("Q", None, None), known(None, "Q", None));
}

#[test]
fn a_target_is_a_name_a_version_or_a_version_of_any_release() {
    let snapshot = snapshot();
    let filter = filter("P");
    let offers = Offer::of(&snapshot, &filter).expect("readable catalogs");
    let is = |text| {
        let found = target(text, &filter, &offers, snapshot.rules());
        found.map(|found| {
            let mut names: Vec<_> = found
                .iter()
                .map(|it| it.bundle().name.to_string())
                .collect();
            names.sort_unstable();
            names
        })
    };
    let one = |name: &str| Ok(vec![name.to_owned()]);
    assert_eq!(is("1.1.0"), one("P.v1.1.0"));
    assert_eq!(is("P.v1.1.0"), one("P.v1.1.0"));
    assert_eq!(is("1.2.0+3"), one("P.v1.2.0+3"));
    let unknown = |nearest: &[&str]| {
        Err(NamingError::Unknown {
            nearest: nearest.iter().map(|it| (*it).to_owned()).collect(),
        })
    };
    assert_eq!(is("v1.1.0"), unknown(&["1.1.0"]));
    assert_eq!(is("1.1.1"), unknown(&["1.1.0", "1.2.0", "1.0.0"]));
    assert_eq!(
        is("P.v1.1.O"),
        unknown(&["P.v1.1.0", "P.v1.0.0", "P.v1.2.0"])
    );
    assert_eq!(is("1.2.0"), one("P.v1.2.0"));
    assert_eq!(is("1.2.0+7"), unknown(&["1.2.0", "1.3.0", "1.1.0"]));
    let both = ["P.v1.3.0+2", "P.v1.3.0+3"].map(str::to_owned);
    assert_eq!(is("1.3.0"), Ok(both.to_vec()));
}
