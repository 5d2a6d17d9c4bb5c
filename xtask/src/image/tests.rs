use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::Value;

use super::*;
use crate::build::{Package, Target};
use crate::commit::Commit;
use crate::digest::sha256;
use crate::program::root;

#[test]
fn the_same_program_makes_the_same_files_and_another_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, other] = ["one", "two", "other"].map(|name| folder.path().join(name));
    let digests = [(&one, "program"), (&two, "program"), (&other, "another")]
        .map(|(folder, program)| put(program, folder).unwrap());
    assert_eq!(digests[0], digests[1]);
    assert_ne!(digests[0], digests[2]);
    assert_eq!(files(&one), files(&two));
    assert_ne!(files(&one), files(&other));
}

#[test]
fn every_content_is_found_from_the_index_and_named_by_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let layout = folder.path().join("image");
    let digest = put("program", &layout).unwrap();
    let index: Value =
        serde_json::from_slice(&fs::read(layout.join("index.json")).unwrap()).unwrap();
    assert_eq!(index["manifests"][0]["digest"], digest);
    let manifest = json(&layout, &index["manifests"][0]);
    let configuration = json(&layout, &manifest["config"]);
    assert_eq!(configuration["config"]["User"], "65532:65532");
    assert_eq!(configuration["config"]["Entrypoint"][0], "/olmguard");
    assert_eq!(configuration["config"]["Env"][0], "MIMALLOC_PURGE_DELAY=0");
    assert_eq!(configuration["created"], "2026-01-02T03:04:05Z");
    assert_eq!(
        manifest["annotations"]["org.opencontainers.image.revision"],
        "abc"
    );
    let mut archive = Vec::new();
    let layer = blob(&layout, &manifest["layers"][0]);
    GzDecoder::new(&*layer).read_to_end(&mut archive).unwrap();
    let diff_id = format!("sha256:{}", sha256(&archive));
    assert_eq!(configuration["rootfs"]["diff_ids"][0], diff_id);
}

#[test]
fn a_list_names_an_image_for_each_processor() {
    let folder = tempfile::tempdir().unwrap();
    let builds = Target::DELIVERED.map(|target| build(folder.path(), &target.triple(), target));
    let (files, digest) = of_all(&builds).unwrap();
    let layout = folder.path().join("image");
    replace(&layout, MARK, &files).unwrap();
    let index: Value = serde_json::from_slice(&files["index.json"]).unwrap();
    let [list] = index["manifests"].as_array().unwrap().as_slice() else {
        panic!("{index}");
    };
    assert_eq!(list["digest"], digest);
    assert_eq!(
        list["annotations"]["org.opencontainers.image.ref.name"],
        "0.1.0"
    );
    let list = json(&layout, list);
    for (entry, name) in list["manifests"]
        .as_array()
        .unwrap()
        .iter()
        .zip(["amd64", "arm64"])
    {
        assert_eq!(entry["platform"]["architecture"], name);
        let manifest = json(&layout, entry);
        assert_eq!(json(&layout, &manifest["config"])["architecture"], name);
        blob(&layout, &manifest["layers"][0]);
    }
}

#[test]
fn the_dockerfile_says_the_same() {
    let text = fs::read_to_string(root().join("Dockerfile")).unwrap();
    for line in [
        "ENV MIMALLOC_PURGE_DELAY=0",
        "USER 65532:65532",
        "WORKDIR /",
        "EXPOSE 8080 9443",
        "ENTRYPOINT [\"/olmguard\"]",
    ] {
        assert!(text.lines().any(|given| given == line), "{line}");
    }
    let package = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    for key in ["version", "description"] {
        let start = format!("\n{key} = ");
        let value = package
            .split(&start)
            .nth(1)
            .unwrap()
            .lines()
            .next()
            .unwrap();
        let label = format!("org.opencontainers.image.{key}={value}");
        assert!(text.contains(&label), "{label}");
    }
}

#[test]
fn a_folder_that_is_no_layout_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("mine"), "").unwrap();
    let error = put("program", folder.path()).unwrap_err();
    assert!(
        matches!(error, ImageError::Output(OutputError::SomethingElse { .. })),
        "{error}"
    );
    assert_eq!(files(folder.path()).len(), 1);
}

fn put(program: &str, folder: &Path) -> Result<String, ImageError> {
    let programs = tempfile::tempdir().unwrap();
    let build = build(programs.path(), program, Target::DELIVERED[0]);
    // The second run replaces the result of the first.
    write(&build, folder.to_owned())?;
    Ok(write(&build, folder.to_owned())?.digest)
}

fn build(folder: &Path, program: &str, target: Target) -> Build {
    let text = str::to_owned;
    let file = folder.join(target.triple());
    fs::write(&file, program).unwrap();
    Build {
        program: file,
        target,
        package: Package {
            name: text("olmguard"),
            version: text("0.1.0"),
            description: text("says"),
            license: text("Apache-2.0"),
        },
        commit: Some(Commit {
            revision: text("abc"),
            date: text("2026-01-02T03:04:05Z"),
            seconds: 1_767_323_045,
        }),
        target_folder: folder.to_owned(),
    }
}

/// The content that a descriptor names, with its digest and its size checked.
fn blob(layout: &Path, descriptor: &Value) -> Vec<u8> {
    let digest = descriptor["digest"].as_str().unwrap();
    let name = digest.strip_prefix("sha256:").unwrap();
    let content = fs::read(layout.join("blobs/sha256").join(name)).unwrap();
    assert_eq!(sha256(&content), name);
    assert_eq!(descriptor["size"], content.len());
    content
}

fn json(layout: &Path, descriptor: &Value) -> Value {
    serde_json::from_slice(&blob(layout, descriptor)).unwrap()
}

/// All files below a directory, with their contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let content = fs::read(&path).unwrap();
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), content);
            }
        }
    }
    found
}
