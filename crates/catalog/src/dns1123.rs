//! Names in the two DNS forms that Kubernetes requires: RFC 1123 label and subdomain.
//!
//! Mirrors the patterns of k8s.io/apimachinery (`pkg/util/validation`), which the ClusterExtension
//! CRD repeats. Lengths are not checked here, because each caller has its own limit and wording.

/// Whether `name` has the form of an RFC 1123 label: lower-case letters, digits and inner hyphens.
pub fn is_label(name: &str) -> bool {
    let bytes = name.as_bytes();
    bytes.first().is_some_and(|byte| is_alphanumeric(*byte))
        && bytes.last().is_some_and(|byte| is_alphanumeric(*byte))
        && bytes
            .iter()
            .all(|byte| is_alphanumeric(*byte) || *byte == b'-')
}

/// Whether `name` has the form of an RFC 1123 subdomain: labels joined by dots.
pub fn is_subdomain(name: &str) -> bool {
    name.split('.').all(is_label)
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let rows = [
            // (name, label, subdomain)
            ("a", true, true),
            ("0my-1package-9name", true, true),
            ("a--b", true, true),
            ("some.package", false, true),
            ("", false, false),
            (".", false, false),
            ("a.", false, false),
            (".a", false, false),
            ("a..b", false, false),
            ("a.-b", false, false),
            ("-a", false, false),
            ("a-", false, false),
            ("-", false, false),
            ("some_thing", false, false),
            ("Capital", false, false),
            ("sp ace", false, false),
            ("a\n", false, false),
            ("é", false, false),
        ];
        for (name, label, subdomain) in rows {
            assert_eq!(is_label(name), label, "label {name:?}");
            assert_eq!(is_subdomain(name), subdomain, "subdomain {name:?}");
        }
    }
}
