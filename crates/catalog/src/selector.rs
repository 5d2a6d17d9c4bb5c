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

pub use crate::selector::error::{RequirementFault, SelectorError, SelectorTexts};

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
        let labels = labels.map(|(key, value)| Requirement::label(key, value, texts));
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
    /// An entry of `matchLabels`.
    fn label(key: &str, value: &str, texts: SelectorTexts) -> Result<Self, SelectorError> {
        Self::new(key, SelectorOperator::In, &[value], texts)
    }

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
        let (faults, omitted) = faults(key, operator, values);
        if !faults.is_empty() {
            return Err(SelectorError::InvalidRequirement {
                faults,
                omitted,
                texts,
            });
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
) -> (Vec<RequirementFault>, usize) {
    let mut faults: Vec<_> = key_fault(key)
        .into_iter()
        .chain(number_fault(operator, values))
        .collect();
    let of_values = values.iter().enumerate();
    let mut of_values = of_values.filter_map(|(index, value)| value_fault(key, index, value));
    let mut bytes = 0;
    while bytes < MOST_BYTES
        && let Some(fault) = of_values.next()
    {
        bytes += key.len() + FAULT_BYTES;
        faults.push(fault);
    }
    (faults, of_values.count())
}

fn key_fault(key: &str) -> Option<RequirementFault> {
    let faults = LabelKeyFault::of(key);
    (!faults.is_empty()).then(|| RequirementFault::Key {
        key: key.to_owned(),
        faults,
    })
}

fn number_fault(operator: SelectorOperator, values: &[&str]) -> Option<RequirementFault> {
    match operator {
        SelectorOperator::In | SelectorOperator::NotIn => {
            values.is_empty().then_some(RequirementFault::ValuesMissing)
        }
        SelectorOperator::Exists | SelectorOperator::DoesNotExist => {
            let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
            (!values.is_empty()).then_some(RequirementFault::ValuesUnexpected { values })
        }
    }
}

fn value_fault(key: &str, index: usize, value: &str) -> Option<RequirementFault> {
    let faults = LabelValueFault::of(value);
    (!faults.is_empty()).then(|| RequirementFault::Value {
        key: key.to_owned(),
        index,
        value: value.to_owned(),
        faults,
    })
}

/// Approximate limit of the text of value faults in bytes, keys and fixed words included. There is
/// room for about 160 faults; selectors in use have a handful of values.
const MOST_BYTES: usize = 64 << 10;
/// Approximate length of the fixed words of one fault, in bytes.
const FAULT_BYTES: usize = 400;

// === The syntax of label keys and label values ===
//
// Mirrors `IsLabelKey` and `IsLabelValue` of k8s.io/apimachinery (`pkg/api/validate/content`;
// before 0.35 `IsQualifiedName` and `IsValidLabelValue` of `pkg/util/validation`): the faults and
// their order. The texts are in `error`. Lengths are in bytes.

/// Faults of a label key, `[prefix/]name`. The prefix is a DNS subdomain.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LabelKeyFault {
    /// The name is empty: nothing follows the slash, or the key is empty.
    NameEmpty,
    /// The name has characters other than letters, digits and inner `-`, `_`, `.`.
    NameSyntax,
    /// The name is longer than [`Self::NAME_LIMIT`] bytes.
    NameTooLong,
    /// The prefix is empty: nothing precedes the slash.
    PrefixEmpty,
    /// The prefix is not an RFC 1123 subdomain.
    PrefixSyntax,
    /// The prefix is longer than [`Self::PREFIX_LIMIT`] bytes.
    PrefixTooLong,
    /// The key has more than one slash.
    TooManyParts,
}

/// Faults of a label value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LabelValueFault {
    /// The value has characters other than letters, digits and inner `-`, `_`, `.`.
    Syntax,
    /// The value is longer than [`Self::LIMIT`] bytes.
    TooLong,
}

impl LabelKeyFault {
    /// Maximum length of a name, in bytes.
    pub const NAME_LIMIT: usize = 63;
    /// Maximum length of a prefix, in bytes.
    pub const PREFIX_LIMIT: usize = 253;

    /// Returns all faults of `key`; none if it is a valid label key.
    fn of(key: &str) -> Vec<Self> {
        match key.split_once('/') {
            None => Self::of_name(key),
            Some((_, rest)) if rest.contains('/') => vec![Self::TooManyParts],
            Some((prefix, name)) => {
                let mut faults = Self::of_prefix(prefix);
                faults.extend(Self::of_name(name));
                faults
            }
        }
    }

    fn of_prefix(prefix: &str) -> Vec<Self> {
        if prefix.is_empty() {
            return vec![Self::PrefixEmpty];
        }
        let too_long = (prefix.len() > Self::PREFIX_LIMIT).then_some(Self::PrefixTooLong);
        let syntax = (!dns1123::is_subdomain(prefix)).then_some(Self::PrefixSyntax);
        too_long.into_iter().chain(syntax).collect()
    }

    fn of_name(name: &str) -> Vec<Self> {
        let empty = name.is_empty().then_some(Self::NameEmpty);
        let too_long = (name.len() > Self::NAME_LIMIT).then_some(Self::NameTooLong);
        let syntax = (!is_name(name)).then_some(Self::NameSyntax);
        empty.into_iter().chain(too_long).chain(syntax).collect()
    }
}

impl LabelValueFault {
    /// Maximum length of a value, in bytes.
    pub const LIMIT: usize = 63;

    /// Returns all faults of `value`; none if it is a valid label value.
    fn of(value: &str) -> Vec<Self> {
        let too_long = (value.len() > Self::LIMIT).then_some(Self::TooLong);
        let syntax = (!value.is_empty() && !is_name(value)).then_some(Self::Syntax);
        too_long.into_iter().chain(syntax).collect()
    }
}

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

/// Returns a list, unless the value is absent or null.
fn array<'a, J: Json<'a>>(
    value: Option<J>,
    at: impl Fn() -> String,
) -> Result<Option<J>, FieldTypeError> {
    typed(value, JsonType::Array, at)
}

/// Returns a map, unless the value is absent or null.
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
