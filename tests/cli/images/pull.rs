//! `olmguard check --pull`: the images of bundles affect the answer.

use super::{CATALOG, EXTENSION, bundle, ran};
use crate::folder::{Folder, Ran};
use olmguard_support::catalogd::answer::Answer;
use olmguard_support::oci::TestRegistry;
use serde_json::Value;

const WICK: &str = "{type: object, properties: {wick: {type: string}}}";

/// Returns an extension that requests 1.1.0, and the catalog with the images of 1.0.0 and 1.1.0 in these registries.
fn scene(old: &TestRegistry, new: &TestRegistry) -> Folder {
    let extension = EXTENSION.replace("version: 1.2.0", "version: 1.1.0");
    let of = |registry: &TestRegistry| registry.image("lantern:v1");
    let catalog = CATALOG.replace("quay.example/lantern:1.0.0", &of(old));
    let catalog = catalog.replace("quay.example/lantern:1.1.0", &of(new));
    Folder::of(&[("app.yaml", &extension), ("hub.yaml", &catalog)])
}

fn check(scene: &Folder, flags: &[&str]) -> Ran {
    let command = [
        "check",
        "-f",
        "app.yaml",
        "--catalog=hub=hub.yaml",
        "--pull",
    ];
    ran(scene, &[&command, flags].concat())
}

const FROM: &str = "--installed=lantern=1.0.0";

#[test]
fn crds_are_compared_with_those_of_the_installed_bundle() {
    let old = TestRegistry::of(bundle(WICK));
    let new = TestRegistry::of(bundle("{type: object}"));
    let scene = scene(&old, &new);
    let (code, out, err) = check(&scene, &[FROM]);
    assert_eq!((code, &*err), (Some(0), ""), "{out}");
    let warning = "OLM might not install this: CRD lanterns.example.com: field wick of v1 is removed \
                   [crd-field-removed]";
    assert!(out.contains(warning), "{out}");
    let (_, out, _) = check(&scene, &[FROM, "-o", "json"]);
    let report: Value = serde_json::from_str(&out).expect("JSON");
    assert_eq!(
        report["results"][0]["checks"],
        serde_json::json!(["crd-field-removed", "crd-approximate"])
    );
    // Without an installed bundle, nothing is compared.
    let (code, out, _) = check(&scene, &[]);
    assert_eq!(code, Some(0));
    assert!(!out.contains("CRD"), "{out}");
    assert_eq!(check(&scene, &[FROM, "--warn-as-error"]).0, Some(1));
}

#[test]
fn without_the_flag_nothing_is_pulled() {
    let registry = TestRegistry::of(bundle("{type: object}"));
    let scene = scene(&registry, &registry);
    let (code, ..) = ran(
        &scene,
        &["check", "-f", "app.yaml", "--catalog=hub=hub.yaml", FROM],
    );
    assert_eq!((code, registry.paths().len()), (Some(0), 0));
}

#[test]
fn an_image_that_cannot_be_pulled_leaves_the_check_incomplete() {
    let old = TestRegistry::of(bundle(WICK));
    let new = TestRegistry::scripted(|_| Answer::status("404 Not Found"));
    let scene = scene(&old, &new);
    let (code, out, err) = check(&scene, &[FROM]);
    assert_eq!(code, Some(4), "{out}{err}");
    let expected = format!("error: oci:{}: ", new.image("lantern:v1"));
    assert!(err.starts_with(&expected), "{err}");
    assert!(out.contains("allowed"), "{out}");
    let (code, ..) = check(&scene, &[FROM, "--on-undecided=warn"]);
    assert_eq!(code, Some(0));
}

#[test]
fn an_image_without_a_bundle_is_denied() {
    let old = TestRegistry::of(bundle(WICK));
    let new = TestRegistry::of(super::no_bundle());
    let (code, out, err) = check(&scene(&old, &new), &[FROM]);
    assert_eq!((code, &*err), (Some(1), ""), "{out}");
    let expected = format!(
        "has no bundle that OLM can read: oci:{}/manifests: no ",
        new.image("lantern:v1")
    );
    assert!(out.contains(&expected), "{out}");
    assert!(out.contains("Check: bundle-format\n"), "{out}");
}

#[test]
fn an_installed_bundle_that_cannot_be_pulled_is_a_warning() {
    let old = TestRegistry::scripted(|_| Answer::status("404 Not Found"));
    let new = TestRegistry::of(bundle(WICK));
    let (code, out, err) = check(&scene(&old, &new), &[FROM]);
    assert_eq!(code, Some(0), "{out}{err}");
    let expected = format!("warning: oci:{}: ", old.image("lantern:v1"));
    assert!(err.starts_with(&expected), "{err}");
}

#[test]
fn an_edit_of_the_comparison_alone_needs_the_images_too() {
    let old = TestRegistry::of(bundle(WICK));
    let new = TestRegistry::of(super::no_bundle());
    let scene = scene(&old, &new);
    let none = "  install: {preflight: {crdUpgradeSafety: {enforcement: None}}}\n";
    scene.write(
        "base/app.yaml",
        &format!("{}{none}", EXTENSION.replace("1.2.0", "1.1.0")),
    );
    let (code, out, err) = check(&scene, &[FROM, "--base=base"]);
    assert_eq!((code, &*err), (Some(0), ""), "{out}");
    assert!(out.contains("[bundle-format]"), "{out}");
}

#[test]
fn what_is_not_checked_is_not_pulled() {
    let registry = TestRegistry::of(bundle(WICK));
    let scene = scene(&registry, &registry);
    let (code, _, err) = check(&scene, &[FROM, "--preflight=off"]);
    assert_eq!((code, registry.paths().len()), (Some(2), 0));
    let expected = "error: --pull and --preflight off cannot be used together: what is pulled would not be checked\n";
    assert_eq!(err, expected);
}
