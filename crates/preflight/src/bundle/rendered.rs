//! Which objects OLM makes of a bundle, and under which names.
//!
//! Upstream: operator-controller, [`rukpak/render/registryv1/generators/generators.go`].
//!
//! [`rukpak/render/registryv1/generators/generators.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/rukpak/render/registryv1/generators/generators.go

use std::collections::BTreeSet;

use serde_json::Value;

use super::kinds::{is_known, is_namespaced};
use super::{BundledKind, RegistryBundle, items, names, text};
use olmguard_catalog::olm::CertificateProvider;

/// An object that OLM makes of a bundle.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RenderedObject {
    /// Its kind.
    pub kind: BundledKind,
    /// Its namespace; empty for a kind that has none.
    pub namespace: String,
    /// Its name.
    pub name: RenderedName,
}

/// The name of an object that OLM makes.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum RenderedName {
    /// All of it.
    Whole(String),
    /// What stands before a hash of permissions, and may be cut where it is long.
    Hashed(String),
}

/// What decides how a bundle is rendered, beside the bundle.
#[derive(Clone, Copy, Debug)]
pub struct RenderTarget<'a> {
    /// `spec.namespace` of the extension.
    pub namespace: &'a str,
    /// The namespace that the operator watches; none for all.
    pub watched: Option<&'a str>,
    /// What makes certificates for webhooks.
    pub certificates: CertificateProvider,
}

impl RegistryBundle {
    /// All objects that OLM makes of it.
    pub fn rendered(&self, target: RenderTarget<'_>) -> Vec<RenderedObject> {
        let made = BundleRendering {
            bundle: self,
            target,
        };
        [
            made.service_accounts(),
            made.roles(),
            made.crds(),
            made.others(),
            made.deployments(),
            made.configurations(),
            made.services(),
        ]
        .concat()
    }
}

/// One bundle on its way to objects.
struct BundleRendering<'a> {
    bundle: &'a RegistryBundle,
    target: RenderTarget<'a>,
}

