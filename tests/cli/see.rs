//! `olmguard versions`, `path` and `explain` as commands: their output and exit codes.
#![expect(
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails there"
)]

mod manifests;
mod words;

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::folder::{self, Ran};
use olmguard_fixtures::committed::compare;
use olmguard_support::schema::assert_fits;

const SAMPLE: &str = "--catalog=sample=examples/catalogs/lighthouse.yaml";
const PACKAGE: &str = "harbor-lights-operator";

/// Returns the program at the root of the repository, without variables of its own.
fn olmguard(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    command.env_clear().current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(arguments);
    command
}

/// Returns the exit code, stdout and stderr.
fn run(arguments: &[&str], stdin: &str) -> Ran {
    folder::run(&mut olmguard(arguments), stdin)
}

/// Checks the exit code, an empty stdout, and this text on stderr.
#[track_caller]
fn fails(arguments: &[&str], code: i32, words: &str) {
    let (got, stdout, stderr) = run(arguments, "");
    assert_eq!((got, &*stdout), (Some(code), ""), "{arguments:?}: {stderr}");
    assert_eq!(stderr, format!("error: {words}\n"), "{arguments:?}");
}

/// Returns the object of `-o json`, validated by its schema.
#[track_caller]
fn json(arguments: &[&str], code: i32) -> Value {
    let arguments = [arguments, &[SAMPLE, "-o", "json"]].concat();
    let (got, stdout, stderr) = run(&arguments, "");
    assert_eq!(got, Some(code), "{arguments:?}: {stderr}");
    let printed = serde_json::from_str(&stdout).expect("one object");
    let file = format!("schemas/olmguard.{}.v1.json", arguments[0]);
    assert_fits(&file, &printed);
    printed
}

#[test]
fn a_package_that_cannot_be_read_is_bad_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hub.json");
    let blobs = [
        json!({"schema": "olm.package", "name": "p", "defaultChannel": "a"}),
        json!({"schema": "olm.channel", "package": "p", "name": "a", "entries": [{"name": "p.v1", "replaces": 5}]}),
    ];
    let text: String = blobs.iter().map(Value::to_string).collect();
    std::fs::write(&path, text).expect("a catalog");
    let catalog = format!("--catalog=hub={}", path.display());
    for command in [
        &["versions", "p"][..],
        &["versions", "p", "--installed=1.0.0"],
        &["path", "p", "1.0.0"],
        &["explain", "p", "1.0.0", "1.1.0"],
        &["graph", "p"],
    ] {
        let (code, stdout, stderr) = run(&[command, &[&catalog]].concat(), "");
        assert_eq!(code, Some(3), "{command:?}: {stdout}{stderr}");
        assert!(!stdout.contains("Nearest"), "{stdout}");
    }
    let other = catalog.replace("=hub=", "=other=");
    let other = ["versions", PACKAGE, SAMPLE, &other];
    assert_eq!(
        run(&other, "").0,
        Some(0),
        "another package of a catalog that is read"
    );
}

#[test]
fn no_package_has_an_empty_name() {
    for command in [
        &["versions", ""][..],
        &["path", "", "1.0.0"],
        &["explain", "", "1.0.0", "1.1.0"],
        &["graph", ""],
    ] {
        let (code, stdout, stderr) = run(&[command, &[SAMPLE]].concat(), "");
        assert_eq!((code, &*stdout), (Some(2), ""), "{command:?}: {stderr}");
        assert!(
            stderr.starts_with("error: a value is required for"),
            "{stderr}"
        );
    }
}

#[test]
fn a_form_refuses_options_of_another_form() {
    fails(
        &["explain", "NotASuccessor", SAMPLE, "-ojson"],
        2,
        "--catalog, --output: only with PACKAGE FROM TO, not with explain TOKEN",
    );
    fails(
        &["explain", "--list", "-ojson"],
        2,
        "--output: only with PACKAGE FROM TO, not with explain --list",
    );
}

