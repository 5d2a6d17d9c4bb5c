//! The configuration, the Service, what is behind it, and rights.

use super::scene::{Scene, endpoint, permission, says, service, unasked, webhook, with_webhook};
use crate::doctor::{
    Check, Configuration, Deployment, Difference, DoctorFacts, Endpoint, FailurePolicy,
    MissingAnswer, Port, Service, Webhook,
};

const APPLY: &str = "kubectl apply -f deploy/rendered/default-self-managed.yaml";

#[test]
fn a_configuration_that_is_not_there_asks_nobody() {
    let facts = DoctorFacts {
        configuration: Ok(None),
        ..Scene::well()
    };
    says(
        &facts,
        Check::Configuration,
        &[[
            "fail",
            "there is no ValidatingWebhookConfiguration \"olmguard\"",
            "no API server asks the guard: every edit goes through unjudged; apply again whatever \
             was applied, such as the file below",
            APPLY,
        ]],
    );
    says(&facts, Check::Shipped, &[]);
}

#[test]
fn a_configuration_of_others_asks_nobody() {
    for (webhooks, found) in [
        (
            &[][..],
            "olmguard has no webhook, and none that asks the guard",
        ),
        (
            &["a.b.c", "d.e.f"][..],
            "olmguard has only a.b.c, d.e.f, and none that asks the guard",
        ),
    ] {
        let facts = DoctorFacts {
            configuration: Ok(Some(Configuration {
                webhook: None,
                webhooks: webhooks.iter().map(|one| (*one).to_owned()).collect(),
            })),
            ..Scene::well()
        };
        let cause = "no API server asks the guard by it: every edit goes through unjudged; apply again whatever \
             was applied, such as the file below";
        says(
            &facts,
            Check::Configuration,
            &[["fail", found, cause, APPLY]],
        );
    }
}

#[test]
fn each_field_that_differs_says_what_comes_of_it() {
    for (field, state, cause) in [
        (
            "rules",
            "fail",
            "edits that the rules leave out go through unjudged, and what they have too much of \
             depends on the guard without need",
        ),
        (
            "clientConfig",
            "fail",
            "API servers ask somebody else than the Service that is looked at here",
        ),
        (
            "matchConditions",
            "warn",
            "edits that a condition keeps away go through unjudged; without one the writes of OLM's \
             own controllers depend on the guard",
        ),
        (
            "matchPolicy",
            "warn",
            "edits through another version of the API may go through unjudged",
        ),
        (
            "webhooks",
            "fail",
            "API servers also send what the other webhook asks for, to where it says; remove it unless \
             you added it",
        ),
        (
            "sideEffects",
            "warn",
            "the guard has none; a dry run is refused where a webhook may have some",
        ),
        (
            "admissionReviewVersions",
            "warn",
            "the guard reads v1, and fails for any other version",
        ),
        (
            "objectSelector",
            "warn",
            "edits that a selector keeps away go through unjudged",
        ),
    ] {
        let difference = Difference {
            field,
            found: "[]".to_owned(),
            shipped: "[1]".to_owned(),
        };
        let facts = with_webhook(Webhook {
            differences: vec![difference],
            ..webhook()
        });
        let found = format!("{field} is [], shipped is [1]");
        let command = "kubectl diff -f deploy/base/validating-webhook-configuration.yaml";
        says(&facts, Check::Shipped, &[[state, &found, cause, command]]);
    }
}

#[test]
fn what_may_be_meant_so_is_told() {
    let with = |failure_policy, timeout| {
        with_webhook(Webhook {
            failure_policy,
            timeout,
            ..webhook()
        })
    };
    let facts = with(FailurePolicy::Fail, 10);
    let found = "Fail: an edit is refused when the guard cannot be asked";
    says(&facts, Check::FailurePolicy, &[["ok", found, "", ""]]);
    let found = "10 s, shipped is 5 s";
    says(&facts, Check::Timeout, &[["ok", found, "", ""]]);
    says(
        &with(FailurePolicy::Fail, 30),
        Check::Timeout,
        &[[
            "warn",
            "30 s, shipped is 5 s",
            "a guard that hangs would hold up each edit for so long, and controllers that renew their \
             lease by it with them",
            "kubectl get validatingwebhookconfiguration olmguard -o \
             jsonpath='{.webhooks[*].timeoutSeconds}'",
        ]],
    );
}

#[test]
fn a_service_is_there_with_the_port_that_is_asked() {
    let with = |service| DoctorFacts {
        service: Ok(service),
        ..Scene::well()
    };
    says(
        &with(None),
        Check::Service,
        &[[
            "fail",
            "there is no Service olmguard-system/olmguard",
            "API servers reach the guard by it alone",
            "kubectl get services -n olmguard-system",
        ]],
    );
    for (ports, found) in [
        (
            &[][..],
            "olmguard-system/olmguard has no port, API servers ask port 443",
        ),
        (
            &[80, 8443][..],
            "olmguard-system/olmguard has 80, 8443, API servers ask port 443",
        ),
    ] {
        let port = |number: &i32| Port {
            number: *number,
            target: "https".to_owned(),
        };
        let service = Service {
            ports: ports.iter().map(port).collect(),
            ..service()
        };
        let cause = "clientConfig.service.port of the webhook names a port that the Service lacks";
        let command = "kubectl get service olmguard -n olmguard-system -o yaml";
        says(
            &with(Some(service)),
            Check::Service,
            &[["fail", found, cause, command]],
        );
    }
    let unknown = DoctorFacts {
        configuration: Ok(None),
        ..Scene::well()
    };
    let found = "olmguard-system/olmguard, ClusterIP, with 443";
    says(&unknown, Check::Service, &[["ok", found, "", ""]]);
}

