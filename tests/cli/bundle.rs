//! `olmguard bundle` as a command: directories of bundles, and invalid ones.

mod forms;
mod recorded;

use serde_json::Value;

use crate::folder::{Folder, Ran};

fn bundle(folder: &Folder, arguments: &[&str]) -> Ran {
    folder.run(&[&["bundle"], arguments].concat(), "")
}

const ANNOTATIONS: (&str, &str) = (
    "metadata/annotations.yaml",
    "annotations: {operators.operatorframework.io.bundle.package.v1: p}\n",
);

fn csv(spec: &str) -> String {
    format!("kind: ClusterServiceVersion\nmetadata: {{name: p.v1}}\nspec: {spec}\n")
}

const ALL: &str = "{installModes: [{type: AllNamespaces, supported: true}]}";

#[test]
fn each_finding_has_its_check_and_the_text_of_olm() {
    let spec = "{installModes: [{type: OwnNamespace, supported: true}], \
        apiservicedefinitions: {owned: [{name: a}]}, install: {spec: {deployments: [{name: A}]}}}";
    let pod = "kind: List\nitems: [{kind: Pod, metadata: {name: x}}]\n";
    let folder = Folder::of(&[
        ANNOTATIONS,
        ("manifests/csv.yaml", &csv(spec)),
        ("manifests/pod.yaml", pod),
    ]);
    let (code, printed, _) = bundle(&folder, &[".", "-o", "json"]);
    assert_eq!(code, Some(1));
    let report: Value = serde_json::from_str(&printed).expect("JSON");
    let findings = report["findings"].as_array().expect("findings");
    let checks: Vec<_> = findings
        .iter()
        .map(|found| found["check"].as_str().unwrap_or(""))
        .collect();
    assert_eq!(
        checks,
        [
            "apiservices-unsupported",
            "deployment-names",
            "manifest-kind-unsupported"
        ]
    );
    assert_eq!(
        findings[0]["upstream"],
        "unsupported bundle: apiServiceDefintions are not supported"
    );
    assert_eq!(
        findings[2]["message"],
        "unsupported resource \"x\" with kind \"Pod\""
    );
}

#[test]
fn a_bundle_of_another_package_is_not_compared() {
    let other = "annotations: {operators.operatorframework.io.bundle.package.v1: q}\n";
    let folder = Folder::of(&[
        ANNOTATIONS,
        ("manifests/csv.yaml", &csv(ALL)),
        ("old/metadata/annotations.yaml", other),
        ("old/manifests/csv.yaml", &csv(ALL)),
    ]);
    let (code, printed, errors) = bundle(&folder, &[".", "--upgrade-from", "old"]);
    let expected =
        "error: --upgrade-from: \"p.v1\" is of package \"q\": expected a bundle of package \"p\"\n";
    assert_eq!((code, &*printed, &*errors), (Some(2), "", expected));
}

#[test]
fn a_gate_that_may_be_on_is_a_warning() {
    let spec = "{installModes: [{type: OwnNamespace, supported: true}]}";
    let folder = Folder::of(&[ANNOTATIONS, ("manifests/csv.yaml", &csv(spec))]);
    let (code, printed, _) = bundle(&folder, &["."]);
    assert_eq!(code, Some(0));
    assert_eq!(
        printed,
        "p.v1: OLM might not install it: 1 finding\n\
         install-mode-unsupported   the install mode AllNamespaces is not supported: only\n\
         \u{20}                          an OLM with other feature gates installs it\n"
    );
    let gates = [
        "--olm-feature-gates",
        "SingleOwnNamespaceInstallSupport=false",
        ".",
    ];
    assert_eq!(bundle(&folder, &gates).0, Some(1));
}

#[test]
fn a_phase_with_too_many_objects_is_found() {
    let items: Vec<_> = (0..51)
        .map(|at| format!("{{apiVersion: v1, kind: ConfigMap, metadata: {{name: c{at}}}}}"))
        .collect();
    let many = format!(
        "apiVersion: v1\nkind: List\nitems: [{}]\n",
        items.join(", ")
    );
    let folder = Folder::of(&[
        ANNOTATIONS,
        ("manifests/csv.yaml", &csv(ALL)),
        ("manifests/many.yaml", &many),
    ]);
    let words = |flags: &[&str]| {
        let (code, printed, _) = bundle(&folder, &[flags, &["."]].concat());
        (
            code,
            printed.split_whitespace().collect::<Vec<_>>().join(" "),
        )
    };
    let reason = "revision-too-many-objects the bundle makes more than 50 objects in one phase";
    for (flags, code, expected) in [
        (
            &[][..],
            0,
            format!("{reason}: an OLM with other feature gates does not install it"),
        ),
        (
            &["--olm-feature-gates", "BoxcutterRuntime=true"],
            1,
            reason.to_owned(),
        ),
    ] {
        let (found, printed) = words(flags);
        assert!(
            found == Some(code) && printed.ends_with(&expected),
            "{printed}"
        );
    }
    let (_, printed) = words(&["--olm-release", "1.7"]);
    assert_eq!(printed, "p.v1: OLM can install it");
}

