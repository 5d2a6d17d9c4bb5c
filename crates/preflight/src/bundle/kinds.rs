//! The kinds of manifests that a bundle can have in addition to its CRDs and its `ClusterServiceVersion`.
//!
//! Upstream: operator-registry, [`pkg/lib/bundle/supported_resources.go`], in the version that operator-controller requires.
//!
//! [`pkg/lib/bundle/supported_resources.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/pkg/lib/bundle/supported_resources.go

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

pub(super) fn is_namespaced(kind: &str) -> bool {
    NAMESPACED.contains(&kind)
}
