//! What the API server makes of the probe.

mod unasked;

use super::scene::{OURS, Scene, answered, denied, says, unasked};
use crate::doctor::{Check, DoctorFacts, MissingAnswer, RoundTrip, probe};

/// A round trip that came out so is told so.
#[track_caller]
fn tells(round_trip: RoundTrip, expected: [&str; 4]) {
    let facts = DoctorFacts {
        round_trip,
        ..Scene::well()
    };
    says(&facts, Check::RoundTrip, &[expected]);
}

const DEPLOYMENT: &str = "kubectl get deployment olmguard -n olmguard-system -o yaml";
const CONFIGURATION: &str = "kubectl get validatingwebhookconfiguration olmguard -o yaml";
const WEBHOOKS: &str = "kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations";

#[test]
fn a_denial_of_another_release_or_program_is_told_from_the_known_one() {
    tells(
        denied("olmguard-doctor: refused [InvalidSelector]"),
        [
            "warn",
            "denied, in other words than those of this version: olmguard-doctor: refused \
             [InvalidSelector]",
            "another release of the guard answers",
            DEPLOYMENT,
        ],
    );
    tells(
        denied("all is denied\nreally"),
        [
            "fail",
            "denied, and not for what must be denied: all is denied",
            "something other than olmguard answers behind the Service",
            DEPLOYMENT,
        ],
    );
    let other = "admission webhook \"a.b.c\" denied the request: no";
    tells(
        answered(403, "Forbidden", other, &[]),
        [
            "unknown",
            "the webhook \"a.b.c\" denied the probe first: no",
            "an API server tells one denial only; the guard's may be behind it",
            WEBHOOKS,
        ],
    );
    let nothing =
        "admission webhook \"validate.olmguard.dev\" denied the request without explanation";
    tells(
        answered(400, "", nothing, &[]),
        [
            "fail",
            "denied, and not for what must be denied: without explanation",
            "something other than olmguard answers behind the Service",
            DEPLOYMENT,
        ],
    );
}

/// A call that failed so is told so; the texts are those of kube-apiserver 1.35.
#[track_caller]
fn fails(why: &str, cause: &str, command: &str) {
    let why = format!("failed to call webhook: {why}");
    let message =
        format!("Internal error occurred: failed calling webhook \"validate.olmguard.dev\": {why}");
    let found = format!("the API server could not ask the guard: {why}");
    tells(
        answered(500, "InternalError", &message, &[]),
        ["fail", &found, cause, command],
    );
}

/// The same, for what was posted.
#[track_caller]
fn fails_to_post(why: &str, cause: &str, command: &str) {
    let url = "https://olmguard.olmguard-system.svc:443/validate?timeout=5s";
    fails(&format!("Post \"{url}\": {why}"), cause, command);
}

const SERVICE: &str = "kubectl get service olmguard -n olmguard-system -o yaml";
const LOGS: &str = "kubectl logs deployment/olmguard -n olmguard-system";

#[test]
fn a_call_that_reaches_nobody_says_what_is_in_the_way() {
    let policies = "kubectl get networkpolicies -n olmguard-system";
    let late = "no answer in timeoutSeconds: a network policy or firewall keeps API servers out, or \
                the guard has too little CPU";
    for (why, cause, command) in [
        (
            "service \"olmguard\" not found",
            "the Service that the webhook names does not exist",
            SERVICE,
        ),
        (
            "no endpoints available for service \"olmguard\"",
            "no replica is ready behind the Service",
            "kubectl get endpointslices -n olmguard-system -l kubernetes.io/service-name=olmguard",
        ),
        (
            "no service port 443 found for service \"olmguard\"",
            "the Service lacks the port that the webhook names",
            SERVICE,
        ),
        (
            "dial tcp 10.96.0.10:443: connect: connection refused",
            "nothing listens where the Service leads: its targetPort is not that of --listen, or the \
             replica has just ended",
            SERVICE,
        ),
        ("context deadline exceeded", late, policies),
        ("dial tcp 10.0.0.1:9443: i/o timeout", late, policies),
        (
            "dial tcp 10.0.0.1:9443: connect: no route to host",
            "API servers have no way to the pods: the guard may have to run in the host's network",
            "kubectl get pods -n olmguard-system -o wide",
        ),
        (
            "dial tcp: lookup olmguard.olmguard-system.svc: no such host",
            "the API server cannot resolve the name that the webhook has",
            CONFIGURATION,
        ),
    ] {
        fails_to_post(why, cause, command);
    }
}

