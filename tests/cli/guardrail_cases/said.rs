//! The exact output of each command for each example.

use serde_json::Value;

use crate::guardrail_cases::example::{A, B, C, D, Example, run};
use olmguard_fixtures::committed::compare;
use olmguard_support::schema::assert_fits;

/// An example, the installed version, and the target of a direct upgrade.
const ASKED: [(Example, &str, &str); 4] = [
    (A, "1.2.3", "1.5.0"),
    (B, "1.2.7", "1.3.4"),
    (C, "1.0.0", "2.0.0"),
    (D, "1.0.0", "1.5.0"),
];

/// Compares the output of a command, preceded by its arguments.
fn says(example: Example, command: &str, words: &[&str], stdin: &str) {
    let ran = example.run(words, stdin);
    assert_eq!(ran.stderr, "", "{words:?}");
    let asked: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    let code = ran.code.expect("it ends by itself");
    let text = format!(
        "$ olmguard {} --catalog {}\n{}exit code {code}\n",
        asked.join(" "),
        example.catalog(),
        ran.stdout
    );
    compare(
        &format!("tests/guardrails/cases/{}/{command}", example.file),
        &text,
    );
}

fn quoted(word: &str) -> String {
    if word.contains(['<', '>', ' ']) {
        format!("'{word}'")
    } else {
        word.to_owned()
    }
}

#[test]
fn check_in_words() {
    for (example, from, to) in ASKED {
        let pinned = example.extension(from, Some(to)).to_string();
        says(example, "check.txt", &["check", "-f", "-"], &pinned);
        let unbound = example.extension(from, None).to_string();
        says(
            example,
            "check-unbound.txt",
            &["check", "-f", "-"],
            &unbound,
        );
    }
}

#[test]
fn path_in_words() {
    for (example, from, to) in ASKED {
        says(
            example,
            "path.txt",
            &["path", example.package, from, to],
            "",
        );
        says(example, "path-up.txt", &["path", example.package, from], "");
        let words = [
            "path",
            example.package,
            from,
            "--olm",
            "v0",
            "--channel",
            "stable",
        ];
        says(example, "path-v0.txt", &words, "");
    }
}

#[test]
fn explain_in_words() {
    for (example, from, to) in ASKED {
        says(
            example,
            "explain.txt",
            &["explain", example.package, from, to],
            "",
        );
        let words = [
            "explain",
            example.package,
            from,
            to,
            "--olm",
            "v0",
            "--channel",
            "stable",
        ];
        says(example, "explain-v0.txt", &words, "");
    }
}

#[test]
fn versions_in_words() {
    for (example, from, _) in ASKED {
        let words = ["versions", example.package, "--installed", from];
        says(example, "versions.txt", &words, "");
    }
}

#[test]
fn graph_as_mermaid() {
    for (example, from, _) in ASKED {
        let words = ["graph", example.package, "--from", from, "-o", "mermaid"];
        says(example, "graph.txt", &words, "");
    }
}

#[test]
fn lint_in_words() {
    for (example, ..) in ASKED {
        let file = format!("tests/guardrails/cases/{}.yaml", example.file);
        let ran = run(&["lint", &file], "");
        let code = ran.code.expect("it ends by itself");
        let text = format!("$ olmguard lint {file}\n{}exit code {code}\n", ran.stdout);
        compare(
            &format!("tests/guardrails/cases/{}/lint.txt", example.file),
            &text,
        );
    }
}

#[test]
fn json_has_the_rule_by_whom_where_and_why() {
    for (command, words) in [
        (
            "explain",
            &["explain", A.package, "1.2.3", "1.5.0"] as &[&str],
        ),
        ("versions", &["versions", A.package, "--installed", "1.2.3"]),
        ("path", &["path", A.package, "1.2.3", "1.5.0"]),
        ("graph", &["graph", A.package, "--from", "1.2.3"]),
    ] {
        let ran = A.run(&[words, &["-o", "json"]].concat(), "");
        let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
        assert_fits(&format!("schemas/olmguard.{command}.v1.json"), &report);
        let reason = match command {
            "explain" => &report["olm"]["guardrails"][0],
            "path" => &report["hops"][0]["bent_by"]["guardrails"][0],
            _ => &report["guardrails"][0],
        };
        let expected = serde_json::json!({
            "rule": "via-1.3", "kind": "PassThrough", "by": "author", "place": "hub",
            "reason": "1.3 migrates the database; 1.4 has no migration code", "lifted": false,
            "text": "via-1.3 (through >=1.3.0 <1.4.0-0) by the author, in catalog hub: \
                     1.3 migrates the database; 1.4 has no migration code",
        });
        assert_eq!(*reason, expected, "{command}");
        if command == "versions" {
            let bundle = &report["catalogs"][0]["bundles"][0];
            assert_eq!(bundle["guardrails"], serde_json::json!([0]));
        }
    }
}

#[test]
fn a_picture_says_how_much_is_forbidden_by_what_and_why() {
    let told = "Guardrails forbid 6 steps: via-1.3.";
    let classic = "Guardrails forbid 6 steps: via-1.3. OLM v0 ignores guardrails.";
    let why = "4 versions, of which guardrails forbid 2&#10;forbidden: via-1.3 (through &gt;=1.3.0 \
               &lt;1.4.0-0) by the author, in catalog hub: 1.3 migrates the database; 1.4 has no migration code";
    for (olm, told) in [("v1", told), ("v0", classic)] {
        let ran = A.run(&["graph", A.package, "-o", "svg", "--olm", olm], "");
        for part in [told, ">forbidden by guardrails<", why] {
            assert!(ran.stdout.contains(part), "{olm}: {part}: {}", ran.stdout);
        }
    }
}