#[test]
fn what_is_not_there_is_said() {
    fails(
        &["path", "harbor-lights", "1.2.0", SAMPLE],
        1,
        "harbor-lights: 1.2.0 -> any version refused: catalog sample does not have this package \
         [PackageNotFound]; Nearest: harbor-lights-operator; Add a catalog with this package, or \
         set another packageName; OLM: error upgrading from currently installed version \"1.2.0\": no \
         bundles found for package \"harbor-lights\"; Help: olmguard explain PackageNotFound",
    );
    fails(
        &["explain", PACKAGE, "1.2.0", "9.9.9", SAMPLE],
        2,
        "TO \"9.9.9\": harbor-lights-operator has no such version and no bundle of that name; nearest: \
         2.3.1, 2.3.0, 2.2.1",
    );
    fails(
        &["path", PACKAGE, "v1.2.0", SAMPLE],
        2,
        "FROM \"v1.2.0\": harbor-lights-operator has no such version and no bundle of that name; did you \
         mean 1.2.0?",
    );
    fails(
        &["path", PACKAGE, "harbor-lights-operator.v1.2", SAMPLE],
        2,
        "FROM \"harbor-lights-operator.v1.2\": harbor-lights-operator has no such version and no bundle \
         of that name; nearest: harbor-lights-operator.v1.2.0, harbor-lights-operator.v1.2.1, \
         harbor-lights-operator.v1.2.2",
    );
    fails(
        &["versions", PACKAGE],
        2,
        "no catalog is given: expected --catalog, --snapshot or --from-cluster",
    );
    fails(
        &[
            "versions",
            SAMPLE,
            "--installed=1.2.0",
            "--range=<2",
            "--channel=stable",
        ],
        2,
        "--installed, --channel, --range: only with PACKAGE, not with versions without PACKAGE",
    );
    for requester in ["--as=kate", "--as-group=ops", "--at=21:00"] {
        let (flag, _) = requester.split_once('=').expect("a value");
        fails(
            &["versions", SAMPLE, requester],
            2,
            &format!("{flag}: only with PACKAGE, not with versions without PACKAGE"),
        );
    }
    fails(
        &["versions", SAMPLE, "--in=hub"],
        2,
        "--in: found \"hub\": expected one of \"sample\"",
    );
    fails(
        &["versions", PACKAGE, SAMPLE, "--range", ">=1 <"],
        2,
        "--range: improper constraint: \">=1 <\"",
    );
    fails(
        &["explain", PACKAGE, "1.2.0", SAMPLE],
        2,
        "expected PACKAGE FROM TO (package, installed version, target version), or one TOKEN",
    );
    for command in ["versions", "graph"] {
        let (code, _, stderr) = run(&[command, PACKAGE, SAMPLE, "--channel="], "");
        let words =
            "the name is empty: expected the name of a channel; omit the flag for all channels";
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
    }
    for flag in ["--range=<2", "--graph=semver"] {
        fails(
            &["path", PACKAGE, "1.2.0", SAMPLE, "--olm=v0", flag],
            2,
            "--olm v0 has no version ranges and uses the edges of the catalog: omit --range and \
             --graph",
        );
    }
    fails(
        &[
            "explain",
            PACKAGE,
            "1.2.0",
            "1.3.0",
            SAMPLE,
            "--olm=v0",
            "--channel=a,b",
        ],
        2,
        "--olm v0: a Subscription names one channel: give --channel once",
    );
    fails(
        &["path", PACKAGE, "1.2.0", SAMPLE, "--olm=v0", "-oyaml"],
        2,
        "-o yaml prints ClusterExtensions, which --olm v0 does not have: use -o text or -o json",
    );
}

/// `graph` also names the channels, because it draws nothing.
#[test]
fn a_channel_that_no_catalog_has_ends_with_1_for_every_command() {
    for command in [
        &["versions", PACKAGE][..],
        &["versions", PACKAGE, "--installed=1.2.0"],
        &["path", PACKAGE, "1.2.0"],
        &["explain", PACKAGE, "1.2.0", "1.3.0"],
        &["graph", PACKAGE],
    ] {
        let of = |channels: &str| run(&[command, &[SAMPLE, channels]].concat(), "");
        let (code, stdout, stderr) = of("--channel=stable");
        assert_eq!(code, Some(1), "{command:?}: {stdout}{stderr}");
        assert!((stdout + &stderr).contains("stable"), "{command:?}");
    }
    let (code, stdout, _) = run(
        &["versions", PACKAGE, SAMPLE, "--channel=stable,stable-v1"],
        "",
    );
    assert_eq!(code, Some(0));
    assert!(stdout.contains("channel stable does not exist"), "{stdout}");
}

