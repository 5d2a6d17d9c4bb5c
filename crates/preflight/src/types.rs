//! The types of Kubernetes and OLM that manifests are read into.
//!
//! The table beside this file has them as Go declares them: operator-framework/api, `pkg/operators/v1alpha1`; k8s.io/api;
//! k8s.io/apiextensions-apiserver.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

/// How a type is written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum TypeForm<'t> {
    List(&'t str),
    Map(&'t str),
    Named(&'t str),
}

impl<'t> TypeForm<'t> {
    pub(crate) fn read(text: &'t str) -> Self {
        let within = |open, close| text.strip_prefix(open)?.strip_suffix(close);
        within('[', ']')
            .map(Self::List)
            .or_else(|| within('{', '}').map(Self::Map))
            .unwrap_or(Self::Named(text))
    }
}

/// Whether a value has the shape of a type that is not in the table; each fits a type that is not known.
pub(crate) fn has_shape(value: &Value, primitive: &str) -> bool {
    match primitive {
        "string" | "version" => value.is_string(),
        "boolean" => value.is_boolean(),
        "int32" | "int64" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "float64" => value.is_number(),
        "bytes" => value.is_string() || value.is_array(),
        "quantity" => value.is_string() || value.is_number(),
        _ => true,
    }
}

/// A type of the table.
pub(crate) enum Type {
    Struct(Vec<TypeField>),
    /// Any of these forms.
    OneOf(Vec<&'static str>),
}

/// A field of a struct.
pub(crate) struct TypeField {
    pub(crate) name: &'static str,
    pub(crate) form: &'static str,
    pub(crate) is_required: bool,
}

/// The table, by the names of its types.
pub(crate) static TYPES: LazyLock<BTreeMap<&'static str, Type>> = LazyLock::new(|| {
    let lines = include_str!("types/kubernetes.txt").lines();
    lines.filter_map(read_type).collect()
});

fn read_type(line: &'static str) -> Option<(&'static str, Type)> {
    if let Some((name, forms)) = line.split_once(" = ") {
        return Some((name, Type::OneOf(forms.split(" | ").collect())));
    }
    let (name, fields) = line.split_once(": ")?;
    let fields = fields.split(", ").filter_map(|field| {
        let (name, form) = field.split_once(' ')?;
        Some(TypeField {
            name: name.trim_end_matches('!'),
            form,
            is_required: name.ends_with('!'),
        })
    });
    (!name.starts_with('#')).then(|| (name, Type::Struct(fields.collect())))
}

// === Quantities ===

/// What is wrong with the text of a quantity. Upstream: apimachinery, `pkg/api/resource/quantity.go`.
pub(crate) fn quantity_fault(text: &str) -> Option<QuantityFault> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number = unsigned.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let digits = unsigned.len() - number.len();
    let is_number = unsigned.get(..digits).is_some_and(|number| {
        number.matches('.').count() <= 1 && number.contains(|c: char| c.is_ascii_digit())
    });
    if !is_number {
        return Some(QuantityFault::Format);
    }
    let is_exponent = number.strip_prefix(['e', 'E']).is_some_and(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    if is_exponent || SUFFIXES.contains(&number) {
        return None;
    }
    let is_in_form = number.chars().all(|c| "eEinumkKMGTP".contains(c));
    Some(if is_in_form {
        QuantityFault::Suffix
    } else {
        QuantityFault::Format
    })
}

const SUFFIXES: [&str; 16] = [
    "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
];

/// Why a quantity cannot be read; printed as apimachinery prints it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum QuantityFault {
    /// It has not the form of one.
    #[error(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    /// Its suffix is unknown.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_the_table_is_known() {
        let forms = TYPES.values().flat_map(|kind| match kind {
            Type::Struct(fields) => fields.iter().map(|field| field.form).collect(),
            Type::OneOf(forms) => forms.clone(),
        });
        let mut count = 0;
        for form in forms {
            let name = form.trim_matches(['[', ']', '{', '}']);
            assert!(
                PRIMITIVE.contains(&name) || TYPES.contains_key(name),
                "{name}"
            );
            count += 1;
        }
        assert!(count > 800, "{count}");
    }

    const PRIMITIVE: [&str; 9] = [
        "string", "boolean", "int32", "int64", "float64", "bytes", "quantity", "version", "any",
    ];
}
