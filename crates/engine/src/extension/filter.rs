//! The request of an extension, in one type for all shapes; when two requests are equal; and the installation settings.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use crate::extension::{Identity, Json, Shape};
use olmguard_catalog::selector::LabelSelector;
use olmguard_catalog::word_set;

/// The request of an extension.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The package.
    pub package: String,
    /// The version range as written; empty or absent for any version.
    pub version: Option<String>,
    /// The channels as written, in order; none for all.
    pub channels: Vec<String>,
    /// The catalog selector. Advice is a search among filters with other versions, which share it.
    pub selector: Option<Arc<LabelSelector>>,
    /// Whether upgrade edges apply.
    pub policy: Policy,
    /// Whether the filter has more than [`Filter::MOST_ENTRIES`] channels and selector entries, none of which are kept.
    /// The reader of the objects has compared the entries of two such filters.
    pub is_too_large: bool,
}

word_set! {
    /// Whether the upgrade edges of the catalog apply to the extension.
    #[derive(Default)]
    pub enum Policy {
        /// Edges apply: `CatalogProvided`, `Enforce`, or any word other than the bypass.
        #[default]
        CatalogProvided => "CatalogProvided",
        /// Edges do not apply (the bypass): `SelfCertified`, or `Ignore` in older shapes.
        SelfCertified => "SelfCertified",
    }
}

impl Filter {
    /// The most entries of a filter that is judged. The CRD accepts 256 channels and any number of selector entries; a
    /// real filter has a handful.
    pub const MOST_ENTRIES: usize = 1_024;

    /// The number of channels and of all selector entries, including the items of its lists.
    pub fn entries(&self) -> usize {
        if self.is_too_large {
            return Self::MOST_ENTRIES + 1;
        }
        let selector = self.selector.iter();
        let selector = selector.map(|selector| {
            let expressions = selector.match_expressions.iter();
            let values = expressions.flat_map(|wanted| &wanted.values).map(Vec::len);
            selector.match_labels.len() + selector.match_expressions.len() + values.sum::<usize>()
        });
        self.channels.len() + selector.sum::<usize>()
    }

    /// The same filter without its channels and its selector, which have too many entries to be kept.
    pub fn too_large(self) -> Self {
        Self {
            channels: Vec::new(),
            selector: None,
            is_too_large: true,
            ..self
        }
    }

    /// The version range; `None` if it is empty.
    pub fn range(&self) -> Option<&str> {
        self.version.as_deref().filter(|range| !range.is_empty())
    }

    /// Whether the bypass is set.
    pub fn bypasses(&self) -> bool {
        self.policy == Policy::SelfCertified
    }

    /// The same request with another range.
    pub fn with_version(&self, version: &str) -> Self {
        self.with(Some(version.to_owned()))
    }

    /// The same request for any version.
    pub fn without_version(&self) -> Self {
        self.with(None)
    }

    fn with(&self, version: Option<String>) -> Self {
        Self {
            package: self.package.clone(),
            version,
            channels: self.channels.clone(),
            selector: self.selector.clone(),
            ..*self
        }
    }

    /// The same request in all channels.
    pub fn without_channels(&self) -> Self {
        Self {
            channels: Vec::new(),
            ..self.clone()
        }
    }

    /// The same request with another policy.
    pub fn with_policy(&self, policy: Policy) -> Self {
        Self {
            policy,
            ..self.clone()
        }
    }

    /// Whether two requests are equal. Channels and selectors are compared as sets, ranges as trimmed text.
    pub fn asks_the_same_as(&self, other: &Self) -> bool {
        self.policy == other.policy && self.selects_the_same_as(other)
    }

    /// Whether two requests are equal apart from their policies.
    pub fn selects_the_same_as(&self, other: &Self) -> bool {
        self.package == other.package
            && self.trimmed() == other.trimmed()
            && self.is_too_large == other.is_too_large
            && (self.channels == other.channels || self.channel_set() == other.channel_set())
            && (self.selector == other.selector
                || select_alike(self.selector.as_deref(), other.selector.as_deref()))
    }

    fn trimmed(&self) -> &str {
        self.version.as_deref().unwrap_or_default().trim()
    }

    fn channel_set(&self) -> BTreeSet<&String> {
        self.channels.iter().collect()
    }
}

/// Whether two selectors have the same requirements, in any order. An absent selector and an empty one are equal.
fn select_alike(one: Option<&LabelSelector>, other: Option<&LabelSelector>) -> bool {
    let anything = LabelSelector::default();
    let [one, other] = [one, other].map(|selector| selector.unwrap_or(&anything));
    one.match_labels == other.match_labels && expressions(one) == expressions(other)
}

