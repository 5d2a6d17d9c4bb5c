//! The combinations to render: each profile with each certificate mode, and settings beyond the overlays.

use std::fmt;

/// A profile, a certificate mode, and an addition to them.
pub(super) struct Combination {
    profile: &'static str,
    certificates: &'static str,
    addition: Option<Addition>,
}

/// Directories of `deploy`, and the equivalent values of the chart.
#[derive(Clone, Copy)]
struct Addition {
    name: &'static str,
    component: Option<&'static str>,
    resource: Option<&'static str>,
    values: &'static str,
}

/// All combinations, those with overlays first.
pub(super) fn all() -> Vec<Combination> {
    let overlays = PROFILES.into_iter().flat_map(|profile| {
        CERTIFICATES.map(|certificates| Combination {
            profile,
            certificates,
            addition: None,
        })
    });
    overlays.chain(BEYOND).collect()
}

impl Combination {
    /// The name of the overlay; `None` if something is added to it.
    pub(super) fn overlay(&self) -> Option<String> {
        self.addition.is_none().then(|| self.name())
    }

    /// The kustomization, for a directory two levels below the root.
    pub(super) fn kustomization(&self) -> String {
        let directories = |names: &[Option<String>]| {
            let names = names.iter().flatten();
            let paths: Vec<_> = names.map(|name| format!("../../deploy/{name}")).collect();
            paths.join(", ")
        };
        let resource = self.addition.and_then(|addition| addition.resource);
        let component = self.addition.and_then(|addition| addition.component);
        format!(
            "resources: [{}]\n\
             components: [{}]\n\
             sortOptions: {{order: legacy}}\n",
            directories(&[
                Some(format!("overlays/{}", self.name())),
                resource.map(str::to_owned)
            ]),
            directories(&[component.map(|name| format!("components/{name}"))]),
        )
    }

    /// The equivalent values of the chart.
    pub(super) fn values(&self) -> String {
        let more = self
            .addition
            .map(|addition| format!(",{}", addition.values));
        format!(
            "namespace.create=true,profile={},certificates.mode={}{}",
            self.profile,
            self.certificates,
            more.unwrap_or_default()
        )
    }

    fn name(&self) -> String {
        format!("{}-{}", self.profile, self.certificates)
    }
}

impl fmt::Display for Combination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        self.addition
            .map_or(Ok(()), |addition| write!(f, " with {}", addition.name))
    }
}

const PROFILES: [&str; 4] = ["default", "hardened", "enforcing", "single-node"];
const CERTIFICATES: [&str; 3] = ["self-managed", "cert-manager", "service-ca"];
const BEYOND: [Combination; 19] = [
    beyond("default", "self-managed", V1ALPHA1),
    beyond("hardened", "self-managed", OPENSHIFT),
    beyond("enforcing", "self-managed", V1ALPHA1),
    beyond("enforcing", "self-managed", OPENSHIFT),
    beyond("default", "self-managed", SECURE_METRICS),
    beyond("enforcing", "cert-manager", SECURE_METRICS),
    beyond("single-node", "service-ca", SECURE_METRICS),
    beyond("default", "cert-manager", STATUS_POLICY),
    beyond("default", "service-ca", STATUS_POLICY),
    beyond("default", "self-managed", BYPASS_POLICY),
    beyond("default", "self-managed", EVENTS),
    beyond("default", "self-managed", AUDIT),
    beyond("default", "self-managed", CATALOG_PREVIEW),
    beyond("enforcing", "cert-manager", CATALOG_PREVIEW),
    beyond("default", "self-managed", PULL),
    beyond("enforcing", "cert-manager", PULL),
    beyond("default", "self-managed", MONITORING),
    beyond("hardened", "service-ca", MONITORING),
    beyond("default", "cert-manager", MONITORING_SECURE),
];

const V1ALPHA1: Addition = component("v1alpha1", "v1alpha1=true");
const OPENSHIFT: Addition = component("openshift", "openshift=true");
const SECURE_METRICS: Addition = component("secure-metrics", "metrics.secure=true");
const STATUS_POLICY: Addition = component("status-policy", "statusPolicy.enabled=true");
const BYPASS_POLICY: Addition = component("bypass-policy", "bypassPolicy.enabled=true");
const EVENTS: Addition = component("events", "settings.events=true");
const AUDIT: Addition = component(
    "audit",
    "settings.audit-interval=10m,settings.audit-cluster-report=true",
);
const CATALOG_PREVIEW: Addition = component("catalog-preview", "settings.catalog-preview=true");
const PULL: Addition = component("pull", "settings.pull=true");
const MONITORING: Addition = Addition {
    name: "monitoring",
    component: None,
    resource: Some("monitoring"),
    values: "metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true",
};
const MONITORING_SECURE: Addition = Addition {
    name: "monitoring-secure",
    component: SECURE_METRICS.component,
    resource: Some("monitoring-secure"),
    values: "metrics.secure=true,metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true",
};

const fn beyond(
    profile: &'static str,
    certificates: &'static str,
    addition: Addition,
) -> Combination {
    Combination {
        profile,
        certificates,
        addition: Some(addition),
    }
}

const fn component(name: &'static str, values: &'static str) -> Addition {
    Addition {
        name,
        component: Some(name),
        resource: None,
        values,
    }
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
    fn what_is_added_is_a_value_of_the_chart() {
        let [with, .., last] = &BEYOND;
        assert_eq!(with.overlay(), None);
        assert_eq!(with.to_string(), "default-self-managed with v1alpha1");
        assert!(with.kustomization().contains("/components/v1alpha1]"));
        assert!(with.values().ends_with(",v1alpha1=true"));
        assert_eq!(
            last.kustomization(),
            "resources: [../../deploy/overlays/default-cert-manager, ../../deploy/monitoring-secure]\n\
             components: [../../deploy/components/secure-metrics]\n\
             sortOptions: {order: legacy}\n"
        );
        assert!(last.values().contains(",metrics.secure=true,"));
    }
}
