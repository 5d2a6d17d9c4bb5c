//! Label selectors of a ClusterExtension: how they are read and compiled, and which catalogs they
//! select.
//!
//! Mirrors k8s.io/apimachinery: `LabelSelectorAsSelector` ([`pkg/apis/meta/v1/helpers.go`]) and
//! `NewRequirement` ([`pkg/labels/selector.go`]), as operator-controller's resolver calls them.
//! `matchLabels` comes first, then `matchExpressions`. Compilation stops at the first invalid
//! requirement, and all faults of that requirement are reported.
//!
//! Invariant: the requirements of a [`Selector`] are valid. An object must meet all of them.
//!
//! [`pkg/apis/meta/v1/helpers.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/apis/meta/v1/helpers.go
//! [`pkg/labels/selector.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/labels/selector.go

mod error;

use std::collections::BTreeMap;

use crate::dns1123;
use crate::json::{Json, JsonType};
use crate::selector::error::{
    NAME_SYNTAX, OPTIONAL_PREFIX, SUBDOMAIN_SYNTAX, VALUE_SYNTAX, VALUES_MISSING, VALUES_UNEXPECTED,
};
use crate::version::go;

pub use crate::selector::error::{SelectorError, SelectorTexts};

/// A compiled label selector.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selector {
    requirements: Vec<Requirement>,
}

impl Selector {
    /// Compiles `selector`. A selector without requirements selects everything.
    ///
    /// Upstream visits `matchLabels` in no defined order; here it is the byte order of the keys.
    ///
    /// # Errors
    /// The first requirement that apimachinery would reject, in the wording of the release that
    /// `texts` names.
    pub fn compile(selector: &LabelSelector, texts: SelectorTexts) -> Result<Self, SelectorError> {
        let labels = selector.match_labels.iter();
        let labels = labels.map(|(key, value)| {
            Requirement::new(key, SelectorOperator::In, &[value.as_str()], texts)
        });
        let expressions = selector.match_expressions.iter();
        let expressions = expressions.map(|written| Requirement::expression(written, texts));
        let requirements = labels.chain(expressions).collect::<Result<_, _>>()?;
        Ok(Self { requirements })
    }

    /// The selector that selects every catalog, for an extension without a selector.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Whether the selector has no requirements.
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// A label that every selected object has, and the values that it can have. If there are
    /// several, the first one is returned. An index of selectors uses it as its key.
    pub fn required_label(&self) -> Option<(&str, &[Box<str>])> {
        self.requirements.iter().find_map(Requirement::listed)
    }

    /// Whether an object with these labels is selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.holds(labels))
    }
}

// === One requirement on the labels of an object ===
//
// Mirrors `NewRequirement` and `Requirement.Matches` of k8s.io/apimachinery
// ([`pkg/labels/selector.go`]). The operator is checked first. Then all faults are collected in
// this order: key, number of values, each value.
//
// [`pkg/labels/selector.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/labels/selector.go

/// A condition on one label.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Requirement {
    key: Box<str>,
    operator: SelectorOperator,
    /// Invariant: not empty for `In` and `NotIn`, empty for the other operators.
    values: Vec<Box<str>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum SelectorOperator {
    DoesNotExist,
    Exists,
    In,
    NotIn,
}

impl Requirement {
    /// An entry of `matchExpressions`.
    fn expression(
        written: &LabelSelectorRequirement,
        texts: SelectorTexts,
    ) -> Result<Self, SelectorError> {
        let operator = SelectorOperator::parse(&written.operator)?;
        let values: Vec<&str> = written
            .values
            .iter()
            .flatten()
            .map(String::as_str)
            .collect();
        Self::new(&written.key, operator, &values, texts)
    }

    fn new(
        key: &str,
        operator: SelectorOperator,
        values: &[&str],
        texts: SelectorTexts,
    ) -> Result<Self, SelectorError> {
        let (faults, omitted) = faults(key, operator, values, texts);
        if !faults.is_empty() {
            return Err(SelectorError::InvalidRequirement { faults, omitted });
        }
        let values = values.iter().map(|&value| value.into()).collect();
        Ok(Self {
            key: key.into(),
            operator,
            values,
        })
    }

    /// The key and its values, if the label must have one of them.
    fn listed(&self) -> Option<(&str, &[Box<str>])> {
        (self.operator == SelectorOperator::In).then_some((&*self.key, &*self.values))
    }

    /// Whether the labels meet this requirement. `NotIn` is also met if the key is missing.
    fn holds(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&*self.key);
        let listed = || value.is_some_and(|value| self.values.iter().any(|have| **have == **value));
        match self.operator {
            SelectorOperator::DoesNotExist => value.is_none(),
            SelectorOperator::Exists => value.is_some(),
            SelectorOperator::In => listed(),
            SelectorOperator::NotIn => !listed(),
        }
    }
}

impl SelectorOperator {
    fn parse(operator: &str) -> Result<Self, SelectorError> {
        match operator {
            "DoesNotExist" => Ok(Self::DoesNotExist),
            "Exists" => Ok(Self::Exists),
            "In" => Ok(Self::In),
            "NotIn" => Ok(Self::NotIn),
            _ => Err(SelectorError::UnknownOperator {
                operator: operator.to_owned(),
            }),
        }
    }
}

