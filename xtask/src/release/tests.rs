mod fixture;

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use self::fixture::{RELEASE, SECONDS, URL, entries, gunzip, parts, text};
use super::*;

#[test]
fn two_releases_of_the_same_parts_are_the_same_bytes() {
    let mut parts = parts();
    assert!(files(&parts).unwrap() == *RELEASE);
    let names: Vec<_> = RELEASE.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "SHA256SUMS",
            "olmguard-0.1.0-image.tar",
            "olmguard-0.1.0-linux-amd64.tar.gz",
            "olmguard-0.1.0-linux-arm64.tar.gz",
            "olmguard-0.1.0.cdx.json",
            "olmguard-0.1.0.tgz",
            "olmguard.yaml",
        ]
    );
    parts.url = None;
    assert!(!files(&parts).unwrap().contains_key("olmguard.yaml"));
}

#[test]
fn the_sums_are_those_of_all_other_files() {
    let sums = text(SUMS);
    assert_eq!(sums.lines().count(), RELEASE.len() - 1);
    for line in sums.lines() {
        let (sum, name) = line.split_once("  ").unwrap();
        assert_eq!(sum, sha256(&RELEASE[name]), "{name}");
    }
    let folder = tempfile::tempdir().unwrap();
    let release = folder.path().join("dist");
    replace(&release, SUMS, &RELEASE).unwrap();
    let check = crate::program::Program::new("sha256sum").args(["--check", "--strict", SUMS]);
    check.folder(&release).run().unwrap();
}

#[test]
fn an_archive_has_the_program_and_its_pages() {
    let entries = entries(&gunzip(&RELEASE["olmguard-0.1.0-linux-arm64.tar.gz"]));
    let folder = "olmguard-0.1.0-linux-arm64";
    let paths = [
        "LICENSE",
        "README.md",
        "completions/_olmguard",
        "completions/olmguard.bash",
        "completions/olmguard.fish",
        "man/olmguard-check.1",
        "man/olmguard.1",
        "olmguard",
    ];
    let found: Vec<_> = entries.iter().map(|entry| entry.path.clone()).collect();
    assert_eq!(found, paths.map(|path| format!("{folder}/{path}")));
    for entry in &entries {
        let mode = if entry.path.ends_with("/olmguard") {
            0o755
        } else {
            0o644
        };
        assert_eq!((entry.mode, entry.owner, entry.date), (mode, 0, SECONDS));
    }
    assert_eq!(entries[3].content, b"bash of olmguard\n");
}

#[test]
fn the_chart_has_all_that_helm_would_pack() {
    let entries = entries(&gunzip(&RELEASE["olmguard-0.1.0.tgz"]));
    let found: BTreeSet<_> = entries.iter().map(|entry| entry.path.as_str()).collect();
    assert!(found.contains("olmguard/Chart.yaml"));
    assert!(found.contains("olmguard/templates/_helpers.tpl"));
    assert!(!found.contains("olmguard/.helmignore"));
    assert!(!found.contains("olmguard/monitoring/kustomization.yaml"));
    let dates: BTreeSet<_> = entries.iter().map(|entry| entry.date).collect();
    assert_eq!(dates, BTreeSet::from([SECONDS]));
}

#[test]
fn the_manifest_of_krew_has_the_digests_of_the_archives() {
    let manifest = text("olmguard.yaml");
    for architecture in ["amd64", "arm64"] {
        let archive = format!("olmguard-0.1.0-linux-{architecture}.tar.gz");
        let digest = sha256(&RELEASE[&archive]);
        let place = format!("uri: \"{URL}/{archive}\"\n      sha256: {digest}\n");
        assert!(manifest.contains(&place), "{manifest}");
        assert!(manifest.contains(&format!("{{os: linux, arch: {architecture}}}")));
    }
    assert!(
        manifest.starts_with(
            "apiVersion: krew.googlecontainertools.github.com/v1alpha2\nkind: Plugin\n"
        )
    );
    assert!(manifest.contains("\n  version: v0.1.0\n"));
}

#[test]
fn the_image_is_a_layout_in_one_file() {
    let entries = entries(&RELEASE["olmguard-0.1.0-image.tar"]);
    let content = |path: &str| {
        let mut entries = entries.iter();
        let entry = entries.find(|entry| entry.path == path).unwrap();
        serde_json::from_slice::<Value>(&entry.content).unwrap()
    };
    assert_eq!(content("oci-layout")["imageLayoutVersion"], "1.0.0");
    let index = content("index.json");
    let digest = index["manifests"][0]["digest"].as_str().unwrap();
    let list = content(&digest.replace("sha256:", "blobs/sha256/"));
    assert_eq!(list["manifests"].as_array().unwrap().len(), 2);
}

#[test]
fn the_sbom_has_every_package_of_the_lock() {
    let sbom: Value = serde_json::from_slice(&RELEASE["olmguard-0.1.0.cdx.json"]).unwrap();
    let components = sbom["components"].as_array().unwrap();
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    assert_eq!(components.len() + 1, lock.matches("[[package]]").count());
    assert_eq!(sbom["metadata"]["component"]["name"], "olmguard");
    assert_eq!(sbom["metadata"]["timestamp"], "2026-01-02T03:04:05Z");
    let hashed = components.iter().filter(|one| one["hashes"].is_array());
    assert_eq!(hashed.count(), lock.matches("\nchecksum = ").count());
    let named = |name: &str| {
        let mut components = components.iter();
        components.find(|one| one["name"] == name).unwrap()
    };
    assert_eq!(named("rustls")["scope"], "required");
    assert_eq!(named("proptest")["scope"], "excluded");
    let references = components.iter().map(|one| one["bom-ref"].as_str());
    let references: BTreeSet<_> = references.collect();
    assert_eq!(references.len(), components.len());
}

#[test]
fn a_release_without_a_date_is_an_error() {
    let epoch = |text: &str| Some(text.to_owned());
    assert_eq!(date(epoch("8"), None).unwrap(), 8);
    let error = |epoch| date(epoch, None).unwrap_err().to_string();
    assert_eq!(
        error(None),
        "the release has no date, because the checkout differs from its commit: commit the changes, \
         or set SOURCE_DATE_EPOCH"
    );
    assert_eq!(
        error(epoch("now")),
        "SOURCE_DATE_EPOCH is \"now\": expected seconds since 1970"
    );
}
