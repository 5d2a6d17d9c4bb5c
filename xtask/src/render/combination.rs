//! What is rendered: each profile with each certificate mode, and settings beyond the overlays.

use std::fmt;

/// A profile, a certificate mode, and the components beyond them.
pub(super) struct Combination {
    profile: &'static str,
    certificates: &'static str,
    component: Option<&'static str>,
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
            .map(|name| format!("../../deploy/components/{name}"));
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
        let component = self.component.map(|name| format!(",{name}=true"));
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
            .map_or(Ok(()), |component| write!(f, " with {component}"))
    }
}

const PROFILES: [&str; 3] = ["default", "hardened", "single-node"];
const CERTIFICATES: [&str; 3] = ["self-managed", "cert-manager", "service-ca"];
const BEYOND: [Combination; 2] = [
    Combination {
        profile: "default",
        certificates: "self-managed",
        component: Some("v1alpha1"),
    },
    Combination {
        profile: "hardened",
        certificates: "self-managed",
        component: Some("openshift"),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_profile_has_an_overlay_for_each_mode() {
        let names: Vec<_> = all().iter().filter_map(Combination::overlay).collect();
        assert_eq!(names.len(), 9);
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
        let [with, _] = &BEYOND;
        assert_eq!(with.overlay(), None);
        assert_eq!(with.to_string(), "default-self-managed with v1alpha1");
        assert!(with.kustomization().contains("/components/v1alpha1]"));
        assert!(with.values().ends_with(",v1alpha1=true"));
    }
}
