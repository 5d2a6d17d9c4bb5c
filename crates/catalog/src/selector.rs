//! Which catalogs a ClusterExtension selects by label, how that is read, and why a selector does not compile.
//!
//! Mirrors k8s.io/apimachinery: `LabelSelectorAsSelector` ([`pkg/apis/meta/v1/helpers.go`]) and
//! `NewRequirement` ([`pkg/labels/selector.go`]), as operator-controller's resolver calls them.
//! `matchLabels` comes first, then `matchExpressions`; the first requirement with a fault ends it,
//! and all faults of that one requirement are reported.
//!
//! Invariant: the requirements of a [`Selector`] are valid, and all must hold.
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
    /// Compiles `selector`; one without requirements selects everything.
    ///
    /// Upstream visits `matchLabels` in no defined order; here it is the byte order of the keys.
    ///
    /// # Errors
    /// The first requirement that apimachinery would refuse, worded as the release of `texts`.
    pub fn compile(selector: &LabelSelector, texts: SelectorTexts) -> Result<Self, SelectorError> {
        let labels = selector.match_labels.iter();
        let labels = labels.map(|(key, value)| Requirement::label(key, value, texts));
        let expressions = selector.match_expressions.iter();
        let expressions = expressions.map(|written| Requirement::expression(written, texts));
        let requirements = labels.chain(expressions).collect::<Result<_, _>>()?;
        Ok(Self { requirements })
    }

    /// The selector of an extension that has none: it selects every catalog.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Whether it has no requirements.
    pub fn is_everything(&self) -> bool {
        self.requirements.is_empty()
    }

    /// A label that every selected object has, and the values that it can have there; the first of several. What an
    /// index of selectors goes by.
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

// === One condition on the labels of an object: how it is made, and when it holds ===
//
// Mirrors `NewRequirement` and `Requirement.Matches` of k8s.io/apimachinery
// ([`pkg/labels/selector.go`]). The operator is looked at first; then all faults are gathered in the
// order key, number of values, each value.
//
// [`pkg/labels/selector.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/labels/selector.go

/// A condition on one label.
#[derive(Clone, Debug, Eq, PartialEq)]
struct Requirement {
    key: Box<str>,
    operator: SelectorOperator,
    /// Invariant: not empty for `In` and `NotIn`, empty for the others.
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

    /// Whether the labels meet this condition. Without the key `NotIn` holds too.
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

/// The faults of a requirement, and how many faults of values were left out: each repeats the key,
/// so that a long key with many bad values would make a text far larger than the selector.
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

/// About the bytes of text that the faults of values may take, keys and fixed words counted: room
/// for some 160 faults, where a selector in use has a handful of values.
const MOST_BYTES: usize = 64 << 10;
/// About the bytes of the fixed words of one fault.
const FAULT_BYTES: usize = 400;

// === The syntax of label keys and label values ===
//
// Mirrors `IsLabelKey` and `IsLabelValue` of k8s.io/apimachinery (`pkg/api/validate/content`,
// before 0.35 `IsQualifiedName` and `IsValidLabelValue` of `pkg/util/validation`): which faults,
// in which order. `error` has the words. Lengths are in bytes.

/// What is wrong with a label key: `[prefix/]name`, the prefix a DNS subdomain.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LabelKeyFault {
    /// Nothing after the slash, or no key at all.
    NameEmpty,
    /// A name of other characters than letters, digits and inner `-`, `_`, `.`.
    NameSyntax,
    /// A name longer than [`Self::NAME_LIMIT`] bytes.
    NameTooLong,
    /// Nothing before the slash.
    PrefixEmpty,
    /// A prefix that is no RFC 1123 subdomain.
    PrefixSyntax,
    /// A prefix longer than [`Self::PREFIX_LIMIT`] bytes.
    PrefixTooLong,
    /// More than one slash.
    TooManyParts,
}

/// What is wrong with a label value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LabelValueFault {
    /// Other characters than letters, digits and inner `-`, `_`, `.`.
    Syntax,
    /// Longer than [`Self::LIMIT`] bytes.
    TooLong,
}

impl LabelKeyFault {
    /// The most bytes of a name.
    pub const NAME_LIMIT: usize = 63;
    /// The most bytes of a prefix.
    pub const PREFIX_LIMIT: usize = 253;

    /// All faults of `key`, none if it is a label key.
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
    /// The most bytes of a value.
    pub const LIMIT: usize = 63;

    /// All faults of `value`, none if it is a label value.
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

// === A label selector as written, and how it is read from JSON ===
//
// Reads what Go's decoder makes of a `metav1.LabelSelector`: `null` anywhere is the zero value
// (so `matchLabels: {a: null}` asks for the empty value), unknown fields are ignored, names are
// compared exactly.

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
