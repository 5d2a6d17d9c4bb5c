//! Cases that pass, that fail, and that cannot be run.

use super::scene::{Ran, case, scene, suite};
use olmguard_fixtures::committed::compare;

#[test]
fn what_holds_is_a_line() {
    let scene = scene(&[(
        "a.yaml",
        &suite(&case("a step", "1.1.0", "{verdict: allow}")),
    )]);
    let expected = Ran {
        code: Some(0),
        stdout: "ok    a.yaml:4:9: a step\n1 passed\n".to_owned(),
        stderr: String::new(),
    };
    assert_eq!(scene.run(&["a.yaml"]), expected);
}

/// A page shows the output, and would show a failure as well.
#[test]
fn the_suite_of_the_examples_holds() {
    let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/suites/lantern.yaml");
    let ran = scene(&[]).run(&[suite]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[test]
fn what_does_not_hold_says_what_differs_and_the_whole_answer() {
    let cases = case("a step", "1.1.0", "{token: Resolved, resolved: 1.1.0}")
        + &case(
            "a leap",
            "1.3.0",
            "{verdict: allow, token: Resolved, resolved: 1.3.0}",
        )
        + &case(
            "texts",
            "1.3.0",
            "{warnings: deprecated, message: [Allowed next, Downgrade]}",
        );
    let scene = scene(&[("a.yaml", &suite(&cases))]);
    let ran = scene.run(&["a.yaml"]);
    assert_eq!((ran.code, &*ran.stderr), (Some(1), ""));
    compare("tests/cli/expectations/differs.txt", &ran.stdout);
}

#[test]
fn each_key_of_what_is_expected_can_fail() {
    let deprecated = "[]";
    for (version, expect, code) in [
        ("1.1.0", "{verdict: allow}", 0),
        ("1.1.0", "{verdict: deny}", 1),
        ("1.1.0", "{token: Resolved}", 0),
        ("1.1.0", "{token: Unchanged}", 1),
        ("1.1.0", "{resolved: 1.1.0}", 0),
        ("1.1.0", "{resolved: 1.2.0}", 1),
        ("1.3.0", "{resolved: 1.3.0}", 1),
        ("1.1.0", &format!("{{warnings: {deprecated}}}"), 0),
        ("1.1.0", "{warnings: [a]}", 1),
        ("1.3.0", "{message: is not a successor of 1.0.0}", 0),
        ("1.3.0", "{message: [is not a successor, nowhere]}", 1),
        ("1.1.0", "{message: a}", 1),
    ] {
        let scene = scene(&[("a.yaml", &suite(&case("a", version, expect)))]);
        let ran = scene.run(&["a.yaml"]);
        assert_eq!(ran.code, Some(code), "{version} {expect}: {ran:?}");
    }
}

#[test]
fn a_warning_that_should_not_be_is_told() {
    let old = "- name: open\n  extension: {catalog: {packageName: lantern-operator}}\n  \
               installed: {version: 1.0.0}\n  old: {range: 1.0.x}\n  expect: {warnings: []}\n";
    let ran = scene(&[("a.yaml", &suite(old))]).run(&["a.yaml"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.stdout.contains("warnings: expected no warning\n"),
        "{ran:?}"
    );
    assert!(
        ran.stdout
            .contains("the range no longer has an upper bound"),
        "{ran:?}"
    );
}

#[test]
fn an_extension_may_stand_in_a_file_or_whole() {
    let two = "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\nmetadata: {name: a}\n\
               spec: &spec\n  namespace: a\n  serviceAccount: {name: a}\n  source:\n    \
               sourceType: Catalog\n    catalog: {packageName: lantern-operator, version: 1.3.0}\n\
               ---\napiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\n\
               metadata: {name: b}\nspec: {namespace: b, serviceAccount: {name: b}, source: {sourceType: \
               Catalog, catalog: {packageName: lantern-operater}}}\n";
    let of = |extension: &str, expect: &str| {
        format!("- name: a\n  extension: {extension}\n  expect: {expect}\n")
    };
    let whole = "{manifest: {apiVersion: olm.operatorframework.io/v1, kind: ClusterExtension, \
                 metadata: {name: c}, spec: {}}}";
    let rows = [
        (
            of("{file: apps/two.yaml, name: a}", "{token: Resolved}"),
            0,
            "",
        ),
        (
            of("{file: apps/two.yaml, name: b}", "{token: PackageNotFound}"),
            0,
            "",
        ),
        (of(whole, "{token: InvalidSpec}"), 0, ""),
        (
            of("{file: apps/two.yaml}", "{verdict: deny}"),
            3,
            "error: suites/a.yaml:4:9: suites/../apps/two.yaml: has 2 extensions: add name next to \
             file, with the name of one of them\n",
        ),
        (
            of("{file: apps/two.yaml, name: c}", "{verdict: deny}"),
            3,
            "error: suites/a.yaml:4:9: suites/../apps/two.yaml: has no extension \"c\": expected \
             one of a, b\n",
        ),
    ];
    for (cases, code, stderr) in rows {
        let cases = cases.replace("apps/", "../apps/");
        let text = suite(&cases).replace("hub.yaml", "../hub.yaml");
        let scene = scene(&[("apps/two.yaml", two), ("suites/a.yaml", &text)]);
        let ran = scene.run(&["suites/a.yaml"]);
        assert_eq!(
            (ran.code, &*ran.stderr),
            (Some(code), stderr),
            "{cases}: {ran:?}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_tried() {
    let good = suite(&case("a", "1.1.0", "{verdict: allow}"));
    let lost = good.replace("hub.yaml", "lost.yaml");
    let text = format!("{good}---\nschema: [\n---\n{lost}");
    let scene = scene(&[("a.yaml", &text)]);
    let ran = scene.run(&["a.yaml", "no/such.yaml"]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.stdout.starts_with("ok    a.yaml:4:9: a\nFAIL  "),
        "{ran:?}"
    );
    let said: Vec<_> = ran.stderr.lines().collect();
    assert_eq!(said.len(), 3, "{said:?}");
    assert!(said[0].starts_with("error: a.yaml:9:"), "{said:?}");
    assert!(
        said[1].starts_with("error: a.yaml: catalog \"hub\": lost.yaml: cannot open: "),
        "{said:?}"
    );
    assert!(said[2].starts_with("error: no/such.yaml: "), "{said:?}");
}

#[test]
fn cases_are_chosen_by_their_names() {
    let cases =
        case("a step", "1.1.0", "{verdict: allow}") + &case("a leap", "1.3.0", "{verdict: allow}");
    let scene = scene(&[("a.yaml", &suite(&cases))]);
    assert_eq!(scene.run(&["a.yaml"]).code, Some(1));
    let ran = scene.run(&["a.yaml", "--filter", "step"]);
    assert_eq!(
        (ran.code, &*ran.stdout),
        (Some(0), "ok    a.yaml:4:9: a step\n1 passed\n")
    );
    let ran = scene.run(&["a.yaml", "--filter", "stride"]);
    assert_eq!((ran.code, &*ran.stdout), (Some(2), ""));
    assert_eq!(
        ran.stderr,
        "error: --filter: no case has \"stride\" in its name\n"
    );
}

#[test]
fn the_help_is_as_committed() {
    let ran = scene(&[]).run(&["--help"]);
    assert_eq!(ran.code, Some(0));
    compare("tests/cli/expectations/help.txt", &ran.stdout);
}
