//! The phases in which OLM creates the objects of a bundle with the Boxcutter runtime, and how many a phase can have.
//!
//! Upstream: operator-controller, [`internal/operator-controller/applier/phase.go`], and the schema in
//! [`api/v1/clusterobjectset_types.go`].
//!
//! [`internal/operator-controller/applier/phase.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/applier/phase.go
//! [`api/v1/clusterobjectset_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterobjectset_types.go

use super::{BundledKind, RegistryBundle, RenderTarget};

/// A phase with more objects than a revision can have in it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CrowdedPhase {
    /// Its name, such as `crds`.
    pub phase: &'static str,
    /// How many objects it has.
    pub objects: usize,
}

/// The most objects of a phase.
pub const MOST_OF_PHASE: usize = 50;

impl RegistryBundle {
    /// The first phase that has too many objects for an operator-controller 1.`minor`.
    pub fn crowded_phase(&self, target: RenderTarget<'_>, minor: u8) -> Option<CrowdedPhase> {
        if minor < SINCE_LIMIT {
            return None;
        }
        let made = self.rendered(target);
        let phases: Vec<_> = made.iter().map(|object| phase(&object.kind)).collect();
        let count = |of: &str| phases.iter().filter(|phase| **phase == of).count();
        let counted = ORDER.iter().map(|(phase, _)| CrowdedPhase {
            phase,
            objects: count(phase),
        });
        let mut crowded = counted.filter(|phase| phase.objects > MOST_OF_PHASE);
        crowded.next()
    }
}

fn phase(kind: &BundledKind) -> &'static str {
    let name = match kind.api_version.split_once('/') {
        Some((group, _)) => format!("{}.{group}", kind.kind),
        None => kind.kind.clone(),
    };
    let mut phases = ORDER.iter();
    let of_kind = phases.find(|(_, kinds)| kinds.contains(&&*name));
    of_kind.map_or(DEPLOY, |(phase, _)| phase)
}

/// The first release 1.x that has the limit.
const SINCE_LIMIT: u8 = 8;

/// The phase of every kind that no other phase names.
const DEPLOY: &str = "deploy";

/// The phases in their order, each with its kinds: `KIND.GROUP`. Those that nothing of a bundle can be in are left out.
const ORDER: [(&str, &[&str]); 11] = [
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
    (DEPLOY, &[]),
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

    fn crowded(manifests: usize, permissions: usize) -> Option<(&'static str, usize)> {
        let csv = json!({"kind": "ClusterServiceVersion", "metadata": {"name": "a"},
            "spec": {"install": {"spec": {"clusterPermissions": vec![json!({}); permissions]}}}});
        let maps = (0..manifests).map(
            |at| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("m{at}")}}),
        );
        let bundle = RegistryBundle::of("p", maps.chain([csv])).expect("a bundle");
        let crowded = bundle.crowded_phase(TARGET, 11)?;
        assert_eq!(bundle.crowded_phase(TARGET, 7), None);
        Some((crowded.phase, crowded.objects))
    }

    #[test]
    fn a_phase_can_have_fifty_objects() {
        assert_eq!(crowded(50, 50), None);
        assert_eq!(crowded(51, 51), Some(("configuration", 51)));
        assert_eq!(crowded(0, 51), Some(("roles", 51)));
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
