//! A step from a bundle and a step from the record of operator-controller about it are equal, so walks and searches
//! need not read the record.

use olmguard_catalog::olm::{Gates, OlmRelease, Rules};
use olmguard_engine::extension::InstalledBundle;
use olmguard_engine::judge::recorded;
use olmguard_engine::resolve::{Choice, Origin};
use olmguard_engine::snapshot::CatalogState;
use olmguard_fixtures::question::{content, package};
use serde_json::{Value, json};

#[test]
fn what_is_recorded_reads_back_as_the_bundle() {
    let mut compared = 0;
    for olm in OlmRelease::all() {
        for gates in [&[][..], &["BundleReleaseSupport=true"], FORCED] {
            if let Ok(gates) = Gates::parse(gates.iter().copied(), olm) {
                compared += compare(&Rules::new(olm, gates));
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// The number of bundles for which both give the same result.
fn compare(rules: &Rules) -> usize {
    let content = content(&catalog(), rules);
    let state = CatalogState::named("catalog", content.clone());
    let package = package(&content, "p");
    let choices = package.bundles().map(|(index, _)| Choice {
        catalog: &state,
        package,
        index,
    });
    choices.filter(|choice| is_same(*choice, rules)).count()
}

/// Whether a bundle has a version. Both results must then be equal.
fn is_same(choice: Choice<'_>, rules: &Rules) -> bool {
    let Some(recorded) = recorded(choice, rules) else {
        assert!(Origin::of_choice(choice, rules).is_none());
        return false;
    };
    let InstalledBundle { version, .. } = &recorded;
    let read = Origin::read(&recorded, rules).expect(version);
    let known = Origin::of_choice(choice, rules).expect(version);
    let successors = |origin: &Origin<'_>| {
        let found = origin.successors(choice.package, &choice.package.ask_channels(&[]));
        (found.edges, found.crashes, origin.same(choice.package))
    };
    assert_eq!(successors(&read), successors(&known), "{rules:?} {version}");
    assert_eq!(read.is_at(choice.bundle()), known.is_at(choice.bundle()));
    true
}

/// One bundle for each kind of version, each with an edge from the previous one.
fn catalog() -> String {
    let name = |at: usize| format!("p.v{at}");
    let bundle = |(at, (version, release)): (usize, &(&str, Option<&str>))| {
        let mut value = json!({"packageName": "p", "version": version});
        if let Some(release) = release {
            value["release"] = json!(release);
        }
        json!({"schema": "olm.bundle", "package": "p", "name": name(at),
            "properties": [{"type": "olm.package", "value": value}]})
    };
    let entry = |(at, (version, _)): (usize, &(&str, Option<&str>))| {
        json!({"name": name(at), "replaces": name(at.saturating_sub(1)),
            "skipRange": format!("<{version}")})
    };
    let entries: Vec<Value> = VERSIONS.iter().enumerate().map(entry).collect();
    let channel = json!({"schema": "olm.channel", "package": "p", "name": "c", "entries": entries});
    let blobs = VERSIONS.iter().enumerate().map(bundle).chain([channel]);
    let lines: Vec<String> = blobs.map(|blob| blob.to_string()).collect();
    lines.join("\n")
}

const FORCED: &[&str] = &["ForceSemverUpgradeConstraints=true"];

/// Versions and explicit releases.
const VERSIONS: [(&str, Option<&str>); 12] = [
    ("0.0.1", None),
    ("0.1.0-rc.1", None),
    ("0.1.0", None),
    ("1.0.0-alpha.7+build.3", None),
    ("1.0.0+5", None),
    ("1.0.0+a.b-c", None),
    ("1.0.0+01", None),
    ("1.2.3+a-build-that-is-too-long-for-a-release", None),
    ("1.2.3", Some("2")),
    ("1.2.3", Some("alpha.1")),
    ("1.3.0+metadata", Some("3")),
    ("18446744073709551615.0.0", None),
];
