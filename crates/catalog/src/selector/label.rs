//! The syntax of label keys and label values.
//!
//! Mirrors `IsLabelKey` and `IsLabelValue` of k8s.io/apimachinery (`pkg/api/validate/content`,
//! before 0.35 `IsQualifiedName` and `IsValidLabelValue` of `pkg/util/validation`): which faults,
//! in which order. `error` has the words. Lengths are in bytes.

use crate::dns1123;

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
    pub(super) fn of(key: &str) -> Vec<Self> {
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
    pub(super) fn of(value: &str) -> Vec<Self> {
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
mod tests {
    use super::*;

    #[test]
    fn keys() {
        use LabelKeyFault::{
            NameEmpty, NameSyntax, NameTooLong, PrefixEmpty, PrefixSyntax, PrefixTooLong,
            TooManyParts,
        };
        let long = "a".repeat(64);
        let long_prefix = format!("{}/a", "p".repeat(254));
        let rows: [(&str, &[LabelKeyFault]); 17] = [
            ("team", &[]),
            ("A-b_c.9", &[]),
            ("olm.operatorframework.io/metadata.name", &[]),
            (&long[..63], &[]),
            (&long_prefix[1..], &[]),
            ("", &[NameEmpty, NameSyntax]),
            ("bad key!", &[NameSyntax]),
            ("-a", &[NameSyntax]),
            ("a.", &[NameSyntax]),
            (&long, &[NameTooLong]),
            (&long_prefix, &[PrefixTooLong]),
            ("/a", &[PrefixEmpty]),
            ("/", &[PrefixEmpty, NameEmpty, NameSyntax]),
            ("Example.COM/team", &[PrefixSyntax]),
            ("a b/c d", &[PrefixSyntax, NameSyntax]),
            ("a/b/c", &[TooManyParts]),
            ("//", &[TooManyParts]),
        ];
        for (key, want) in rows {
            assert_eq!(LabelKeyFault::of(key), want, "{key:?}");
        }
    }

    #[test]
    fn values() {
        use LabelValueFault::{Syntax, TooLong};
        let long = "é".repeat(32);
        let rows: [(&str, &[LabelValueFault]); 8] = [
            ("", &[]),
            ("a", &[]),
            ("A_b.9-z", &[]),
            (" ", &[Syntax]),
            ("-a", &[Syntax]),
            ("a\n", &[Syntax]),
            ("not a label value", &[Syntax]),
            (&long, &[TooLong, Syntax]),
        ];
        for (value, want) in rows {
            assert_eq!(LabelValueFault::of(value), want, "{value:?}");
        }
    }
}
