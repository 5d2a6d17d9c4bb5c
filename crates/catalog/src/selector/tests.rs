//! Selectors compared with the Go library.
//!
//! `tests/apimachinery.jsonl` has the answers of `LabelSelectorAsSelector` of k8s.io/apimachinery
//! v0.33.2, v0.34.1 and v0.36.2: `matches` for each of [`LABELS`], or `errors`, one for each of the
//! three versions.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// The label sets of the recorded `matches`, in order.
const LABELS: [&[(&str, &str)]; 4] = [
    &[],
    &[("team", "a")],
    &[("team", "b"), ("x", "")],
    &[("x", "y"), ("example.com/team", "a")],
];

const TEXTS: [SelectorTexts; 3] = [
    SelectorTexts::GoSyntax,
    SelectorTexts::Json,
    SelectorTexts::JsonBytes,
];

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect()
}

#[track_caller]
fn compile(selector: &Value, texts: SelectorTexts) -> Result<Selector, SelectorError> {
    Selector::compile(&LabelSelector::read(selector).unwrap(), texts)
}

#[test]
fn agrees_with_apimachinery() {
    for line in include_str!("tests/apimachinery.jsonl").lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        for (index, texts) in TEXTS.into_iter().enumerate() {
            let compiled = compile(&row["selector"], texts);
            let found = match compiled {
                Ok(selector) => json!(LABELS.map(|pairs| selector.matches(&labels(pairs)))),
                Err(error) => json!(error.to_string()),
            };
            let errors = &row["errors"];
            let want = if errors.is_null() {
                &row["matches"]
            } else {
                &errors[index]
            };
            assert_eq!(found, *want, "{texts:?}: {line}");
        }
    }
}

#[test]
fn absent_and_empty_select_everything() {
    let empty = compile(&json!({}), SelectorTexts::JsonBytes).unwrap();
    assert_eq!(empty, Selector::everything());
    assert!(LABELS.iter().all(|pairs| empty.matches(&labels(pairs))));
}

#[test]
fn a_text_of_many_faults_is_bounded() {
    let rows = [("team".to_owned(), 163), ("k".repeat(100_000), 2)];
    for (key, reported) in rows {
        let values = vec!["-"; 5_000];
        let written = json!({"key": key, "operator": "In", "values": values});
        let error = compile(
            &json!({"matchExpressions": [written]}),
            SelectorTexts::JsonBytes,
        );
        let error = error.unwrap_err();
        let SelectorError::InvalidRequirement { faults, omitted } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(faults.len(), reported);
        let of_values = faults.iter().filter(|fault| fault.starts_with("values["));
        assert_eq!(of_values.count() + omitted, 5_000);
        assert!(
            error
                .to_string()
                .ends_with(&format!(", ... ({omitted} more)]"))
        );
        assert!(error.to_string().len() < 400_000);
    }
}