fn expressions(selector: &LabelSelector) -> BTreeSet<(&str, &str, BTreeSet<&str>)> {
    let expressions = selector.match_expressions.iter();
    let requirement = expressions.map(|wanted| {
        let values = wanted.values.iter().flatten().map(String::as_str).collect();
        (wanted.key.as_str(), wanted.operator.as_str(), values)
    });
    requirement.collect()
}

// === The fields of an extension that operator-controller reads after resolution ===
//
// Upstream: operator-controller, [`api/v1/clusterextension_types.go`]. Older shapes have none of these fields, and
// belong to releases of operator-controller whose installation is not checked here.
//
// [`api/v1/clusterextension_types.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/api/v1/clusterextension_types.go

/// The fields of an extension that operator-controller reads after resolution.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct InstallRequest {
    /// The name of the extension, which is also the name of a Helm release. Empty if the API server has yet to generate
    /// it.
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

/// Whether operator-controller compares the CRDs of a bundle with the CRDs that they replace.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CrdEnforcement {
    /// The CRDs are compared.
    #[default]
    Strict,
    /// The CRDs are not compared.
    None,
}

/// The configuration of an extension.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum SpecConfig {
    /// The extension has no configuration.
    #[default]
    Absent,
    /// The object at `spec.config`.
    Present(Value),
    /// The configuration is unknown: it is too large to be kept, or no extension is given.
    Unknown,
}

impl InstallRequest {
    /// The request of an extension whose settings are not known. It has no name, so it cannot be compared with the
    /// objects of a cluster.
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

    /// The namespace for the operator to watch, if the configuration sets one.
    pub fn watched(&self) -> Option<&str> {
        match &self.config {
            SpecConfig::Present(config) => config.pointer("/inline/watchNamespace")?.as_str(),
            SpecConfig::Absent | SpecConfig::Unknown => None,
        }
    }

    /// Whether the same bundle would be installed with other settings.
    pub fn differs_from(&self, other: &Self) -> bool {
        self.config != other.config
    }

    /// Whether the two requests may differ in whether a bundle can be installed.
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

    fn filter(selector: &Value) -> Filter {
        Filter {
            selector: Some(Arc::new(LabelSelector::read(selector).unwrap())),
            ..Filter::default()
        }
    }

    #[test]
    fn channels_are_a_set_and_ranges_are_trimmed_text() {
        let asked = |version: Option<&str>, channels: &[&str]| Filter {
            version: version.map(str::to_owned),
            channels: channels.iter().map(|&channel| channel.to_owned()).collect(),
            ..Filter::default()
        };
        assert!(
            asked(Some(" 1.x "), &["b", "a", "a"])
                .asks_the_same_as(&asked(Some("1.x"), &["a", "b"]))
        );
        assert!(asked(Some(""), &[]).asks_the_same_as(&asked(None, &[])));
        assert!(!asked(Some("1.x"), &[]).asks_the_same_as(&asked(Some("1.X"), &[])));
        assert!(!asked(None, &["a"]).asks_the_same_as(&asked(None, &[])));
    }

    #[test]
    fn selectors_are_sets_of_requirements() {
        let one = filter(&json!({"matchExpressions": [
            {"key": "a", "operator": "In", "values": ["x", "y"]}, {"key": "b", "operator": "Exists"}]}));
        let two = filter(&json!({"matchExpressions": [
            {"key": "b", "operator": "Exists"}, {"key": "a", "operator": "In", "values": ["y", "x", "x"]}]}));
        assert!(one.asks_the_same_as(&two));
        assert!(Filter::default().asks_the_same_as(&filter(&json!({}))));
        assert!(!one.asks_the_same_as(&Filter::default()));
    }

    #[test]
    fn every_entry_counts_wherever_it_is() {
        let selecting = filter(
            &json!({"matchLabels": {"a": "", "b": ""}, "matchExpressions": [
            {"key": "a", "operator": "In", "values": ["x", "x", "y"]}, {"key": "b"}]}),
        );
        assert_eq!(selecting.entries(), 2 + 2 + 3);
        let channels = vec!["c".to_owned(); 2];
        let both = Filter {
            channels,
            ..selecting
        };
        assert_eq!(both.entries(), 9);
        assert_eq!(both.too_large().entries(), Filter::MOST_ENTRIES + 1);
        assert_eq!(Filter::default().entries(), 0);
    }

    #[test]
    fn what_is_too_large_asks_for_something_else_than_what_is_not() {
        let large = Filter::default().too_large();
        assert!(large.asks_the_same_as(&Filter::default().too_large()));
        assert!(!large.asks_the_same_as(&Filter::default()));
    }

    #[test]
    fn the_policy_counts_only_where_it_is_asked() {
        let bypassing = Filter {
            policy: Policy::SelfCertified,
            ..Filter::default()
        };
        assert!(!bypassing.asks_the_same_as(&Filter::default()));
        assert!(bypassing.selects_the_same_as(&Filter::default()));
    }

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
