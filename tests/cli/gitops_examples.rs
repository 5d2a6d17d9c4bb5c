//! The examples for Argo CD and Flux, and the page about them: everything that they name exists.
#![expect(
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails there"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use olmguard::manifest::{ManifestObject, documents};
use serde_json::{Value, json};

#[test]
fn every_source_is_a_folder_with_something_to_apply() {
    let mut seen = 0;
    for object in objects("argocd").iter().chain(&objects("flux")) {
        let path = ["/spec/source/path", "/spec/path"]
            .iter()
            .find_map(|at| object.value.pointer(at));
        let Some(path) = path.and_then(Value::as_str) else {
            assert_eq!(object.kind, "GitRepository");
            continue;
        };
        assert!(has_manifests(&root().join(path)), "{path}");
        seen += 1;
    }
    assert_eq!(seen, 4, "two of each tool");
}

#[test]
fn every_example_is_of_the_api_that_the_tool_serves() {
    let apis = |tool| -> Vec<_> {
        let objects = objects(tool).into_iter();
        objects
            .map(|object| format!("{} {}", object.api_version, object.kind))
            .collect()
    };
    assert_eq!(apis("argocd"), ["argoproj.io/v1alpha1 Application"; 2]);
    assert_eq!(
        apis("flux"),
        [
            "kustomize.toolkit.fluxcd.io/v1 Kustomization",
            "kustomize.toolkit.fluxcd.io/v1 Kustomization",
            "source.toolkit.fluxcd.io/v1 GitRepository",
        ]
    );
}

#[test]
fn argo_cd_compares_and_syncs_by_the_server() {
    for application in objects("argocd") {
        let at = |at: &str| application.value.pointer(at);
        let compare = "/metadata/annotations/argocd.argoproj.io~1compare-options";
        assert_eq!(at(compare), Some(&"ServerSideDiff=true".into()));
        let options = at("/spec/syncPolicy/syncOptions").and_then(Value::as_array);
        assert!(options.is_some_and(|options| options.contains(&"ServerSideApply=true".into())));
        assert_eq!(at("/spec/ignoreDifferences"), None);
        assert!(at("/spec/syncPolicy/retry/limit").is_some());
    }
}

#[test]
fn argo_cd_registers_the_webhook_last() {
    let guard = named(&objects("argocd"), "olmguard");
    let patch = guard
        .pointer("/spec/source/kustomize/patches/0")
        .expect("a patch");
    let text = patch["patch"].as_str().expect("a patch in YAML");
    let patched = only(text);
    assert_eq!(patched["kind"], patch["target"]["kind"]);
    assert_eq!(patched["metadata"]["name"], patch["target"]["name"]);
    assert_eq!(
        patched["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"],
        "1"
    );
    let configuration = only(&read("deploy/base/validating-webhook-configuration.yaml"));
    for field in ["apiVersion", "kind"] {
        assert_eq!(patched[field], configuration[field]);
    }
    assert_eq!(
        patched["metadata"]["name"],
        configuration["metadata"]["name"]
    );
}

/// The overlays name an image without a registry, so a distributor must set its location.
#[test]
fn the_guard_has_an_image_that_can_be_pulled() {
    let argo_cd = named(&objects("argocd"), "olmguard");
    let flux = named(&objects("flux"), "olmguard");
    let (name, tag) = image();
    let replaced = argo_cd.pointer("/spec/source/kustomize/images/0");
    assert_eq!(
        replaced,
        Some(&format!("{name}=REGISTRY/{name}:{tag}").into())
    );
    assert_eq!(
        flux["spec"]["images"],
        json!([{"name": name, "newName": format!("REGISTRY/{name}"), "newTag": tag}])
    );
}

/// A missing `ConfigMap` would keep every pod from starting.
#[test]
fn whatever_the_guard_mounts_is_made_for_it() {
    for (tool, at) in [("argocd", "/spec/source/path"), ("flux", "/spec/path")] {
        let guard = named(&objects(tool), "olmguard");
        let path = guard.pointer(at).and_then(Value::as_str).expect("a path");
        let overlay = Path::new(path).file_name().expect("an overlay");
        let manifest = Path::new("deploy/rendered").join(overlay);
        let manifest = all(&read(&format!("{}.yaml", manifest.display())));
        let issued: Vec<_> = manifest
            .iter()
            .filter(|object| object.kind == "Certificate")
            .map(|object| &object.value["spec"]["secretName"])
            .collect();
        let volumes = &deployment(&manifest)["spec"]["template"]["spec"]["volumes"];
        for volume in volumes.as_array().expect("volumes") {
            let is_issued = issued.contains(&&volume["secret"]["secretName"]);
            assert!(is_issued || volume.get("emptyDir").is_some(), "{volume}");
        }
    }
}

