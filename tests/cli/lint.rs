//! `olmguard lint` as a command: its output and exit codes.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use olmguard_fixtures::committed::compare;
use olmguard_support::schema::assert_fits;
use olmguard_views::lint::{Rule, lint, written};
use serde_json::Value;

const GOOD: &str = "tests/lint/good.yaml";

/// The exit code, stdout and stderr.
type Said = (Option<i32>, String, String);

fn run(arguments: &[&str]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    command.env_clear().current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.arg("lint").args(arguments).output();
    let Output {
        status,
        stdout,
        stderr,
    } = output.expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (status.code(), text(stdout), text(stderr))
}

/// Returns a directory with the good catalog after a replacement in its text.
fn changed(from: &str, to: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let text = include_str!("../lint/good.yaml").replace(from, to);
    fs::write(folder.path().join("catalog.yaml"), text).expect("a file");
    folder
}

fn json(path: &Path, more: &[&str]) -> (Option<i32>, Value) {
    let path = path.to_str().expect("UTF-8");
    let (code, stdout, stderr) = run(&[&["-o", "json", path], more].concat());
    assert_eq!(stderr, "");
    (code, serde_json::from_str(&stdout).expect("JSON"))
}

#[test]
fn a_good_catalog_ends_with_0() {
    let (code, stdout, stderr) = run(&[GOOD]);
    assert_eq!(
        (code, &*stdout, &*stderr),
        (Some(0), "0 errors, 0 warnings, 0 notes in 1 catalog\n", "")
    );
}

#[test]
fn a_catalog_that_is_given_twice_is_one_catalog() {
    let again = format!("./{GOOD}");
    let (code, stdout, stderr) = run(&[GOOD, GOOD, &again]);
    assert_eq!(
        (code, &*stdout, &*stderr),
        (Some(0), "0 errors, 0 warnings, 0 notes in 1 catalog\n", "")
    );
}

#[test]
fn a_package_that_no_catalog_has_is_wrong_usage() {
    let (code, stdout, stderr) = run(&[GOOD, "--package", "lanten"]);
    let expected =
        "error: --package: no catalog has package \"lanten\"; did you mean \"lantern\"?\n";
    assert_eq!((code, &*stdout, &*stderr), (Some(2), "", expected));
}

#[test]
fn the_help_is_as_committed() {
    let (code, stdout, _) = run(&["--help"]);
    assert_eq!(code, Some(0));
    compare("tests/lint/help.txt", &stdout);
}

#[test]
fn an_error_ends_with_1_and_has_its_place() {
    let folder = changed("name: wick\ndefaultChannel: stable", "name: wick");
    let (code, report) = json(folder.path(), &[]);
    assert_eq!(code, Some(1));
    assert_eq!(report["schema"], "olmguard.lint/v1");
    assert_eq!(report["summary"]["error"], 1);
    let finding = &report["findings"][0];
    assert_eq!(finding["id"], "default-channel-missing");
    assert_eq!(finding["line"], 75);
    assert_eq!(finding["package"], "wick");
    assert_eq!(finding["upstream"], "default channel must be set");
    let file = finding["file"].as_str().expect("a file");
    assert!(file.ends_with("catalog.yaml"), "{file}");
}

#[test]
fn severities_can_be_chosen() {
    let folder = changed(
        "    replaces: lantern.v1.1.0",
        "    replaces: lantern.v1.1.0\n    skips: [lantern.v1.0.9]",
    );
    let code = |more: &[&str]| json(folder.path(), more).0;
    assert_eq!(code(&[]), Some(0));
    assert_eq!(code(&["--deny", "unknown-target"]), Some(1));
    assert_eq!(code(&["--warn", "unknown-target"]), Some(0));
    assert_eq!(code(&["--warn=unknown-target", "--warn-as-error"]), Some(1));
    let (code, report) = json(folder.path(), &["--allow", "unknown-target"]);
    assert_eq!(code, Some(0));
    assert_eq!(report["findings"], serde_json::json!([]));
}

