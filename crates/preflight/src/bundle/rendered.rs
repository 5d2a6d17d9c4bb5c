//! The objects that OLM creates from a bundle, and their names.
//!
//! Upstream: operator-controller, [`rukpak/render/registryv1/generators/generators.go`].
//!
//! [`rukpak/render/registryv1/generators/generators.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/rukpak/render/registryv1/generators/generators.go

use std::collections::BTreeSet;

use serde_json::Value;

use super::{BundledKind, RegistryBundle, items, names, text};
use olmguard_catalog::olm::CertificateProvider;

/// An object that OLM creates from a bundle.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct RenderedObject {
    /// The kind of the object.
    pub kind: BundledKind,
    /// The namespace of the object; empty for a cluster-scoped kind.
    pub namespace: String,
    /// The name of the object.
    pub name: RenderedName,
}

/// The name of an object that OLM creates.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum RenderedName {
    /// The complete name.
    Whole(String),
    /// The part before a hash of permissions. OLM may shorten a long one.
    Hashed(String),
}

/// The settings that affect the rendering of a bundle.
#[derive(Clone, Copy, Debug)]
pub struct RenderTarget<'a> {
    /// `spec.namespace` of the extension.
    pub namespace: &'a str,
    /// The namespace that the operator watches; `None` for all namespaces.
    pub watched: Option<&'a str>,
    /// The provider of certificates for webhooks.
    pub certificates: CertificateProvider,
}

impl RegistryBundle {
    /// Returns all objects that OLM creates from the bundle.
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

/// The rendering of one bundle.
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

    /// Returns the service accounts that receive permissions.
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

    /// If the operator watches all namespaces, its permissions become cluster-wide.
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

    /// Returns the configurations of admission webhooks. They are cluster-scoped; the API server ignores the namespace
    /// that OLM writes into them.
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

    /// Returns the objects that OLM creates for each deployment with webhooks.
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
    /// Whether the object is of a kind that a validator allows, or that OLM creates itself.
    pub(crate) fn is_of_bundle(&self) -> bool {
        let kind = &*self.kind.kind;
        is_known(kind) || MADE.contains(&kind)
    }

    /// Returns an object of the bundle in this namespace.
    fn of(object: &Value, namespace: &str) -> Self {
        Self {
            kind: BundledKind::of(text(object, "/apiVersion"), text(object, "/kind")),
            namespace: namespace.to_owned(),
            name: RenderedName::Whole(text(object, "/metadata/name").to_owned()),
        }
    }
}

/// Returns `BASE-SUFFIX`, with the base cut if both together are longer than a label value. Because of the hyphen, the
/// result can be one character longer, as in upstream.
fn suffixed(base: &str, suffix: &str) -> String {
    let room = LONGEST_NAME - suffix.len();
    let base = if base.len() > room {
        base.get(..room - 1).unwrap_or(base)
    } else {
        base
    };
    format!("{base}-{suffix}")
}

/// The kinds that OLM creates, although no manifest of a bundle can have them.
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
/// The number of objects for a deployment with webhooks: a Service, a Certificate and an Issuer.
pub(super) const OBJECTS_OF_WEBHOOKS: usize = 3;

const DEFAULT_ACCOUNT: &str = "default";
const LONGEST_NAME: usize = 63;

// === The kinds of manifests that a bundle can have in addition to its CRDs and its `ClusterServiceVersion` ===
//
// Upstream: operator-registry, [`pkg/lib/bundle/supported_resources.go`], in the version that operator-controller requires.
//
// [`pkg/lib/bundle/supported_resources.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/lib/bundle/supported_resources.go

/// The kinds, of any group, whose objects OLM creates in the namespace of the extension.
const NAMESPACED: [&str; 11] = [
    "ConfigMap",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "PodMonitor",
    "PrometheusRule",
    "Role",
    "RoleBinding",
    "Secret",
    "Service",
    "ServiceAccount",
    "ServiceMonitor",
];

/// The other kinds. A `VerticalPodAutoscaler` keeps its own namespace.
const OTHERS: [&str; 9] = [
    "ClusterRole",
    "ClusterRoleBinding",
    "ConsoleCLIDownload",
    "ConsoleLink",
    "ConsolePlugin",
    "ConsoleQuickStart",
    "ConsoleYAMLSample",
    "PriorityClass",
    "VerticalPodAutoscaler",
];

/// The kinds that older releases are known to refuse, with the last such release 1.x.
const LATER: [(&str, u8); 3] = [
    ("ConsolePlugin", 2),
    ("NetworkPolicy", 2),
    ("PodMonitor", 5),
];

/// Whether any release accepts this kind.
pub(super) fn is_known(kind: &str) -> bool {
    is_namespaced(kind) || OTHERS.contains(&kind)
}

/// Whether operator-controller 1.`minor` can accept this kind.
pub(super) fn is_allowed(kind: &str, minor: u8) -> bool {
    let mut later = LATER.iter();
    is_known(kind) && !later.any(|(refused, last)| *refused == kind && minor <= *last)
}

fn is_namespaced(kind: &str) -> bool {
    NAMESPACED.contains(&kind)
}
