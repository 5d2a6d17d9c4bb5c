//! A healthy installation, from which tests change one fact at a time.

use std::time::Duration;

use crate::doctor::{
    ApiAnswer, Bundle, Certificate, Check, Configuration, Deployment, DoctorFacts, Endpoint,
    FailurePolicy, Finding, MissingAnswer, Names, Need, Permission, PolicyState, Port, Replica,
    ReplicaStatus, Service, Trust, Webhook, examine,
};
use crate::readiness::{CatalogCounts, CheckReadiness, OlmEvidence, Readiness};

pub(super) struct Scene;

impl Scene {
    pub(super) fn well() -> DoctorFacts {
        let name = "olmguard".to_owned();
        DoctorFacts {
            names: Names {
                namespace: "olmguard-system".to_owned(),
                service: name.clone(),
                deployment: name.clone(),
                configuration: name,
            },
            version: "0.1.0".to_owned(),
            configuration: Ok(Some(Configuration {
                webhook: Some(webhook()),
                webhooks: vec!["validate.olmguard.dev".to_owned()],
            })),
            service: Ok(Some(service())),
            endpoints: Ok(vec![endpoint(1, true)]),
            deployment: Ok(Some(Deployment {
                wanted: 1,
                ready: 1,
                updated: 1,
            })),
            replicas: vec![replica(1)],
            permissions: Ok(vec![permission(true)]),
            policies: Ok(vec![policy(None)]),
            round_trip: Ok(denied(OURS)),
        }
    }

    /// The user has no rights.
    pub(super) fn forbidden() -> DoctorFacts {
        let namespace = Some("olmguard-system");
        let name = Some("olmguard");
        DoctorFacts {
            configuration: Err(unasked(
                "get",
                "validatingwebhookconfigurations",
                None,
                name,
            )),
            service: Err(unasked("get", "services", namespace, name)),
            endpoints: Err(unasked(
                "list",
                "endpointslices.discovery.k8s.io",
                namespace,
                None,
            )),
            deployment: Err(unasked("get", "deployments.apps", namespace, name)),
            replicas: vec![Replica {
                name: "olmguard-1".to_owned(),
                told: Err(unasked("get", "pods/proxy", namespace, None)),
            }],
            permissions: Err(unasked(
                "create",
                "subjectaccessreviews.authorization.k8s.io",
                None,
                None,
            )),
            policies: Err(unasked("list", "upgradepolicies.olmguard.dev", None, None)),
            round_trip: Ok(answered(403, "Forbidden", FORBIDDEN, &[])),
            ..Self::well()
        }
    }
}

pub(super) fn policy(fault: Option<&str>) -> PolicyState {
    PolicyState {
        kind: "UpgradePolicy",
        name: "production".to_owned(),
        fault: fault.map(str::to_owned),
    }
}

/// Returns all findings.
pub(super) fn findings(facts: &DoctorFacts) -> Vec<Finding> {
    examine(facts)
}

/// Checks the findings of one check, as lines: state, finding, cause, command.
#[track_caller]
pub(super) fn says(facts: &DoctorFacts, check: Check, expected: &[[&str; 4]]) {
    let findings = findings(facts);
    let of_check = findings.iter().filter(|one| one.check == check);
    let told: Vec<_> = of_check
        .map(|one| {
            [
                one.state.as_str(),
                &one.found,
                one.cause.as_deref().unwrap_or_default(),
                one.command.as_deref().unwrap_or_default(),
            ]
        })
        .collect();
    assert_eq!(told, expected);
}

pub(super) fn webhook() -> Webhook {
    Webhook {
        name: "validate.olmguard.dev".to_owned(),
        differences: Vec::new(),
        failure_policy: FailurePolicy::Ignore,
        timeout: 5,
        shipped_timeout: 5,
        bundle: Bundle::Certificates,
        server_name: Some("olmguard.olmguard-system.svc".to_owned()),
        port: Some(443),
    }
}

/// The healthy installation with another webhook.
pub(super) fn with_webhook(webhook: Webhook) -> DoctorFacts {
    DoctorFacts {
        configuration: Ok(Some(Configuration {
            webhooks: vec![webhook.name.clone()],
            webhook: Some(webhook),
        })),
        ..Scene::well()
    }
}

