//! The checks, each with the id by which people and pipelines know it. The comment of a variant is its title, which
//! viewers of findings show.

macro_rules! checks {
    ($($(#[doc = $about:literal])+ $check:ident => $id:literal,)+) => {
        /// A check that operator-controller, Helm or the API server makes after resolution.
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum PreflightCheck {
            $($(#[doc = $about])+ $check,)+
        }

        impl PreflightCheck {
            /// All of them, in the order in which operator-controller makes them.
            pub const ALL: &'static [Self] = &[$(Self::$check),+];

            /// The id in messages, JSON and pages.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$check => $id,)+
                }
            }

            /// What is wrong if it fails, in a line.
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
}
