//! `olmguard audit` as a command: its output, the order of it, and the exit code.

mod fleet;
mod forms;
mod pages;
mod preview;
mod pull;
mod scheduled;

use serde_json::{Value, json};

use crate::folder::{Folder, Ran};
use olmguard_support::schema::assert_fits;

/// Returns a directory with catalog `hub` of three versions.
fn scene() -> Folder {
    Folder::of_catalog(&["1.0.0", "1.1.0", "1.2.0"])
}

fn audit(folder: &Folder, arguments: &[&str], stdin: &str) -> Ran {
    folder.run(&[&["audit"], arguments].concat(), stdin)
}

/// Returns an object as it is in a cluster.
fn object(name: &str, range: &str, installed: &str) -> Value {
    json!({
        "apiVersion": "olm.operatorframework.io/v1",
        "kind": "ClusterExtension",
        "metadata": {"name": name},
        "spec": {
            "namespace": "ns",
            "source": {"sourceType": "Catalog", "catalog": {"packageName": "p", "version": range}},
        },
        "status": {"install": {"bundle": {"name": format!("p.v{installed}"), "version": installed}}},
    })
}

/// Returns the list that kubectl prints.
fn list(objects: &[Value]) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()
}

const HUB: &str = "--catalog=hub=hub.yaml";

#[test]
fn the_list_of_a_cluster_is_reported_the_worst_first() {
    let objects = list(&[
        object("good", "1.2.0", "1.2.0"),
        object("moves", "<1.2.0", "1.0.0"),
        object("denied", "1.2.0", "1.0.0"),
    ]);
    let (code, stdout, stderr) = audit(&scene(), &["-", HUB], &objects);
    assert_eq!((code, &*stderr), (Some(1), ""));
    let behind = "  behind: 1.2.0 is reachable in 2 steps: set the version to \">=1.0.0 <=1.2.0\"";
    let expected = [
        "3 extensions: 1 cannot be resolved, 1 upgrades automatically, 2 behind, 1 without findings",
        "denied (p): 1.0.0",
        "  unresolvable: 1.2.0 is not a successor of 1.0.0 in catalog hub",
        behind,
        "moves (p): 1.0.0",
        "  moves: OLM upgrades automatically to 1.1.0",
        behind,
        "good (p): 1.2.0",
    ];
    let lines: Vec<_> = stdout.lines().collect();
    assert_eq!(lines, expected);
}