#[test]
fn a_certificate_that_is_not_taken_points_to_its_checks() {
    let cause = "the API server does not take the certificate that is shown: see ca-bundle, \
                 server-name and expiry";
    for why in [
        "tls: failed to verify certificate: x509: certificate signed by unknown authority",
        "x509: certificate is not valid for any names, but wanted to match \
         olmguard.olmguard-system.svc",
    ] {
        fails_to_post(why, cause, CONFIGURATION);
    }
}

#[test]
fn an_answer_that_is_no_review_is_told() {
    let cause = "it was reached, and answered what is no review: another program behind the \
                 Service, a wrong path, a proxy between, or a fault of the guard";
    let boom = "an error on the server (\"a\": b) has prevented the request from succeeding";
    fails(boom, cause, LOGS);
    fails(
        "the server could not find the requested resource",
        cause,
        LOGS,
    );
    fails(
        "unexpected EOF",
        "the words are those of the API server",
        LOGS,
    );
}

#[test]
fn the_failure_of_another_webhook_says_nothing_of_the_guard() {
    let other =
        "Internal error occurred: failed calling webhook \"a.b.c\": failed to call webhook: x";
    tells(
        answered(500, "InternalError", other, &[]),
        [
            "unknown",
            "the webhook \"a.b.c\" failed first: failed to call webhook: x",
            "it is another webhook, whose failurePolicy is Fail",
            WEBHOOKS,
        ],
    );
}

#[test]
fn a_guard_that_only_observes_is_known_by_its_warning() {
    let ours = probe::expected().observed;
    for (warning, cause) in [
        (
            ours.as_str(),
            "the guard runs with --mode observe: it refuses nothing",
        ),
        (
            "allowed in observe mode: no",
            "the guard runs with --mode observe, in another release: it refuses nothing",
        ),
    ] {
        let found = format!("asked, and it only observes: {warning}");
        tells(
            answered(201, "", "", &["unknown field", warning]),
            ["warn", &found, cause, DEPLOYMENT],
        );
    }
    tells(
        answered(201, "", "", &["undecided, and allowed: x [Overloaded]"]),
        [
            "warn",
            "asked, and it had no time to judge: undecided, and allowed: x [Overloaded]",
            "the guard is overloaded, or has too little CPU for timeoutSeconds",
            "kubectl top pods -n olmguard-system",
        ],
    );
}

#[test]
fn what_ends_before_the_guard_says_nothing_of_it() {
    let crd = "kubectl get crd clusterextensions.olm.operatorframework.io";
    tells(
        answered(404, "NotFound", "404 page not found", &[]),
        [
            "fail",
            "the cluster serves no ClusterExtension of olm.operatorframework.io/v1",
            "OLM v1 is not installed: there is nothing to guard",
            crd,
        ],
    );
    let yaml = format!("{crd} -o yaml");
    tells(
        answered(422, "Invalid", "spec: wrong", &[]),
        [
            "unknown",
            "the API server answers 422 before the guard: spec: wrong",
            "the CRD of this cluster does not take the probe: another release of OLM",
            &yaml,
        ],
    );
    tells(
        answered(
            403,
            "Forbidden",
            "ValidatingAdmissionPolicy 'x' denied request: no",
            &[],
        ),
        [
            "unknown",
            "the API server answers 403 before the guard: ValidatingAdmissionPolicy 'x' denied \
             request: no",
            "another admission plugin or policy refused the probe first",
            "kubectl get validatingadmissionpolicies",
        ],
    );
    tells(
        answered(503, "", "etcd is away", &[]),
        [
            "unknown",
            "the API server answers 503 before the guard: etcd is away",
            "the API server itself could not carry it out",
            "kubectl get --raw '/readyz?verbose'",
        ],
    );
    let silent = MissingAnswer {
        is_forbidden: false,
        why: "no answer within 30 s".to_owned(),
        ..unasked("create", "x", None, None)
    };
    tells(
        RoundTrip::Unasked(silent),
        [
            "unknown",
            "could not be checked: no answer within 30 s",
            "",
            "",
        ],
    );
}

#[test]
fn a_name_that_is_taken_is_as_good_as_accepted() {
    let facts = DoctorFacts {
        round_trip: answered(409, "AlreadyExists", "x already exists", &[]),
        ..Scene::well()
    };
    let findings = super::findings(&facts);
    let finding = findings.last().expect("the last check");
    assert!(finding.found.contains("it was not asked"), "{finding:?}");
    assert!(OURS.contains("InvalidSelector"));
}
