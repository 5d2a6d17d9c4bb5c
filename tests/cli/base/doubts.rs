//! Cases in which the base does not show the earlier state.

use super::repository::{CATALOG, Repository, tokens};
use crate::check::scene::asking;

fn version(name: &str, version: &str) -> String {
    asking(name, &format!("version: {version}"))
}

#[test]
fn a_base_that_does_not_parse_leaves_open_what_it_may_hold() {
    let broken = version("a", "1.0.0").replace("source:", "source: [");
    let repository = Repository::with(&[
        ("apps/a.yaml", &broken),
        ("apps/b.yaml", &version("b", "1.0.0")),
        ("apps/other.yaml", "no: [extension\n"),
    ]);
    repository.write(&[
        ("apps/a.yaml", &version("a", "1.3.0")),
        ("apps/b.yaml", &version("b", "1.3.0")),
        ("apps/c.yaml", &version("lantern-a", "1.3.0")),
        ("apps/other.yaml", "an: [other]\n"),
    ]);
    let ran = repository.run(&["-f", "apps", CATALOG, "--base=main", "-o=json"]);
    let expected = [
        "a unknown InstalledUnknown",
        "b changed NotASuccessor",
        "lantern-a added Resolved",
    ];
    let report = ran.json();
    assert_eq!(
        (ran.code, tokens(&report)),
        (3, expected.map(str::to_owned).to_vec())
    );
    assert_eq!(
        report["results"][0]["message"],
        "lantern-operator: unknown -> 1.3.0 undecided: the installed version is unknown: the base \
         does not show it [InstalledUnknown]\nCause: main:apps/a.yaml cannot be read completely\nUse a \
         base that can be read and has the extension once, or set --installed.\nHelp: olmguard explain \
         InstalledUnknown"
    );
    let found = repository.findings("repo", &["-f", "apps", CATALOG, "--base=main"]);
    let expected = ["InstalledUnknown", "NotASuccessor"].map(str::to_owned);
    assert_eq!(found, (3, expected.to_vec()));
    let errors: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(errors.len(), 1, "{}", ran.stderr);
    assert!(
        errors[0].starts_with("error: main:apps/a.yaml:"),
        "{}",
        errors[0]
    );
    let (code, report) = repository.json("main", &["--installed=a=1.2.0"]);
    assert_eq!((code, &*tokens(&report)[0]), (3, "a unknown Resolved"));
}

