//! The output of other tools is checked on standard input: of kustomize, of Helm, and the plain directories that Argo
//! CD and Flux apply.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use super::repository::{FAILS, PASSES, Ran, Repository, read};
use olmguard_support::programs::find;

/// Returns the output and the exit code of a shell line, if its first program is installed.
fn piped(repository: &Repository, program: &str, line: &str) -> Option<Ran> {
    let Some(found) = find(program) else {
        println!(
            "left out: {line}, {program} is in no folder of OLMGUARD_E2E_BIN and not on the PATH"
        );
        return None;
    };
    symlink(found, repository.bin().join(program)).expect("a link");
    let mut command = repository.command("sh");
    Some(Ran::of(command.arg("-c").arg(line)))
}

const CHECK: &str = "olmguard check -f - --catalog=hub=hub.yaml";

#[test]
fn what_kustomize_renders() {
    for (extension, code) in [(PASSES, 0), (FAILS, 1)] {
        let repository = Repository::with(extension);
        repository.write(
            "apps/kustomization.yaml",
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n\
             namePrefix: blue-\nresources: [lantern.yaml]\n",
        );
        let line = format!("kubectl kustomize apps | {CHECK}");
        if let Some(ran) = piped(&repository, "kubectl", &line) {
            assert_eq!(ran.code, Some(code), "{ran:?}");
            assert!(ran.stdout.contains(": blue-lantern: "), "{ran:?}");
        }
    }
}

#[test]
fn what_helm_renders() {
    for (extension, code) in [(PASSES, 0), (FAILS, 1)] {
        let repository = Repository::with(extension);
        let folder = repository.path().join("chart/templates");
        fs::create_dir_all(folder).expect("a folder");
        repository.write(
            "chart/Chart.yaml",
            "apiVersion: v2\nname: lantern\nversion: 1.0.0\n",
        );
        let template = extension.replace("name: lantern\nspec", "name: {{ .Release.Name }}\nspec");
        repository.write("chart/templates/extension.yaml", &template);
        let line = format!("helm template red chart | {CHECK}");
        if let Some(ran) = piped(&repository, "helm", &line) {
            assert_eq!(ran.code, Some(code), "{ran:?}");
            assert!(ran.stdout.contains(": red: "), "{ran:?}");
        }
    }
}

/// Helm writes a separator first, and a comment with the origin of the document.
#[test]
fn a_separator_and_a_comment_before_the_document() {
    for (extension, code) in [(PASSES, 0), (FAILS, 1)] {
        let repository = Repository::with(extension);
        let rendered = format!("---\n# Source: lantern/templates/extension.yaml\n{extension}");
        repository.write("rendered.txt", &rendered);
        let mut command = repository.command("sh");
        let ran = Ran::of(command.arg("-c").arg(format!("{CHECK} < rendered.txt")));
        assert_eq!(ran.code, Some(code), "{ran:?}");
        assert!(ran.stdout.starts_with("-:14:16: lantern: "), "{ran:?}");
    }
}

/// The Applications and Kustomizations of the examples name directories of plain manifests: their files, one after
/// another, are what is applied.
#[test]
fn what_argo_cd_and_flux_apply_from_plain_folders() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["argocd/extensions.yaml", "flux/extensions.yaml"] {
        let object = read(&format!("examples/gitops/{file}")).remove(0);
        let path = object
            .pointer("/spec/source/path")
            .or(object.pointer("/spec/path"));
        let path = root.join(path.and_then(Value::as_str).expect("a path"));
        let repository = Repository::with(PASSES);
        for (installed, code) in [("1.2.0", 0), ("1.0.0", 1)] {
            let line = format!(
                "for file in '{}'/*.yaml; do echo ---; cat \"$file\"; done | {CHECK} \
                 --installed=lantern={installed}",
                path.display()
            );
            let mut command = repository.command("sh");
            let ran = Ran::of(command.arg("-c").arg(line));
            assert_eq!(ran.code, Some(code), "{file}: {ran:?}");
        }
    }
}
