//! `olmguard path -o yaml`: manifests that `check` allows one after another.

use serde_json::{Value, json};

use super::{PACKAGE, SAMPLE, fails, json as report, run};

/// Returns the documents of `-o yaml`, each as an input of check.
fn manifests(arguments: &[&str], stdin: &str) -> Vec<String> {
    let arguments = [&["path", PACKAGE], arguments, &[SAMPLE, "-o", "yaml"]].concat();
    let (code, stdout, stderr) = run(&arguments, stdin);
    assert_eq!(code, Some(0), "{stderr}");
    let documents = stdout.split("---\n").skip(1);
    documents.map(str::to_owned).collect()
}

#[test]
fn each_manifest_of_a_path_is_admitted_after_the_one_before() {
    for (start, from, to) in [
        ("harbor-lights-operator.v1.0.0", "1.0.0", "2.3.1"),
        ("harbor-lights-operator.v1.2.0", "1.2.0", "3.0.0-alpha.1"),
        (
            "harbor-lights-operator.v1.3.0",
            "harbor-lights-operator.v1.3.0",
            "1.4.0",
        ),
    ] {
        let version = start
            .rsplit_once(".v")
            .map_or(start, |(_, version)| version);
        let mut installed = format!("{version},bundle={start}");
        let documents = manifests(&[from, to, "--name=lamps", "--namespace=harbor"], "");
        let is_step = |document: &&String| document.starts_with("# Step ");
        let steps: Vec<_> = documents.iter().filter(is_step).collect();
        assert!(steps.len() > 1, "{from} {to}");
        for document in steps {
            let said = format!("--installed=lamps={installed}");
            let arguments = ["check", "-f", "-", SAMPLE, &said, "-o", "json"];
            let (code, stdout, stderr) = run(&arguments, document);
            assert_eq!(code, Some(0), "{document}{stdout}{stderr}");
            let printed: Value = serde_json::from_str(&stdout).expect("one object");
            let resolved = &printed["results"][0]["resolved"];
            assert_eq!(printed["results"][0]["token"], "Resolved", "{document}");
            let text = |key: &str| resolved[key].as_str().unwrap_or_default().to_owned();
            installed = format!("{},bundle={}", text("version"), text("bundle"));
        }
        assert!(installed.starts_with(&format!("{to},")), "{installed}");
    }
}

/// The first document is the single edit that is sufficient: OLM does all of its steps automatically.
#[test]
fn the_one_edit_of_a_path_walks_it() {
    let path = report(&["path", PACKAGE, "1.2.0", "2.0.0"], 0);
    let edit = &path["one_edit"];
    assert_eq!(edit["value"], ">=1.2.0 <=2.0.0");
    assert_eq!(edit["through"], json!(["1.3.2", "1.4.0", "1.4.3", "2.0.0"]));
    let documents = manifests(&["1.2.0", "2.0.0", "--name=lamps"], "");
    let first = documents.first().expect("a document");
    let comment = "# One edit is enough: OLM upgrades to 2.0.0 in 4 steps. Or apply the steps below one by one.\n";
    assert!(first.starts_with(comment), "{first}");
    let mut installed = "1.2.0";
    for next in ["1.3.2", "1.4.0", "1.4.3", "2.0.0"] {
        let stated = format!("--installed=lamps={installed}");
        let arguments = ["check", "-f", "-", SAMPLE, &stated, "-o", "json"];
        let (_, stdout, stderr) = run(&arguments, first);
        let printed: Value = serde_json::from_str(&stdout).expect("one object");
        assert_eq!(
            printed["results"][0]["resolved"]["version"], next,
            "{stderr}"
        );
        installed = next;
    }
}

const MANIFEST: &str = "\
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata:
  name: lights
  annotations: {note: \"on\"}
spec:
  namespace: harbor
  serviceAccount: {name: keeper}
  source:
    sourceType: Catalog
    catalog:
      packageName: harbor-lights-operator
      version: 1.2.x
      channels: [stable-v1]
";

#[test]
fn a_manifest_keeps_what_is_not_its_version() {
    let documents = manifests(&["1.2.0", "1.4.3", "-f", "-"], MANIFEST);
    let expected = "\
# Step 3 of 3
apiVersion: \"olm.operatorframework.io/v1\"
kind: \"ClusterExtension\"
metadata:
  annotations:
    note: \"on\"
  name: \"lights\"
spec:
  namespace: \"harbor\"
  serviceAccount:
    name: \"keeper\"
  source:
    catalog:
      channels:
        - \"stable-v1\"
      packageName: \"harbor-lights-operator\"
      version: \"1.4.3\"
    sourceType: \"Catalog\"
";
    assert_eq!(documents.last().map(String::as_str), Some(expected));
    let other = manifests(
        &["1.4.3", "2.3.1", "-f", "-", "--channel=stable-v2"],
        MANIFEST,
    );
    let last = other.last().expect("a hop");
    assert!(
        last.contains("- \"stable-v2\"") && last.contains("\"2.3.1\""),
        "{last}"
    );
    let within = manifests(&["1.2.0", "-f", "-"], MANIFEST);
    assert!(within.last().is_some_and(|last| last.contains("\"1.2.2\"")));
    fails(
        &[
            "path",
            PACKAGE,
            "2.3.1",
            "1.0.0",
            SAMPLE,
            "-oyaml",
            "--namespace=a.b",
        ],
        2,
        "--namespace: found \"a.b\": expected a DNS label of at most 63 characters, lower-case letters, \
         digits and hyphens",
    );
    let (code, stdout, stderr) = run(&["path", PACKAGE, "2.3.1", "1.0.0", SAMPLE, "-oyaml"], "");
    assert_eq!((code, &*stdout), (Some(1), ""));
    assert!(
        stderr.contains("2.3.1 -> 1.0.0: no upgrade path; "),
        "{stderr}"
    );
    fails(
        &["path", PACKAGE, "1.2.0", SAMPLE, "-f", "Cargo.toml"],
        2,
        "-f: found 0 ClusterExtensions of API v1 for package \"harbor-lights-operator\": expected one",
    );
    fails(
        &["path", PACKAGE, "1.2.0", SAMPLE, "-f", "x.yaml", "--name=y"],
        2,
        "--name and -f cannot be used together: the flag is for a new ClusterExtension",
    );
}

#[test]
fn a_manifest_and_a_catalog_cannot_both_be_standard_input() {
    fails(
        &["path", PACKAGE, "1.2.0", "-f", "-", "--catalog=sample=-"],
        2,
        "standard input can be read only once: use \"-\" for one input, and files for the others; guardrails are read \
         once for each catalog",
    );
}
