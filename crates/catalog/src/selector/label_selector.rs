//! A label selector as written, and how it is read from JSON.
//!
//! Reads what Go's decoder makes of a `metav1.LabelSelector`: `null` anywhere is the zero value
//! (so `matchLabels: {a: null}` asks for the empty value), unknown fields are ignored, names are
//! compared exactly.

use std::collections::BTreeMap;

use crate::json::{Json, JsonType};

/// A `LabelSelector` of Kubernetes, as written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LabelSelector {
    /// `matchLabels`: key to value.
    pub match_labels: BTreeMap<String, String>,
    /// `matchExpressions`, in order.
    pub match_expressions: Vec<LabelSelectorRequirement>,
}

/// One entry of `matchExpressions`, as written.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct LabelSelectorRequirement {
    /// `key`; empty if absent.
    pub key: String,
    /// `operator`; empty if absent.
    pub operator: String,
    /// `values`; `None` if absent or null.
    pub values: Option<Vec<String>>,
}

/// A field of a selector has the wrong JSON type.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{path}: expected {expected}, found {found}")]
pub struct FieldTypeError {
    /// Where, below the selector: `matchExpressions[0].key`; empty for the selector itself.
    pub path: String,
    /// The type that the field has in the API.
    pub expected: JsonType,
    /// The type that was written.
    pub found: JsonType,
}

impl LabelSelector {
    /// Reads a selector; `null` reads as the empty one.
    ///
    /// # Errors
    /// The first field of the wrong type.
    pub fn read<'a>(value: impl Json<'a>) -> Result<Self, FieldTypeError> {
        let Some(fields) = object(Some(value), String::new)? else {
            return Ok(Self::default());
        };
        Ok(Self {
            match_labels: match_labels(fields.get("matchLabels"))?,
            match_expressions: match_expressions(fields.get("matchExpressions"))?,
        })
    }
}

fn match_labels<'a>(
    value: Option<impl Json<'a>>,
) -> Result<BTreeMap<String, String>, FieldTypeError> {
    let labels = object(value, || "matchLabels".to_owned())?;
    // One after the other: to collect so few takes longer.
    let mut read = BTreeMap::new();
    for (key, value) in labels.and_then(Json::entries).into_iter().flatten() {
        let value = string(Some(value), || format!("matchLabels.{key}"))?;
        read.insert(key.to_owned(), value);
    }
    Ok(read)
}

fn match_expressions<'a>(
    value: Option<impl Json<'a>>,
) -> Result<Vec<LabelSelectorRequirement>, FieldTypeError> {
    let expressions = array(value, || "matchExpressions".to_owned())?;
    let expressions = expressions.and_then(Json::items).into_iter().flatten();
    expressions
        .enumerate()
        .map(|(index, value)| expression(index, value))
        .collect()
}

fn expression<'a>(
    index: usize,
    value: impl Json<'a>,
) -> Result<LabelSelectorRequirement, FieldTypeError> {
    let at = |name: &str| format!("matchExpressions[{index}]{name}");
    let Some(fields) = object(Some(value), || at(""))? else {
        return Ok(LabelSelectorRequirement::default());
    };
    let values = array(fields.get("values"), || at(".values"))?;
    Ok(LabelSelectorRequirement {
        key: string(fields.get("key"), || at(".key"))?,
        operator: string(fields.get("operator"), || at(".operator"))?,
        values: values
            .and_then(Json::items)
            .map(|values| strings(values, |item| at(&format!(".values[{item}]"))))
            .transpose()?,
    })
}

fn strings<'a, J: Json<'a>>(
    values: impl Iterator<Item = J>,
    at: impl Fn(usize) -> String,
) -> Result<Vec<String>, FieldTypeError> {
    values
        .enumerate()
        .map(|(index, value)| string(Some(value), || at(index)))
        .collect()
}

fn string<'a>(
    value: Option<impl Json<'a>>,
    at: impl Fn() -> String,
) -> Result<String, FieldTypeError> {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return Ok(String::new());
    };
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| wrong_type(value, JsonType::String, at()))
}

/// A list, if there is something.
fn array<'a, J: Json<'a>>(
    value: Option<J>,
    at: impl Fn() -> String,
) -> Result<Option<J>, FieldTypeError> {
    typed(value, JsonType::Array, at)
}

/// A map, if there is something.
fn object<'a, J: Json<'a>>(
    value: Option<J>,
    at: impl Fn() -> String,
) -> Result<Option<J>, FieldTypeError> {
    typed(value, JsonType::Object, at)
}

fn typed<'a, J: Json<'a>>(
    value: Option<J>,
    expected: JsonType,
    at: impl Fn() -> String,
) -> Result<Option<J>, FieldTypeError> {
    match value.filter(|value| !value.is_null()) {
        Some(value) if value.kind() != expected => Err(wrong_type(value, expected, at())),
        value => Ok(value),
    }
}

fn wrong_type<'a>(value: impl Json<'a>, expected: JsonType, path: String) -> FieldTypeError {
    FieldTypeError {
        path,
        expected,
        found: value.kind(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

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
