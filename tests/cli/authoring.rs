//! `olmguard generate` and `olmguard diff` as commands: their output and exit codes.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use olmguard_support::schema::assert_fits;

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

#[track_caller]
fn olmguard(arguments: &[&str]) -> Ended {
    let output = Command::new(env!("CARGO_BIN_EXE_olmguard"))
        .args(arguments)
        .env_clear()
        .stdin(Stdio::null())
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/authoring"))
        .output()
        .expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ended {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

#[track_caller]
fn refused(arguments: &[&str], code: i32, error: &str) {
    let ended = olmguard(arguments);
    assert_eq!(
        (ended.code, ended.stdout.as_str()),
        (Some(code), ""),
        "{arguments:?}"
    );
    assert_eq!(ended.stderr, format!("error: {error}\n"), "{arguments:?}");
}

/// Parses the blobs of JSON output.
fn blobs(text: &str) -> Vec<Value> {
    let blobs = serde_json::Deserializer::from_str(text).into_iter();
    blobs.map(|blob| blob.expect("JSON")).collect()
}

fn named<'b>(blobs: &'b [Value], schema: &str, name: &str) -> Option<&'b Value> {
    let mut found = blobs
        .iter()
        .filter(|blob| blob["schema"] == schema && blob["name"] == name);
    found.next()
}

#[test]
fn a_template_is_rendered_from_bundles_at_hand() {
    let arguments = [
        "generate",
        "template",
        "template.yaml",
        "--bundles",
        "lantern.yaml",
        "-o",
        "json",
    ];
    let ended = olmguard(&arguments);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let blobs = blobs(&ended.stdout);
    assert_eq!(blobs[0]["defaultChannel"], "stable-v1");
    let channel = named(&blobs, "olm.channel", "stable-v1").expect("the channel");
    assert_eq!(channel["entries"][3]["replaces"], "lantern.v1.1.1");
    refused(
        &["generate", "template", "template.yaml"],
        3,
        "no bundle of image \"quay.example/lantern:1.0.0\", \"quay.example/lantern:1.1.0\", \
         \"quay.example/lantern:1.1.1\", \"quay.example/lantern:1.2.0\" among those of --bundles: expected an \
         olm.bundle with each of these images, such as \"opm render quay.example/lantern:1.0.0\" prints it",
    );
}

#[test]
fn guardrails_are_kept_and_have_to_be_readable() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("catalog.yaml");
    let path = file.to_str().expect("UTF-8");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/authoring");
    let catalog = fs::read_to_string(examples.join("lantern.yaml")).expect("a catalog");
    let (value, blob) = (
        "{rules: [{id: slowly, kind: MaxMinorStep, step: 1}]}",
        "schema: olmguard.guardrails.v1alpha1\npackage: lantern\nrules:\n- {id: slowly, kind: MaxMinorStep, step: 1}\n",
    );
    let property = format!(
        "name: lantern\nproperties: [{{type: olmguard.guardrails.v1alpha1, value: {value}}}]\n"
    );
    let catalog = catalog.replacen("name: lantern\n", &property, 1);
    fs::write(&file, format!("{catalog}---\n{blob}")).expect("a file");
    let z_stream = [
        "generate",
        "z-stream",
        path,
        "--package",
        "lantern",
        "--channel",
        "candidate",
        "--bundle",
        "lantern.v1.1.2",
        "--bundles",
        "patch.yaml",
        "-o",
        "json",
    ];
    let promote = [
        "generate",
        "promote",
        path,
        "--package",
        "lantern",
        "--channel",
        "stable",
        "--bundle",
        "lantern.v1.2.0",
        "--method",
        "skips",
        "-o",
        "json",
    ];
    let rules = serde_json::json!([{"id": "slowly", "kind": "MaxMinorStep", "step": 1}]);
    for arguments in [z_stream, promote] {
        let ended = olmguard(&arguments);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let made = blobs(&ended.stdout);
        let kept = made
            .iter()
            .filter(|blob| blob["schema"] == "olmguard.guardrails.v1alpha1");
        assert_eq!(
            kept.map(|blob| &blob["rules"]).collect::<Vec<_>>(),
            [&rules]
        );
        let package = named(&made, "olm.package", "lantern").expect("the package");
        assert_eq!(package["properties"][0]["value"]["rules"], rules);
    }
    let line = catalog.lines().count() + 2;
    fs::write(
        &file,
        format!("{catalog}---\n{}", blob.replace("step: 1", "step: 0")),
    )
    .expect("a file");
    for arguments in [z_stream, promote] {
        let error = format!(
            "{path}:{line}:1: guardrails of package \"lantern\": rules[0].step: expected a \
             whole number from 1, found 0"
        );
        refused(&arguments, 3, &error);
    }
}

