//! Packages with many forbidden steps, each for many reasons: the first ones are shown, with a note that there are
//! more.

use std::path::Path;

use serde_json::{Value, json};

use crate::guardrail_cases::example::run;
use crate::guardrail_cases::plans::chain;
use olmguard_support::schema::assert_fits;

/// Writes a chain in which hundreds of rules forbid every step, and returns the flag for its catalog.
fn forbidden_chain(file: &str, length: u32) -> String {
    let rule = |at: usize| {
        json!({"id": format!("rule-{at:03}"), "kind": "PassThrough", "via": ">2.0.0 <1.0.0",
            "reason": "x".repeat(1000)})
    };
    let rules: Value = (0..256).map(rule).collect();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    std::fs::write(&path, chain(length, &rules)).unwrap();
    format!("--catalog=hub={}", path.display())
}

fn report(command: &str, words: &[&str], catalog: &str) -> Value {
    let words = [&[command, "chain-operator", "-o", "json", catalog], words].concat();
    let ran = run(&words, "");
    assert_eq!(ran.stderr, "", "{words:?}");
    assert!(ran.stdout.len() < 8 << 20, "{} bytes", ran.stdout.len());
    let report = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_fits(&format!("schemas/olmguard.{command}.v1.json"), &report);
    report
}

/// Checks for the first steps, and the first reasons of each.
#[track_caller]
fn assert_first(steps: &Value) {
    let steps = steps.as_array().unwrap();
    assert_eq!(steps.len(), 32);
    for (at, step) in steps.iter().enumerate() {
        assert_eq!(step["from"], format!("1.{at}.0"));
        let reasons = step["guardrails"].as_array().unwrap();
        assert_eq!((reasons.len(), &step["more"]), (32, &json!(224)));
        assert_eq!(reasons[0]["rule"], "rule-000");
    }
}

#[test]
fn path_tells_the_first_forbidden_steps_and_says_so_where_there_are_more() {
    let walk =
        "OLM goes on by itself for more than 32 steps: guardrails were applied to so many only";
    let edges = "the path without guardrails is longer than 32 steps: olmguard applied guardrails only to the first 32";
    for (length, v1, v0) in [
        (33, json!([]), json!([])),
        (34, json!([walk, edges]), json!([walk])),
    ] {
        let catalog = forbidden_chain("cases-many-path.json", length);
        let found = report("path", &["1.0.0"], &catalog);
        assert_first(&found["walks"][0]["forbidden"]);
        assert_first(&found["barred"]["forbidden"]);
        assert_eq!(found["notes"], v1);
        let words = ["1.0.0", "--olm=v0", "--channel=stable"];
        let found = report("path", &words, &catalog);
        assert_first(&found["walks"][0]["forbidden"]);
        assert_eq!(found["notes"], v0);
    }
}

#[test]
fn explain_tells_the_first_too() {
    let catalog = forbidden_chain("cases-many-explain.json", 34);
    let found = report("explain", &["1.0.0", "1.1.0"], &catalog);
    assert_first(&found["olm"]["unpinned_forbidden"]);
    let note =
        "OLM goes on by itself for more than 32 steps: guardrails were applied to so many only";
    assert_eq!(found["notes"], json!([note]));
}
