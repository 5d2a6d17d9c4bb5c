//! `olmguard versions`, `path` and `explain` as they are run: what they print, where, and how they end.
#![expect(
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails there"
)]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use olmguard_fixtures::committed::compare;
use olmguard_support::schema::assert_fits;

const SAMPLE: &str = "--catalog=sample=examples/catalogs/lighthouse.yaml";
const PACKAGE: &str = "harbor-lights-operator";

/// The program at the root of the repository, in an environment that says nothing to it.
fn olmguard(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    command.env_clear().current_dir(env!("CARGO_MANIFEST_DIR"));
    command.args(arguments);
    command
}

/// How it ends, and what it prints to either side.
fn run(arguments: &[&str], stdin: &str) -> (Option<i32>, String, String) {
    let mut command = olmguard(arguments);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    // What does not read its input closes it.
    let _unread = input.write_all(stdin.as_bytes());
    drop(input);
    let Output {
        status,
        stdout,
        stderr,
    } = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

/// Ends with this code, nothing on stdout, and this on stderr.
#[track_caller]
fn fails(arguments: &[&str], code: i32, words: &str) {
    let (got, stdout, stderr) = run(arguments, "");
    assert_eq!((got, &*stdout), (Some(code), ""), "{arguments:?}: {stderr}");
    assert_eq!(stderr, format!("error: {words}\n"), "{arguments:?}");
}

/// The object of an `-o json`, which fits its schema.
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
        &["versions", PACKAGE, SAMPLE, "--range", ">=1 <"],
        2,
        "--range: improper constraint: \">=1 <\"",
    );
    fails(
        &["explain", PACKAGE, "1.2.0", SAMPLE],
        2,
        "expected PACKAGE FROM TO (package, installed version, target version), or one TOKEN",
    );
    fails(
        &["explain", "NotASuccessor", SAMPLE, "-ojson"],
        2,
        "--catalog, --output: explain TOKEN has no such option; expected PACKAGE FROM TO with it",
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

#[test]
fn explain_prints_the_runbook_of_an_alert() {
    let page = std::fs::read_to_string("docs/runbooks/OlmguardCatalogStale.md").expect("a page");
    for name in ["OlmguardCatalogStale", "olmguardcatalogstale"] {
        assert_eq!(
            run(&["explain", name], ""),
            (Some(0), page.clone(), String::new())
        );
    }
    fails(
        &["explain", "OlmguardCatalogStail"],
        2,
        "\"OlmguardCatalogStail\" is not a reason code, an alert, an exit code, or a known text of OLM or \
         olmguard: expected OlmguardCatalogStale, OlmguardCatalogEmpty, OlmguardCatalogShrunk; to see all \
         reason codes, run olmguard explain --list",
    );
}

#[test]
fn explain_prints_what_an_exit_code_means() {
    let (_, help, _) = run(&["check", "--help"], "");
    for code in 0..=5 {
        let (ended, stdout, stderr) = run(&["explain", &code.to_string()], "");
        assert_eq!((ended, &*stderr), (Some(0), ""), "{code}");
        let start = format!("# Exit code {code}\n\n`olmguard check` exits with {code}: ");
        let meaning = stdout.strip_prefix(&start).expect("its meaning first");
        let meaning = meaning.split(".\n").next().expect("a sentence");
        let row = format!("\n  {code}  {meaning}\n");
        assert!(help.contains(&row), "{row}: {help}");
    }
    let page = run(&["explain", "4"], "");
    assert_eq!(run(&["explain", "exit 4"], ""), page);
    assert_eq!(
        run(&["explain", "Process completed with exit code 4."], ""),
        page
    );
    fails(
        &["explain", "7"],
        2,
        "\"7\" is not a reason code, an alert, an exit code, or a known text of OLM or olmguard; to see \
         all reason codes, run olmguard explain --list",
    );
}

#[test]
fn a_page_on_a_terminal_has_no_marks_of_markdown() {
    let page = std::fs::read_to_string("docs/tokens/Downgrade.md").expect("a page");
    for piped in [&["--color=auto"][..], &["--color=never"]] {
        let (code, stdout, stderr) = run(&[&["explain", "Downgrade"], piped].concat(), "");
        assert_eq!((code, &*stdout, &*stderr), (Some(0), &*page, ""));
    }
    let (code, stdout, stderr) = run(&["explain", "Downgrade", "--color=always"], "");
    assert_eq!((code, &*stderr), (Some(0), ""));
    for expected in [
        "\u{1b}[1mDowngrade\u{1b}[0m\n\nAll versions",
        "\n\u{1b}[1mWhat kubectl shows\u{1b}[0m\n\n    Error from server",
        "reason \u{1b}[1mRetrying\u{1b}[0m and",
    ] {
        assert!(stdout.contains(expected), "{expected}: {stdout}");
    }
    let (_, stdout, _) = run(&["lint", "--explain=stranded-bundle", "--color=always"], "");
    assert!(
        stdout.starts_with("\u{1b}[1mstranded-bundle\u{1b}[0m\n\n"),
        "{stdout}"
    );
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
fn a_word_that_is_no_reason_code_gets_the_nearest_and_a_way_to_see_all() {
    fails(
        &["explain", "foo"],
        2,
        "\"foo\" is not a reason code, an alert, an exit code, or a known text of OLM or olmguard; to see \
         all reason codes, run olmguard explain --list",
    );
    fails(
        &["explain", "Invalid"],
        2,
        "\"Invalid\" is not a reason code, an alert, an exit code, or a known text of OLM or olmguard: \
         expected InvalidSpec, InvalidSelector, InvalidVersionRange; to see all reason codes, run olmguard \
         explain --list",
    );
    let (code, stdout, stderr) = run(&["explain", "--list"], "");
    assert_eq!((code, &*stderr), (Some(0), ""));
    let names = stdout.lines().filter(|line| !line.starts_with(' '));
    let names = names.filter(|line| !line.is_empty()).count();
    assert_eq!(names, 25, "{stdout}");
    assert!(stdout.starts_with("NotJudged\n  "), "{stdout}");
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

/// The documents of `-o yaml`, each as check would be given it.
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

/// The first document is the one edit that is enough: OLM resolves each of its steps without another.
#[test]
fn the_one_edit_of_a_path_walks_it() {
    let path = json(&["path", PACKAGE, "1.2.0", "2.0.0"], 0);
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
fn help_is_what_is_committed() {
    for command in ["versions", "path", "explain"] {
        let (code, stdout, _) = run(&[command, "--help"], "");
        assert_eq!(code, Some(0));
        compare(&format!("tests/package/{command}.txt"), &stdout);
    }
}

/// In a block marked `console`, `$ olmguard ...` prints what stands below it.
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
