//! The checks that operator-controller, Helm and the API server make between the choice of a bundle and its
//! installation.
//!
//! ```text
//! support, configuration ──> registry+v1 validators ──> rendering ──> CRD upgrade safety
//! ```
//!
//! Each check is a function from facts to findings. A finding carries the text of operator-controller if that text is
//! the same in every run. The explanations for users are in the engine.

pub mod bundle;
pub mod config;
pub mod content;
pub mod crd;
pub mod owner;
pub mod support;
mod types;

use std::fmt;

/// The maximum length of an extension name for a Helm release. Helm itself accepts 53 characters. But a release is
/// stored in a Secret with a label `sh.helm.release.v1.NAME.v1`, whose value can have 63. From the tenth revision on,
/// the name can have one character less.
///
/// Upstream: helm-operator-plugins, [`pkg/storage/labels.go`].
///
/// [`pkg/storage/labels.go`]: https://github.com/operator-framework/helm-operator-plugins/blob/v0.9.1/pkg/storage/labels.go
pub const LONGEST_RELEASE_NAME: usize = 41;

// === The checks, each with its stable id ===
//
// The comment of a variant is its title, which is shown with findings.

macro_rules! checks {
    ($($(#[doc = $about:literal])+ $check:ident => $id:literal,)+) => {
        /// A check of operator-controller, Helm or the API server that follows resolution.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum PreflightCheck {
            $($(#[doc = $about])+ $check,)+
        }

        impl PreflightCheck {
            /// All checks, in the order in which operator-controller makes them.
            pub const ALL: &'static [Self] = &[$(Self::$check),+];

            /// The id in messages, JSON and documentation pages.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$check => $id,)+
                }
            }

            /// The fault that the check reports, in one line.
            pub fn title(self) -> &'static str {
                let about = match self {
                    $(Self::$check => concat!($($about),+),)+
                };
                about.trim().trim_end_matches('.')
            }
        }
    };
}

checks! {
    /// The bundle declares a dependency, which OLM v1 does not support.
    UnsupportedDependency => "unsupported-dependency",
    /// The name of the extension is too long for the name of a Helm release, or for a label.
    ReleaseNameTooLong => "release-name-too-long",
    /// The image reference of the bundle cannot be used.
    ImageRefInvalid => "image-ref-invalid",
    /// The image has no bundle of the format registry+v1.
    BundleFormat => "bundle-format",
    /// The bundle owns an API service.
    ApiservicesUnsupported => "apiservices-unsupported",
    /// The bundle has webhooks, and OLM has no provider of certificates.
    WebhooksUnsupported => "webhooks-unsupported",
    /// No install mode of the bundle is supported.
    InstallModeUnsupported => "install-mode-unsupported",
    /// The configuration does not fit the schema of the bundle.
    ConfigInvalid => "config-invalid",
    /// The bundle needs a configuration, and there is none.
    ConfigRequired => "config-required",
    /// The configuration has a `deploymentConfig`, and its gate is off.
    DeploymentConfigOff => "deployment-config-off",
    /// Names of deployments are invalid, or not unique.
    DeploymentNames => "deployment-names",
    /// The bundle has a CRD twice, or an owned CRD is missing.
    CrdManifests => "crd-manifests",
    /// The bundle does not name its package.
    PackageNameEmpty => "package-name-empty",
    /// A conversion webhook cannot be set up.
    ConversionWebhook => "conversion-webhook",
    /// An admission webhook cannot be set up.
    WebhookDefinitions => "webhook-definitions",
    /// The name of an admission webhook has fewer than three segments.
    WebhookNameShort => "webhook-name-short",
    /// A manifest has a kind that OLM does not install from a bundle.
    ManifestKindUnsupported => "manifest-kind-unsupported",
    /// The bundle has webhooks, and the cluster has no cert-manager for their certificates.
    WebhookProviderMissing => "webhook-provider-missing",
    /// The cluster does not serve a kind of the bundle's objects.
    KindNotServed => "kind-not-served",
    /// The namespace that the bundle is installed in does not exist.
    NamespaceMissing => "namespace-missing",
    /// The namespace that the operator watches does not exist.
    WatchNamespaceMissing => "watch-namespace-missing",
    /// The service account that operator-controller installs the bundle with does not exist.
    ServiceAccountMissing => "service-account-missing",
    /// The bundle states that it needs a newer Kubernetes than the cluster has.
    MinKubeVersion => "min-kube-version",
    /// The bundle states that it needs an API that the cluster does not serve.
    RequiredApiMissing => "required-api-missing",
    /// A CRD belongs to another extension.
    OwnedElsewhere => "owned-elsewhere",
    /// A CRD exists, and OLM does not take it over.
    ExistsUnowned => "exists-unowned",
    /// A field of a CRD is removed.
    CrdFieldRemoved => "crd-field-removed",
    /// The scope of a CRD changes.
    CrdScope => "crd-scope",
    /// A version of a CRD is removed although objects can be stored in it.
    CrdStoredVersion => "crd-stored-version",
    /// A property of a CRD becomes stricter.
    CrdProperty => "crd-property",
    /// A property of a CRD changes in a way that OLM does not understand.
    CrdUnhandled => "crd-unhandled",
    /// The served versions of a CRD do not follow from each other.
    CrdServedVersions => "crd-served-versions",
    /// operator-controller crashes while it compares a CRD.
    CrdPanic => "crd-panic",
    /// A phase of the revision has too many objects.
    RevisionTooManyObjects => "revision-too-many-objects",
    /// CRDs were compared with the CRDs of the installed bundle and not of the cluster, or could not be compared.
    CrdApproximate => "crd-approximate",
}

// === Versions of Kubernetes, as reported by API servers and required by `minKubeVersion` ===

/// A Kubernetes version: major, minor and patch. Only these are compared: OLM v0, which refuses to install a bundle in
/// an older Kubernetes, ignores what a distribution adds.
///
/// Upstream: operator-lifecycle-manager, [`pkg/controller/operators/olm/requirements.go`].
///
/// [`pkg/controller/operators/olm/requirements.go`]: https://github.com/operator-framework/operator-lifecycle-manager/blob/v0.45.0/pkg/controller/operators/olm/requirements.go
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct KubernetesVersion([u64; 3]);

impl KubernetesVersion {
    /// Reads the version from a text like `v1.33.2+k3s1`, `1.33.2-gke.100` or `1.33`; `None` for any other text.
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
    fn every_id_is_its_own() {
        let ids: std::collections::BTreeSet<_> =
            PreflightCheck::ALL.iter().map(|it| it.as_str()).collect();
        assert_eq!(ids.len(), PreflightCheck::ALL.len());
    }

    #[test]
    fn a_title_is_its_comment_on_one_line() {
        let removed = PreflightCheck::CrdFieldRemoved.title();
        assert_eq!(removed, "A field of a CRD is removed");
        for check in PreflightCheck::ALL {
            let title = check.title();
            assert!(!title.contains('\n') && title.len() < 125, "{title}");
        }
    }

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