#[test]
fn conflict_markers_in_the_base_are_no_document() {
    let conflict = format!(
        "<<<<<<< HEAD\n{0}=======\n{0}>>>>>>> x\n",
        version("a", "1.0.0")
    );
    let repository = Repository::with(&[("apps/a.yaml", &conflict)]);
    repository.write(&[("apps/a.yaml", &version("a", "1.3.0"))]);
    let ran = repository.run(&["-f", "apps", CATALOG, "--base=main"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let words = "error: main:apps/a.yaml:1:1: found the conflict marker \"<<<<<<<\" of a merge";
    assert!(ran.stderr.starts_with(words), "{}", ran.stderr);
}

#[test]
fn a_template_in_the_base_is_no_error_and_no_base() {
    let template = version("a", "{{ .Values.version }}");
    let repository = Repository::with(&[("apps/a.yaml", &template)]);
    repository.write(&[
        ("apps/a.yaml", &version("a", "1.3.0")),
        ("apps/b.yaml", &version("b", "1.3.0")),
    ]);
    let (code, report) = repository.json("main", &[]);
    let expected = ["a unknown InstalledUnknown", "b added Resolved"];
    assert_eq!(
        (code, tokens(&report)),
        (4, expected.map(str::to_owned).to_vec())
    );
}

#[test]
fn one_that_was_there_twice_is_not_known() {
    let repository = Repository::with(&[
        ("apps/one/a.yaml", &version("a", "1.0.0")),
        ("apps/two/b.yaml", &version("a", "1.2.0")),
        ("apps/one/c.yaml", &version("c", "1.0.0")),
        (
            "apps/two/d.yaml",
            &format!("# again\n{}", version("c", "1.0.0")),
        ),
    ]);
    repository.remove("apps/one/a.yaml");
    repository.remove("apps/one/c.yaml");
    repository.write(&[
        ("apps/two/b.yaml", ""),
        ("apps/new.yaml", &version("a", "1.3.0")),
        ("apps/two/d.yaml", &version("c", "1.1.0")),
    ]);
    let (code, report) = repository.json("main", &[]);
    let expected = ["a unknown InstalledUnknown", "c changed Resolved"];
    assert_eq!(
        (code, tokens(&report)),
        (4, expected.map(str::to_owned).to_vec())
    );
    let message = report["results"][0]["message"].as_str().expect("a message");
    let twice = "Cause: it is defined twice, at main:apps/one/a.yaml:11:16 and at \
                 main:apps/two/b.yaml:11:16\n";
    assert!(message.contains(twice), "{message}");
}

#[test]
fn what_an_unreadable_input_may_hold_is_not_removed() {
    let repository = Repository::with(&[
        ("apps/a.yaml", &version("a-broken", "1.0.0")),
        ("apps/b.yaml", &version("b-gone", "1.0.0")),
    ]);
    repository.remove("apps/b.yaml");
    repository.write(&[("apps/a.yaml", "name: a-broken\nspec: [\n")]);
    let (code, report) = repository.json("main", &[]);
    let removed = report["base"]["removed"].as_array().expect("a list");
    assert_eq!((code, removed.len()), (3, 1), "{report}");
    assert_eq!(removed[0]["name"], "b-gone");
}

#[test]
fn a_range_that_resolves_to_nothing_is_warned_of() {
    let repository = Repository::with(&[
        ("apps/a.yaml", &version("a", "'>=7'")),
        ("apps/b.yaml", &asking("b", "version: [1]")),
    ]);
    repository.write(&[
        ("apps/a.yaml", &version("a", "1.3.0")),
        ("apps/b.yaml", &version("b", "1.3.0")),
    ]);
    let (code, report) = repository.json("main", &[]);
    let expected = ["a changed Resolved", "b changed Resolved"];
    assert_eq!(
        (code, tokens(&report)),
        (0, expected.map(str::to_owned).to_vec())
    );
    for (result, token) in [(0, "VersionNotFound"), (1, "InvalidSpec")] {
        let warning = format!(
            "what the base requests resolves to nothing now [{token}]: checked as a new \
             installation"
        );
        assert_eq!(report["results"][result]["warnings"][0], warning);
        assert_eq!(
            report["results"][result]["installed"],
            serde_json::Value::Null
        );
    }
}

#[test]
fn a_base_that_is_undecided_says_nothing_of_what_is_installed() {
    let lacking = "selector: {matchLabels: {olm.operatorframework.io/metadata.name: lacking}}";
    let repository = Repository::with(&[("apps/a.yaml", &asking("a", lacking))]);
    repository.write(&[("apps/a.yaml", &version("a", "1.3.0"))]);
    let (code, report) = repository.json("main", &[]);
    assert_eq!(
        (code, tokens(&report)),
        (4, vec!["a changed InstalledUnknown".to_owned()])
    );
    let message = report["results"][0]["message"].as_str().unwrap_or_default();
    let cause = "Cause: it is undecided what the base resolves to now [NoCatalogs]";
    assert!(message.lines().any(|line| line == cause), "{message}");
}

#[test]
fn an_object_without_a_name_is_known_again_only_unchanged() {
    let nameless = |to: &str| version("x", to).replace("name: x", "generateName: x-");
    let repository = Repository::with(&[("apps/a.yaml", &nameless("1.0.0"))]);
    assert_eq!(repository.tokens("main", &[]), [""; 0]);
    repository.write(&[("apps/a.yaml", &nameless("1.1.0"))]);
    let (_, report) = repository.json("main", &[]);
    assert_eq!(tokens(&report), ["- added Resolved"]);
    assert_eq!(report["base"]["removed"], serde_json::json!([]));
}

#[test]
fn a_version_that_is_not_known_is_not_judged_and_no_base() {
    let newer = |to: &str| version("a", to).replace("io/v1\n", "io/v7\n");
    let repository = Repository::with(&[("apps/a.yaml", &newer("1.0.0"))]);
    assert_eq!(repository.tokens("main", &[]), [""; 0]);
    repository.write(&[("apps/a.yaml", &newer("1.1.0"))]);
    assert_eq!(repository.tokens("main", &[]), ["a changed NotJudged"]);
    repository.write(&[("apps/a.yaml", &version("a", "1.3.0"))]);
    assert_eq!(repository.tokens("main", &[]), ["a changed Resolved"]);
}