/// Returns the faults of a requirement, and the number of value faults that were omitted. Each
/// value fault repeats the key, so a long key with many bad values would make the text far larger
/// than the selector.
fn faults(
    key: &str,
    operator: SelectorOperator,
    values: &[&str],
    texts: SelectorTexts,
) -> (Vec<String>, usize) {
    let of_key = invalid("key", key, &key_faults(key, texts));
    let of_number = number_fault(operator, values, texts);
    let mut faults: Vec<_> = of_key.into_iter().chain(of_number).collect();
    let of_values = values.iter().enumerate();
    let mut of_values = of_values.filter_map(|(index, value)| {
        invalid(
            &format!("values[{index}][{key}]"),
            value,
            &value_faults(value, texts),
        )
    });
    let mut bytes = 0;
    while bytes < MOST_BYTES
        && let Some(fault) = of_values.next()
    {
        bytes += key.len() + FAULT_BYTES;
        faults.push(fault);
    }
    (faults, of_values.count())
}

/// Returns the error of a field with these faults, if there are any.
fn invalid(field: &str, found: &str, faults: &[String]) -> Option<String> {
    let faults = faults.join("; ");
    (!faults.is_empty()).then(|| format!("{field}: Invalid value: {}: {faults}", go::quote(found)))
}

fn number_fault(
    operator: SelectorOperator,
    values: &[&str],
    texts: SelectorTexts,
) -> Option<String> {
    let takes_values = matches!(operator, SelectorOperator::In | SelectorOperator::NotIn);
    let fault = match (takes_values, values.is_empty()) {
        (true, true) => VALUES_MISSING,
        (false, false) => VALUES_UNEXPECTED,
        _ => return None,
    };
    let values = texts.list(values);
    Some(format!("values: Invalid value: {values}: {fault}"))
}

/// Approximate limit of the text of value faults in bytes, keys and fixed words included. There is
/// room for about 160 faults; selectors in use have a handful of values.
const MOST_BYTES: usize = 64 << 10;
/// Approximate length of the fixed words of one fault, in bytes.
const FAULT_BYTES: usize = 400;

// === The syntax of label keys and label values ===
//
// Mirrors `IsLabelKey` and `IsLabelValue` of k8s.io/apimachinery (`pkg/api/validate/content`;
// before 0.35 `IsQualifiedName` and `IsValidLabelValue` of `pkg/util/validation`): the faults, their
// order and their texts. Lengths are in bytes.

/// Returns all faults of a label key, `[prefix/]name`, whose prefix is a DNS subdomain.
fn key_faults(key: &str, texts: SelectorTexts) -> Vec<String> {
    match key.split_once('/') {
        None => name_faults(key, texts),
        Some((_, rest)) if rest.contains('/') => {
            let subject = texts.key_subject();
            vec![format!("{subject} {NAME_SYNTAX} {OPTIONAL_PREFIX}")]
        }
        Some((prefix, name)) => {
            let mut faults = prefix_faults(prefix, texts);
            faults.extend(name_faults(name, texts));
            faults
        }
    }
}

fn prefix_faults(prefix: &str, texts: SelectorTexts) -> Vec<String> {
    if prefix.is_empty() {
        return vec!["prefix part must be non-empty".to_owned()];
    }
    let too_long = texts.too_long(prefix, PREFIX_LIMIT);
    let syntax = (!dns1123::is_subdomain(prefix)).then(|| SUBDOMAIN_SYNTAX.to_owned());
    let faults = too_long.into_iter().chain(syntax);
    faults.map(|fault| format!("prefix part {fault}")).collect()
}

fn name_faults(name: &str, texts: SelectorTexts) -> Vec<String> {
    let empty = name.is_empty().then(|| "must be non-empty".to_owned());
    let syntax = (!is_name(name)).then(|| NAME_SYNTAX.to_owned());
    let faults = [empty, texts.too_long(name, NAME_LIMIT), syntax].into_iter();
    faults
        .flatten()
        .map(|fault| format!("name part {fault}"))
        .collect()
}

/// Returns all faults of a label value.
fn value_faults(value: &str, texts: SelectorTexts) -> Vec<String> {
    let is_valid = value.is_empty() || is_name(value);
    let syntax = (!is_valid).then(|| VALUE_SYNTAX.to_owned());
    let faults = [texts.too_long(value, NAME_LIMIT), syntax].into_iter();
    faults.flatten().collect()
}

/// Maximum length of the name of a key, and of a value.
const NAME_LIMIT: usize = 63;
/// Maximum length of the prefix of a key.
const PREFIX_LIMIT: usize = 253;

fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphanumeric)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

#[cfg(test)]
mod tests;

// === Label selectors as written, and how they are read from JSON ===
//
// Reads a `metav1.LabelSelector` as Go's decoder does: `null` anywhere is the zero value, so
// `matchLabels: {a: null}` requires the empty value. Unknown fields are ignored, and field names
// are compared exactly.

/// A Kubernetes `LabelSelector`, as written.
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

/// The error for a field of a selector with the wrong JSON type.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{path}: expected {expected}, found {found}")]
pub struct FieldTypeError {
    /// Path below the selector, for example `matchExpressions[0].key`; empty for the selector
    /// itself.
    pub path: String,
    /// Type of the field in the API.
    pub expected: JsonType,
    /// Type of the value in the manifest.
    pub found: JsonType,
}

impl LabelSelector {
    /// Reads a selector. `null` is read as the empty selector.
    ///
    /// # Errors
    /// The first field of the wrong type.
    pub fn read<'a>(value: impl Json<'a>) -> Result<Self, FieldTypeError> {
        let Some(fields) = typed(Some(value), JsonType::Object, String::new)? else {
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
    let labels = typed(value, JsonType::Object, || "matchLabels".to_owned())?;
    // A loop, because collecting so few entries takes longer.
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
    let expressions = typed(value, JsonType::Array, || "matchExpressions".to_owned())?;
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
    let Some(fields) = typed(Some(value), JsonType::Object, || at(""))? else {
        return Ok(LabelSelectorRequirement::default());
    };
    let values = typed(fields.get("values"), JsonType::Array, || at(".values"))?;
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

/// Returns a list or a map, unless the value is absent or null.
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