#[test]
fn guardrails_of_a_package_have_to_be_readable_together() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("made.yaml");
    let path = file.to_str().expect("UTF-8");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/authoring");
    let catalog = fs::read_to_string(examples.join("lantern.yaml")).expect("a catalog");
    let blob = |step: u32| {
        format!(
            "{{schema: olmguard.guardrails.v1alpha1, package: lantern, name: g{step}, \
             rules: [{{id: slowly, kind: MaxMinorStep, step: {step}}}]}}"
        )
    };
    let property = "properties: [{type: olmguard.guardrails.v1alpha1, value: {graph: Semver}}]";
    let with_property = catalog.replacen(
        "name: lantern\n",
        &format!("name: lantern\n{property}\n"),
        1,
    );
    let twice = "guardrails of package \"lantern\": the package has two of them: expected one";
    let differ = "guardrails of package \"lantern\": the blob and the property of the olm.package \
                  differ: expected only one of them, or the same content in both";
    let z_stream = [
        "generate",
        "z-stream",
        path,
        "--package",
        "lantern",
        "--channel",
        "candidate",
        "--bundle",
        "lantern.v1.1.2",
        "--bundles",
        "patch.yaml",
    ];
    let promote = [
        "generate",
        "promote",
        path,
        "--package",
        "lantern",
        "--channel",
        "stable",
        "--bundle",
        "lantern.v1.1.1",
        "--method",
        "skips",
    ];
    for (text, error) in [
        (
            format!("{catalog}---\n{}\n---\n{}\n", blob(1), blob(2)),
            twice,
        ),
        (format!("{with_property}---\n{}\n", blob(1)), differ),
    ] {
        fs::write(&file, text).expect("a file");
        refused(&z_stream, 3, error);
        refused(&promote, 3, error);
    }
    let template = |package: &str, more: &str| {
        format!(
            "schema: olm.template.basic\nentries:\n- {{schema: olm.package, name: lantern, {package}}}\n\
             - {}\n{more}",
            blob(1)
        )
    };
    let render = ["generate", "template", path];
    for (package, more, error) in [
        ("defaultChannel: stable", format!("- {}\n", blob(2)), twice),
        (property, String::new(), differ),
    ] {
        fs::write(&file, template(package, &more)).expect("a file");
        refused(&render, 3, error);
    }
    // The template has one blob of this package, and one of another.
    let other = format!("- {}\n", blob(2).replace("lantern", "wick"));
    fs::write(&file, template("defaultChannel: stable", &other)).expect("a file");
    let ended = olmguard(&render);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_z_stream_release_takes_the_place_of_its_minor() {
    let common = [
        "generate",
        "z-stream",
        "lantern.yaml",
        "--package",
        "lantern",
        "--channel",
    ];
    let release = [
        "--bundle",
        "lantern.v1.1.2",
        "--bundles",
        "patch.yaml",
        "-o",
        "json",
    ];
    let with = |more: &[&'static str]| [&common[..], more, &release[..]].concat();
    let ended = olmguard(&with(&["candidate"]));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(
        ended.stderr,
        "note: removed from channel \"candidate\" and skipped by the new release: lantern.v1.1.1\n\
         note: removed from the catalog because no channel has them any more: lantern.v1.1.1\n"
    );
    let made = blobs(&ended.stdout);
    let channel = named(&made, "olm.channel", "candidate").expect("the channel");
    assert_eq!(channel["entries"][2]["replaces"], "lantern.v1.1.2");
    assert_eq!(channel["entries"][3]["skips"][0], "lantern.v1.1.1");
    assert!(named(&made, "olm.bundle", "lantern.v1.1.1").is_none());
    assert!(
        made.iter().any(|blob| blob["until"] == "2027-06"),
        "custom blobs stay"
    );
    let ended = olmguard(&with(&["candidate", "--with-range"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let made = blobs(&ended.stdout);
    let channel = named(&made, "olm.channel", "candidate").expect("the channel");
    assert_eq!(channel["entries"][4]["skipRange"], ">=1.1.0 <1.1.2");
    refused(
        &with(&["beta"]),
        3,
        "the catalog has no channel \"beta\" of package \"lantern\": expected one of \"candidate\", \"stable\"",
    );
    refused(
        &[&common[..], &["candidate", "--new-version", "1.1.2"]].concat(),
        3,
        "no bundle of package \"lantern\" has version \"1.1.2\": expected one in the catalog or in \
         --bundles",
    );
    refused(
        &[&common[..], &["candidate", "--new-version", "1.0.0"]].concat(),
        3,
        "channel \"candidate\": \"lantern.v1.0.0\" is in the channel already: expected a new release",
    );
    let neither = olmguard(&[&common[..], &["candidate"]].concat());
    assert_eq!(neither.code, Some(2));
}

#[test]
fn a_promotion_tells_who_is_left_behind() {
    let arguments = [
        "generate",
        "promote",
        "lantern.yaml",
        "--package",
        "lantern",
        "--bundle",
        "lantern.v1.2.0",
        "--channel",
        "stable",
        "--method",
        "replaces",
        "--report",
        "json",
    ];
    let ended = olmguard(&arguments);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let report: Value = serde_json::from_str(&ended.stderr).expect("JSON");
    assert_fits("schemas/olmguard.promotion.v1.json", &report);
    let ends: Vec<_> = report["installed"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| {
            ["v1", "v0"].map(|olm| {
                ["before", "after"].map(|when| row[olm][when]["ends"].as_str().expect("a text"))
            })
        })
        .collect();
    assert_eq!(
        ends,
        [
            [["fails", "at_head"], ["stranded", "at_head"]],
            [["fails", "fails"], ["stranded", "stranded"]],
            [["at_head", "at_head"], ["at_head", "at_head"]],
            [["at_head", "at_head"], ["at_head", "at_head"]],
        ]
    );
    refused(
        &[
            "generate",
            "promote",
            "lantern.yaml",
            "--package",
            "other",
            "--bundle",
            "b",
            "--channel",
            "c",
            "--method",
            "skips",
        ],
        3,
        "the catalog has no package \"other\": expected one of \"lantern\"",
    );
    refused(
        &["generate", "template", "-", "--bundles", "-"],
        2,
        "standard input can be read only once: use \"-\" for one input, and files for the others; guardrails are read \
         once for each catalog",
    );
}

#[test]
fn a_harmful_change_ends_with_1_unless_it_is_allowed() {
    let harmless = olmguard(&["diff", "lantern.yaml", "lantern.yaml"]);
    assert_eq!((harmless.code, harmless.stderr.as_str()), (Some(0), ""));
    assert_eq!(harmless.stdout, "OLM v1 users: no changes\n");
    let diff = ["diff", "lantern.yaml", "withdrawn.yaml", "-o", "json"];
    let ended = olmguard(&diff);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""));
    let report: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    assert_fits("schemas/olmguard.diff.v1.json", &report);
    let kinds: Vec<_> = report["packages"][0]["changes"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|change| change["level"] == "harmful")
        .map(|change| change["kind"].as_str().expect("a text"))
        .collect();
    assert_eq!(report["harmful"], kinds.len());
    let allow = kinds.join(",");
    let allowed = olmguard(&[&diff[..], &["--allow", &allow]].concat());
    assert_eq!(allowed.code, Some(0));
    let report: Value = serde_json::from_str(&allowed.stdout).expect("JSON");
    assert_eq!(report["harmful"], 0);
    assert_eq!(report["packages"][0]["changes"][0]["allowed"], true);
}

#[test]
fn what_cannot_be_compared_says_why() {
    assert_eq!(olmguard(&["diff", "lantern.yaml"]).code, Some(2));
    assert_eq!(
        olmguard(&["diff", "--allow", "bundle-added", "a", "b"]).code,
        Some(2)
    );
    let gone = olmguard(&["diff", "lantern.yaml", "gone.yaml"]);
    assert_eq!(gone.code, Some(3));
    assert!(
        gone.stderr.starts_with("error: gone.yaml: cannot open: "),
        "{}",
        gone.stderr
    );
    refused(
        &["diff", "--package", "q", "lantern.yaml", "lantern.yaml"],
        2,
        "neither catalog has package \"q\": expected one of their packages",
    );
    assert_eq!(olmguard(&["diff", "-", "-"]).code, Some(2));
}
