//! The modules, the programs that they provide, and their build settings.

/// A directory of `tests/e2e/assets`.
#[derive(Debug)]
pub(super) struct Module {
    /// The name of the directory.
    pub(super) name: &'static str,
    /// The upstream module whose version the programs have.
    pub(super) upstream: &'static str,
    /// The programs to build, in this order; empty if only definitions are needed.
    pub(super) tools: &'static [Tool],
    /// Go's build tags, separated by commas.
    pub(super) tags: &'static str,
    /// The package that receives the version. Without it, `kubectl version` fails on the version of the server.
    pub(super) stamp: Option<&'static str>,
    /// Definitions of resources, as files of the upstream module.
    pub(super) crds: &'static [&'static str],
}

/// One program and the package that it is built from.
#[derive(Debug)]
pub(super) struct Tool {
    pub(super) program: &'static str,
    pub(super) package: &'static str,
}

/// One module for each minor version. The first is used unless another is requested. The others are the oldest and the
/// newest version that `docs/compatibility.md` promises.
pub(super) static KUBERNETES: [Module; 3] = [
    KUBERNETES_DEFAULT,
    Module {
        name: "kubernetes-1.30",
        ..KUBERNETES_DEFAULT
    },
    Module {
        name: "kubernetes-1.37",
        ..KUBERNETES_DEFAULT
    },
];

/// The modules that are always used.
pub(super) static OTHERS: [Module; 5] = [OLM, HELM, PROMTOOL, OPM, OPENREPORTS];

/// All modules.
pub(super) fn all() -> impl Iterator<Item = &'static Module> {
    KUBERNETES.iter().chain(&OTHERS)
}

const KUBERNETES_DEFAULT: Module = Module {
    name: "kubernetes",
    upstream: "k8s.io/kubernetes",
    tools: &[
        tool("etcd", "go.etcd.io/etcd/server/v3"),
        tool("kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"),
        tool("kubectl", "k8s.io/kubernetes/cmd/kubectl"),
    ],
    tags: "",
    stamp: Some("k8s.io/component-base/version"),
    crds: &[],
};

pub(super) const OLM: Module = Module {
    name: "olm",
    upstream: "github.com/operator-framework/operator-controller",
    tools: &[
        tool(
            "catalogd",
            "github.com/operator-framework/operator-controller/cmd/catalogd",
        ),
        tool(
            "operator-controller",
            "github.com/operator-framework/operator-controller/cmd/operator-controller",
        ),
    ],
    // Signatures are checked in Go, because gpgme would be a C library.
    tags: "containers_image_openpgp",
    stamp: None,
    crds: &[
        "helm/olmv1/base/operator-controller/crd/standard/olm.operatorframework.io_clusterextensions.yaml",
        "helm/olmv1/base/operator-controller/crd/experimental/olm.operatorframework.io_clusterobjectsets.yaml",
        "helm/olmv1/base/catalogd/crd/standard/olm.operatorframework.io_clustercatalogs.yaml",
    ],
};

const HELM: Module = Module {
    name: "helm",
    upstream: "helm.sh/helm/v3",
    tools: &[tool("helm", "helm.sh/helm/v3/cmd/helm")],
    tags: "",
    stamp: None,
    crds: &[],
};

const PROMTOOL: Module = Module {
    name: "promtool",
    upstream: "github.com/prometheus/prometheus",
    tools: &[tool(
        "promtool",
        "github.com/prometheus/prometheus/cmd/promtool",
    )],
    // Checking rules needs no clients of cloud providers.
    tags: "remove_all_sd",
    stamp: None,
    crds: &[],
};

pub(super) const OPM: Module = Module {
    name: "opm",
    upstream: "github.com/operator-framework/operator-registry",
    tools: &[tool(
        "opm",
        "github.com/operator-framework/operator-registry/cmd/opm",
    )],
    // The tags of upstream's own build, which sets them for signatures in Go and for SQLite.
    tags: "containers_image_openpgp,json1",
    stamp: None,
    crds: &[],
};

/// The kinds of policy reports of the Kubernetes working group. There is no program.
const OPENREPORTS: Module = Module {
    name: "openreports",
    upstream: "github.com/openreports/reports-api",
    tools: &[],
    tags: "",
    stamp: None,
    crds: &["config/crd/openreports.io_clusterreports.yaml"],
};

const fn tool(program: &'static str, package: &'static str) -> Tool {
    Tool { program, package }
}
