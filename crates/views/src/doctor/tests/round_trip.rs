//! Answers of the API server to the probe.

mod unasked;

use super::scene::{OURS, Scene, answered, denied, says, unasked};
use crate::doctor::{ApiAnswer, Check, DoctorFacts, MissingAnswer, probe};

/// Checks the finding for a round trip.
#[track_caller]
fn tells(answered: ApiAnswer, expected: [&str; 4]) {
    after(Ok(answered), expected);
}

#[track_caller]
fn after(round_trip: Result<ApiAnswer, MissingAnswer>, expected: [&str; 4]) {
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
            "denied, but with a message of another version: olmguard-doctor: refused \
             [InvalidSelector]",
            "another release of olmguard answers",
            DEPLOYMENT,
        ],
    );
    tells(
        denied("all is denied\nreally"),
        [
            "fail",
            "denied, but not for the expected reason: all is denied",
            "something other than olmguard answers behind the Service",
            DEPLOYMENT,
        ],
    );
    let other = "admission webhook \"a.b.c\" denied the request: no";
    tells(
        answered(403, "Forbidden", other, &[]),
        [
            "unknown",
            "the webhook \"a.b.c\" denied the test edit first: no",
            "an API server reports only one denial; olmguard may have denied the edit too",
            WEBHOOKS,
        ],
    );
    let nothing =
        "admission webhook \"validate.olmguard.dev\" denied the request without explanation";
    tells(
        answered(400, "", nothing, &[]),
        [
            "fail",
            "denied, but not for the expected reason: without explanation",
            "something other than olmguard answers behind the Service",
            DEPLOYMENT,
        ],
    );
}

/// Checks the finding for a failed call. The texts are those of kube-apiserver 1.35.
#[track_caller]
fn fails(why: &str, cause: &str, command: &str) {
    let why = format!("failed to call webhook: {why}");
    let message =
        format!("Internal error occurred: failed calling webhook \"validate.olmguard.dev\": {why}");
    let found = format!("the API server could not call olmguard: {why}");
    tells(
        answered(500, "InternalError", &message, &[]),
        ["fail", &found, cause, command],
    );
}

/// Checks the finding for a failed POST.
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
    let late = "no answer within timeoutSeconds: a network policy or firewall blocks API servers, \
                or olmguard has too little CPU";
    for (why, cause, command) in [
        (
            "service \"olmguard\" not found",
            "the Service that the webhook names does not exist",
            SERVICE,
        ),
        (
            "no endpoints available for service \"olmguard\"",
            "the Service has no ready replica",
            "kubectl get endpointslices -n olmguard-system -l kubernetes.io/service-name=olmguard",
        ),
        (
            "no service port 443 found for service \"olmguard\"",
            "the Service does not have the port that the webhook names",
            SERVICE,
        ),
        (
            "dial tcp 10.96.0.10:443: connect: connection refused",
            "nothing listens at the target of the Service: its targetPort is not the port of \
             --listen, or the replica has just stopped",
            SERVICE,
        ),
        ("context deadline exceeded", late, policies),
        ("dial tcp 10.0.0.1:9443: i/o timeout", late, policies),
        (
            "dial tcp 10.0.0.1:9443: connect: no route to host",
            "API servers have no network route to the pods: olmguard may have to use the host \
             network",
            "kubectl get pods -n olmguard-system -o wide",
        ),
        (
            "dial tcp: lookup olmguard.olmguard-system.svc: no such host",
            "the API server cannot resolve the host name in the webhook",
            CONFIGURATION,
        ),
    ] {
        fails_to_post(why, cause, command);
    }
}

#[test]
fn a_certificate_that_is_not_taken_points_to_its_checks() {
    let cause = "the API server does not accept the certificate of olmguard: see ca-bundle, \
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
    let cause = "the answer is not a review: another program behind the Service, a wrong path, a \
                 proxy in between, or a fault of olmguard";
    let boom = "an error on the server (\"a\": b) has prevented the request from succeeding";
    fails(boom, cause, LOGS);
    fails(
        "the server could not find the requested resource",
        cause,
        LOGS,
    );
    fails(
        "unexpected EOF",
        "this is the message of the API server",
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
            "this is another webhook, and its failurePolicy is Fail",
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
            "olmguard runs with --mode observe, so it denies nothing",
        ),
        (
            "allowed in observe mode: no",
            "another release of olmguard runs with --mode observe, so it denies nothing",
        ),
    ] {
        let found = format!("called, but olmguard only observes: {warning}");
        tells(
            answered(201, "", "", &["unknown field", warning]),
            ["warn", &found, cause, DEPLOYMENT],
        );
    }
    tells(
        answered(201, "", "", &["undecided, and allowed: x [Overloaded]"]),
        [
            "warn",
            "called, but olmguard had no time to check the edit: undecided, and allowed: x \
             [Overloaded]",
            "olmguard is overloaded, or has too little CPU to answer within timeoutSeconds",
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
            "the cluster does not serve ClusterExtension of olm.operatorframework.io/v1",
            "OLM v1 is not installed, so there is nothing to check",
            crd,
        ],
    );
    let yaml = format!("{crd} -o yaml");
    tells(
        answered(422, "Invalid", "spec: wrong", &[]),
        [
            "unknown",
            "the API server answered 422 before it called olmguard: spec: wrong",
            "the CRD of this cluster does not accept the test edit: it is of another release of \
             OLM",
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
            "the API server answered 403 before it called olmguard: ValidatingAdmissionPolicy 'x' \
             denied request: no",
            "another admission plugin or policy refused the test edit first",
            "kubectl get validatingadmissionpolicies",
        ],
    );
    tells(
        answered(503, "", "etcd is away", &[]),
        [
            "unknown",
            "the API server answered 503 before it called olmguard: etcd is away",
            "the API server could not process the request",
            "kubectl get --raw '/readyz?verbose'",
        ],
    );
    let silent = MissingAnswer {
        is_forbidden: false,
        why: "no answer within 30 s".to_owned(),
        ..unasked("create", "x", None, None)
    };
    after(
        Err(silent),
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
        round_trip: Ok(answered(409, "AlreadyExists", "x already exists", &[])),
        ..Scene::well()
    };
    let findings = super::findings(&facts);
    let finding = findings.last().expect("the last check");
    assert!(
        finding.found.contains("olmguard was not called"),
        "{finding:?}"
    );
    assert!(OURS.contains("InvalidSelector"));
}