#[test]
fn olm_v0_has_no_release_of_olm_v1() {
    for command in [
        &["path", PACKAGE, "1.2.0"][..],
        &["explain", PACKAGE, "1.2.0", "1.3.0"],
        &["graph", PACKAGE],
    ] {
        let flags = [
            SAMPLE,
            "--olm=v0",
            "--olm-release=1.5",
            "--olm-feature-gates=A=true",
        ];
        fails(
            &[command, &flags].concat(),
            2,
            "--olm-release, --olm-feature-gates: only with --olm v1, not with --olm v0",
        );
    }
}

#[test]
fn a_version_with_a_v_is_answered_with_the_version_without() {
    for arguments in [
        &["versions", PACKAGE, "--installed=v1.2.0", SAMPLE][..],
        &["path", PACKAGE, "v1.2.0", SAMPLE],
        &["graph", PACKAGE, "--installed=v1.2.0", SAMPLE],
    ] {
        let (code, stdout, stderr) = run(arguments, "");
        assert_eq!((code, &*stdout), (Some(2), ""), "{arguments:?}: {stderr}");
        assert!(stderr.ends_with("did you mean 1.2.0?\n"), "{stderr}");
    }
}

#[test]
fn a_catalog_that_cannot_be_read_is_a_bad_input() {
    let nowhere = "--catalog=gone=tests/no-such-catalog";
    let (code, stdout, stderr) = run(&["versions", PACKAGE, SAMPLE, nowhere], "");
    assert_eq!(code, Some(3), "{stderr}");
    assert!(
        stdout.contains("\nNote          catalog gone cannot be read: "),
        "{stdout}"
    );
    assert!(
        stdout.starts_with("harbor-lights-operator in catalog sample\n"),
        "{stdout}"
    );
    // The installed version is found in the catalogs that can be read.
    let known = ["versions", PACKAGE, SAMPLE, "--installed=1.2.0"];
    let (code, stdout, stderr) = run(&[&known[..], &[nowhere]].concat(), "");
    assert_eq!(code, Some(3), "{stderr}");
    let (_, alone, _) = run(&known, "");
    let (list, _) = alone.split_once("\n*  ").expect("a legend");
    assert!(stdout.starts_with(list), "{stdout}");
    let (code, stdout, stderr) = run(&["path", PACKAGE, "1.2.0", SAMPLE, nowhere], "");
    assert_eq!((code, &*stdout), (Some(3), ""), "{stderr}");
    assert!(stderr.contains("[CatalogNotLoaded]"), "{stderr}");
}

#[test]
fn json_fits_its_schema() {
    let listed = json(&["versions", PACKAGE, "--installed=1.2.0", "--range=<2"], 0);
    let rows = listed["catalogs"][0]["bundles"].as_array().expect("rows");
    let row = |version: &str| rows.iter().find(|row| row["version"] == version);
    let row = |version| row(version).expect("it");
    assert_eq!(row("1.4.0")["standing"], "reachable");
    assert_eq!(row("1.4.0")["hops"], 2);
    assert_eq!(row("2.0.0")["candidate"], false);
    assert_eq!(row("1.2.1")["held_by"]["count"], 3);
    assert_eq!(
        json(&["versions", "harbor"], 1)["nearest"],
        json!([PACKAGE])
    );

    let path = json(&["path", PACKAGE, "1.2.0", "2.0.0"], 0);
    let pins: Vec<_> = path["hops"].as_array().into_iter().flatten().collect();
    let pins: Vec<_> = pins
        .iter()
        .filter_map(|hop| hop["version"].as_str())
        .collect();
    assert_eq!(pins, ["1.3.2", "1.4.0", "1.4.3", "2.0.0"]);
    assert_eq!(
        json(&["path", PACKAGE, "2.3.1", "1.0.0"], 1)["hops"],
        Value::Null
    );
    let walked = json(
        &[
            "path",
            PACKAGE,
            "1.1.0",
            "1.4.3",
            "--olm=v0",
            "--channel=stable-v1",
        ],
        0,
    );
    assert_eq!(walked["walks"][0]["end"], "head");

    let step = json(&["explain", PACKAGE, "1.2.0", "1.3.2"], 0);
    assert_eq!(step["olm"]["edges"][0]["field"], "skipRange");
    let step = json(&["explain", PACKAGE, "1.2.0", "2.0.0"], 1);
    assert_eq!(step["olm"]["token"], "NotASuccessor");
    let step = json(&["explain", PACKAGE, "1.2.0", "1.2.1", "--olm=v0"], 1);
    assert_eq!(step["classic"][0]["candidate"], false);
    let step = json(&["explain", PACKAGE, "1.2.0", "2.0.0", "--graph=semver"], 1);
    assert_eq!(step["semver"]["allowed"], false);
}

