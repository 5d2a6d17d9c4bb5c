//! How an extension is to be installed: what operator-controller reads of it after resolution.
//!
//! Upstream: operator-controller, [`api/v1/clusterextension_types.go`]. Older shapes have none of it, and belong to
//! operator-controllers whose installation is not checked here.
//!
//! [`api/v1/clusterextension_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterextension_types.go

use serde_json::Value;

use crate::extension::{Identity, Json, Shape};

/// What operator-controller reads of an extension after resolution.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InstallRequest {
    /// The name of the extension, which a Helm release has too; empty if the API server is still to choose it.
    pub name: String,
    /// `spec.namespace`, into which the bundle is installed.
    pub namespace: String,
    /// `spec.serviceAccount.name`, which operator-controller reads up to release 1.10.
    pub service_account: String,
    /// `spec.config`.
    pub config: SpecConfig,
    /// `spec.install.preflight.crdUpgradeSafety.enforcement`.
    pub crd_enforcement: CrdEnforcement,
}

/// Whether operator-controller compares the CRDs of a bundle with those that they replace.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CrdEnforcement {
    /// It does.
    #[default]
    Strict,
    /// It does not.
    None,
}

/// The configuration of an extension.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum SpecConfig {
    /// It has none.
    #[default]
    Absent,
    /// The object at `spec.config`.
    Present(Value),
    /// It is not known: it is too large to be kept whole, or no extension is given.
    Unknown,
}

impl InstallRequest {
    /// The request of an extension whose settings are not known. What compares it with the objects of a cluster cannot
    /// use it: its name is none.
    pub(crate) fn unknown() -> &'static Self {
        static UNKNOWN: InstallRequest = InstallRequest {
            name: String::new(),
            namespace: String::new(),
            service_account: String::new(),
            config: SpecConfig::Unknown,
            crd_enforcement: CrdEnforcement::Strict,
        };
        &UNKNOWN
    }

    /// The request of an object; `None` in older shapes.
    pub(super) fn read<'a>(
        identity: &Identity,
        shape: Shape,
        object: impl Json<'a>,
    ) -> Option<Self> {
        if shape != Shape::V1 {
            return None;
        }
        let text = |path: &[&str]| object.at(path).and_then(Json::as_str).unwrap_or_default();
        Some(Self {
            name: identity.name.clone().unwrap_or_default(),
            namespace: text(&["spec", "namespace"]).to_owned(),
            service_account: text(&["spec", "serviceAccount", "name"]).to_owned(),
            config: SpecConfig::read(object),
            crd_enforcement: match text(ENFORCEMENT) {
                "None" => CrdEnforcement::None,
                _ => CrdEnforcement::Strict,
            },
        })
    }

    /// The namespace that the operator is to watch, if the configuration names one.
    pub fn watched(&self) -> Option<&str> {
        match &self.config {
            SpecConfig::Present(config) => config.pointer("/inline/watchNamespace")?.as_str(),
            SpecConfig::Absent | SpecConfig::Unknown => None,
        }
    }

    /// Whether the same bundle would be installed in another way.
    pub fn differs_from(&self, other: &Self) -> bool {
        self.config != other.config
    }

    /// Whether the same bundle might be installed now, and was not before, or the other way round.
    pub fn decides_otherwise_than(&self, other: &Self) -> bool {
        self.differs_from(other) || self.crd_enforcement != other.crd_enforcement
    }
}

const ENFORCEMENT: &[&str] = &[
    "spec",
    "install",
    "preflight",
    "crdUpgradeSafety",
    "enforcement",
];

impl SpecConfig {
    fn read<'a>(object: impl Json<'a>) -> Self {
        let config = object.at(&["spec", "config"]);
        match config.filter(|config| !config.is_null()).map(Json::whole) {
            None => Self::Absent,
            Some(None) => Self::Unknown,
            Some(Some(config)) => Self::Present(config),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::extension::Extension;

    fn read(spec: &Value) -> InstallRequest {
        let object = json!({"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
            "metadata": {"name": "argocd"}, "spec": spec});
        Extension::recognised(&object).unwrap().install.unwrap()
    }

    #[test]
    fn what_is_installed_and_how_is_read() {
        let inline = json!({"configType": "Inline", "inline": {"watchNamespace": "a"}});
        let request = read(&json!({"namespace": "ns", "config": inline}));
        assert_eq!((&*request.name, &*request.namespace), ("argocd", "ns"));
        assert_eq!(request.config, SpecConfig::Present(inline));
        assert!(request.differs_from(&read(&json!({"namespace": "ns"}))));
    }

    #[test]
    fn nothing_said_is_the_default_and_null_is_nothing() {
        let request = read(&json!({"config": null}));
        assert_eq!(request.config, SpecConfig::Absent);
        assert!(!request.differs_from(&read(&json!({"namespace": "other"}))));
    }

    #[test]
    fn only_none_skips_the_comparison_of_crds() {
        let safety = |enforcement: &str| {
            let safety = json!({"crdUpgradeSafety": {"enforcement": enforcement}});
            read(&json!({"install": {"preflight": safety}}))
        };
        let (strict, none) = (safety("Strict"), safety("None"));
        let of = |request: &InstallRequest| request.crd_enforcement;
        assert_eq!(
            (of(&strict), of(&none)),
            (CrdEnforcement::Strict, CrdEnforcement::None)
        );
        assert_eq!(of(&read(&json!({}))), CrdEnforcement::Strict);
        assert!(none.decides_otherwise_than(&strict) && !none.differs_from(&strict));
        assert!(!strict.decides_otherwise_than(&read(&json!({}))));
    }
}
