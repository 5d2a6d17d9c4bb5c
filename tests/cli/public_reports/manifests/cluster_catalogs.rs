//! Catalog objects among the inputs: those that their CRD refuses, and fields that it does not
//! have.

use crate::check::scene::{CATALOG, Ran, cluster_catalog, extension, scene};

const DIGEST: &str = "sha256:1a2b3c4d1a2b3c4d1a2b3c4d1a2b3c4d1a2b3c4d1a2b3c4d1a2b3c4d1a2b3c4d";

#[track_caller]
fn runs(spec: &str, more: &[&str]) -> Ran {
    let scene = scene(&[
        ("a.yaml", &extension("tower", "1.1.0")),
        (
            "cc.yaml",
            &cluster_catalog("hub", &format!("spec: {spec}\n")),
        ),
    ]);
    scene.run(&[&["-f", "a.yaml", "cc.yaml", CATALOG, INSTALLED], more].concat())
}

/// Without it, a note says that no installed version is known.
const INSTALLED: &str = "--installed=tower=1.0.0";

fn image(fields: &str) -> String {
    format!("{{source: {{type: Image, image: {{{fields}}}}}}}")
}

#[test]
fn what_the_crd_refuses_is_an_error_of_the_input() {
    let tag = "tag is invalid. valid tags must begin with a word character (alphanumeric + \"_\") followed by word \
               characters or \".\", and \"-\" characters";
    for (spec, path, message) in [
        (
            image("ref: registry.example/hub"),
            "spec.source.image.ref",
            "must end with a digest or a tag",
        ),
        (
            image("ref: \"registry.example:5000/hub\""),
            "spec.source.image.ref",
            tag,
        ),
        (
            image("ref: \"registry.example/hub:-x\""),
            "spec.source.image.ref",
            tag,
        ),
        (
            image("ref: \"registry.example/hub@sha256:abc\""),
            "spec.source.image.ref",
            "digest is not valid. the encoded string must be at least 32 characters",
        ),
        (
            image("ref: \"-registry/hub:v1\""),
            "spec.source.image.ref",
            "must start with a valid domain. valid domains must be alphanumeric characters (lowercase and uppercase) \
             separated by the \".\" character.",
        ),
        (
            image("ref: \"registry.example/hub:v1\", pollIntervalMinutes: 0"),
            "spec.source.image.pollIntervalMinutes",
            "Invalid value: 0: spec.source.image.pollIntervalMinutes in body should be greater than or equal to 1",
        ),
        (
            image("ref: \"registry.example/hub:v1\", pollIntervalMinutes: 10m"),
            "spec.source.image.pollIntervalMinutes",
            "Invalid value: \"string\": spec.source.image.pollIntervalMinutes in body must be of type integer: \"string\"",
        ),
        (
            image(&format!(
                "ref: \"registry.example/hub@{DIGEST}\", pollIntervalMinutes: 10"
            )),
            "spec.source.image",
            "cannot specify pollIntervalMinutes while using digest-based image",
        ),
        (
            image("pollIntervalMinutes: 10"),
            "spec.source.image.ref",
            "Required value",
        ),
        (
            "{source: {type: Git}}".to_owned(),
            "spec.source.type",
            "Unsupported value: \"Git\": supported values: \"Image\"",
        ),
        (
            "{source: {type: Image}}".to_owned(),
            "spec.source",
            "image is required when source type is Image, and forbidden otherwise",
        ),
        (
            "{availabilityMode: Off}".to_owned(),
            "spec.availabilityMode",
            "Invalid value: \"boolean\": spec.availabilityMode in body must be of type string: \"boolean\"",
        ),
        (
            "{availabilityMode: Disabled}".to_owned(),
            "spec.availabilityMode",
            "Unsupported value: \"Disabled\": supported values: \"Unavailable\", \"Available\"",
        ),
    ] {
        let ran = runs(&spec, &[]);
        let expected = format!(": ClusterCatalog \"hub\": {path}: {message}\n");
        assert!(
            ran.stderr.starts_with("error: cc.yaml:5:"),
            "{spec}: {ran:?}"
        );
        assert!(ran.stderr.ends_with(&expected), "{spec}: {ran:?}");
        assert_eq!(ran.code, 3, "{spec}: {ran:?}");
        assert!(ran.stdout.contains("tower: allow"), "{spec}: {ran:?}");
        let ran = runs(&spec, &["--no-schema"]);
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{spec}: {ran:?}");
    }
}

