//! The reason why a selector is invalid, in apimachinery's exact words.
//!
//! Mirrors `field.Error` (k8s.io/apimachinery, [`pkg/util/validation/field/errors.go`]), the
//! messages of `pkg/api/validate/content`, and the `[a, b]` of an aggregate of several errors. The
//! wording changed between releases; see [`SelectorTexts`].
//!
//! [`pkg/util/validation/field/errors.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/validation/field/errors.go

use std::fmt::Write;

use crate::selector::{LabelKeyFault, LabelValueFault};
use crate::version::go;

/// The reason why a selector does not compile. The text is apimachinery's own.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SelectorError {
    /// A requirement of `matchLabels` or `matchExpressions` is invalid.
    #[error("{}", aggregate(faults, *omitted, *texts))]
    InvalidRequirement {
        /// All faults of the requirement; at least one.
        faults: Vec<RequirementFault>,
        /// Number of further bad values. Beyond a hundred or so, bad values are only counted.
        omitted: usize,
        /// The release whose wording is used.
        texts: SelectorTexts,
    },
    /// The operator is not exactly `In`, `NotIn`, `Exists` or `DoesNotExist`.
    #[error("{} is not a valid label selector operator", go::quote(operator))]
    UnknownOperator {
        /// The operator as written; empty if absent.
        operator: String,
    },
}

/// A fault of a requirement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum RequirementFault {
    /// The key is not a valid label key.
    Key {
        /// The key as written; empty if absent.
        key: String,
        /// Faults of the key; at least one.
        faults: Vec<LabelKeyFault>,
    },
    /// A value is not a valid label value.
    Value {
        /// The key of the requirement.
        key: String,
        /// Index of the value, from 0; always 0 for `matchLabels`.
        index: usize,
        /// The value as written.
        value: String,
        /// Faults of the value; at least one.
        faults: Vec<LabelValueFault>,
    },
    /// `In` or `NotIn` has no values.
    ValuesMissing,
    /// `Exists` or `DoesNotExist` has values.
    ValuesUnexpected {
        /// The values as written.
        values: Vec<String>,
    },
}

/// The wording of a [`SelectorError`]: apimachinery changed its texts twice.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SelectorTexts {
    /// apimachinery up to 0.33 (OLM v1.0 to v1.4): lists in Go syntax, limits in "characters".
    GoSyntax,
    /// apimachinery 0.34 (OLM v1.6): lists as JSON, limits in "characters".
    Json,
    /// apimachinery 0.35 and later (OLM v1.11): lists as JSON, limits in "bytes", "a valid label
    /// key".
    JsonBytes,
}

impl SelectorTexts {
    fn list(self, values: &[String]) -> String {
        match self {
            Self::GoSyntax => go_syntax(values),
            Self::Json | Self::JsonBytes => json(values),
        }
    }

    fn too_long(self, limit: usize) -> String {
        let unit = match self {
            Self::GoSyntax | Self::Json => "characters",
            Self::JsonBytes => "bytes",
        };
        format!("must be no more than {limit} {unit}")
    }

    fn key_subject(self) -> &'static str {
        match self {
            Self::GoSyntax | Self::Json => "a qualified name",
            Self::JsonBytes => "a valid label key",
        }
    }
}

fn aggregate(faults: &[RequirementFault], omitted: usize, texts: SelectorTexts) -> String {
    let mut faults: Vec<String> = faults
        .iter()
        .map(|fault| requirement_fault(fault, texts))
        .collect();
    if omitted > 0 {
        faults.push(format!("... ({omitted} more)"));
    }
    match faults.as_slice() {
        [only] => only.clone(),
        several => format!("[{}]", several.join(", ")),
    }
}

fn requirement_fault(fault: &RequirementFault, texts: SelectorTexts) -> String {
    match fault {
        RequirementFault::Key { key, faults } => {
            let faults = joined(faults, |fault| key_fault(fault, texts));
            format!("key: Invalid value: {}: {faults}", go::quote(key))
        }
        RequirementFault::Value {
            key,
            index,
            value,
            faults,
        } => {
            let faults = joined(faults, |fault| value_fault(fault, texts));
            format!(
                "values[{index}][{key}]: Invalid value: {}: {faults}",
                go::quote(value)
            )
        }
        RequirementFault::ValuesMissing => {
            format!(
                "values: Invalid value: {}: {VALUES_MISSING}",
                texts.list(&[])
            )
        }
        RequirementFault::ValuesUnexpected { values } => {
            format!(
                "values: Invalid value: {}: {VALUES_UNEXPECTED}",
                texts.list(values)
            )
        }
    }
}

fn joined<T: Copy>(faults: &[T], text: impl Fn(T) -> String) -> String {
    faults
        .iter()
        .map(|&fault| text(fault))
        .collect::<Vec<_>>()
        .join("; ")
}