#[test]
fn a_crd_in_an_api_that_no_cluster_serves_is_found() {
    let crd = "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nmetadata: {name: w.example.com}\n\
        spec: {scope: Cluster, version: v1}\n";
    let folder = Folder::of(&[
        ANNOTATIONS,
        ("manifests/csv.yaml", &csv(ALL)),
        ("manifests/crd.yaml", crd),
    ]);
    let (code, printed, _) = bundle(&folder, &[".", "--upgrade-from", "."]);
    let printed: Vec<_> = printed.split_whitespace().collect();
    let expected = "kind-not-served w.example.com: Kubernetes no longer serves apiextensions.k8s.io/v1beta1: write the CRD \
                    in apiextensions.k8s.io/v1";
    assert!(
        code == Some(1) && printed.join(" ").ends_with(expected),
        "{printed:?}"
    );
}

/// `enforcement: None` skips the comparison, but the API server still refuses another scope.
#[test]
fn what_the_api_server_refuses_has_no_override() {
    let of_scope = |scope: &str| {
        let crd = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: w.example.com}}\nspec: \
             {{scope: {scope}, versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: {{type: \
             object}}}}}}]}}\n"
        );
        let spec = "{installModes: [{type: AllNamespaces, supported: true}], customresourcedefinitions: {owned: [{name: w.example.com}]}}";
        Folder::of(&[
            ANNOTATIONS,
            ("manifests/csv.yaml", &csv(spec)),
            ("manifests/crd.yaml", &crd),
        ])
    };
    let before = of_scope("Namespaced");
    let before = before.path().to_str().expect("UTF-8");
    let (code, printed, _) = bundle(&of_scope("Cluster"), &[".", "--upgrade-from", before]);
    assert!(
        code == Some(1) && printed.contains("crd-scope"),
        "{printed}"
    );
    assert!(!printed.contains("enforcement"), "{printed}");
}

#[test]
fn two_csvs_are_one_and_crds_without_schema_are_a_crash() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: w.example.com}\n\
        spec: {scope: Cluster, versions: [{name: v1, served: true, storage: true}]}\n";
    let second = "kind: ClusterServiceVersion\nmetadata: {name: p.v2}\nspec: {installModes: [{type: AllNamespaces, supported: true}]}\n";
    let folder = Folder::of(&[
        ANNOTATIONS,
        ("manifests/a.yaml", &csv(ALL)),
        ("manifests/b.yaml", second),
        ("manifests/crd.yaml", crd),
    ]);
    let (code, printed, _) = bundle(&folder, &[".", "--upgrade-from", "."]);
    assert_eq!(code, Some(1));
    assert!(
        printed.starts_with("p.v2: OLM cannot install it after p.v2: 1 finding\n"),
        "{printed}"
    );
    assert!(printed.contains("crd-panic "), "{printed}");
}

/// Each one is a clear error with its place, without a report.
#[test]
fn what_is_no_bundle_is_an_error() {
    let whole = csv(ALL);
    let wrong = csv("{keywords: 5}");
    let annotated =
        "kind: ClusterServiceVersion\nmetadata: {name: p.v1, annotations: {olm.properties: '{'}}\n";
    let rows: [(&[(&str, &str)], &str); 13] = [
        (
            &[("manifests/csv.yaml", &whole)],
            "metadata/annotations.yaml: not there: expected the directory of a bundle",
        ),
        (&[ANNOTATIONS], "manifests: "),
        (
            &[ANNOTATIONS, ("manifests/role.yaml", "kind: Role\n")],
            "manifests: no ClusterServiceVersion found",
        ),
        (
            &[ANNOTATIONS, ("manifests/sub/csv.yaml", &whole)],
            "manifests: found the directory \"sub\"",
        ),
        (
            &[ANNOTATIONS, ("manifests/README.md", "read me\n")],
            "README.md: a document that is no object",
        ),
        (
            &[ANNOTATIONS, ("manifests/a.yaml", "metadata: {name: x}\n")],
            "a.yaml: an object without a kind",
        ),
        (&[ANNOTATIONS, ("manifests/a.yaml", "a: [\n")], "a.yaml:"),
        (
            &[ANNOTATIONS, ("manifests/csv.yaml", &wrong)],
            "csv.yaml: spec.keywords: expected a list, found integer",
        ),
        (
            &[
                ANNOTATIONS,
                (
                    "manifests/a.yaml",
                    "kind: A\nmetadata: {labels: {v: 1.1}}\n",
                ),
            ],
            "a.yaml: metadata.labels.v: expected a string, found number",
        ),
        (
            &[
                ("metadata/annotations.yaml", "- a\n"),
                ("manifests/csv.yaml", &whole),
            ],
            "annotations.yaml: OLM cannot read the annotations: expected the member annotations, with a text for each",
        ),
        (
            &[
                ANNOTATIONS,
                ("manifests/csv.yaml", &whole),
                ("metadata/properties.yaml", "properties: 5\n"),
            ],
            "properties.yaml: OLM cannot read the properties: expected the member properties, a list of objects with \
             type and value",
        ),
        (
            &[ANNOTATIONS, ("manifests/csv.yaml", annotated)],
            "manifests: the annotation olm.properties of the ClusterServiceVersion is not a list of properties: expected \
             JSON such as [{\"type\": \"olm.maxOpenShiftVersion\", \"value\": \"4.20\"}]",
        ),
        (
            &[
                ANNOTATIONS,
                ("manifests/csv.yaml", &whole),
                ("manifests/crd.yaml", CRD_WITHOUT_VERSIONS),
            ],
            "bundle p.v1: a CRD cannot be compared: spec.versions: expected a list",
        ),
    ];
    for (files, expected) in rows {
        let folder = Folder::of(files);
        let (code, stdout, stderr) = bundle(&folder, &[".", "--upgrade-from", "."]);
        assert_eq!(
            (code, stdout.as_str()),
            (Some(3), ""),
            "{expected}: {stderr}"
        );
        assert!(stderr.contains(expected), "{expected}: {stderr}");
    }
}