#[test]
fn a_priority_beyond_32_bits_is_an_error() {
    let ran = runs("{priority: 3000000000}", &[]);
    let expected = "error: cc.yaml:1:1: ClusterCatalog \"hub\": spec.priority is 3000000000: expected a whole number of 32 bits\n";
    assert_eq!((ran.code, &*ran.stderr), (3, expected));
}

#[test]
fn what_the_crd_takes_is_no_error() {
    for spec in [
        image("ref: \"registry.example/hub:v1\", pollIntervalMinutes: 10"),
        image("ref: \"registry.example/hub:v1\", pollIntervalMinutes: 1"),
        image("ref: \"registry.example:5000/team/hub:v1.0_x-y\""),
        image(&format!("ref: \"registry.example/hub@{DIGEST}\"")),
        image(&format!("ref: \"registry.example/hub:v1@{DIGEST}\"")),
        image("ref: \"localhost/a__b/c.d-e:_1\""),
        "{priority: -2147483648, availabilityMode: Available}".to_owned(),
        "{priority: 2147483647}".to_owned(),
        "{}".to_owned(),
    ] {
        let ran = runs(&spec, &[]);
        assert_eq!((ran.code, &*ran.stderr), (0, ""), "{spec}: {ran:?}");
    }
}

#[test]
fn fields_that_the_crd_does_not_have_are_named() {
    for (spec, at, expected) in [
        (
            image("ref: \"registry.example/hub:v1\", pollInterval: 10m"),
            84,
            "spec.source.image.pollInterval is not a field of this API version; did you mean pollIntervalMinutes?",
        ),
        (
            "{prority: 5}".to_owned(),
            17,
            "spec.prority is not a field of this API version; did you mean spec.priority?",
        ),
        (
            "{displayName: Hub}".to_owned(),
            21,
            "spec.displayName is not a field of this API version: the API server drops or refuses it",
        ),
        (
            "{updateStrategy: {}}".to_owned(),
            24,
            "spec.updateStrategy is of OLM v0: in v1, set spec.source.image.pollIntervalMinutes",
        ),
    ] {
        let ran = runs(&spec, &[]);
        let expected = format!("warning: cc.yaml:5:{at}: {expected}\n");
        assert_eq!((ran.code, &*ran.stderr), (0, &*expected), "{spec}");
        assert_eq!(runs(&spec, &["--warn-as-error"]).code, 1, "{spec}");
        let github = runs(&spec, &["-o", "github"]);
        assert!(
            github
                .stdout
                .contains(&format!("::warning file=cc.yaml,line=5,col={at}")),
            "{github:?}"
        );
    }
    let ran = runs(
        &image("ref: registry.example/hub, pollInterval: 10m").replace("}}}", "}}, prority: 5}"),
        &[],
    );
    assert_eq!((ran.code, ran.stderr.lines().count()), (3, 3), "{ran:?}");
}

#[test]
fn older_catalogs_have_other_fields() {
    let old = "apiVersion: catalogd.operatorframework.io/v1alpha1\nkind: ClusterCatalog\nmetadata: {name: hub}\n\
        spec: {source: {type: image, image: {ref: registry.example/hub, pollInterval: 10m}}}\n";
    let scene = scene(&[("a.yaml", &extension("tower", "1.1.0")), ("cc.yaml", old)]);
    let ran = scene.run(&["-f", "a.yaml", "cc.yaml", CATALOG, INSTALLED]);
    assert_eq!((ran.code, &*ran.stderr), (0, ""));
}

#[test]
fn one_catalog_that_is_not_served_leaves_its_extensions_undecided() {
    let serving = |status| {
        format!(
            "status: {{conditions: [{{type: Serving, status: \"{status}\", reason: x, message: \"\"}}]}}\n"
        )
    };
    let scene = scene(&[
        ("a.yaml", &extension("tower", "1.1.0")),
        ("hub.cc.yaml", &cluster_catalog("hub", &serving("True"))),
        (
            "other.yaml",
            &cluster_catalog("community", &serving("False")),
        ),
    ]);
    let ran = scene.run(&["-f", "a.yaml", "hub.cc.yaml", "other.yaml", CATALOG]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.stdout.contains("catalog community"), "{ran:?}");
    assert!(ran.stdout.contains("[CatalogNotLoaded]"), "{ran:?}");
}
