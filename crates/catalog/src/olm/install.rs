//! How an operator-controller installs what it has resolved: the gates that matter after resolution.

/// The settings of one operator-controller.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct InstallSettings {
    /// `SingleOwnNamespaceInstallSupport`: bundles without the install mode `AllNamespaces`, and `watchNamespace`.
    pub single_own_namespace: bool,
    /// `DeploymentConfig`: `deploymentConfig` in `spec.config.inline`.
    pub deployment_config: bool,
    /// `BoxcutterRuntime`: revisions instead of Helm releases.
    pub boxcutter: bool,
    /// What provides the certificates of webhooks.
    pub certificates: CertificateProvider,
}

/// What provides the certificates of webhooks: the gates `WebhookProviderCertManager`, which wins, and
/// `WebhookProviderOpenshiftServiceCA`.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum CertificateProvider {
    /// Nothing: bundles with webhooks are refused.
    None,
    /// cert-manager.
    CertManager,
    /// OpenShift's service CA.
    OpenshiftServiceCa,
}