#[test]
fn flux_applies_extensions_after_the_guard_answers() {
    let objects = objects("flux");
    let (guard, extensions) = (named(&objects, "olmguard"), named(&objects, "extensions"));
    assert_eq!(guard["spec"]["wait"], true);
    let depends = &extensions["spec"]["dependsOn"][0]["name"];
    assert_eq!(depends, &guard["metadata"]["name"]);
    let source = named(&objects, "cluster");
    for kustomization in [&guard, &extensions] {
        let named = &kustomization["spec"]["sourceRef"];
        assert_eq!(named["kind"], source["kind"]);
        assert_eq!(named["name"], source["metadata"]["name"]);
        assert_eq!(
            kustomization["metadata"]["namespace"],
            source["metadata"]["namespace"]
        );
    }
}

#[test]
fn no_manifest_names_a_ca_bundle() {
    let rendered = fs::read_dir(root().join("deploy/rendered")).expect("rendered manifests");
    let mut configurations = 0;
    for file in rendered {
        let path = file.expect("a file").path();
        for object in all(&fs::read_to_string(&path).expect("a text")) {
            if object.kind == "ValidatingWebhookConfiguration" {
                let text = object.value.to_string();
                assert!(!text.contains("caBundle"), "{}", path.display());
                configurations += 1;
            }
        }
    }
    assert!(configurations >= 9, "{configurations} configurations");
}

#[test]
fn the_check_prints_what_the_page_shows() {
    let (_, session) = PAGE
        .split_once("```console\n$ olmguard ")
        .expect("a session");
    let (session, _) = session.split_once("```").expect("its end");
    let (arguments, expected) = session.split_once('\n').expect("a command line");
    let output = Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args(arguments.split(' '))
        .current_dir(root())
        .env_clear()
        .output()
        .expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_commands_of_the_page_have_the_flags_that_it_names() {
    let help = Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args(["check", "--help"])
        .output()
        .expect("it runs");
    let help = String::from_utf8_lossy(&help.stdout);
    let lines = PAGE.lines().map(|line| line.trim_start_matches("$ "));
    let words = lines
        .filter(|line| line.starts_with("olmguard check "))
        .flat_map(|line| line.split(' '));
    let flags: Vec<_> = words.filter(|word| word.starts_with("--")).collect();
    assert!(flags.len() > 3, "{flags:?}");
    for flag in flags {
        assert!(
            help.contains(&format!("{flag} ")) || help.contains(&format!("{flag}\n")),
            "{flag}"
        );
    }
}

/// Returns the objects in the files of one tool, in the order of file names.
fn objects(tool: &str) -> Vec<ManifestObject> {
    let files = fs::read_dir(root().join("examples/gitops").join(tool)).expect("examples");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.sort_unstable();
    let texts = files
        .iter()
        .map(|file| fs::read_to_string(file).expect("a text"));
    texts.flat_map(|text| all(&text)).collect()
}

/// Returns the name and the tag of the image in the manifests.
fn image() -> (String, String) {
    let base = all(&read("deploy/base/deployment.yaml"));
    let container = &deployment(&base)["spec"]["template"]["spec"]["containers"][0];
    let image = container["image"].as_str().expect("an image");
    let (name, tag) = image.split_once(':').expect("a tag");
    (name.to_owned(), tag.to_owned())
}

#[track_caller]
fn deployment(objects: &[ManifestObject]) -> &Value {
    let mut deployments = objects.iter().filter(|object| object.kind == "Deployment");
    &deployments.next().expect("a Deployment").value
}

fn all(text: &str) -> Vec<ManifestObject> {
    let documents = documents(text.as_bytes()).map(|document| document.expect("YAML"));
    documents
        .flat_map(|document| document.into_objects().0)
        .collect()
}

#[track_caller]
fn only(text: &str) -> Value {
    let mut objects = all(text);
    assert_eq!(objects.len(), 1, "{text}");
    objects.remove(0).value
}

#[track_caller]
fn named(objects: &[ManifestObject], name: &str) -> Value {
    let object = objects
        .iter()
        .find(|object| object.name.as_deref() == Some(name));
    object.unwrap_or_else(|| panic!("no {name}")).value.clone()
}

/// Whether kustomize, or the tool alone, finds manifests in this directory.
fn has_manifests(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten();
    let mut paths = files.map(|file| file.expect("a file").path());
    paths.any(|path| {
        path.extension()
            .is_some_and(|extension| extension == "yaml")
    })
}

fn read(file: &str) -> String {
    fs::read_to_string(root().join(file)).expect(file)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

const PAGE: &str = include_str!("../../docs/gitops.md");
