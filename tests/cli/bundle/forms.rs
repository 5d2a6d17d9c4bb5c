//! The output formats for code hosts and pipelines.

use olmguard_support::junit::assert_is_junit;
use olmguard_support::schema::assert_fits;
use roxmltree::Document;
use serde_json::{Value, json};

use super::{ALL, ANNOTATIONS, bundle, csv};
use crate::folder::Folder;

/// Returns the CRD `w.example.com` with these fields, after a comment and another object.
fn crd(fields: &str) -> String {
    format!(
        "# the CRD\n---\nkind: Role\nmetadata: {{name: r}}\n---\n\
         apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: w.example.com}}\n\
         spec: {{scope: Cluster, versions: [{{name: v1, served: true, storage: true, schema: {{openAPIV3Schema: \
         {{type: object, properties: {{{fields}}}}}}}}}]}}\n"
    )
}

/// Returns a bundle with an error in the manifests, one in the package, one in a CRD, and two
/// warnings.
fn released() -> Folder {
    let spec = "{installModes: [{type: AllNamespaces, supported: true}], \
        webhookdefinitions: [{type: MutatingAdmissionWebhook, generateName: m.io, deploymentName: d}], \
        install: {spec: {deployments: [{name: d}, {name: d}]}}}";
    let both = "a: {type: string}, b: {type: string}";
    Folder::of(&[
        ("new/metadata/annotations.yaml", "annotations: {}\n"),
        ("new/manifests/csv.yaml", &csv(spec)),
        ("new/manifests/crd.yaml", &crd("a: {type: string}")),
        (&format!("old/{}", ANNOTATIONS.0), ANNOTATIONS.1),
        ("old/manifests/csv.yaml", &csv(ALL)),
        ("old/manifests/crd.yaml", &crd(both)),
    ])
}

#[track_caller]
fn printed(form: &str) -> String {
    let (code, stdout, stderr) =
        bundle(&released(), &["./new", "--upgrade-from", "old", "-o", form]);
    assert_eq!((code, &*stderr), (Some(1), ""), "{stdout}");
    stdout
}

#[test]
fn github_has_a_line_for_each_finding_at_its_manifest() {
    let lines = [
        "::warning file=new/manifests/csv.yaml,line=1,col=1,title=p.v1%3A webhooks-unsupported::the bundle has webhooks: \
         OLM must have a provider of certificates: an OLM with other feature gates does not install it%0AOLM: unsupported \
         bundle: webhookDefinitions are not supported",
        "::error file=new/manifests/csv.yaml,line=1,col=1,title=p.v1%3A deployment-names::cluster service version \
         contains duplicate strategy deployment spec 'd'",
        "::error file=new/metadata/annotations.yaml,line=1,col=1,title=p.v1%3A package-name-empty::package name is empty",
        "::warning file=new/manifests/csv.yaml,line=1,col=1,title=p.v1%3A webhook-name-short::the API server refuses \
         webhook m.io: a name needs 3 segments, for example v.lantern.example",
        "::error file=new/manifests/crd.yaml,line=6,col=1,title=p.v1%3A crd-field-removed::w.example.com: field b of \
         v1 is removed%0AOLM: existingFieldRemoval: removed field : v1.^.b",
    ];
    let printed = printed("github");
    let found: Vec<_> = printed.lines().collect();
    assert_eq!(found, lines);
}

#[test]
fn sarif_describes_every_check_and_has_the_places() {
    let log: Value = serde_json::from_str(&printed("sarif")).expect("JSON");
    assert_fits("tests/sarif/sarif-2.1.0.json", &log);
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    assert_eq!(rules.len(), 20);
    for rule in rules {
        let id = rule["id"].as_str().expect("an id");
        let help = rule["help"]["markdown"].as_str().expect("Markdown");
        assert!(help.contains(id), "{id}: {help}");
    }
    assert_eq!(
        rules[10]["shortDescription"]["text"],
        "A manifest has a kind that OLM does not install from a bundle"
    );
    let results = run["results"].as_array().expect("results");
    let found: Vec<_> = results.iter().map(result).collect();
    assert_eq!(
        found,
        [
            (
                "webhooks-unsupported",
                "warning",
                "new/manifests/csv.yaml",
                1
            ),
            ("deployment-names", "error", "new/manifests/csv.yaml", 1),
            (
                "package-name-empty",
                "error",
                "new/metadata/annotations.yaml",
                1
            ),
            ("webhook-name-short", "warning", "new/manifests/csv.yaml", 1),
            ("crd-field-removed", "error", "new/manifests/crd.yaml", 6),
        ]
    );
    for result in results {
        let index = result["ruleIndex"]
            .as_u64()
            .and_then(|at| usize::try_from(at).ok());
        assert_eq!(rules[index.expect("an index")]["id"], result["ruleId"]);
        assert!(result["partialFingerprints"].is_object(), "{result}");
    }
}

/// Returns the rule, the level, the file and the line of a result.
fn result(result: &Value) -> (&str, &str, &str, u64) {
    let place = &result["locations"][0]["physicalLocation"];
    let text = |value: &'_ Value| value.as_str().map(str::len);
    assert!(text(&result["message"]["text"]) > Some(0), "{result}");
    (
        result["ruleId"].as_str().unwrap_or_default(),
        result["level"].as_str().unwrap_or_default(),
        place["artifactLocation"]["uri"]
            .as_str()
            .unwrap_or_default(),
        place["region"]["startLine"].as_u64().unwrap_or_default(),
    )
}

#[test]
fn junit_has_a_case_for_each_check() {
    let xml = printed("junit");
    assert_is_junit(&xml);
    let document = Document::parse(&xml).expect("XML");
    let count = |name: &str| {
        let nodes = document.descendants();
        nodes.filter(|node| node.has_tag_name(name)).count()
    };
    assert_eq!(
        (count("testcase"), count("failure"), count("system-out")),
        (20, 3, 2)
    );
    let alone = bundle(&released(), &["old", "-o", "junit"]);
    assert_eq!(alone.0, Some(0));
    assert_eq!(alone.1.matches("<testcase ").count(), 13);
    assert!(alone.1.contains("<testsuite name=\"old\""), "{}", alone.1);
}

#[test]
fn markdown_has_a_row_for_each_finding() {
    let page = printed("markdown");
    for part in [
        "<!-- olmguard bundle -->\n### olmguard bundle: `p.v1`: OLM cannot install it after `p.v1`: 5 findings\n",
        "- note: `a ClusterExtension that sets crdUpgradeSafety.enforcement",
        "| severity | check | crd | finding |\n",
        "| error | `package-name-empty` |  | `package name is empty` |\n",
        "| warning | `webhook-name-short` |  | `the API server refuses webhook m.io:",
        "| error | `crd-field-removed` | `w.example.com` | `field b of v1 is removed` |\n",
        "<summary><code>crd-field-removed</code>: text of OLM</summary>\n\n```text\n\
         existingFieldRemoval: removed field : v1.^.b\n",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
    let good = bundle(&released(), &["old", "-o", "markdown"]);
    let expected = "<!-- olmguard bundle -->\n### olmguard bundle: `p.v1`: OLM can install it\n";
    assert_eq!((good.0, &*good.1), (Some(0), expected));
}

#[test]
fn a_bundle_without_findings_prints_no_line_for_github() {
    let (code, stdout, stderr) = bundle(&released(), &["old", "-o", "github"]);
    assert_eq!((code, &*stdout, &*stderr), (Some(0), "", ""));
    let (_, stdout, _) = bundle(&released(), &["old", "-o", "sarif"]);
    let log: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(log["runs"][0]["results"], json!([]));
}