fn key_fault(fault: LabelKeyFault, texts: SelectorTexts) -> String {
    match fault {
        LabelKeyFault::NameEmpty => "name part must be non-empty".to_owned(),
        LabelKeyFault::NameSyntax => format!("name part {NAME_SYNTAX}"),
        LabelKeyFault::NameTooLong => {
            format!("name part {}", texts.too_long(LabelKeyFault::NAME_LIMIT))
        }
        LabelKeyFault::PrefixEmpty => "prefix part must be non-empty".to_owned(),
        LabelKeyFault::PrefixSyntax => format!("prefix part {SUBDOMAIN_SYNTAX}"),
        LabelKeyFault::PrefixTooLong => {
            format!(
                "prefix part {}",
                texts.too_long(LabelKeyFault::PREFIX_LIMIT)
            )
        }
        LabelKeyFault::TooManyParts => {
            format!("{} {NAME_SYNTAX} {OPTIONAL_PREFIX}", texts.key_subject())
        }
    }
}

fn value_fault(fault: LabelValueFault, texts: SelectorTexts) -> String {
    match fault {
        LabelValueFault::Syntax => VALUE_SYNTAX.to_owned(),
        LabelValueFault::TooLong => texts.too_long(LabelValueFault::LIMIT),
    }
}

const VALUES_MISSING: &str = "for 'in', 'notin' operators, values set can't be empty";
const VALUES_UNEXPECTED: &str = "values set must be empty for exists and does not exist";
const NAME_SYNTAX: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must \
    start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', \
    regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const OPTIONAL_PREFIX: &str =
    "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
const SUBDOMAIN_SYNTAX: &str = "a lowercase RFC 1123 subdomain must consist of lower case \
    alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character \
    (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const VALUE_SYNTAX: &str = "a valid label must be an empty string or consist of alphanumeric \
    characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
    'MyValue',  or 'my_value',  or '12345', regex used for validation is \
    '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

// === Lists of strings as Go prints them, in error texts of apimachinery ===
//
// Two forms: the JSON of `encoding/json`, which also escapes `<`, `>`, `&` and the two Unicode line
// separators, and the Go syntax of `fmt`'s `%#v`. An empty list represents Go's nil slice, because
// apimachinery copies the values into one.

/// Formats values as `["a","b"]`, or `null` if there are none.
pub(super) fn json(values: &[String]) -> String {
    if values.is_empty() {
        return "null".to_owned();
    }
    let values: Vec<String> = values.iter().map(|value| json_string(value)).collect();
    format!("[{}]", values.join(","))
}

/// Formats values as `[]string{"a", "b"}`, or `[]string(nil)` if there are none.
pub(super) fn go_syntax(values: &[String]) -> String {
    if values.is_empty() {
        return "[]string(nil)".to_owned();
    }
    let values: Vec<String> = values.iter().map(|value| go::quote(value)).collect();
    format!("[]string{{{}}}", values.join(", "))
}

fn json_string(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    json.push('"');
    for character in text.chars() {
        push_json(&mut json, character);
    }
    json.push('"');
    json
}

fn push_json(json: &mut String, character: char) {
    match character {
        '"' | '\\' => json.extend(['\\', character]),
        '\u{8}' => json.push_str("\\b"),
        '\u{c}' => json.push_str("\\f"),
        '\n' => json.push_str("\\n"),
        '\r' => json.push_str("\\r"),
        '\t' => json.push_str("\\t"),
        '\0'..='\u{1f}' | '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
            write!(json, "\\u{:04x}", u32::from(character)).expect("a String takes any text");
        }
        _ => json.push(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn prints(values: &[&str], want_json: &str, want_go: &str) {
        let values: Vec<String> = values.iter().map(|&value| value.to_owned()).collect();
        assert_eq!(json(&values), want_json);
        assert_eq!(go_syntax(&values), want_go);
    }

    #[test]
    fn both_forms() {
        prints(&[], "null", "[]string(nil)");
        prints(&["a"], r#"["a"]"#, r#"[]string{"a"}"#);
        prints(&["a", ""], r#"["a",""]"#, r#"[]string{"a", ""}"#);
        prints(&["\"\\"], r#"["\"\\"]"#, r#"[]string{"\"\\"}"#);
        prints(&["<&>"], r#"["\u003c\u0026\u003e"]"#, r#"[]string{"<&>"}"#);
        prints(
            &["\u{8}\u{c}\n\r\t"],
            r#"["\b\f\n\r\t"]"#,
            r#"[]string{"\b\f\n\r\t"}"#,
        );
        prints(
            &["\0\u{7f}"],
            "[\"\\u0000\u{7f}\"]",
            r#"[]string{"\x00\x7f"}"#,
        );
        prints(&["\u{2028}é"], r#"["\u2028é"]"#, r#"[]string{"\u2028é"}"#);
    }
}