/// OLM writes the webhook into the CRD for which it is the conversion webhook.
#[test]
fn a_conversion_webhook_allows_served_versions_that_differ() {
    let version = |name: &str, kind: &str| {
        format!(
            "{{name: {name}, served: true, storage: {}, schema: {{openAPIV3Schema: {{type: object, properties: \
             {{a: {{type: {kind}}}}}}}}}}}",
            name == "v1"
        )
    };
    let versions = format!(
        "[{}, {}]",
        version("v1", "string"),
        version("v2", "integer")
    );
    let crd = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: w.example.com}}\nspec: {{scope: Cluster, versions: {versions}}}\n"
    );
    let first = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: w.example.com}}\nspec: {{scope: Cluster, versions: [{}]}}\n",
        version("v1", "string")
    );
    let owned = "customresourcedefinitions: {owned: [{name: w.example.com}]}";
    let webhook = "webhookdefinitions: [{type: ConversionWebhook, generateName: c, deploymentName: d, \
        conversionCRDs: [w.example.com]}], install: {spec: {deployments: [{name: d}]}}";
    let modes = "installModes: [{type: AllNamespaces, supported: true}]";
    let before = Folder::of(&[
        ANNOTATIONS,
        ("manifests/csv.yaml", &csv(&format!("{{{modes}, {owned}}}"))),
        ("manifests/crd.yaml", &first),
    ]);
    let checked = |spec: &str| {
        let folder = Folder::of(&[
            ANNOTATIONS,
            ("manifests/csv.yaml", &csv(spec)),
            ("manifests/crd.yaml", &crd),
        ]);
        let before = before.path().to_str().expect("UTF-8").to_owned();
        bundle(&folder, &[".", "--upgrade-from", &before])
    };
    let (code, printed, _) = checked(&format!("{{{modes}, {owned}}}"));
    assert!(
        code == Some(1) && printed.contains("crd-served-versions"),
        "{printed}"
    );
    let (code, printed, _) = checked(&format!("{{{modes}, {owned}, {webhook}}}"));
    assert!(
        !printed.contains("crd-served-versions") && code == Some(0),
        "{printed}"
    );
}

const CRD_WITHOUT_VERSIONS: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n\
    metadata: {name: w.example.com}\n";

/// For a release that compares differently, only what every API server refuses is certain.
#[test]
fn crds_of_an_older_release_are_compared_too() {
    let bundle_of = |scope: &str, fields: &str| {
        let crd = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: w.example.com}}\n\
             spec: {{scope: {scope}, versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: \
             {{type: object, properties: {{{fields}}}}}}}}}]}}\n"
        );
        Folder::of(&[
            ANNOTATIONS,
            ("manifests/csv.yaml", &csv(ALL)),
            ("manifests/crd.yaml", &crd),
        ])
    };
    let both = "a: {type: string}, b: {type: string}";
    let before = bundle_of("Cluster", both);
    let before = before.path().to_str().expect("UTF-8");
    let answered = |scope, fields| {
        let folder = bundle_of(scope, fields);
        let words = [".", "--upgrade-from", before, "--olm-release", "1.3"];
        let (code, printed, _) = bundle(&folder, &words);
        (code, printed.lines().next().map(str::to_owned))
    };
    assert_eq!(
        answered("Namespaced", both),
        (
            Some(1),
            Some("p.v1: OLM cannot install it after p.v1: 1 finding".to_owned())
        )
    );
    assert_eq!(
        answered("Cluster", "a: {type: string}"),
        (
            Some(0),
            Some("p.v1: OLM might not install it after p.v1: 1 finding".to_owned())
        )
    );
}