#[test]
fn endpoints_are_told_by_whether_they_are_ready() {
    let pods = "kubectl get pods -n olmguard-system -l app.kubernetes.io/name=olmguard -o wide";
    let bare = Endpoint {
        pod: None,
        ..endpoint(3, true)
    };
    for (endpoints, expected) in [
        (
            vec![],
            [
                "fail",
                "none behind the Service",
                "no pod matches its selector, or none has an address yet",
                pods,
            ],
        ),
        (
            vec![endpoint(1, false), endpoint(2, false)],
            [
                "fail",
                "none is ready: olmguard-1 (10.0.0.1), olmguard-2 (10.0.0.2)",
                "API servers are sent to ready pods only",
                pods,
            ],
        ),
        (
            vec![endpoint(1, true), endpoint(2, false)],
            [
                "warn",
                "1 ready: olmguard-1 (10.0.0.1); not ready: olmguard-2 (10.0.0.2)",
                "edits are sent to the ready ones only",
                pods,
            ],
        ),
        (vec![bare], ["ok", "1 ready: 10.0.0.3", "", ""]),
    ] {
        let facts = DoctorFacts {
            endpoints: Ok(endpoints),
            ..Scene::well()
        };
        says(&facts, Check::Endpoints, &[expected]);
    }
    let external = DoctorFacts {
        endpoints: Ok(vec![]),
        service: Ok(Some(Service {
            kind: "ExternalName".to_owned(),
            ..service()
        })),
        ..Scene::well()
    };
    let found = "none: the Service is only another name, ExternalName";
    says(&external, Check::Endpoints, &[["ok", found, "", ""]]);
}

#[test]
fn a_deployment_is_told_by_its_counts() {
    let status = "kubectl rollout status deployment/olmguard -n olmguard-system --timeout=1s";
    for (wanted, ready, updated, expected) in [
        (
            0,
            0,
            0,
            [
                "fail",
                "olmguard-system/olmguard is scaled to 0",
                "none of its pods answers the API server",
                "kubectl scale deployment/olmguard -n olmguard-system --replicas=2",
            ],
        ),
        (
            2,
            0,
            2,
            [
                "fail",
                "olmguard-system/olmguard, 0 of 2 ready",
                "none of its pods answers the API server",
                status,
            ],
        ),
        (
            3,
            2,
            3,
            [
                "warn",
                "olmguard-system/olmguard, 2 of 3 ready",
                "edits hang on those that are left",
                status,
            ],
        ),
        (
            2,
            3,
            1,
            [
                "warn",
                "olmguard-system/olmguard, 3 of 2 ready, 1 of them up to date",
                "a roll-out is under way, or stuck",
                status,
            ],
        ),
    ] {
        let facts = DoctorFacts {
            deployment: Ok(Some(Deployment {
                wanted,
                ready,
                updated,
            })),
            ..Scene::well()
        };
        says(&facts, Check::Deployment, &[expected]);
    }
    let facts = DoctorFacts {
        deployment: Ok(None),
        ..Scene::well()
    };
    says(
        &facts,
        Check::Deployment,
        &[[
            "warn",
            "there is no Deployment olmguard-system/olmguard",
            "whatever runs the guard instead is not looked at here",
            "kubectl get deployments -n olmguard-system",
        ]],
    );
}

#[test]
fn each_right_that_is_lacking_is_told() {
    let mut listing = permission(false);
    listing.need.verb = "list";
    let facts = DoctorFacts {
        permissions: Ok(vec![permission(true), permission(false), listing]),
        ..Scene::well()
    };
    says(
        &facts,
        Check::Permissions,
        &[[
            "fail",
            "system:serviceaccount:olmguard-system:olmguard may not watch, list \
             clustercatalogs.olm.operatorframework.io",
            "a role or a binding of the guard is missing, or names another service account",
            "kubectl auth can-i watch clustercatalogs.olm.operatorframework.io \
             --as=system:serviceaccount:olmguard-system:olmguard",
        ]],
    );
}

#[test]
fn what_fails_otherwise_names_no_right() {
    let facts = DoctorFacts {
        service: Err(MissingAnswer {
            is_forbidden: false,
            why: "no answer within 30 s".to_owned(),
            ..unasked("get", "services", None, None)
        }),
        ..Scene::well()
    };
    let found = "could not be checked: no answer within 30 s";
    says(&facts, Check::Service, &[["unknown", found, "", ""]]);
}
