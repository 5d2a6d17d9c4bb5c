use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{happened, result, runs};
use crate::cli::Exit;
use olmguard_engine::judge::Token;

static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sarif/sarif-2.1.0.json");
    let schema = std::fs::read(path).expect("the committed schema");
    let schema = serde_json::from_slice(&schema).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
});

fn fault(log: &Value) -> Option<String> {
    let fault = SCHEMA.validate(log).err();
    fault.map(|fault| format!("{}: {fault}", fault.instance_path()))
}

#[test]
fn a_refusal_with_its_rule_and_its_place() {
    let texts = [
        "lamp",
        "apps/a b.yaml",
        "p: refused [NotASuccessor]",
        "1.0",
        "old",
    ];
    let run = happened(vec![result(Token::NotASuccessor, Exit::Denied, texts)]);
    let log = serde_json::to_value(run.run().sarif(Exit::Denied)).unwrap();
    let run = &log["runs"][0];
    let rules = run.pointer("/tool/driver/rules").unwrap();
    assert_eq!(rules[0]["id"], "NotASuccessor");
    assert_eq!(rules[1]["id"], "Warning");
    let help = rules[0]
        .pointer("/help/markdown")
        .unwrap()
        .as_str()
        .unwrap();
    assert!(help.starts_with("# NotASuccessor\n"), "{help}");
    let result = &run["results"][0];
    assert_eq!(result["level"], "error");
    assert_eq!(result["ruleIndex"], 0);
    assert_eq!(
        result["locations"],
        json!([{"physicalLocation": {
            "artifactLocation": {"uri": "apps/a%20b.yaml"},
            "region": {"startLine": 11, "startColumn": 16},
        }}])
    );
    assert_eq!(run["results"][1]["message"]["text"], "lamp: old");
    assert_eq!(run["results"][1]["level"], "warning");
    assert_eq!(
        run["invocations"],
        json!([{"executionSuccessful": true, "exitCode": 1, "toolExecutionNotifications": []}])
    );
}

#[test]
fn a_fingerprint_outlives_its_place_but_not_its_answer() {
    let fingerprint = |token, line| {
        let (ended, counts) = result(token, Exit::Denied, ["a", "f", "m", "1", ""]);
        let (mut case, answer) = std::rc::Rc::into_inner(ended).unwrap();
        case.place.at.line = line;
        let run = happened(vec![(std::rc::Rc::new((case, answer)), counts)]);
        let log = serde_json::to_value(run.run().sarif(Exit::Denied)).unwrap();
        log.pointer("/runs/0/results/0/partialFingerprints")
            .unwrap()
            .to_string()
    };
    assert_eq!(
        fingerprint(Token::Downgrade, 11),
        fingerprint(Token::Downgrade, 200)
    );
    assert_ne!(
        fingerprint(Token::Downgrade, 11),
        fingerprint(Token::NotASuccessor, 11)
    );
    let known = "{\"olmguardFileNameAnswer/v1\":\
                 \"9d4996eb29d6d7e6a598ccdebc0c733d5d1ceed1f373808980b82ea4cd63b792\"}";
    assert_eq!(fingerprint(Token::Downgrade, 11), known);
}

#[test]
fn a_fault_is_seen() {
    let run = happened(Vec::new());
    let mut log = serde_json::to_value(run.run().sarif(Exit::Good)).unwrap();
    assert_eq!(fault(&log), None);
    log["runs"][0]["invocations"][0]["exitCode"] = json!("0");
    assert!(fault(&log).is_some());
}

proptest! {
    #[test]
    fn it_fits_the_schema(happened in runs()) {
        let run = happened.run();
        let log = serde_json::to_value(run.sarif(Exit::Denied)).unwrap();
        prop_assert_eq!(fault(&log), None, "{}", log);
        let told = run.results.iter();
        let expected: usize = told
            .map(|told| usize::from(told.severity().is_some()) + told.warnings().count())
            .sum();
        let results = log["runs"][0]["results"].as_array().unwrap();
        prop_assert_eq!(results.len(), expected);
        let rules = log.pointer("/runs/0/tool/driver/rules").unwrap().as_array().unwrap();
        let mut used = BTreeSet::new();
        for result in results {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            prop_assert_eq!(&rules[index]["id"], &result["ruleId"]);
            used.insert(index);
        }
        prop_assert_eq!(used.len(), rules.len(), "a rule for nothing");
        let notes = log.pointer("/runs/0/invocations/0/toolExecutionNotifications");
        prop_assert_eq!(notes.unwrap().as_array().unwrap().len(), run.troubles.len());
    }
}
