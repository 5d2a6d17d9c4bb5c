//! Commands that read images from a registry on loopback and from layouts on disk.

mod pull;

use crate::folder::{Folder, Ran, run};
use olmguard_support::catalogd::answer::Answer;
use olmguard_support::oci::{Layer, TestImage, TestRegistry};
use serde_json::json;

/// Returns a directory with an extension and the catalog as a file.
fn scene() -> Folder {
    Folder::of(&[("app.yaml", EXTENSION), ("hub/catalog.yaml", CATALOG)])
}

/// Runs the program with a cache in the directory.
fn ran(folder: &Folder, arguments: &[&str]) -> Ran {
    ran_with(folder, ("HOME", "/"), arguments)
}

fn ran_with(folder: &Folder, (name, value): (&str, &str), arguments: &[&str]) -> Ran {
    let mut command = folder.olmguard(arguments);
    command.env("XDG_CACHE_HOME", folder.path().join("cache"));
    run(command.env(name, value), "")
}

/// Returns the image of the catalog with two layers: the upper one removes a file of the lower one.
fn catalog() -> TestImage {
    let lower = Layer::of(&[("configs/broken.yaml", "]"), ("bin/opm", "program")]);
    let upper = Layer::of(&[
        ("configs/.wh.broken.yaml", ""),
        ("configs/lantern/catalog.yaml", CATALOG),
    ]);
    TestImage::catalog(&[lower.gzip(), upper.gzip()])
}

/// Returns the image of a bundle whose CRD has this schema.
pub(crate) fn bundle(schema: &str) -> TestImage {
    let crd = CRD.replace("SCHEMA", schema);
    let layer = Layer::of(&[
        ("manifests/csv.yaml", CSV),
        ("manifests/crd.yaml", &crd),
        ("metadata/annotations.yaml", ANNOTATIONS),
    ]);
    TestImage::new(&json!({}), &[layer.gzip()])
}

/// Returns an image that has manifests but is not a bundle.
pub(crate) fn no_bundle() -> TestImage {
    let layer = Layer::of(&[
        (
            "manifests/crd.yaml",
            &CRD.replace("SCHEMA", "{type: object}"),
        ),
        ("metadata/annotations.yaml", ANNOTATIONS),
    ]);
    TestImage::new(&json!({}), &[layer.gzip()])
}

#[test]
fn an_image_is_checked_against_like_its_files_and_pulled_once() {
    let scene = scene();
    let registry = TestRegistry::of(catalog().index());
    let image = format!("hub=oci:{}", registry.image("hub/catalog:v1"));
    let check = |place: &str| {
        ran(
            &scene,
            &[
                "check",
                "-f",
                "app.yaml",
                "--installed=lantern=1.0.0",
                "--catalog",
                place,
            ],
        )
    };
    let of_files = check("hub=hub");
    assert_eq!(of_files.0, Some(1), "{of_files:?}");
    assert_eq!(check(&image), of_files);
    let pulled = registry.paths().len();
    assert_eq!(check(&image), of_files);
    assert_eq!(
        registry.paths().len(),
        pulled + 1,
        "of a tag the manifest is asked for again"
    );
    catalog().write(&scene.path().join("layout"), "v1");
    assert_eq!(check("hub=oci-layout:layout"), of_files);
}

#[test]
fn a_project_names_images_and_layouts_beside_it() {
    let scene = scene();
    catalog().write(&scene.path().join("images/hub"), "v1");
    scene.write(
        ".olmguard.yaml",
        "schema: olmguard.project/v1\npaths: [app.yaml]\ncatalogs: {hub: oci-layout:images/hub}\n\
         installed: {lantern: 1.0.0}\n",
    );
    let (code, out, err) = ran(&scene, &["check"]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("[NotASuccessor]"), "{out}");
}

#[test]
fn lint_diff_and_graph_read_images() {
    let scene = scene();
    let registry = TestRegistry::of(catalog());
    let image = format!("oci:{}", registry.image("hub:v1"));
    let (code, out, err) = ran(&scene, &["lint", &image]);
    assert_eq!(code, Some(0), "{out}{err}");
    let (code, out, err) = ran(&scene, &["diff", "hub", &image]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("no changes"), "{out}");
    let catalog = format!("hub={image}");
    let (code, out, err) = ran(
        &scene,
        &[
            "graph",
            "lantern",
            "--base",
            &image,
            "-o",
            "svg",
            "--catalog",
            &catalog,
        ],
    );
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.starts_with("<svg"), "{out}");
}