proptest! {
    #[test]
    fn a_requirement_and_its_opposite_part_the_objects(
        key in "[a-c]", values in prop::collection::vec("[a-c]?", 1..3),
        labels in prop::collection::btree_map("[a-c]", "[a-c]?", 0..3),
    ) {
        let holds = |operator: &str, values: &[String]| {
            let written = json!({"key": key, "operator": operator, "values": values});
            compile(&json!({"matchExpressions": [written]}), SelectorTexts::Json)
                .unwrap()
                .matches(&labels)
        };
        prop_assert_ne!(holds("In", &values), holds("NotIn", &values));
        prop_assert_ne!(holds("Exists", &[]), holds("DoesNotExist", &[]));
    }

    #[test]
    fn compiling_never_panics_and_names_the_fault(
        key in any::<String>(), operator in "In|NotIn|Exists|DoesNotExist|.{0,3}",
        values in prop::option::of(prop::collection::vec(any::<String>(), 0..3)),
    ) {
        let written = json!({"key": key, "operator": operator, "values": values});
        for texts in TEXTS {
            if let Err(error) = compile(&json!({"matchExpressions": [written]}), texts) {
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }
}

/// Whether these are the faults that begin with these texts, in this order.
fn begin(faults: &[String], want: &[&str]) -> bool {
    let begins = |(fault, want): (&String, &&str)| fault.starts_with(want);
    faults.len() == want.len() && faults.iter().zip(want).all(begins)
}

#[test]
fn keys() {
    const NAME_EMPTY: &str = "name part must be non-empty";
    const NAME_SYNTAX: &str = "name part must consist of";
    const NAME_TOO_LONG: &str = "name part must be no more than 63 bytes";
    const PREFIX_EMPTY: &str = "prefix part must be non-empty";
    const PREFIX_SYNTAX: &str = "prefix part a lowercase RFC 1123 subdomain";
    const PREFIX_TOO_LONG: &str = "prefix part must be no more than 253 bytes";
    const TOO_MANY_PARTS: &str = "a valid label key must consist of";
    let long = "a".repeat(64);
    let long_prefix = format!("{}/a", "p".repeat(254));
    let rows: [(&str, &[&str]); 17] = [
        ("team", &[]),
        ("A-b_c.9", &[]),
        ("olm.operatorframework.io/metadata.name", &[]),
        (&long[..63], &[]),
        (&long_prefix[1..], &[]),
        ("", &[NAME_EMPTY, NAME_SYNTAX]),
        ("bad key!", &[NAME_SYNTAX]),
        ("-a", &[NAME_SYNTAX]),
        ("a.", &[NAME_SYNTAX]),
        (&long, &[NAME_TOO_LONG]),
        (&long_prefix, &[PREFIX_TOO_LONG]),
        ("/a", &[PREFIX_EMPTY]),
        ("/", &[PREFIX_EMPTY, NAME_EMPTY, NAME_SYNTAX]),
        ("Example.COM/team", &[PREFIX_SYNTAX]),
        ("a b/c d", &[PREFIX_SYNTAX, NAME_SYNTAX]),
        ("a/b/c", &[TOO_MANY_PARTS]),
        ("//", &[TOO_MANY_PARTS]),
    ];
    for (key, want) in rows {
        let faults = key_faults(key, SelectorTexts::JsonBytes);
        assert!(begin(&faults, want), "{key:?}: {faults:?}");
    }
}

#[test]
fn values() {
    const SYNTAX: &str = "a valid label must be an empty string or consist of";
    const TOO_LONG: &str = "must be no more than 63 bytes";
    let long = "é".repeat(32);
    let rows: [(&str, &[&str]); 8] = [
        ("", &[]),
        ("a", &[]),
        ("A_b.9-z", &[]),
        (" ", &[SYNTAX]),
        ("-a", &[SYNTAX]),
        ("a\n", &[SYNTAX]),
        ("not a label value", &[SYNTAX]),
        (&long, &[TOO_LONG, SYNTAX]),
    ];
    for (value, want) in rows {
        let faults = value_faults(value, SelectorTexts::JsonBytes);
        assert!(begin(&faults, want), "{value:?}: {faults:?}");
    }
}

mod label_selector {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::*;

    fn requirement(key: &str, operator: &str, values: Option<&[&str]>) -> LabelSelectorRequirement {
        LabelSelectorRequirement {
            key: key.to_owned(),
            operator: operator.to_owned(),
            values: values.map(|values| values.iter().map(|&value| value.to_owned()).collect()),
        }
    }

    #[test]
    fn null_is_the_zero_value() {
        for empty in [
            json!(null),
            json!({}),
            json!({"matchLabels": null, "matchExpressions": null}),
            json!({"matchlabels": {"a": "b"}, "other": 1}),
        ] {
            assert_eq!(
                LabelSelector::read(&empty),
                Ok(LabelSelector::default()),
                "{empty}"
            );
        }
        let read = LabelSelector::read(&json!({"matchLabels": {"b": null, "a": "x"}})).unwrap();
        let labels = [("a", "x"), ("b", "")].map(|(key, value)| (key.to_owned(), value.to_owned()));
        assert_eq!(read.match_labels, BTreeMap::from(labels));
    }

    #[test]
    fn expressions() {
        let rows = [
            (json!(null), requirement("", "", None)),
            (
                json!({"key": null, "operator": null, "values": null}),
                requirement("", "", None),
            ),
            (
                json!({"key": "a", "operator": "In", "values": []}),
                requirement("a", "In", Some(&[])),
            ),
            (
                json!({"key": "a", "operator": "In", "values": ["x", null]}),
                requirement("a", "In", Some(&["x", ""])),
            ),
        ];
        for (written, want) in rows {
            let read = LabelSelector::read(&json!({"matchExpressions": [written]})).unwrap();
            assert_eq!(read.match_expressions, [want]);
        }
    }

    #[test]
    fn wrong_types_name_the_field() {
        let rows = [
            (json!("team=a"), ": expected object, found string"),
            (
                json!({"matchLabels": []}),
                "matchLabels: expected object, found array",
            ),
            (
                json!({"matchLabels": {"a": 1}}),
                "matchLabels.a: expected string, found integer",
            ),
            (
                json!({"matchExpressions": {}}),
                "matchExpressions: expected array, found object",
            ),
            (
                json!({"matchExpressions": [{}, true]}),
                "matchExpressions[1]: expected object, found boolean",
            ),
            (
                json!({"matchExpressions": [{"key": 1.5}]}),
                "matchExpressions[0].key: expected string, found number",
            ),
            (
                json!({"matchExpressions": [{"operator": []}]}),
                "matchExpressions[0].operator: expected string, found array",
            ),
            (
                json!({"matchExpressions": [{"values": "a"}]}),
                "matchExpressions[0].values: expected array, found string",
            ),
            (
                json!({"matchExpressions": [{"values": ["a", 2]}]}),
                "matchExpressions[0].values[1]: expected string, found integer",
            ),
        ];
        for (written, want) in rows {
            let error = LabelSelector::read(&written).unwrap_err();
            assert_eq!(error.to_string(), want, "{written}");
        }
    }

    proptest! {
        #[test]
        fn what_was_read_was_written(
            labels in prop::collection::btree_map(".{0,6}", ".{0,6}", 0..4),
            values in prop::option::of(prop::collection::vec(".{0,6}", 0..4)),
            key in ".{0,6}",
        ) {
            let written = json!({
                "matchLabels": labels,
                "matchExpressions": [{"key": key, "operator": "In", "values": values}],
            });
            let read = LabelSelector::read(&written).unwrap();
            prop_assert_eq!(read.match_labels, labels);
            let want = LabelSelectorRequirement { key, operator: "In".to_owned(), values };
            prop_assert_eq!(read.match_expressions, [want]);
        }
    }
}