#[test]
fn json_and_yaml_are_one_object() {
    let objects = list(&[object("moves", ">=1.0.0", "1.0.0")]);
    let scene = scene();
    let (code, stdout, _) = audit(&scene, &["-", HUB, "-o", "json"], &objects);
    assert_eq!(code, Some(0));
    let printed: Value = serde_json::from_str(&stdout).expect("one object");
    assert_fits("schemas/olmguard.audit.v1.json", &printed);
    let automatic = printed["extensions"][0]["automatic"]
        .as_array()
        .expect("a list");
    let versions: Vec<_> = automatic
        .iter()
        .map(|one| one["version"].as_str())
        .collect();
    assert_eq!(versions, [Some("1.1.0"), Some("1.2.0")]);
    let (_, yaml, _) = audit(&scene, &["-", HUB, "-o", "yaml"], &objects);
    assert!(yaml.contains("schema: \"olmguard.audit/v1\""), "{yaml}");
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_reported() {
    let mut unknown = object("old", "1.0.0", "1.0.0");
    unknown["apiVersion"] = "olm.operatorframework.io/v9".into();
    let scene = scene();
    scene.write(
        "list.json",
        &list(&[unknown, object("good", "1.2.0", "1.2.0")]),
    );
    let (code, stdout, stderr) = audit(&scene, &["list.json", "none.yaml", HUB], "");
    assert_eq!(code, Some(3));
    assert_eq!(stdout, "1 extension: 1 without findings\ngood (p): 1.2.0\n");
    assert!(
        stderr.contains("unknown apiVersion \"olm.operatorframework.io/v9\""),
        "{stderr}"
    );
    assert!(stderr.contains("error: none.yaml: "), "{stderr}");
}

#[test]
fn what_a_tool_fills_in_later_is_skipped_with_one_line() {
    let scene = scene();
    for text in ["{{ version }}", "${V}", "$(V)", "<version>", "@V@"] {
        let later = object("later", "1.2.0", "1.2.0").to_string();
        let later = later.replacen("\"1.2.0\"", &format!("{text:?}"), 1);
        scene.write("later.json", &later);
        let good = object("good", "1.2.0", "1.2.0").to_string();
        scene.write("good.json", &good);
        let (code, stdout, stderr) = audit(&scene, &["later.json", "good.json", HUB], "");
        assert_eq!(code, Some(0), "{text}: {stderr}");
        assert_eq!(stdout, "1 extension: 1 without findings\ngood (p): 1.2.0\n");
        assert!(stderr.starts_with("warning: later.json:1:"), "{stderr}");
        let why = format!("skipped: a tool fills in spec.source.catalog.version later: \"{text}\"");
        assert!(
            stderr.ends_with(&format!("{why}; render it first\n")),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    let template = "spec: {{ toYaml .Values.spec }}\n";
    scene.write("template.yaml", template);
    let (code, _, stderr) = audit(&scene, &["template.yaml", HUB], "");
    assert_eq!(code, Some(0), "{stderr}");
    let line = "warning: template.yaml:1:7: skipped: a template; render it first\n";
    assert_eq!(stderr, line);
}

#[test]
fn a_status_that_cannot_be_read_is_undecided() {
    let mut broken = object("broken", "1.2.0", "1.0.0");
    broken["status"]["install"]["bundle"]["version"] = 1.into();
    let objects = list(&[broken, object("good", "1.2.0", "1.2.0")]);
    let (code, stdout, _) = audit(&scene(), &["-", HUB], &objects);
    assert_eq!(code, Some(4), "{stdout}");
    assert!(
        stdout.starts_with(
            "2 extensions: 1 undecided, 1 without findings\nbroken (p): no installed bundle is known\n  undecided: "
        ),
        "{stdout}"
    );
    assert!(stdout.contains("\ngood (p): 1.2.0\n"), "{stdout}");
}

/// With the override, the verdict does not depend on the status.
#[test]
fn a_status_that_cannot_be_read_is_reported_with_the_bypass_too() {
    let mut broken = object("broken", "1.2.0", "1.0.0");
    broken["status"]["install"]["bundle"]["version"] = 1.into();
    broken["spec"]["source"]["catalog"]["upgradeConstraintPolicy"] = "SelfCertified".into();
    let objects = list(&[broken, object("good", "1.2.0", "1.2.0")]);
    let scene = scene();
    let (code, stdout, _) = audit(&scene, &["-", HUB], &objects);
    assert_eq!(code, Some(4), "{stdout}");
    let unknown = "undecided: the installed version is unknown: the status is malformed";
    assert!(
        stdout.starts_with(&format!(
            "2 extensions: 1 undecided, 1 without findings\nbroken (p): no installed bundle is known\n  {unknown}\n  \
             bypass: "
        )),
        "{stdout}"
    );
    let (_, junit, _) = audit(&scene, &["-", HUB, "-o", "junit"], &objects);
    let error = format!("<error message=\"{unknown}\" type=\"InstalledUnknown\">");
    assert!(junit.contains(&error), "{junit}");
}

#[test]
fn what_is_not_judged_is_no_extension_without_findings() {
    let mut deleting = object("deleting", "1.2.0", "1.0.0");
    deleting["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let objects = list(&[deleting, object("good", "1.2.0", "1.2.0")]);
    let scene = scene();
    let run = |form| {
        let (code, stdout, stderr) = audit(&scene, &["-", HUB, "-o", form], &objects);
        assert_eq!((code, &*stderr), (Some(0), ""));
        stdout
    };
    let line = "2 extensions: 1 without findings, 1 not judged";
    let expected = format!(
        "{line}\ndeleting (p): 1.0.0\n  not judged: it is being deleted\ngood (p): 1.2.0\n"
    );
    assert_eq!(run("text"), expected);
    for (form, part) in [
        (
            "markdown",
            "| `deleting` | `p` | `1.0.0` | not judged |  |\n",
        ),
        (
            "markdown",
            "<code>deleting</code>: NotJudged</summary>\n\n```text\nnot judged: it is being deleted\n",
        ),
        (
            "html",
            "<b>not judged</b>\n<span>it is being deleted</span>\n",
        ),
        (
            "junit",
            "<skipped message=\"it is being deleted\" type=\"NotJudged\"/>",
        ),
    ] {
        let text = run(form);
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn an_extension_without_a_package_has_that_in_place_of_its_name() {
    let mut image = object("image", "1.2.0", "1.0.0");
    image["spec"]["source"] = json!({"sourceType": "Image"});
    let (_, stdout, _) = audit(&scene(), &["-", HUB], &list(&[image]));
    assert!(
        stdout.starts_with("1 extension: 1 not judged\nimage (no package): 1.0.0\n"),
        "{stdout}"
    );
}

#[test]
fn a_catalog_that_cannot_be_read_leaves_every_extension_undecided() {
    let scene = scene();
    let (code, stdout, stderr) = audit(
        &scene,
        &["-", "--catalog=hub=none.yaml"],
        &list(&[object("ext", "1.2.0", "1.0.0")]),
    );
    assert_eq!(code, Some(3), "{stderr}");
    assert!(
        stdout.starts_with("1 extension: 1 undecided\next (p): 1.0.0\n  undecided: "),
        "{stdout}"
    );
}

#[test]
fn the_time_of_the_policies_is_given() {
    let scene = scene();
    let windows =
        json!({"windows": [{"schedule": "0 22 * * *", "duration": "1h", "timeZone": "UTC"}]});
    let policy = json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
        "metadata": {"name": "nights"}, "spec": {"rules": windows},
    });
    scene.write("policy.yaml", &policy.to_string());
    let objects = list(&[object("ext", "1.0.0", "1.0.0")]);
    let opens = |at: &str| {
        let flags = ["-", HUB, "--policy=policy.yaml", "--at", at, "-o", "json"];
        let (code, stdout, stderr) = audit(&scene, &flags, &objects);
        assert_eq!(code, Some(0), "{stderr}");
        let printed: Value = serde_json::from_str(&stdout).expect("one object");
        printed["extensions"][0]["next"]["opens"].clone()
    };
    assert_eq!(opens("2026-11-24T12:00:00Z"), "2026-11-24T22:00:00Z");
    assert_eq!(opens("2026-11-24T22:30:00Z"), Value::Null);
    // A policy among the inputs is applied as by check.
    let flags = [
        "-",
        "policy.yaml",
        HUB,
        "--at=2026-11-24T12:00:00Z",
        "-o",
        "json",
    ];
    let (code, stdout, stderr) = audit(&scene, &flags, &objects);
    assert_eq!((code, &*stderr), (Some(0), ""));
    let printed: Value = serde_json::from_str(&stdout).expect("one object");
    assert_eq!(
        printed["extensions"][0]["next"]["opens"],
        "2026-11-24T22:00:00Z"
    );
}

/// Policies and catalogs among the inputs are facts. Their faults are reported as errors with their places.
#[test]
fn facts_among_the_inputs_are_applied_and_their_faults_are_reported() {
    let scene = scene();
    let frozen = |packages: Value| {
        json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy",
            "metadata": {"name": "frozen"},
            "spec": {"match": {"packages": packages}, "rules": {"versions": {"allow": "1.0.0"}}},
        })
    };
    let guardrails = json!({
        "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradeGuardrails",
        "metadata": {"name": "p"},
        "spec": {"package": "p", "rules": [{"id": "via", "kind": "PassThrough", "via": "1.5.0", "from": "1.0.0", "to": "1.1.0", "reason": "x"}]},
    });
    let unavailable = json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog",
        "metadata": {"name": "hub"}, "spec": {"availabilityMode": "Unavailable"},
    });
    let pinned = object("ext", "1.0.0", "1.0.0");
    let first = |fact: Value| {
        let (code, stdout, stderr) = audit(&scene, &["-", HUB], &list(&[pinned.clone(), fact]));
        let finding = stdout.lines().nth(2).unwrap_or_default().trim().to_owned();
        (code, finding, stderr)
    };
    for (fact, code, finding) in [
        (frozen(json!(["p"])), 0, "path forbidden: "),
        (frozen(json!(["other"])), 0, "behind: "),
        (guardrails, 0, "path forbidden: "),
        (unavailable, 4, "undecided: "),
    ] {
        let (found, text, stderr) = first(fact.clone());
        assert_eq!((found, &*stderr), (Some(code), ""), "{fact}");
        assert!(text.starts_with(finding), "{fact}: {text}");
    }
    let (code, text, stderr) = first(frozen(json!(1)));
    assert_eq!(code, Some(3), "{text}");
    assert!(stderr.starts_with("error: -:1:"), "{stderr}");
    assert!(
        stderr.contains("UpgradePolicy frozen: spec.match.packages"),
        "{stderr}"
    );
    let twice = list(&[pinned.clone(), pinned.clone()]);
    let (code, stdout, stderr) = audit(&scene, &["-", HUB], &twice);
    assert_eq!((code, &*stdout), (Some(2), ""));
    assert!(
        stderr.contains("ClusterExtension \"ext\" is defined twice"),
        "{stderr}"
    );
}
