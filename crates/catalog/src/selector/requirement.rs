//! One condition on the labels of an object: how it is made, and when it holds.
//!
//! Mirrors `NewRequirement` and `Requirement.Matches` of k8s.io/apimachinery
//! ([`pkg/labels/selector.go`]). The operator is looked at first; then all faults are gathered in the
//! order key, number of values, each value.
//!
//! [`pkg/labels/selector.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/labels/selector.go

use std::collections::BTreeMap;

use super::label::{LabelKeyFault, LabelValueFault};
use super::{LabelSelectorRequirement, RequirementFault, SelectorError, SelectorTexts};

/// A condition on one label.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Requirement {
    key: Box<str>,
    operator: Operator,
    /// Invariant: not empty for `In` and `NotIn`, empty for the others.
    values: Vec<Box<str>>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Operator {
    DoesNotExist,
    Exists,
    In,
    NotIn,
}

impl Requirement {
    /// An entry of `matchLabels`.
    pub(super) fn label(
        key: &str,
        value: &str,
        texts: SelectorTexts,
    ) -> Result<Self, SelectorError> {
        Self::new(key, Operator::In, &[value], texts)
    }

    /// An entry of `matchExpressions`.
    pub(super) fn expression(
        written: &LabelSelectorRequirement,
        texts: SelectorTexts,
    ) -> Result<Self, SelectorError> {
        let operator = Operator::parse(&written.operator)?;
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
        operator: Operator,
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
    pub(super) fn listed(&self) -> Option<(&str, &[Box<str>])> {
        (self.operator == Operator::In).then_some((&*self.key, &*self.values))
    }

    /// Whether the labels meet this condition. Without the key `NotIn` holds too.
    pub(super) fn holds(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&*self.key);
        let listed = || value.is_some_and(|value| self.values.iter().any(|have| **have == **value));
        match self.operator {
            Operator::DoesNotExist => value.is_none(),
            Operator::Exists => value.is_some(),
            Operator::In => listed(),
            Operator::NotIn => !listed(),
        }
    }
}

impl Operator {
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
fn faults(key: &str, operator: Operator, values: &[&str]) -> (Vec<RequirementFault>, usize) {
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

fn number_fault(operator: Operator, values: &[&str]) -> Option<RequirementFault> {
    match operator {
        Operator::In | Operator::NotIn => {
            values.is_empty().then_some(RequirementFault::ValuesMissing)
        }
        Operator::Exists | Operator::DoesNotExist => {
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