pub(super) fn service() -> Service {
    Service {
        kind: "ClusterIP".to_owned(),
        ports: vec![Port {
            number: 443,
            target: "https".to_owned(),
        }],
    }
}

pub(super) fn endpoint(number: u8, is_ready: bool) -> Endpoint {
    Endpoint {
        address: format!("10.0.0.{number}"),
        pod: Some(format!("olmguard-{number}")),
        is_ready,
    }
}

pub(super) fn replica(number: u8) -> Replica {
    Replica {
        name: format!("olmguard-{number}"),
        told: Ok(told()),
    }
}

pub(super) fn told() -> ReplicaStatus {
    ReplicaStatus {
        version: Some("0.1.0".to_owned()),
        is_ready: true,
        readiness: Ok(ready()),
        certificate: Ok(certificate()),
    }
}

fn ready() -> Readiness {
    let counts = CatalogCounts {
        available: 2,
        loaded: 2,
        ..CatalogCounts::default()
    };
    let checks = [
        check("certificate", "for olmguard.olmguard-system.svc"),
        check("watch", "watched"),
        CheckReadiness {
            catalogs: Some(counts),
            ..check("catalogs", "2 of 2 loaded")
        },
        CheckReadiness {
            olm: Some(OlmEvidence::Found),
            ..check("olm", "OLM 1.11 (image tag v1.11.0), no feature gates")
        },
    ];
    Readiness::new(Ok(()), checks.into())
}

/// A check that does not make the replica unready.
pub(super) fn check(name: &str, words: &str) -> CheckReadiness {
    CheckReadiness::new(name, Ok(words.to_owned()))
}

/// The healthy installation, whose only replica has this status.
pub(super) fn with_told(told: ReplicaStatus) -> DoctorFacts {
    DoctorFacts {
        replicas: vec![Replica {
            name: "olmguard-1".to_owned(),
            told: Ok(told),
        }],
        ..Scene::well()
    }
}

/// A certificate with a lifetime of seven days, on its second day.
pub(super) fn certificate() -> Certificate {
    Certificate {
        names: vec!["olmguard.olmguard-system.svc".to_owned()],
        is_for_service: Some(true),
        until: "2026-11-27T00:00:00Z".to_owned(),
        life: days(7),
        left: days(6),
        begins_in: None,
        trust: Trust::Trusted,
    }
}

pub(super) fn days(days: u64) -> Duration {
    Duration::from_hours(24 * days)
}

pub(super) fn permission(is_allowed: bool) -> Permission {
    Permission {
        account: "system:serviceaccount:olmguard-system:olmguard".to_owned(),
        need: Need {
            verb: "watch",
            resource: "clustercatalogs.olm.operatorframework.io".to_owned(),
            name: None,
            namespace: None,
        },
        is_allowed,
    }
}

pub(super) fn unasked(
    verb: &'static str,
    resource: &str,
    namespace: Option<&str>,
    name: Option<&str>,
) -> MissingAnswer {
    MissingAnswer {
        need: Need {
            verb,
            resource: resource.to_owned(),
            name: name.map(str::to_owned),
            namespace: namespace.map(str::to_owned),
        },
        is_forbidden: true,
        why: "the API server answers 403: no".to_owned(),
    }
}

pub(super) fn answered(code: u16, reason: &str, message: &str, warnings: &[&str]) -> ApiAnswer {
    ApiAnswer {
        code,
        reason: reason.to_owned(),
        message: message.to_owned(),
        warnings: warnings.iter().map(|one| (*one).to_owned()).collect(),
        took: Duration::from_millis(12),
    }
}

/// A denial by olmguard's webhook.
pub(super) fn denied(said: &str) -> ApiAnswer {
    let message = format!("admission webhook \"validate.olmguard.dev\" denied the request: {said}");
    answered(403, "Forbidden", &message, &[])
}

pub(super) const OURS: &str = "olmguard-doctor: install of any version refused: the catalog \
    selector is not valid [InvalidSelector]\nUse valid keys";
const FORBIDDEN: &str = "clusterextensions.olm.operatorframework.io is forbidden: User \"eve\" \
    cannot create resource \"clusterextensions\" in API group \"olm.operatorframework.io\" at the \
    cluster scope";