/// Two equal catalogs tie, and `--in` selects one of them.
#[test]
fn a_catalog_is_selected_where_several_tie() {
    let two = [
        "--catalog=hub=examples/AmbiguousCatalogs/hub.yaml",
        "--catalog=mirror=examples/AmbiguousCatalogs/mirror.yaml",
    ];
    let path = |more: &[&str]| {
        run(
            &[&["path", "lantern-operator", "1.0.0"], &two[..], more].concat(),
            "",
        )
    };
    let (code, stdout, _) = path(&[]);
    assert_eq!(code, Some(1), "{stdout}");
    assert!(stdout.contains("--in CATALOG"), "{stdout}");
    let (code, stdout, stderr) = path(&["--in=mirror"]);
    assert_eq!((code, &*stderr), (Some(0), ""), "{stdout}");
    for command in [
        &["versions", "lantern-operator"][..],
        &["explain", "lantern-operator", "1.0.0", "1.1.0"],
    ] {
        let (code, stdout, _) = run(&[command, &two[..], &["--in=mirror"]].concat(), "");
        assert_eq!(code, Some(0), "{stdout}");
        assert!(!stdout.contains("hub"), "{stdout}");
    }
    fails(
        &[
            &["path", "lantern-operator", "1.0.0"],
            &two[..],
            &["--in=mirrow"],
        ]
        .concat(),
        2,
        "--in: found \"mirrow\": expected one of \"hub\", \"mirror\"",
    );
}

