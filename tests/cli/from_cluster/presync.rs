//! The Job that Argo CD runs before a sync, run as by a kubelet: with its arguments and mounts.

use std::fs;
use std::path::Path;

use olmguard::manifest::documents;
use serde_json::{Value, json};

use super::guarded::certificates;
use super::scene::Scene;

const FOLDER: &str = "examples/gitops/presync";

fn objects(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(FOLDER)
        .join(file);
    let bytes = fs::read(path).expect(file);
    let documents = documents(&bytes).map(|document| document.expect(file));
    documents
        .flat_map(|document| document.into_objects().0)
        .map(|object| object.value)
        .collect()
}

fn pod() -> Value {
    let mut job = objects("check.yaml").remove(0);
    assert_eq!(job["kind"], "Job");
    let annotations = &job["metadata"]["annotations"];
    assert_eq!(annotations["argocd.argoproj.io/hook"], "PreSync");
    assert_eq!(job["spec"]["backoffLimit"], 0);
    let pod = job["spec"]["template"]["spec"].take();
    assert_eq!(pod["restartPolicy"], "Never");
    pod
}

/// Returns a cluster in which the extension to sync has this version installed, or none.
fn scene(installed: Option<&str>) -> Scene {
    let scene = Scene::new();
    let bundle =
        |version| json!({"name": format!("lantern-operator.v{version}"), "version": version});
    if let Some(version) = installed {
        let status = json!({"install": {"bundle": bundle(version)}});
        scene.api.extension("lantern", &status);
    }
    scene
}

/// Returns the container's arguments, with directories in place of its mount paths.
fn arguments(scene: &Scene) -> Vec<String> {
    let pod = pod();
    let container = &pod["containers"][0];
    let mut arguments: Vec<_> = container["args"]
        .as_array()
        .expect("arguments")
        .iter()
        .map(|word| word.as_str().expect("a text").to_owned())
        .collect();
    for mount in container["volumeMounts"].as_array().expect("mounts") {
        let volumes = pod["volumes"].as_array().expect("volumes").iter();
        let mut named = volumes.filter(|volume| volume["name"] == mount["name"]);
        let map = &named.next().expect("a volume")["configMap"]["name"];
        let folder = scene.path().join(map.as_str().expect("a ConfigMap"));
        fs::create_dir_all(&folder).expect("a folder");
        for (file, text) in content(map) {
            fs::write(folder.join(file), text).expect("a file");
        }
        let path = mount["mountPath"].as_str().expect("a path");
        for word in &mut arguments {
            *word = word.replace(&format!("={path}"), &format!("={}", folder.display()));
        }
    }
    arguments
}

/// Returns the content of a `ConfigMap`: kustomize creates the one, and the installation of olmguard has created the
/// other.
fn content(map: &Value) -> Vec<(String, String)> {
    let kustomization = objects("kustomization.yaml").remove(0);
    let generated = &kustomization["configMapGenerator"][0];
    if *map != generated["name"] {
        assert_eq!(map, "olmguard-catalogd-ca");
        return vec![("ca.crt".to_owned(), certificates("catalogd").ca)];
    }
    let files = generated["files"].as_array().expect("files").iter();
    let names = files.map(|file| file.as_str().expect("a file").to_owned());
    let read = |file: String| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(FOLDER)
            .join(&file);
        let text = fs::read_to_string(path).expect("a manifest");
        (file, text)
    };
    names.map(read).collect()
}

#[test]
fn it_blocks_a_sync_that_olm_would_not_carry_out() {
    for (installed, code) in [(None, 0), (Some("1.2.0"), 0), (Some("1.0.0"), 1)] {
        let scene = scene(installed);
        let arguments = arguments(&scene);
        let words: Vec<_> = arguments.iter().map(String::as_str).collect();
        let kubeconfig = scene.path().join("kubeconfig");
        let kubeconfig = kubeconfig.to_str().expect("UTF-8");
        let ran = scene.run_as(&words, &[("KUBECONFIG", kubeconfig)]);
        assert_eq!(ran.code, Some(code), "{installed:?}: {ran:?}");
        assert!(ran.stdout.contains(": lantern: "), "{ran:?}");
    }
}

#[test]
fn it_asks_for_nothing_that_its_rights_do_not_give() {
    let scene = scene(Some("1.2.0"));
    let arguments = arguments(&scene);
    let words: Vec<_> = arguments.iter().map(String::as_str).collect();
    let kubeconfig = scene.path().join("kubeconfig");
    scene.run_as(
        &words,
        &[("KUBECONFIG", kubeconfig.to_str().expect("UTF-8"))],
    );
    let rights = objects("rights.yaml");
    let rules: Vec<_> = rights
        .iter()
        .filter_map(|object| object["rules"].as_array())
        .flatten()
        .collect();
    let asked = scene.api.asked();
    let asked = asked.iter().filter(|(_, path)| path.starts_with("/apis/"));
    let mut seen = 0;
    for (method, path) in asked {
        let parts: Vec<_> = path.split('/').collect();
        let (resource, is_named) = match parts.as_slice() {
            // Every account may use discovery.
            [_, _, _, _] => continue,
            [_, _, _, _, resource] => (*resource, false),
            [_, _, _, _, "namespaces", _, resource, _] | [_, _, _, _, resource, _] => {
                (*resource, true)
            }
            _ => panic!("{path}"),
        };
        let verb = if is_named { "get" } else { "list" };
        let has = |list: &Value, word: &str| {
            list.as_array()
                .is_some_and(|all| all.contains(&word.into()))
        };
        let is_given = rules.iter().any(|rule| {
            has(&rule["apiGroups"], parts[2])
                && has(&rule["resources"], resource)
                && has(&rule["verbs"], verb)
        });
        assert!(method == "GET" && is_given, "{method} {path}");
        seen += 1;
    }
    assert!(seen >= 3, "{seen}");
}

#[test]
fn what_is_checked_is_what_is_synced() {
    let synced = &objects("kustomization.yaml")[0]["resources"];
    let checked = &objects("kustomization.yaml")[0]["configMapGenerator"][0]["files"];
    for file in checked.as_array().expect("files") {
        assert!(
            synced
                .as_array()
                .is_some_and(|synced| synced.contains(file)),
            "{file}"
        );
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read =
        |file: &str| fs::read_to_string(root.join("examples/gitops").join(file)).expect(file);
    assert_eq!(
        read("presync/lantern.yaml"),
        read("extensions/lantern.yaml")
    );
}
