//! The Go types of Kubernetes and OLM that manifests are decoded into.
//!
//! The table in `types/kubernetes.txt` lists them as Go declares them: operator-framework/api,
//! `pkg/operators/v1alpha1`; k8s.io/api; k8s.io/apiextensions-apiserver.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

/// The notation of a type.
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

/// Whether a value has the shape of a primitive type. Every value fits a type that is not known.
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

/// A type in the table.
pub(crate) enum Type {
    Struct(Vec<TypeField>),
    /// A value of any of these forms.
    OneOf(Vec<&'static str>),
}

/// A field of a struct.
pub(crate) struct TypeField {
    pub(crate) name: &'static str,
    pub(crate) form: &'static str,
    pub(crate) is_required: bool,
}

/// The table, by type name.
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

/// Returns the fault in the text of a quantity. Upstream: apimachinery, `pkg/api/resource/quantity.go`. A number
/// without digits is zero, unless it is scaled as a decimal.
pub(crate) fn quantity_fault(text: &str) -> Option<QuantityFault> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let suffix = after_number(unsigned);
    let number = unsigned.strip_suffix(suffix).unwrap_or_default();
    let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let digits = letters.strip_prefix(['+', '-']).unwrap_or(letters);
    if text.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(QuantityFault::Format);
    }
    let exponent = suffix.strip_prefix(['e', 'E']).map(str::parse::<i64>);
    let is_decimal = match exponent {
        Some(Ok(exponent)) => exponent < NANO,
        _ if SUFFIXES.contains(&suffix) => ["Pi", "Ei"].contains(&suffix),
        _ => return Some(QuantityFault::Suffix),
    };
    let has_digits = number.contains(|c: char| c.is_ascii_digit());
    (is_decimal && !has_digits).then_some(QuantityFault::Numeric)
}

/// Returns the text after the digits, including the digits after a decimal point.
fn after_number(unsigned: &str) -> &str {
    let is_digit = |c: char| c.is_ascii_digit();
    let whole = unsigned.trim_start_matches(is_digit);
    let parts = whole.strip_prefix('.');
    parts.map_or(whole, |parts| parts.trim_start_matches(is_digit))
}

/// The exponent of the smallest quantity.
const NANO: i64 = -9;

const SUFFIXES: [&str; 16] = [
    "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
];

/// The reason why a quantity cannot be read. Printed as apimachinery prints it.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum QuantityFault {
    /// The text does not have the form of a quantity.
    #[error(
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )]
    Format,
    /// The quantity has no digits, but its scale requires some.
    #[error("unable to parse numeric part of quantity")]
    Numeric,
    /// The suffix is unknown.
    #[error("unable to parse quantity's suffix")]
    Suffix,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_as_go_reads_them() {
        for text in [
            "1", "+1.5Gi", "-0", "1.G", ".5", ".", "+", "+M", "-e3", "Ki", "1e-3", "5E", "00.1Ei",
        ] {
            assert_eq!(quantity_fault(text), None, "{text}");
        }
        for (text, fault) in [
            ("", QuantityFault::Format),
            ("a", QuantityFault::Format),
            ("1 Gi", QuantityFault::Format),
            ("1.2.3", QuantityFault::Format),
            ("1KKi", QuantityFault::Suffix),
            ("--1", QuantityFault::Suffix),
            ("1e+", QuantityFault::Suffix),
            ("1m5", QuantityFault::Suffix),
            ("1e9223372036854775808", QuantityFault::Suffix),
            ("Ei", QuantityFault::Numeric),
            ("+Pi", QuantityFault::Numeric),
            ("e-10", QuantityFault::Numeric),
        ] {
            assert_eq!(quantity_fault(text), Some(fault), "{text}");
        }
    }

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