#[test]
fn nothing_that_a_terminal_obeys_gets_through() {
    let catalog = r#"
        {"schema": "olm.package", "name": "p", "defaultChannel": "\u001b[31mred"}
        {"schema": "olm.channel", "package": "p", "name": "\u001b[31mred", "entries": [
            {"name": "p.v1\u0007"}, {"name": "p.v2", "replaces": "p.v1\u0007", "skips": ["\u009bq"],
             "skipRange": "\u001b]0;x"}]}
        {"schema": "olm.deprecations", "package": "p", "entries": [
            {"reference": {"schema": "olm.package"}, "message": "\u001b[2J\n\u202e"},
            {"reference": {"schema": "olm.bundle", "name": "p.v2"}, "message": "\u001b[2J"}]}
        {"schema": "olm.bundle", "package": "p", "name": "p.v1\u0007", "properties": [
            {"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}}]}
        {"schema": "olm.bundle", "package": "p", "name": "p.v2", "properties": [
            {"type": "olm.package", "value": {"packageName": "p", "version": "2.0.0"}}]}"#;
    let catalogs = "--catalog=hub=-";
    for arguments in [
        &["versions", "p", catalogs, "--installed=1.0.0"][..],
        &["path", "p", "1.0.0", "2.0.0", catalogs],
        &["path", "p", "1.0.0", catalogs, "--olm=v0"],
        &["explain", "p", "1.0.0", "2.0.0", catalogs],
        &["explain", "p", "2.0.0", "1.0.0", catalogs],
        &["explain", "p", "1.0.0", "2.0.0", catalogs, "--olm=v0"],
    ] {
        let (code, stdout, stderr) = run(arguments, catalog);
        assert!(matches!(code, Some(0 | 1)), "{arguments:?}: {stderr}");
        let shown = format!("{stdout}{stderr}");
        let obeyed = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!shown.contains(obeyed), "{arguments:?}: {shown:?}");
    }
}

#[test]
fn without_a_package_the_packages_are_listed() {
    let (code, stdout, stderr) = run(&["versions", SAMPLE, "--in=sample", "-ojson"], "");
    assert_eq!((code, &*stderr), (Some(0), ""));
    let printed: Value = serde_json::from_str(&stdout).expect("one object");
    assert_fits("schemas/olmguard.packages.v1.json", &printed);
    let packages = printed["catalogs"][0]["packages"].as_array().expect("all");
    let names: Vec<_> = packages.iter().map(|one| &one["package"]).collect();
    assert_eq!(names, ["foghorn-operator", "harbor-lights-operator"]);

    let catalog = r#"{"schema":"olm.channel","package":"p","name":"c","entries":1}
        {"schema":"olm.package","name":"q","defaultChannel":"d"}
        {"schema":"olm.channel","package":"q","name":"d","entries":[]}
        {"schema":"olm.deprecations","package":"q",
         "entries":[{"reference":{"schema":"olm.package"},"message":"gone"}]}"#;
    let (code, stdout, _) = run(&["versions", "--catalog=hub=-"], catalog);
    let lists = "Catalog hub: 2 packages\n\n\
         \x20 Package  Default channel  Channels  Bundles  Notes\n\
         \x20 p                                            cannot be read\n\
         \x20 q        d                d         0        deprecated\n";
    assert_eq!((code, &*stdout), (Some(3), lists));

    let (code, stdout, stderr) = run(&["versions", "--catalog=hub=nowhere.yaml"], "");
    assert_eq!(code, Some(3), "{stderr}");
    assert!(
        stdout.starts_with("Note          catalog hub cannot be read: "),
        "{stdout}"
    );
}

#[test]
fn help_is_what_is_committed() {
    for command in ["versions", "path", "explain"] {
        let (code, stdout, _) = run(&[command, "--help"], "");
        assert_eq!(code, Some(0));
        compare(&format!("tests/package/{command}.txt"), &stdout);
    }
}

/// In a block marked `console`, `$ olmguard ...` must print the lines below it.
#[test]
fn the_page_shows_what_is_printed() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/see.md");
    let page = std::fs::read_to_string(page).expect("docs/see.md");
    let blocks = page.split("```console\n").skip(1);
    let blocks = blocks.filter_map(|block| block.split("```").next());
    let mut ran = 0;
    for session in blocks.flat_map(|block| block.split("$ olmguard ").skip(1)) {
        let (line, expected) = session.split_once('\n').expect("a command line");
        let words: Vec<_> = line.split('\'').enumerate().collect();
        let words = words.iter().flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().collect(),
            _ => vec![*part],
        });
        let words: Vec<_> = words.collect();
        let (_, stdout, _) = run(&words, "");
        assert_eq!(stdout, expected, "{line}");
        ran += 1;
    }
    assert!(ran > 5, "{ran}");
}

/// The API server would refuse this range before OLM reads it.
#[test]
fn a_range_that_the_crd_refuses_is_refused() {
    for range in ["1.1 - 2.0", "01.0.0"] {
        let flag = format!("--range={range}");
        let (code, stdout, stderr) =
            run(&["explain", PACKAGE, "1.0.0", "2.3.1", SAMPLE, &flag], "");
        let why =
            format!("error: --range: \"{range}\": the API server refuses this text for a version");
        assert_eq!((code, &*stdout), (Some(2), ""), "{range}: {stderr}");
        assert!(stderr.starts_with(&why), "{range}: {stderr}");
    }
}

/// A catalog can have such a channel, but no ClusterExtension can request it.
#[test]
fn a_channel_that_the_crd_refuses_is_refused() {
    for command in ["explain", "path"] {
        let question = [command, PACKAGE, "1.0.0", "2.3.1", SAMPLE, "--channel=Fast"];
        let (code, stdout, stderr) = run(&question, "");
        assert_eq!((code, &*stdout), (Some(2), ""), "{command}: {stderr}");
        let why = "error: --channel: \"Fast\": the API server refuses this name for a channel; omit --channel for all \
                   channels";
        assert!(stderr.starts_with(why), "{command}: {stderr}");
    }
}

