//! Versions of Kubernetes, as API servers report them and `minKubeVersion` states them.

use std::fmt;

use serde_json::Value;

/// Major, minor and patch. Only they are compared: OLM v0, which refuses to install a bundle in an older Kubernetes, cuts
/// what a distribution adds.
///
/// Upstream: operator-lifecycle-manager, [`pkg/controller/operators/olm/requirements.go`].
///
/// [`pkg/controller/operators/olm/requirements.go`]: https://github.com/operator-framework/operator-lifecycle-manager/blob/v0.45.0/pkg/controller/operators/olm/requirements.go
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct KubernetesVersion([u64; 3]);

impl KubernetesVersion {
    /// The version in a text like `v1.33.2+k3s1`, `1.33.2-gke.100` or `1.33`; `None` for any other text.
    pub fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let numbers = text.split(['-', '+']).next()?;
        let numbers: Result<Vec<u64>, _> = numbers.split('.').map(str::parse).collect();
        match numbers.ok()?.as_slice() {
            [major, minor] => Some(Self([*major, *minor, 0])),
            [major, minor, patch] => Some(Self([*major, *minor, *patch])),
            _ => None,
        }
    }

    /// The `minKubeVersion` of a `ClusterServiceVersion`.
    pub(crate) fn least_of(csv: &Value) -> Option<Self> {
        csv.pointer("/spec/minKubeVersion")
            .and_then(Value::as_str)
            .and_then(Self::read)
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([major, minor, patch]) = self;
        write!(f, "{major}.{minor}.{patch}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_distribution_adds_does_not_count() {
        let read = |text| KubernetesVersion::read(text).map(|version| version.to_string());
        for (text, version) in [
            ("v1.33.2", "1.33.2"),
            ("v1.33.2+k3s1", "1.33.2"),
            ("v1.33.2-gke.100", "1.33.2"),
            ("1.33.2-rc.1+abc", "1.33.2"),
            ("1.16", "1.16.0"),
        ] {
            assert_eq!(read(text).as_deref(), Some(version), "{text}");
        }
        for text in [
            "",
            "v",
            "1",
            "1.2.3.4",
            "1.x",
            "-1.2.3",
            " 1.2.3",
            "99999999999999999999.1.2",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        let read = |text| KubernetesVersion::read(text).unwrap();
        assert!(read("1.9.10") < read("v1.10.0"));
        assert_eq!(read("1.33.0-rc.1"), read("v1.33.0+k3s1"));
    }
}