#[test]
fn a_bundle_is_read_from_its_image() {
    let scene = scene();
    let before = TestRegistry::of(bundle("{type: object, properties: {wick: {type: string}}}"));
    let after = TestRegistry::of(bundle("{type: object}"));
    let of = |registry: &TestRegistry| format!("oci:{}", registry.image("lantern:v1"));
    let (code, out, err) = ran(&scene, &["bundle", &of(&after)]);
    assert_eq!(code, Some(0), "{out}{err}");
    let (code, out, err) = ran(
        &scene,
        &["bundle", &of(&after), "--upgrade-from", &of(&before)],
    );
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("field wick of v1 is"), "{out}");
    let (place, before) = (of(&after), of(&before));
    let forms = ["bundle", &place, "--upgrade-from", &before, "-o", "sarif"];
    let (_, log, _) = ran(&scene, &forms);
    let log: serde_json::Value = serde_json::from_str(&log).expect("JSON");
    let found = &log["runs"][0]["results"][0]["locations"][0]["logicalLocations"][0];
    assert_eq!(found["fullyQualifiedName"], *place);
}

#[test]
fn an_image_that_cannot_be_had_is_named_and_the_rest_is_checked() {
    let scene = scene();
    let registry = TestRegistry::scripted(|_| Answer::status("404 Not Found"));
    let image = registry.image("hub:v1");
    let place = format!("other=oci:{image}");
    let (code, out, err) = ran(
        &scene,
        &[
            "check",
            "-f",
            "app.yaml",
            "--installed=lantern=1.0.0",
            "--catalog=hub=hub",
            "--catalog",
            &place,
        ],
    );
    assert_eq!(code, Some(3), "{out}{err}");
    let host = registry.image("");
    let host = host.trim_end_matches('/');
    let expected = format!(
        "oci:{image}: {host} answered HTTP 404 Not Found: no such image there; check its name and its tag"
    );
    assert!(err.contains(&expected), "{err}");
    let (code, _, err) = ran(&scene, &["lint", &format!("oci:{image}")]);
    assert_eq!(code, Some(3));
    assert!(err.contains(&expected), "{err}");
}

#[test]
fn credentials_are_those_of_the_named_file() {
    let scene = scene();
    let image = catalog();
    let registry = TestRegistry::scripted(move |asked| {
        if asked.head.contains("authorization: Basic dXNlcjpwYXNz\r\n") {
            return image.answer(asked);
        }
        Answer::raw(b"HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Basic realm=\"r\"\r\ncontent-length: 0\r\n\r\n")
    });
    let host = registry.image("").trim_end_matches('/').to_owned();
    let file = json!({"auths": {host: {"auth": "dXNlcjpwYXNz"}}});
    scene.write("auth.json", &file.to_string());
    let image = format!("oci:{}", registry.image("hub:v1"));
    let run = |file| ran_with(&scene, ("REGISTRY_AUTH_FILE", file), &["lint", &image]);
    assert_eq!(run("auth.json").0, Some(0));
    let other = Folder::of(&[]);
    let (code, _, err) = ran(&other, &["lint", &image]);
    assert_eq!(code, Some(3));
    assert!(
        err.contains("log in with podman login or docker login"),
        "{err}"
    );
    let (code, _, err) = ran_with(
        &other,
        ("REGISTRY_AUTH_FILE", "none.json"),
        &["lint", &image],
    );
    assert_eq!(code, Some(3));
    let expected = "none.json: cannot read the credentials: No such file or directory (os error 2)";
    assert!(err.contains(expected), "{err}");
}

const EXTENSION: &str = "\
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: lantern}
spec:
  namespace: lantern
  serviceAccount: {name: lantern}
  source:
    sourceType: Catalog
    catalog: {packageName: lantern, version: 1.2.0}
";

const CATALOG: &str = "\
{schema: olm.package, name: lantern, defaultChannel: stable}
---
schema: olm.channel
package: lantern
name: stable
entries: [{name: lantern.v1.0.0}, {name: lantern.v1.1.0, replaces: lantern.v1.0.0}, {name: lantern.v1.2.0, replaces: lantern.v1.1.0}]
---
schema: olm.bundle
package: lantern
name: lantern.v1.0.0
image: quay.example/lantern:1.0.0
properties: [{type: olm.package, value: {packageName: lantern, version: 1.0.0}}]
---
schema: olm.bundle
package: lantern
name: lantern.v1.1.0
image: quay.example/lantern:1.1.0
properties: [{type: olm.package, value: {packageName: lantern, version: 1.1.0}}]
---
schema: olm.bundle
package: lantern
name: lantern.v1.2.0
image: quay.example/lantern:1.2.0
properties: [{type: olm.package, value: {packageName: lantern, version: 1.2.0}}]
";

const ANNOTATIONS: &str =
    "annotations: {operators.operatorframework.io.bundle.package.v1: lantern}\n";

const CSV: &str = "\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: lantern.v1}
spec:
  installModes: [{type: AllNamespaces, supported: true}]
  customresourcedefinitions: {owned: [{kind: Lantern, name: lanterns.example.com, version: v1}]}
";

const CRD: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lanterns.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Lantern, plural: lanterns, singular: lantern, listKind: LanternList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: SCHEMA}}]
";