/// Only the package is known in these commands.
#[test]
fn a_policy_that_matches_by_namespace_is_left_out_with_a_warning() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("policies.yaml");
    let policy = |name: &str, matching: &str| {
        format!(
            "apiVersion: olmguard.dev/v1alpha1\nkind: UpgradePolicy\nmetadata: {{name: {name}}}\nspec: {{match: \
             {matching}, rules: {{versions: {{deny: '*'}}}}}}\n---\n"
        )
    };
    let all = [
        policy("by-namespace", "{namespaces: [lights]}"),
        policy(
            "by-label",
            "{extensionSelector: {matchExpressions: [{key: a, operator: DoesNotExist}]}}",
        ),
        policy("of-another", "{packages: [other], namespaces: [lights]}"),
    ];
    std::fs::write(&path, all.concat()).expect("a file");
    let flag = format!("--policy={}", path.display());
    let arguments = ["path", PACKAGE, "1.0.0", SAMPLE];
    let (code, stdout, _) = run(&arguments, "");
    let (with, left, stderr) = run(&[&arguments[..], &[&flag]].concat(), "");
    assert_eq!((code, stdout), (with, left));
    let warning = "warning: upgrade policies that match by label or namespace are not applied, because only the package is \
                   known: by-label, by-namespace; olmguard check applies them to an extension\n";
    assert!(stderr.ends_with(warning), "{stderr}");
}

/// A new extension is defined by the flags: policies check the manifests that are printed.
#[test]
fn policies_match_the_new_extension_that_a_path_prints() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("policies.yaml");
    let policy = "apiVersion: olmguard.dev/v1alpha1\nkind: UpgradePolicy\nmetadata: {name: p}\n\
        spec: {match: {namespaces: [lights]}, rules: {versions: {deny: '*'}}}\n";
    std::fs::write(&path, policy).expect("a file");
    let flag = format!("--policy={}", path.display());
    let path = ["path", PACKAGE, "1.0.0", SAMPLE, &flag];
    for (flags, expected) in [
        (&["--namespace=lights"][..], 1),
        (&["--name=lights"], 1),
        (&["--namespace=other", "--output=yaml"], 0),
        (&["--output=yaml"], 0),
    ] {
        let (code, _, stderr) = run(&[&path[..], flags].concat(), "");
        assert_eq!(code, Some(expected), "{flags:?}: {stderr}");
        assert!(!stderr.contains("warning"), "{stderr}");
    }
}

/// An extension in a file has a namespace and labels.
#[test]
fn policies_match_the_extension_that_a_path_changes() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let write = |name: &str, object: &Value| {
        let path = folder.path().join(name);
        std::fs::write(&path, object.to_string()).expect("a file");
        path.display().to_string()
    };
    let extension = |namespace: &str, labels: &Value| {
        json!({
            "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {"name": "lights", "labels": labels},
            "spec": {"namespace": namespace, "source": {"sourceType": "Catalog", "catalog": {"packageName": PACKAGE}}},
        })
    };
    let policy = |matching: &Value| {
        json!({
            "apiVersion": "olmguard.dev/v1alpha1", "kind": "UpgradePolicy", "metadata": {"name": "p"},
            "spec": {"match": matching, "rules": {"versions": {"deny": "*"}}},
        })
    };
    let by_namespace = json!({"namespaces": ["lights"]});
    let by_label = json!({"extensionSelector": {"matchLabels": {"tier": "production"}}});
    let production = json!({"tier": "production"});
    for (matching, namespace, labels, expected) in [
        (&by_namespace, "lights", json!({}), 1),
        (&by_namespace, "other", json!({}), 0),
        (&by_label, "lights", production, 1),
        (&by_label, "lights", json!({}), 0),
    ] {
        let policy = format!("--policy={}", write("policy.json", &policy(matching)));
        let file = write("lights.json", &extension(namespace, &labels));
        let file = format!("--filename={file}");
        let (code, _, stderr) = run(&["path", PACKAGE, "1.0.0", SAMPLE, &policy, &file], "");
        assert_eq!(
            code,
            Some(expected),
            "{matching} {namespace} {labels}: {stderr}"
        );
        assert_eq!(stderr, "", "{matching} {namespace} {labels}");
    }
}
