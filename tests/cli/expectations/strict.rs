//! Every mistake in a suite is an error, with its place and a fix.

use super::scene::{case, scene, suite};

#[track_caller]
fn refused(text: &str, expected: &str) {
    let ran = scene(&[("a.yaml", text)]).run(&["a.yaml"]);
    let stderr = format!("error: a.yaml:{expected}\n");
    assert_eq!((ran.code, &*ran.stderr), (Some(3), &*stderr), "{text}");
    assert_eq!(ran.stdout, "0 passed\n");
}

#[test]
fn of_the_suite() {
    let rows = [
        ("", " is empty: expected a suite, schema olmguard.test/v1"),
        ("a", "1:1: the suite is a string: expected a mapping"),
        (
            "cases: []",
            "1:1: schema is missing: expected olmguard.test/v1",
        ),
        (
            "schema: olmguard.test/v2",
            "1:9: schema is \"olmguard.test/v2\": expected olmguard.test/v1",
        ),
        (
            "schema: olmguard.test/v1",
            "1:1: cases is missing: expected a list of cases",
        ),
        (
            "schema: olmguard.test/v1\ncases: []",
            "2:8: cases is empty: expected at least one case",
        ),
        (
            "schema: olmguard.test/v1\ncase: []",
            "2:7: case is not known: did you mean cases?",
        ),
        (
            "schema: olmguard.test/v1\nzzz: []",
            "2:6: zzz is not known: expected one of schema, catalogs, clusterCatalogs, snapshot, \
             guardrails, policies, at, olmRelease, featureGates, cases",
        ),
        (
            "schema: olmguard.test/v1\ncatalogs: [a]",
            "2:11: catalogs is a list: expected a mapping",
        ),
        (
            "schema: olmguard.test/v1\ncatalogs: {hub: https://h.example/c}",
            "2:17: catalogs.hub: \"https://h.example/c\" has no digest: add #sha256=HEX to the \
             URL, as sha256sum prints it",
        ),
        (
            "schema: olmguard.test/v1\nolmRelease: 1.11",
            "2:13: olmRelease is a number: expected a string; put it in quotes to make it a string: \"1.11\"",
        ),
    ];
    for (text, expected) in rows {
        match expected.strip_prefix(' ') {
            Some(rest) => refused(text, &format!(" {rest}")),
            None => refused(text, expected),
        }
    }
}

#[test]
fn of_a_case() {
    let rows = [
        (
            "- {}",
            "4:3: cases[0].name is missing: expected what the case is about",
        ),
        (
            "- {name: a}",
            "4:3: cases[0].extension is missing: expected the extension after the edit",
        ),
        (
            "- {name: a, extension: {catalog: {}}}",
            "4:3: cases[0].expect is missing: expected what is expected of it",
        ),
        (
            "- {name: a, extension: {}, expect: {verdict: deny}}",
            "4:24: cases[0].extension is missing or given twice: expected file (and name, if the \
             file has several extensions), catalog (the fields of spec.source.catalog) or manifest",
        ),
        (
            "- {name: a, extension: {manifest: {kind: Pod}}, expect: {verdict: deny}}",
            "4:35: cases[0].extension.manifest is not an extension: expected its apiVersion and \
             kind",
        ),
        (
            "- {name: a, extension: {catalog: {}}, installed: {version: 1.10}, expect: {}}",
            "4:60: cases[0].installed.version is a number: expected a string; put it in quotes to \
             make it a string: \"1.10\"",
        ),
        (
            "- {name: a, extension: {catalog: {}}, installed: {versoin: a}, expect: {}}",
            "4:60: cases[0].installed.versoin is not known: did you mean version?",
        ),
    ];
    for (cases, expected) in rows {
        refused(&suite(cases), expected);
    }
}

#[test]
fn of_what_is_expected() {
    let rows = [
        (
            "{}",
            " expects nothing, so it could not fail: expected verdict, token, resolved, warnings or message",
        ),
        (
            "{message: []}",
            " expects nothing, so it could not fail: expected verdict, token, resolved, warnings or message",
        ),
        (
            "{verdict: allow, token: Downgrade}",
            " can never pass: Downgrade is a reason code of the verdict deny, but the expected \
             verdict is allow",
        ),
        (
            "{token: Downgrade, resolved: 1.0.0}",
            " can never pass: an answer with the verdict deny resolves to nothing",
        ),
        (
            "{verdict: allow, message: a}",
            " can never pass: an answer with the verdict allow has no message",
        ),
    ];
    for (expect, words) in rows {
        let text = suite(&case("a", "1.1.0", expect));
        refused(&text, &format!("7:11: cases[0].expect{words}"));
    }
    let rows = [
        (
            "{token: Downgrad}",
            "7:19: cases[0].expect.token is \"Downgrad\": expected one of a list that has Downgrade",
        ),
        (
            "{verdict: allowed}",
            "7:21: cases[0].expect.verdict is \"allowed\": expected one of a list that has allow",
        ),
        (
            "{verdict: x}",
            "7:21: cases[0].expect.verdict is \"x\": expected one of allow, deny, undecided, not_judged",
        ),
        (
            "{message: \"\"}",
            "7:21: cases[0].expect.message is empty: expected a string",
        ),
    ];
    for (expect, expected) in rows {
        refused(&suite(&case("a", "1.1.0", expect)), expected);
    }
}
