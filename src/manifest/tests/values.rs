//! What a YAML document becomes, against sigs.k8s.io/yaml.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{documents, only};

/// One document as sigs.k8s.io/yaml reads it.
#[derive(Deserialize)]
struct Row {
    yaml: String,
    json: Value,
    #[serde(default)]
    refused: bool,
}

#[test]
fn documents_agree_with_sigs_yaml() {
    let lines = include_str!("../../../tests/vectors/yaml-documents.jsonl")
        .lines()
        .enumerate()
        .skip(1);
    for (n, line) in lines {
        let row: Row = serde_json::from_str(line).expect("vectors are well formed");
        let got = documents(row.yaml.as_bytes())
            .next()
            .expect("a document")
            .map(|read| read.value)
            .ok();
        let want = (!row.refused).then_some(row.json);
        assert_eq!(got, want, "yaml-documents.jsonl:{}: {line}", n + 1);
    }
}

#[test]
fn a_merge_is_no_duplicate_but_a_second_key_is() {
    let merged = only("x: &x {a: 1}\nz:\n  <<: *x\n  a: 2\n");
    assert_eq!(merged.value["z"], json!({"a": 2}));
    let twice = documents(b"x: &x {a: 1}\nz:\n  a: 2\n  <<: *x\n  a: 3\n").next();
    assert!(twice.expect("a document").is_err());
}
