//! The configuration, the Service, its endpoints, and rights.

use super::scene::{
    Scene, endpoint, permission, policy, says, service, unasked, webhook, with_webhook,
};
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
            "ValidatingWebhookConfiguration \"olmguard\" does not exist",
            "no API server calls olmguard, so every edit passes without a check; apply your \
             installation again, for example the file below",
            APPLY,
        ]],
    );
    says(&facts, Check::Shipped, &[]);
}

#[test]
fn a_configuration_of_others_asks_nobody() {
    for (webhooks, found) in [
        (&[][..], "olmguard has no webhook"),
        (
            &["a.b.c", "d.e.f"][..],
            "olmguard has only a.b.c, d.e.f, and none of them calls olmguard",
        ),
    ] {
        let facts = DoctorFacts {
            configuration: Ok(Some(Configuration {
                webhook: None,
                webhooks: webhooks.iter().map(|one| (*one).to_owned()).collect(),
            })),
            ..Scene::well()
        };
        let cause = "no API server calls olmguard, so every edit passes without a check; apply \
                     your installation again, for example the file below";
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
            "edits that the rules do not match pass without a check; other requests that they \
             match depend on olmguard without need",
        ),
        (
            "clientConfig",
            "fail",
            "API servers call another target, not the Service that the doctor checks",
        ),
        (
            "matchConditions",
            "warn",
            "edits that a condition excludes pass without a check; without the conditions, the \
             writes of OLM's own controllers depend on olmguard",
        ),
        (
            "matchPolicy",
            "warn",
            "edits through another version of the API may pass without a check",
        ),
        (
            "webhooks",
            "fail",
            "API servers also call the other webhook; remove it unless you added it",
        ),
        (
            "sideEffects",
            "warn",
            "olmguard has no side effects; API servers refuse a dry run if a webhook may have some",
        ),
        (
            "admissionReviewVersions",
            "warn",
            "olmguard reads only v1, and fails for any other version",
        ),
        (
            "objectSelector",
            "warn",
            "edits that a selector excludes pass without a check",
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
        let found = format!("{field} is [], this version ships [1]");
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
    let found = "Fail: API servers deny an edit if they cannot call olmguard";
    says(&facts, Check::FailurePolicy, &[["ok", found, "", ""]]);
    let found = "10 s, this version ships 5 s";
    says(&facts, Check::Timeout, &[["ok", found, "", ""]]);
    says(
        &with(FailurePolicy::Fail, 30),
        Check::Timeout,
        &[[
            "warn",
            "30 s, this version ships 5 s",
            "if olmguard hangs, each edit waits this long, and a controller that waits can lose \
             its lease",
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
            "Service olmguard-system/olmguard does not exist",
            "API servers reach olmguard only through this Service",
            "kubectl get services -n olmguard-system",
        ]],
    );
    for (ports, found) in [
        (
            &[][..],
            "olmguard-system/olmguard has no port, but API servers call port 443",
        ),
        (
            &[80, 8443][..],
            "olmguard-system/olmguard has ports 80, 8443, but API servers call port 443",
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
        let cause =
            "clientConfig.service.port of the webhook names a port that the Service does not have";
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
    let found = "olmguard-system/olmguard, ClusterIP, with port 443";
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
                "the Service has no endpoints",
                "no pod matches its selector, or no matching pod has an address yet",
                pods,
            ],
        ),
        (
            vec![endpoint(1, false), endpoint(2, false)],
            [
                "fail",
                "no endpoint is ready: olmguard-1 (10.0.0.1), olmguard-2 (10.0.0.2)",
                "API servers call only ready pods",
                pods,
            ],
        ),
        (
            vec![endpoint(1, true), endpoint(2, false)],
            [
                "warn",
                "1 ready: olmguard-1 (10.0.0.1); not ready: olmguard-2 (10.0.0.2)",
                "API servers send edits only to the ready endpoints",
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
    let found = "none: a Service of type ExternalName has no endpoints";
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
                "no pod can answer API servers",
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
                "no pod can answer API servers",
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
                "the remaining replicas carry all requests",
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
                "a rollout is in progress, or stuck",
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
            "Deployment olmguard-system/olmguard does not exist",
            "if something other than a Deployment runs olmguard, the doctor does not check it",
            "kubectl get deployments -n olmguard-system",
        ]],
    );
}

#[test]
fn each_policy_that_is_not_accepted_is_a_warning() {
    let with = |policies| DoctorFacts {
        policies: Ok(policies),
        ..Scene::well()
    };
    let none = [["ok", "none in this cluster", "", ""]];
    says(&with(Vec::new()), Check::Policies, &none);
    says(
        &with(vec![policy(None), policy(Some("spec.rules.step: wrong"))]),
        Check::Policies,
        &[[
            "warn",
            "UpgradePolicy production is not accepted: spec.rules.step: wrong",
            "it denies the upgrades that it applies to until it is fixed or deleted",
            "kubectl edit upgradepolicy production",
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
            "system:serviceaccount:olmguard-system:olmguard cannot watch, list \
             clustercatalogs.olm.operatorframework.io",
            "a role or a role binding of olmguard is missing, or names another service account",
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
