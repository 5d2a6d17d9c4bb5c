//! `olmguard catalogs`: the catalogs of a cluster.

use axum::http::StatusCode;
use serde_json::{Value, json};

use super::scene::Scene;
use olmguard_support::api_server::catalog;
use olmguard_support::schema::assert_fits;

const CATALOGS: &[&str] = &["catalogs", "--kubeconfig=kubeconfig"];

/// Returns a cluster with a catalog of each kind.
fn scene() -> Scene {
    let scene = Scene::new();
    let mut off = catalog("off", &scene.api.url("/catalogs/off"));
    off["spec"]["availabilityMode"] = json!("Unavailable");
    let mut slow = catalog("slow", &scene.api.url("/catalogs/slow"));
    slow["status"] = json!({"conditions": [{"type": "Serving", "status": "False"}]});
    slow["spec"]["priority"] = json!(-3);
    let gone = catalog("gone", &scene.api.url("/catalogs/gone"));
    scene.api.catalogs(&[slow, off, scene.hub(), gone]);
    scene
        .api
        .answer("/catalogs/gone/api/v1/all", StatusCode::BAD_GATEWAY, "");
    scene
}

#[test]
fn text_tells_each_fact_of_each_catalog() {
    let ran = scene().run(CATALOGS);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let shown: Vec<_> = ran
        .stdout
        .lines()
        .filter(|line| !line.contains("Unpacked") && !line.contains("Labels"))
        .collect();
    let expected = "\
OLM       1.11
Catalogs  4, 1 loaded

gone
  Content   cannot be fetched: answered HTTP 502 Bad Gateway, expected 200 OK
  Image     example.com/gone@sha256:1a2b
  Priority  0
  Serving   yes
  Mode      Available

hub
  Content   1 package, 5 bundles
  Image     example.com/hub@sha256:1a2b
  Priority  0
  Serving   yes
  Mode      Available

off
  Content   not loaded
  Image     example.com/off@sha256:1a2b
  Priority  0
  Serving   yes
  Mode      Unavailable: OLM does not use this catalog

slow
  Content   not loaded
  Priority  -3
  Serving   no: edits that need this catalog are undecided
  Mode      Available";
    assert_eq!(shown.join("\n"), expected);
    let unpacked = "  Unpacked  2026-08-21T10:03:00Z, ";
    let ages = ran.stdout.lines().filter(|line| line.starts_with(unpacked));
    let ages: Vec<_> = ages.collect();
    assert_eq!(ages.len(), 3, "{ages:?}");
    assert!(ages.iter().all(|age| age.ends_with(" ago")), "{ages:?}");
}

#[test]
fn json_tells_the_same() {
    let ran = scene().run(&[CATALOGS, &["-o", "json"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_fits("schemas/olmguard.catalogs.v1.json", &report);
    assert_eq!(report["olm"], json!({"release": "1.11", "gates": []}));
    assert_eq!(report["saved"], json!(null));
    let catalogs = report["catalogs"].as_array().expect("a list");
    let facts = catalogs.iter().map(|catalog| {
        let keys = [
            "name",
            "digest",
            "serving",
            "availability",
            "held",
            "bundles",
        ];
        json!(keys.map(|key| catalog[key].clone()))
    });
    let digest = "sha256:1a2b";
    assert_eq!(
        json!(facts.collect::<Vec<_>>()),
        json!([
            ["gone", digest, true, "Available", false, 0],
            ["hub", digest, true, "Available", true, 5],
            ["off", digest, true, "Unavailable", false, 0],
            ["slow", null, false, "Available", false, 0],
        ])
    );
    assert!(catalogs[1]["age_seconds"].is_u64(), "{report}");
    assert_eq!(catalogs[3]["age_seconds"], json!(null));
}