impl BundleRendering<'_> {
    fn service_accounts(&self) -> Vec<RenderedObject> {
        let permissions = [PERMISSIONS, CLUSTER_PERMISSIONS];
        let named = permissions.map(|path| self.accounts(path));
        let named: BTreeSet<&str> = named.into_iter().flatten().collect();
        let made = named.into_iter().filter(|name| *name != DEFAULT_ACCOUNT);
        made.map(|name| self.object("v1", "ServiceAccount", name))
            .collect()
    }

    /// The service accounts that permissions are for.
    fn accounts(&self, path: &str) -> Vec<&str> {
        let permissions = items(&self.bundle.csv, path).iter();
        let named = permissions.map(|permission| text(permission, "/serviceAccountName"));
        named
            .map(|name| {
                if name.is_empty() {
                    DEFAULT_ACCOUNT
                } else {
                    name
                }
            })
            .collect()
    }

    /// An operator that watches all namespaces has its permissions in all of them.
    fn roles(&self) -> Vec<RenderedObject> {
        let namespace = self.target.watched.unwrap_or_default();
        let prefix = if namespace.is_empty() { "Cluster" } else { "" };
        let in_namespace = self.accounts(PERMISSIONS).into_iter();
        let in_namespace = in_namespace.flat_map(|account| self.role(prefix, namespace, account));
        let in_cluster = self.accounts(CLUSTER_PERMISSIONS).into_iter();
        let in_cluster = in_cluster.flat_map(|account| self.role("Cluster", "", account));
        in_namespace.chain(in_cluster).collect()
    }

    fn role(&self, prefix: &str, namespace: &str, account: &str) -> [RenderedObject; 2] {
        ["Role", "RoleBinding"].map(|kind| RenderedObject {
            kind: BundledKind::of("rbac.authorization.k8s.io/v1", &format!("{prefix}{kind}")),
            namespace: namespace.to_owned(),
            name: RenderedName::Hashed(format!("{}-{account}", self.bundle.name())),
        })
    }

    fn crds(&self) -> Vec<RenderedObject> {
        let crds = self.bundle.crds.iter();
        crds.map(|crd| RenderedObject::of(crd, "")).collect()
    }

    fn others(&self) -> Vec<RenderedObject> {
        let others = self.bundle.others.iter();
        let others = others.map(|object| {
            let is_namespaced = is_namespaced(text(object, "/kind"));
            let own = text(object, "/metadata/namespace");
            RenderedObject::of(
                object,
                if is_namespaced {
                    self.target.namespace
                } else {
                    own
                },
            )
        });
        others.collect()
    }

    fn deployments(&self) -> Vec<RenderedObject> {
        let names = names(&self.bundle.csv, DEPLOYMENTS).into_iter();
        names
            .map(|name| self.object("apps/v1", "Deployment", name))
            .collect()
    }

    /// The configurations of admission webhooks. They have no namespace, whatever is written into them.
    fn configurations(&self) -> Vec<RenderedObject> {
        let webhooks = self.bundle.webhooks().into_iter();
        let made = webhooks.filter_map(|webhook| {
            let kind = match webhook.kind() {
                "ValidatingAdmissionWebhook" => "ValidatingWebhookConfiguration",
                "MutatingAdmissionWebhook" => "MutatingWebhookConfiguration",
                _ => return None,
            };
            let name = webhook.rendered_name();
            Some(self.object("admissionregistration.k8s.io/v1", kind, name))
        });
        made.collect()
    }

    /// What is made for each deployment that has webhooks.
    fn services(&self) -> Vec<RenderedObject> {
        let webhooks = self.bundle.webhooks().into_iter();
        let with_webhooks: BTreeSet<&str> = webhooks
            .map(|webhook| text(webhook.0, "/deploymentName"))
            .collect();
        let deployments = names(&self.bundle.csv, DEPLOYMENTS).into_iter();
        let deployments = deployments.filter(|name| with_webhooks.contains(name));
        deployments
            .flat_map(|name| self.of_webhooks(name))
            .collect()
    }

    fn of_webhooks(&self, deployment: &str) -> Vec<RenderedObject> {
        let service = suffixed(&deployment.replace('.', "-"), "service");
        let certificate = suffixed(&service, "cert");
        let mut made = vec![self.object("v1", "Service", &service)];
        if self.target.certificates == CertificateProvider::CertManager {
            let issuer = suffixed(&certificate, "selfsigned-issuer");
            made.push(self.object("cert-manager.io/v1", "Certificate", &certificate));
            made.push(self.object("cert-manager.io/v1", "Issuer", &issuer));
        }
        made
    }

    fn object(&self, api_version: &str, kind: &str, name: &str) -> RenderedObject {
        RenderedObject {
            kind: BundledKind::of(api_version, kind),
            namespace: self.target.namespace.to_owned(),
            name: RenderedName::Whole(name.to_owned()),
        }
    }
}

impl RenderedObject {
    /// Whether it is of a kind that a validator allows, or that OLM makes itself.
    pub(crate) fn is_of_bundle(&self) -> bool {
        let kind = &*self.kind.kind;
        is_known(kind) || MADE.contains(&kind)
    }

    /// An object of the bundle in this namespace.
    fn of(object: &Value, namespace: &str) -> Self {
        Self {
            kind: BundledKind::of(text(object, "/apiVersion"), text(object, "/kind")),
            namespace: namespace.to_owned(),
            name: RenderedName::Whole(text(object, "/metadata/name").to_owned()),
        }
    }
}

/// `BASE-SUFFIX`, of which the base is cut if both together are longer than a label's value. With the hyphen it can be
/// one character longer, as upstream.
fn suffixed(base: &str, suffix: &str) -> String {
    let room = LONGEST_NAME - suffix.len();
    let base = if base.len() > room {
        base.get(..room - 1).unwrap_or(base)
    } else {
        base
    };
    format!("{base}-{suffix}")
}

/// The kinds that no manifest of a bundle may have, and that OLM makes.
const MADE: [&str; 5] = [
    "Certificate",
    "Deployment",
    "Issuer",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
];
pub(super) const PERMISSIONS: &str = "/spec/install/spec/permissions";
pub(super) const CLUSTER_PERMISSIONS: &str = "/spec/install/spec/clusterPermissions";
pub(super) const DEPLOYMENTS: &str = "/spec/install/spec/deployments";
/// A Service, a Certificate and an Issuer for a deployment with webhooks.
pub(super) const OBJECTS_OF_WEBHOOKS: usize = 3;

const DEFAULT_ACCOUNT: &str = "default";
const LONGEST_NAME: usize = 63;
