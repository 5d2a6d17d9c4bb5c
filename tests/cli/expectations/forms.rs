//! The output formats for pipelines.

use roxmltree::Document;
use serde_json::Value;

use super::scene::{Scene, case, scene, suite};
use olmguard_support::junit::assert_is_junit;
use olmguard_support::schema::assert_fits;

/// Returns a suite that passes, one that fails with texts that are special in some format, and an
/// unreadable one.
fn all() -> Scene {
    let cases = case("a step", "1.1.0", "{verdict: allow}")
        + &case(
            "\"a\\e]]>|::%0A\\nleap\"",
            "1.3.0",
            "{verdict: allow, message: \"]]>\\n::error::\"}",
        )
        .replace("verdict: allow, ", "");
    scene(&[("a.yaml", &suite(&cases)), ("b.yaml", "schema: [")])
}

#[test]
fn json_fits_its_schema() {
    let ran = all().run(&["a.yaml", "b.yaml", "-o=json"]);
    assert_eq!(ran.code, Some(3));
    let report: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_fits("schemas/olmguard.tested.v1.json", &report);
    assert_eq!(
        report["summary"],
        serde_json::json!({"held": 1, "failed": 1})
    );
    assert_eq!(report["cases"][1]["differences"][0]["field"], "message");
}

#[test]
fn junit_is_xml() {
    let ran = all().run(&["a.yaml", "b.yaml", "-o=junit"]);
    assert_is_junit(&ran.stdout);
    let document = Document::parse(&ran.stdout).expect("XML");
    let count = |name: &str| {
        document
            .descendants()
            .filter(|node| node.has_tag_name(name))
            .count()
    };
    assert_eq!(
        (count("testcase"), count("failure"), count("error")),
        (3, 1, 1)
    );
    let failure = document
        .descendants()
        .find(|node| node.has_tag_name("failure"));
    let text = failure.and_then(|node| node.text()).expect("what differs");
    assert!(
        text.contains("message: expected a message with \"]]>\\n::error::\""),
        "{text}"
    );
}

#[test]
fn github_has_a_line_for_each_that_does_not_hold() {
    let ran = all().run(&["a.yaml", "b.yaml", "-o=github"]);
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[0].starts_with("::error title=olmguard test::b.yaml:1:"),
        "{lines:?}"
    );
    let begin =
        "::error file=a.yaml,line=8,col=9,title=a\\x1b]]>|%3A%3A%250A\\nleap::message%3A expected";
    let begin = begin.replace("message%3A", "message:");
    assert!(lines[1].starts_with(&begin), "{lines:?}");
}

#[test]
fn no_terminal_is_told_what_to_do() {
    let scene = all();
    for form in ["text", "json", "junit", "github"] {
        let ran = scene.run(&["a.yaml", "b.yaml", "-o", form]);
        assert!(
            !ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'),
            "{ran:?}"
        );
    }
}
