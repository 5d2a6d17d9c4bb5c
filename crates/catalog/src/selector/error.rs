//! The reason why a selector is invalid, in apimachinery's exact words.
//!
//! Mirrors `field.Error` (k8s.io/apimachinery, [`pkg/util/validation/field/errors.go`]), the
//! messages of `pkg/api/validate/content`, and the `[a, b]` of an aggregate of several errors. The
//! wording changed between releases; see [`SelectorTexts`].
//!
//! [`pkg/util/validation/field/errors.go`]: https://github.com/kubernetes/apimachinery/blob/v0.36.2/pkg/util/validation/field/errors.go

use crate::version::go;

/// The reason why a selector does not compile. The text is apimachinery's own.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum SelectorError {
    /// A requirement of `matchLabels` or `matchExpressions` is invalid.
    #[error("{}", aggregate(faults, *omitted))]
    InvalidRequirement {
        /// The texts of all faults of the requirement; at least one.
        faults: Vec<String>,
        /// Number of further bad values. Beyond a hundred or so, bad values are only counted.
        omitted: usize,
    },
    /// The operator is not exactly `In`, `NotIn`, `Exists` or `DoesNotExist`.
    #[error("{} is not a valid label selector operator", go::quote(operator))]
    UnknownOperator {
        /// The operator as written; empty if absent.
        operator: String,
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
    pub(super) fn list(self, values: &[&str]) -> String {
        match self {
            Self::GoSyntax => go_syntax(values),
            Self::Json | Self::JsonBytes => json(values),
        }
    }

    /// Returns the fault of a text that has more bytes than the limit.
    pub(super) fn too_long(self, text: &str, limit: usize) -> Option<String> {
        let unit = match self {
            Self::GoSyntax | Self::Json => "characters",
            Self::JsonBytes => "bytes",
        };
        (text.len() > limit).then(|| format!("must be no more than {limit} {unit}"))
    }

    pub(super) fn key_subject(self) -> &'static str {
        match self {
            Self::GoSyntax | Self::Json => "a qualified name",
            Self::JsonBytes => "a valid label key",
        }
    }
}

fn aggregate(faults: &[String], omitted: usize) -> String {
    match (faults, omitted) {
        ([only], 0) => only.clone(),
        (several, 0) => format!("[{}]", several.join(", ")),
        (several, omitted) => format!("[{}, ... ({omitted} more)]", several.join(", ")),
    }
}

pub(super) const VALUES_MISSING: &str = "for 'in', 'notin' operators, values set can't be empty";
pub(super) const VALUES_UNEXPECTED: &str = "values set must be empty for exists and does not exist";
pub(super) const NAME_SYNTAX: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must \
    start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', \
    regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
pub(super) const OPTIONAL_PREFIX: &str =
    "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
pub(super) const SUBDOMAIN_SYNTAX: &str = "a lowercase RFC 1123 subdomain must consist of lower case \
    alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character \
    (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
pub(super) const VALUE_SYNTAX: &str = "a valid label must be an empty string or consist of alphanumeric \
    characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. \
    'MyValue',  or 'my_value',  or '12345', regex used for validation is \
    '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

// === Lists of strings as Go prints them, in error texts of apimachinery ===
//
// Two forms: the JSON of `encoding/json`, and the Go syntax of `fmt`'s `%#v`. An empty list
// represents Go's nil slice, because apimachinery copies the values into one.

/// Formats values as `["a","b"]`, or `null` if there are none.
fn json(values: &[&str]) -> String {
    if values.is_empty() {
        return "null".to_owned();
    }
    let mut json = String::from("[");
    for (at, value) in values.iter().enumerate() {
        json.push_str(if at > 0 { "," } else { "" });
        go::write_json_string(value, &mut json);
    }
    json + "]"
}

/// Formats values as `[]string{"a", "b"}`, or `[]string(nil)` if there are none.
fn go_syntax(values: &[&str]) -> String {
    if values.is_empty() {
        return "[]string(nil)".to_owned();
    }
    let values: Vec<String> = values.iter().map(|value| go::quote(value)).collect();
    format!("[]string{{{}}}", values.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn prints(values: &[&str], want_json: &str, want_go: &str) {
        assert_eq!(json(values), want_json);
        assert_eq!(go_syntax(values), want_go);
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