#[test]
fn a_name_of_an_image_says_what_to_write() {
    let folder = Folder::of(&[]);
    for name in ["registry.example/p:v1", "docker://registry.example/p:v1"] {
        let (code, _, stderr) = bundle(&folder, &[name]);
        let expected = "registry.example/p:v1: no such file or directory; for an image, write oci:registry.example/p:v1";
        assert!(code == Some(3) && stderr.contains(expected), "{stderr}");
    }
}

/// Every cluster with the older bundle has this version in `status.storedVersions`.
#[test]
fn the_storage_version_of_the_older_bundle_cannot_be_removed() {
    let bundle_of = |version: &str| {
        let crd = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: w.example.com}}\n\
             spec: {{scope: Cluster, versions: [{{name: {version}, served: true, storage: true, schema: \
             {{openAPIV3Schema: {{type: object}}}}}}]}}\n"
        );
        Folder::of(&[
            ANNOTATIONS,
            ("manifests/csv.yaml", &csv(ALL)),
            ("manifests/crd.yaml", &crd),
        ])
    };
    let before = bundle_of("v1alpha1");
    let before = before.path().to_str().expect("UTF-8");
    let (code, printed, _) = bundle(&bundle_of("v1"), &[".", "--upgrade-from", before]);
    assert!(
        code == Some(1) && printed.contains("crd-stored-version"),
        "{printed}"
    );
}

#[test]
fn text_warns_about_a_webhook_name_that_the_api_server_refuses() {
    let spec = |name: &str| {
        format!(
            "{{installModes: [{{type: AllNamespaces, supported: true}}], webhookdefinitions: \
             [{{type: ValidatingAdmissionWebhook, generateName: {name}, deploymentName: d}}], \
             install: {{spec: {{deployments: [{{name: d}}]}}}}}}"
        )
    };
    let printed = |name: &str, release: &str| {
        let folder = Folder::of(&[ANNOTATIONS, ("manifests/csv.yaml", &csv(&spec(name)))]);
        let gates = "WebhookProviderCertManager=true";
        let arguments = [".", "--olm-release", release, "--olm-feature-gates", gates];
        let (code, stdout, stderr) = bundle(&folder, &arguments);
        assert_eq!((code, &*stderr), (Some(0), ""), "{stdout}");
        stdout
    };
    assert_eq!(
        printed("v.example", "1.11"),
        "p.v1: OLM might not install it: 1 finding\n\
         webhook-name-short         the API server refuses webhook v.example: a name\n\
         \u{20}                          needs 3 segments, for example v.lantern.example\n"
    );
    assert!(printed("v.example", "1.3").contains("webhook-name-short"));
    let good = "p.v1: OLM can install it\n";
    assert_eq!(printed("v.example.com", "1.11"), good);
}

/// A catalog has each dependency as a property of the bundle.
#[test]
fn a_bundle_with_a_dependency_is_refused_wherever_it_declares_it() {
    let required = "{installModes: [{type: AllNamespaces, supported: true}], \
        customresourcedefinitions: {required: [{name: wicks.example.com, kind: Wick, version: v1}]}}";
    let package =
        "dependencies: [{type: olm.package, value: {packageName: wick, version: '>=1.0.0'}}]\n";
    let constraint = "properties: [{type: olm.constraint, value: {}}]\n";
    for (spec, file, text, kind) in [
        (
            ALL,
            "metadata/dependencies.yaml",
            package,
            Some("olm.package.required"),
        ),
        (
            ALL,
            "metadata/properties.yaml",
            constraint,
            Some("olm.constraint"),
        ),
        (
            required,
            "metadata/other.yaml",
            "",
            Some("olm.gvk.required"),
        ),
        (ALL, "metadata/dependencies.yaml", "", None),
    ] {
        let folder = Folder::of(&[
            ANNOTATIONS,
            ("manifests/csv.yaml", &csv(spec)),
            (file, text),
        ]);
        let (code, printed, _) = bundle(&folder, &[".", "-o", "json"]);
        let report: Value = serde_json::from_str(&printed).expect("JSON");
        let Some(kind) = kind else {
            assert_eq!(
                (code, &report["findings"]),
                (Some(0), &serde_json::json!([]))
            );
            continue;
        };
        assert_eq!(code, Some(1), "{printed}");
        assert_eq!(report["findings"][0]["check"], "unsupported-dependency");
        let message = format!("the bundle declares {kind}, which OLM v1 does not support");
        assert_eq!(report["findings"][0]["message"], message);
    }
}
