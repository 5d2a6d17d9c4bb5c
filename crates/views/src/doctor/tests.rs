//! Findings for given facts, and every sentence of them.

mod scene;

mod around;
mod certificates;
mod replicas;
mod round_trip;

use super::{Check, State};
use scene::{Scene, findings};

#[test]
fn a_guard_that_is_well_has_one_line_for_each_check() {
    let findings = findings(&Scene::well());
    let told: Vec<_> = findings.iter().map(|one| one.check).collect();
    assert_eq!(told, Check::ALL);
    for finding in &findings {
        assert_eq!(finding.state, State::Ok, "{finding:?}");
        assert_eq!((&finding.cause, &finding.command), (&None, &None));
    }
    let found: Vec<_> = findings.iter().map(|one| one.found.as_str()).collect();
    assert_eq!(
        found,
        [
            "olmguard has the webhook validate.olmguard.dev",
            "as this version ships it",
            "Ignore: API servers allow an edit without a message if they cannot call olmguard",
            "5 s",
            "olmguard-system/olmguard, ClusterIP, port 443 forwards to https",
            "1 ready: olmguard-1 (10.0.0.1)",
            "olmguard-system/olmguard, 1 of 1 ready",
            "olmguard-1: ready",
            "olmguard-1: 0.1.0",
            "olmguard-1: 2 of 2 loaded",
            "olmguard-1: OLM 1.11 (image tag v1.11.0), no feature gates",
            "trusts the certificate of olmguard-1",
            "the certificate of olmguard-1 is for olmguard.olmguard-system.svc",
            "the certificate of olmguard-1 is valid until 2026-11-27T00:00:00Z, for 6 d",
            "system:serviceaccount:olmguard-system:olmguard has all 1 rights that it needs",
            "1 accepted",
            "denied within 12 ms, as expected: olmguard-doctor: install of any version refused: \
             the catalog selector is not valid [InvalidSelector]",
        ]
    );
}

#[test]
fn what_could_not_be_asked_is_unknown_with_the_right_that_is_lacking() {
    let findings = findings(&Scene::forbidden());
    for finding in &findings {
        assert_eq!(finding.state, State::Unknown, "{finding:?}");
    }
    let told = findings.iter().filter_map(|one| {
        let command = one.command.as_deref()?;
        Some((one.check.as_str(), one.cause.as_deref()?, command))
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            (
                "configuration",
                "you do not have the right to get validatingwebhookconfigurations/olmguard",
                "kubectl auth can-i get validatingwebhookconfigurations/olmguard",
            ),
            (
                "service",
                "you do not have the right to get services/olmguard in olmguard-system",
                "kubectl auth can-i get services/olmguard -n olmguard-system",
            ),
            (
                "endpoints",
                "you do not have the right to list endpointslices.discovery.k8s.io in \
                 olmguard-system",
                "kubectl auth can-i list endpointslices.discovery.k8s.io -n olmguard-system",
            ),
            (
                "deployment",
                "you do not have the right to get deployments.apps/olmguard in olmguard-system",
                "kubectl auth can-i get deployments.apps/olmguard -n olmguard-system",
            ),
            (
                "replica",
                "you do not have the right to get pods/proxy in olmguard-system",
                "kubectl auth can-i get pods --subresource=proxy -n olmguard-system",
            ),
            (
                "permissions",
                "you do not have the right to create subjectaccessreviews.authorization.k8s.io",
                "kubectl auth can-i create subjectaccessreviews.authorization.k8s.io",
            ),
            (
                "policies",
                "you do not have the right to list upgradepolicies.olmguard.dev",
                "kubectl auth can-i list upgradepolicies.olmguard.dev",
            ),
            (
                "round-trip",
                "you do not have the right to create clusterextensions.olm.operatorframework.io",
                "kubectl auth can-i create clusterextensions.olm.operatorframework.io",
            ),
        ]
    );
    let found = &findings[0].found;
    assert_eq!(
        found,
        "could not be checked: the API server answers 403: no"
    );
}
