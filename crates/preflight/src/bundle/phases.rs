//! The phases in which OLM creates the objects of a bundle with the Boxcutter runtime, and the limit on their size.
//!
//! Upstream: operator-controller, [`internal/operator-controller/applier/phase.go`], and the schema in
//! [`api/v1/clusterobjectset_types.go`].
//!
//! [`internal/operator-controller/applier/phase.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/applier/phase.go
//! [`api/v1/clusterobjectset_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterobjectset_types.go

use std::collections::BTreeMap;

use super::rendered::{CLUSTER_PERMISSIONS, DEPLOYMENTS, OBJECTS_OF_WEBHOOKS, PERMISSIONS};
use super::{BundledKind, RegistryBundle, RenderTarget, items};

/// The maximum number of objects in a phase.
pub const MOST_OF_PHASE: usize = 50;

impl RegistryBundle {
    /// Whether a phase has too many objects for operator-controller 1.`minor`.
    pub fn has_crowded_phase(&self, target: RenderTarget<'_>, minor: u8) -> bool {
        if minor < SINCE_LIMIT || self.most_of_phase() <= MOST_OF_PHASE {
            return false;
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for object in self.rendered(target) {
            *counts.entry(phase(&object.kind)).or_default() += 1;
        }
        counts.into_values().any(|objects| objects > MOST_OF_PHASE)
    }

    /// Returns an upper bound on the size of every phase. It is cheap, because a search for upgrade paths asks for it
    /// per edge.
    fn most_of_phase(&self) -> usize {
        let of_csv = |path| items(&self.csv, path).len();
        let permissions = of_csv(PERMISSIONS) + of_csv(CLUSTER_PERMISSIONS);
        let services = OBJECTS_OF_WEBHOOKS * of_csv(DEPLOYMENTS);
        let made = [
            self.crds.len(),
            permissions,
            services,
            self.webhooks().len(),
        ];
        self.others.len() + made.into_iter().max().unwrap_or_default()
    }
}

fn phase(kind: &BundledKind) -> &'static str {
    let name = match kind.api_version.split_once('/') {
        Some((group, _)) => format!("{}.{group}", kind.kind),
        None => kind.kind.clone(),
    };
    let mut phases = PHASES.iter();
    let of_kind = phases.find(|(_, kinds)| kinds.contains(&&*name));
    of_kind.map_or(DEPLOY, |(phase, _)| phase)
}

/// The first release 1.x that has the limit.
const SINCE_LIMIT: u8 = 8;

/// The phase of all kinds that no other phase lists.
const DEPLOY: &str = "deploy";

/// The phases that can contain objects of a bundle, each with its kinds: `KIND.GROUP`. They are those of OLM 1.10 and
/// 1.11. Older releases have fewer phases, which merge several of these, so some crowded phases are not found for
/// them.
const PHASES: [(&str, &[&str]); 10] = [
    (
        "policies",
        &[
            "NetworkPolicy.networking.k8s.io",
            "PodDisruptionBudget.policy",
            "PriorityClass.scheduling.k8s.io",
        ],
    ),
    ("identity", &["ServiceAccount"]),
    ("configuration", &["Secret", "ConfigMap"]),
    ("crds", &["CustomResourceDefinition.apiextensions.k8s.io"]),
    (
        "roles",
        &[
            "ClusterRole.rbac.authorization.k8s.io",
            "Role.rbac.authorization.k8s.io",
        ],
    ),
    (
        "bindings",
        &[
            "ClusterRoleBinding.rbac.authorization.k8s.io",
            "RoleBinding.rbac.authorization.k8s.io",
        ],
    ),
    (
        "infrastructure",
        &[
            "Service",
            "Issuer.cert-manager.io",
            "Certificate.cert-manager.io",
        ],
    ),
    ("scaling", &["VerticalPodAutoscaler.autoscaling.k8s.io"]),
    (
        "publish",
        &[
            "PrometheusRule.monitoring.coreos.com",
            "ServiceMonitor.monitoring.coreos.com",
            "PodMonitor.monitoring.coreos.com",
            "ConsoleYAMLSample.console.openshift.io",
            "ConsoleQuickStart.console.openshift.io",
            "ConsoleCLIDownload.console.openshift.io",
            "ConsoleLink.console.openshift.io",
            "ConsolePlugin.console.openshift.io",
        ],
    ),
    (
        "admission",
        &[
            "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
            "MutatingWebhookConfiguration.admissionregistration.k8s.io",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use olmguard_catalog::olm::CertificateProvider;

    const TARGET: RenderTarget<'_> = RenderTarget {
        namespace: "ns",
        watched: None,
        certificates: CertificateProvider::CertManager,
    };

    fn is_crowded(manifests: usize, permissions: usize) -> bool {
        let csv = json!({"kind": "ClusterServiceVersion", "metadata": {"name": "a"},
            "spec": {"install": {"spec": {"clusterPermissions": vec![json!({}); permissions]}}}});
        let maps = (0..manifests).map(
            |at| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("m{at}")}}),
        );
        let bundle = RegistryBundle::of("p", maps.chain([csv])).expect("a bundle");
        assert!(!bundle.has_crowded_phase(TARGET, 7));
        bundle.has_crowded_phase(TARGET, 11)
    }

    #[test]
    fn a_phase_can_have_fifty_objects() {
        assert!(!is_crowded(50, 50));
        assert!(is_crowded(51, 0));
        assert!(is_crowded(0, 51));
    }

    #[test]
    fn a_kind_is_of_one_group() {
        let of = |api_version, kind| phase(&BundledKind::of(api_version, kind));
        assert_eq!(of("v1", "ServiceAccount"), "identity");
        assert_eq!(of("apps/v1", "Deployment"), DEPLOY);
        assert_eq!(of("example.com/v1", "ServiceAccount"), DEPLOY);
        assert_eq!(of("policy/v1beta1", "PodDisruptionBudget"), "policies");
        assert_eq!(
            of("autoscaling.k8s.io/v1", "VerticalPodAutoscaler"),
            "scaling"
        );
    }
}
