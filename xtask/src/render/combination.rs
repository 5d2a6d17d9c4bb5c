//! What is rendered: each profile with each certificate mode, and settings beyond the overlays.

use std::fmt;

/// A profile, a certificate mode, and the components beyond them.
pub(super) struct Combination {
    profile: &'static str,
    certificates: &'static str,
    component: Option<Component>,
}

/// A folder of `deploy/components`, and the value of the chart that is the same.
#[derive(Clone, Copy)]
struct Component {
    name: &'static str,
    value: &'static str,
}

/// All, those with overlays first.
pub(super) fn all() -> Vec<Combination> {
    let overlays = PROFILES.into_iter().flat_map(|profile| {
        CERTIFICATES.map(|certificates| Combination {
            profile,
            certificates,
            component: None,
        })
    });
    overlays.chain(BEYOND).collect()
}

impl Combination {
    /// The name of its overlay; none where a component goes beyond the overlays.
    pub(super) fn overlay(&self) -> Option<String> {
        self.component.is_none().then(|| self.name())
    }

    /// A kustomization in a folder two below the root.
    pub(super) fn kustomization(&self) -> String {
        let component = self
            .component
            .map(|component| format!("../../deploy/components/{}", component.name));
        format!(
            "resources: [../../deploy/overlays/{}]\n\
             components: [{}]\n\
             sortOptions: {{order: legacy}}\n",
            self.name(),
            component.unwrap_or_default()
        )
    }

    /// The same as values of the chart.
    pub(super) fn values(&self) -> String {
        let component = self
            .component
            .map(|component| format!(",{}=true", component.value));
        format!(
            "namespace.create=true,profile={},certificates.mode={}{}",
            self.profile,
            self.certificates,
            component.unwrap_or_default()
        )
    }

    fn name(&self) -> String {
        format!("{}-{}", self.profile, self.certificates)
    }
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        self.component
            .map_or(Ok(()), |component| write!(f, " with {}", component.name))
    }
}

const PROFILES: [&str; 4] = ["default", "hardened", "enforcing", "single-node"];
const CERTIFICATES: [&str; 3] = ["self-managed", "cert-manager", "service-ca"];
const BEYOND: [Combination; 9] = [
    beyond("default", "self-managed", V1ALPHA1),
    beyond("hardened", "self-managed", OPENSHIFT),
    beyond("enforcing", "self-managed", V1ALPHA1),
    beyond("enforcing", "self-managed", OPENSHIFT),
    beyond("default", "self-managed", SECURE_METRICS),
    beyond("enforcing", "cert-manager", SECURE_METRICS),
    beyond("single-node", "service-ca", SECURE_METRICS),
    beyond("default", "cert-manager", STATUS_POLICY),
    beyond("default", "service-ca", STATUS_POLICY),
];

const V1ALPHA1: Component = component("v1alpha1", "v1alpha1");
const OPENSHIFT: Component = component("openshift", "openshift");
const SECURE_METRICS: Component = component("secure-metrics", "metrics.secure");
const STATUS_POLICY: Component = component("status-policy", "statusPolicy.enabled");

const fn beyond(
    profile: &'static str,
    certificates: &'static str,
    component: Component,
) -> Combination {
    Combination {
        profile,
        certificates,
        component: Some(component),
    }
}

const fn component(name: &'static str, value: &'static str) -> Component {
    Component { name, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_profile_has_an_overlay_for_each_mode() {
        let names: Vec<_> = all().iter().filter_map(Combination::overlay).collect();
        assert_eq!(names.len(), 12);
        assert_eq!(
            names.first().map(String::as_str),
            Some("default-self-managed")
        );
        assert_eq!(
            names.last().map(String::as_str),
            Some("single-node-service-ca")
        );
    }

    #[test]
    fn a_component_is_a_value_of_the_chart() {
        let [with, .., last] = &BEYOND;
        assert_eq!(with.overlay(), None);
        assert_eq!(with.to_string(), "default-self-managed with v1alpha1");
        assert!(with.kustomization().contains("/components/v1alpha1]"));
        assert!(with.values().ends_with(",v1alpha1=true"));
        assert!(last.values().ends_with(",statusPolicy.enabled=true"));
    }
}
