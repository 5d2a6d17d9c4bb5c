//! `olmguard snapshot show` as a command: its output and exit codes.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use olmguard_engine::snapshot::{
    Availability, CatalogState, Content, Currency, Labels, ServingState,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::saved::{named, olm, save};
use olmguard_support::schema::assert_fits;

/// Returns a directory with a snapshot, `saved`, of one catalog of each kind.
fn scene() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    let content = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/Resolved/hub.yaml");
    let labels = BTreeMap::from([("team".to_owned(), "a".to_owned())]);
    let hub = CatalogState {
        labels: Labels::with_name("hub", labels),
        priority: 7,
        image_ref: Some("example.com/hub@sha256:1a2b".to_owned()),
        last_unpacked: Some("2026-08-21T10:03:00Z".to_owned()),
        ..named("hub")
    };
    let old = CatalogState {
        availability: Availability::Unavailable,
        serving: ServingState::KnownNot,
        currency: Currency::Superseded,
        ..named("old")
    };
    let odd = CatalogState {
        labels: Labels::Unknown,
        ..CatalogState::named("odd\u{1b}[1m", Content::Unreadable("no\nroute".to_owned()))
    };
    let held = Some(&*content);
    let catalogs = [(odd, None), (old, held), (named("new"), None), (hub, held)];
    let olm = olm("1.9", &["BundleReleaseSupport=true"]);
    save(&folder.path().join("saved"), Some(olm), &catalogs);
    folder
}

#[track_caller]
fn show(folder: &TempDir, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args(["snapshot", "show"])
        .args(arguments)
        .env_clear()
        .current_dir(folder.path())
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

const TEXT: &str = "\
Saved     2026-11-21T14:30:00Z by olmguard X.Y.Z
OLM       1.9 with BundleReleaseSupport
Catalogs  4, 2 loaded

hub
  Content   1 package, 5 bundles
  Image     example.com/hub@sha256:1a2b
  Unpacked  2026-08-21T10:03:00Z
  Priority  7
  Serving   yes
  Mode      Available
  Labels    olm.operatorframework.io/metadata.name=hub,team=a

new
  Content   not loaded
  Priority  0
  Serving   yes
  Mode      Available
  Labels    olm.operatorframework.io/metadata.name=new

odd\\x1b[1m
  Content   cannot be read: no\\nroute
  Priority  0
  Serving   yes
  Mode      Available
  Labels    cannot be read: any selector may match

old
  Content   1 package, 5 bundles; newer content exists
  Priority  0
  Serving   no
  Mode      Unavailable: OLM does not use this catalog
  Labels    olm.operatorframework.io/metadata.name=old
";

#[test]
fn text_tells_each_fact_of_each_catalog() {
    let (code, stdout, stderr) = show(&scene(), &["saved"]);
    let program = env!("CARGO_PKG_VERSION");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(stdout.replace(program, "X.Y.Z"), TEXT);
}

#[test]
fn json_tells_the_same() {
    let (code, stdout, stderr) = show(&scene(), &["-o", "json", "saved"]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let report: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_fits("schemas/olmguard.catalogs.v1.json", &report);
    assert_eq!(report["saved"], "2026-11-21T14:30:00Z");
    assert_eq!(report["program"], env!("CARGO_PKG_VERSION"));
    assert_eq!(
        report["olm"],
        json!({"release": "1.9", "gates": ["BundleReleaseSupport"]})
    );
    let automatic = "olm.operatorframework.io/metadata.name";
    let catalogs = report["catalogs"].as_array().expect("a list");
    assert_eq!(catalogs.len(), 4);
    assert_eq!(
        catalogs[0],
        json!({
            "name": "hub",
            "image": "example.com/hub@sha256:1a2b",
            "digest": "sha256:1a2b",
            "last_unpacked": "2026-08-21T10:03:00Z",
            "age_seconds": null,
            "current": true,
            "priority": 7,
            "serving": true,
            "availability": "Available",
            "labels": {automatic: "hub", "team": "a"},
            "held": true,
            "error": null,
            "packages": 1,
            "bundles": 5,
        })
    );
    let facts = |catalog: &Value| {
        let keys = [
            "name",
            "serving",
            "availability",
            "current",
            "held",
            "error",
        ];
        keys.map(|key| catalog[key].clone())
    };
    let rest: Vec<_> = catalogs.iter().skip(1).map(facts).collect();
    assert_eq!(
        json!(rest),
        json!([
            ["new", true, "Available", true, false, null],
            ["odd\u{1b}[1m", true, "Available", true, false, "no\nroute"],
            ["old", false, "Unavailable", false, true, null],
        ])
    );
    assert_eq!(catalogs[2]["labels"], Value::Null);
}

#[test]
fn a_file_that_is_no_snapshot_is_bad_input() {
    let folder = scene();
    let whole = fs::read(folder.path().join("saved")).expect("a file");
    fs::write(folder.path().join("cut"), &whole[..whole.len() / 2]).expect("a file");
    for file in ["cut", "gone", "."] {
        let (code, stdout, stderr) = show(&folder, &[file]);
        assert_eq!((code, stdout.as_str()), (Some(3), ""), "{file}");
        let start = format!("error: {file}: ");
        let end = "; save it again with olmguard snapshot save\n";
        assert!(
            stderr.starts_with(&start) && stderr.ends_with(end),
            "{stderr}"
        );
    }
    assert_eq!(show(&folder, &[]).0, Some(2));
}