#[test]
fn one_package_can_be_asked_for() {
    let folder = changed("defaultChannel: stable", "description: none");
    let packages = |more: &[&str]| {
        let findings = json(folder.path(), more).1["findings"].clone();
        let findings = findings.as_array().cloned().unwrap_or_default();
        findings
            .iter()
            .map(|one| one["package"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(packages(&[]), ["lantern", "wick"]);
    assert_eq!(packages(&["--package", "wick"]), ["wick"]);
}

#[test]
fn a_link_to_a_folder_is_found_and_the_files_beside_it_are_read() {
    let folder = changed("name: wick\ndefaultChannel: stable", "name: wick");
    fs::create_dir(folder.path().join("more")).expect("a folder");
    std::os::unix::fs::symlink("more", folder.path().join("link")).expect("a link");
    let (code, report) = json(folder.path(), &[]);
    assert_eq!(code, Some(1));
    let findings = report["findings"].as_array().expect("findings");
    let found: Vec<_> = findings.iter().map(|one| &one["id"]).collect();
    assert_eq!(found, ["default-channel-missing", "not-a-file"]);
    let link = folder.path().join("link").display().to_string();
    assert_eq!(findings[1]["file"], *link);
    assert_eq!(
        findings[1]["upstream"],
        format!("read {link}: is a directory")
    );
    let words = findings[1]["message"].as_str().expect("a text");
    let mut check = Command::new(env!("CARGO_BIN_EXE_olmguard"));
    let catalog = format!("c={}", folder.path().display());
    let check = check.args(["versions", "wick", "--catalog", &catalog]);
    let output = check.output().expect("the program starts");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(stderr.contains(&format!("{link}: {words}")), "{stderr}");
}

#[test]
fn what_cannot_be_read_ends_with_3_and_wrong_usage_with_2() {
    let (code, stdout, stderr) = run(&["no/such/catalog"]);
    assert_eq!((code, &*stdout), (Some(3), ""));
    assert!(
        stderr.starts_with("error: no/such/catalog: cannot open: "),
        "{stderr}"
    );
    let rows: &[(&[&str], &str)] = &[
        (&[], "required"),
        (
            &["--explain", "cut-of-version"],
            "did you mean cut-off-version?",
        ),
        (&["--list", GOOD], "cannot be used with"),
        (&["-", "-"], "standard input can be read only once"),
        (
            &["-", "--guardrails", "-"],
            "standard input can be read only once",
        ),
        (
            &[GOOD, "examples/Resolved/hub.yaml", "--guardrails", "-"],
            "guardrails are read once for each catalog",
        ),
        (
            &["--list", "--explain", "cut-off-version"],
            "cannot be used with",
        ),
        (
            &["--list", "-ojson", "--package", "a"],
            "--package, --output: only with CATALOG, not with lint --list",
        ),
        (
            &["--explain", "cut-off-version", "-ojson"],
            "--output: only with CATALOG, not with lint --explain",
        ),
        (&["-o", "xml", GOOD], "possible values"),
    ];
    for (arguments, words) in rows {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!((code, &*stdout), (Some(2), ""), "{arguments:?}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    }
}

#[test]
fn the_catalogs_of_the_examples_can_be_loaded() {
    let catalogs = [
        "authoring/lantern.yaml",
        "authoring/withdrawn.yaml",
        "catalogs/far-shore.yaml",
        "catalogs/lighthouse.yaml",
    ];
    for catalog in catalogs {
        let path = format!("{}/examples/{catalog}", env!("CARGO_MANIFEST_DIR"));
        let (_, stdout, stderr) = run(&[&path, "-ojson"]);
        let report: Value = serde_json::from_str(&stdout).expect(&stderr);
        let findings = report["findings"].as_array().expect("findings");
        let mut rules = findings
            .iter()
            .map(|one| one["id"].as_str().expect("an id"));
        let unloadable = [
            "invalid-syntax",
            "not-an-object",
            "missing-schema",
            "label-not-a-string",
            "wrong-type",
        ];
        assert!(!rules.any(|rule| unloadable.contains(&rule)), "{stdout}");
    }
}

#[test]
fn a_page_is_printed_as_it_is_kept() {
    let (code, stdout, _) = run(&["--explain", "cut-off-version"]);
    assert_eq!(
        (code, &*stdout),
        (Some(0), include_str!("../../docs/lint/cut-off-version.md"))
    );
}

#[test]
fn all_ids_are_listed() {
    let (code, stdout, _) = run(&["--list"]);
    assert_eq!(code, Some(0));
    let ids: Vec<_> = stdout
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let all: Vec<_> = Rule::all().map(Rule::id).collect();
    assert_eq!(ids, all);
}

#[test]
fn sarif_describes_every_rule_and_reads_back() {
    let folder = changed("name: wick\ndefaultChannel: stable", "name: wick");
    let path = folder.path().to_str().expect("UTF-8");
    let (code, stdout, _) = run(&["-o", "sarif", path]);
    assert_eq!(code, Some(1));
    let log: Value = serde_json::from_str(&stdout).expect("JSON");
    let sarif: olmguard_report::Sarif = serde_json::from_str(&stdout).expect("SARIF");
    assert_eq!(serde_json::to_value(&sarif).expect("JSON"), log);
    assert_fits("tests/sarif/sarif-2.1.0.json", &log);
    assert_eq!(
        (&log["version"], &log["runs"][0]["tool"]["driver"]["name"]),
        (&"2.1.0".into(), &"olmguard".into())
    );
    let rules = log["runs"][0]["tool"]["driver"]["rules"]
        .as_array()
        .expect("rules");
    assert_eq!(rules.len(), Rule::all().len());
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["level"], "error");
    let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("small");
    assert_eq!(rules[index]["id"], result["ruleId"]);
    assert_eq!(
        result["locations"][0]["physicalLocation"]["region"]["startLine"],
        75
    );
}

#[test]
fn sentences_are_escaped_in_every_form_and_names_stand_as_they_are() {
    let hostile = "a\u{1b}[31m\u{202e}";
    let quoted = serde_json::to_string(hostile).expect("a text of JSON");
    let folder = changed(
        "  - name: wick.v0.1.0",
        &format!("  - name: wick.v0.1.0\n    skips: [{quoted}]\n  - name: {quoted}"),
    );
    let path = folder.path().to_str().expect("UTF-8");
    let (_, report) = json(folder.path(), &[]);
    let findings = report["findings"].as_array().expect("findings");
    let is_it = |one: &&Value| one["id"] == "entry-without-bundle";
    let upstream = findings.iter().find(is_it).expect("it")["upstream"].clone();
    let upstream = upstream.as_str().expect("a text");
    assert!(
        upstream.ends_with("for olm.channel entries [a\\x1b[31m\\u202e]"),
        "{upstream}"
    );
    let (_, stdout, _) = run(&["-o", "sarif", path]);
    let log: Value = serde_json::from_str(&stdout).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let is_it = |one: &&Value| one["ruleId"] == "entry-without-bundle";
    let message = results.iter().find(is_it).expect("it")["message"]["text"].clone();
    let message = message.as_str().expect("a text");
    assert!(
        message.contains("opm validate: no olm.bundle blobs found in package \"wick\""),
        "{message}"
    );
    assert!(!message.contains(['\u{1b}', '\u{202e}']), "{message}");

    let folder = changed("package: wick", &format!("package: {quoted}"));
    let report = json(folder.path(), &[]).1;
    let findings = report["findings"].as_array().expect("findings");
    let is_raw = |one: &Value| one["package"] == hostile;
    assert!(findings.iter().any(is_raw), "{report}");
}

#[test]
fn a_folder_and_a_file_give_the_same() {
    let text =
        include_str!("../lint/good.yaml").replace("defaultChannel: stable", "description: none");
    let folder = changed("defaultChannel: stable", "description: none");
    let (_, report) = json(folder.path(), &[]);
    let found = lint(&[written("catalog.yaml", text.as_bytes())]);
    let messages: Vec<_> = found.iter().map(|one| Value::from(&*one.message)).collect();
    let reported = report["findings"].as_array().expect("findings");
    let reported: Vec<_> = reported.iter().map(|one| one["message"].clone()).collect();
    assert_eq!(reported, messages);
}

#[test]
fn an_administrators_guardrails_are_checked_against_a_catalog() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("rules.yaml");
    let rules = |package: &str| {
        format!(
            "schema: olmguard.guardrails.v1alpha1\npackage: {package}\nrules:\n\
             - {{id: via, kind: PassThrough, via: \">=1.3.0\", reason: it migrates, bypassable: true}}\n"
        )
    };
    let ids = |package: &str| {
        fs::write(&file, rules(package)).expect("written");
        let flag = format!("--guardrails={}", file.display());
        let (code, report) = json(Path::new("examples/Guardrail/hub.yaml"), &[&flag]);
        let findings = report["findings"].as_array().expect("a list").iter();
        let id = |finding: &Value| {
            assert_eq!(finding["file"].as_str(), file.to_str());
            finding["id"].as_str().unwrap_or_default().to_owned()
        };
        (code, findings.map(id).collect::<Vec<_>>())
    };
    let never = vec!["guardrail-never-applies".to_owned()];
    assert_eq!(ids("lantern-operator"), (Some(0), never));
    let (_, unknown) = ids("lantern");
    assert_eq!(unknown, ["guardrail-of-unknown-package"]);
}

const POLICIES: &str = "\
apiVersion: olmguard.dev/v1alpha1
kind: UpgradePolicy
metadata: {name: prod}
spec:
  match: {packages: [lantern-operatr, 'other-*']}
  rules: {step: Tiny}
---
apiVersion: olmguard.dev/v1alpha1
kind: UpgradePolicy
metadata: {name: near}
spec: {match: {packages: [lantern-operator, lantern-operatr]}, rules: {step: Minor}}
---
apiVersion: olmguard.dev/v1alpha1
kind: UpgradeGuardrails
metadata: {name: lantern}
spec: {package: lantern-operator, rules: [{id: a, kind: MaxMinorStep, step: 0}]}
---
apiVersion: v1
kind: ConfigMap
";

/// Returns the places, rules and messages of the findings about policies in this text.
fn of_policies(text: &str, catalogs: &[&str]) -> (Option<i32>, Vec<String>) {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("policies.yaml");
    fs::write(&file, text).expect("a file");
    let file = file.to_str().expect("UTF-8");
    let (code, stdout, stderr) = run(&[&["-o", "json", "--policy", file], catalogs].concat());
    assert_eq!(stderr, "");
    let report: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_fits("schemas/olmguard.lint.v1.json", &report);
    let findings = report["findings"].as_array().expect("a list").iter();
    let own = findings.filter(|one| one["file"] == file);
    let told = own.map(|one| {
        let text = |key: &str| one[key].as_str().expect("a text").to_owned();
        format!(
            "{}:{}: {}: {}",
            one["line"],
            one["column"],
            text("id"),
            text("message")
        )
    });
    (code, told.collect())
}

#[test]
fn policies_are_checked_alone_and_beside_a_catalog() {
    let unread = [
        "6:17: policy-unreadable: UpgradePolicy prod is invalid, so olmguard denies every upgrade that it matches: \
         spec.rules.step: unknown value \"Tiny\": expected one of Patch, Minor, Major",
        "16:77: policy-unreadable: UpgradeGuardrails lantern is invalid, so olmguard denies every upgrade that it \
         matches: spec.rules[0].step: expected a whole number from 1, found 0",
    ];
    let alone = of_policies(POLICIES, &[]);
    assert_eq!(alone, (Some(1), unread.map(str::to_owned).to_vec()));
    let unknown = "11:45: policy-of-unknown-package: UpgradePolicy near is for package \"lantern-operatr\", which no \
                   catalog has; did you mean \"lantern-operator\"?";
    let beside = of_policies(POLICIES, &["examples/Resolved/hub.yaml"]);
    let [first, second] = unread;
    assert_eq!(
        beside,
        (
            Some(1),
            [first, unknown, second].map(str::to_owned).to_vec()
        )
    );
}

#[test]
fn a_policy_that_is_there_twice_is_found() {
    let twice = POLICIES
        .replace("name: near", "name: prod")
        .replace("Tiny", "Patch")
        .replace("step: 0", "step: 1");
    let (code, findings) = of_policies(&twice, &[]);
    assert_eq!(code, Some(1));
    assert!(
        findings[0].starts_with("8:1: policy-unreadable: UpgradePolicy prod is invalid"),
        "{findings:?}"
    );
    assert!(findings[0].ends_with("policies.yaml:1:1"), "{findings:?}");
}

#[test]
fn a_file_without_policies_ends_with_3() {
    for (file, told) in [
        (
            "nowhere.yaml",
            "error: nowhere.yaml: does not exist: expected a file or a directory\n",
        ),
        (
            GOOD,
            "error: --policy: found no UpgradePolicy or UpgradeGuardrails of olmguard.dev: expected at least one in the files\n",
        ),
    ] {
        let (code, stdout, stderr) = run(&["--policy", file]);
        assert_eq!((code, &*stdout, &*stderr), (Some(3), "", told));
    }
}
