//! Checks whether the API server denies an edit that olmguard must deny. This tests the whole installation.
//!
//! API servers report that they could not call a webhook only in the message, and only if `failurePolicy` is
//! Fail. With Ignore they allow the edit. The only evidence is then the missing answer of olmguard.

use crate::doctor::facts::{ApiAnswer, DoctorFacts, FailurePolicy, MissingAnswer, Webhook};
use crate::doctor::probe::{self, ExpectedAnswer};
use crate::doctor::{Check, Finding, State};

pub(super) fn finding(facts: &DoctorFacts) -> Finding {
    let answered = match &facts.round_trip {
        Err(unasked) => return Check::RoundTrip.unasked(unasked),
        Ok(answered) => answered,
    };
    let message = answered.message.as_str();
    if let Some((webhook, said)) = parted(message, DENIED) {
        return denied(facts, webhook, said, answered);
    }
    if let Some((webhook, why)) = parted(message, FAILED) {
        return failed(facts, webhook, why);
    }
    match answered.code {
        200..=299 => accepted(facts, answered),
        409 if answered.reason == "AlreadyExists" => accepted(facts, answered),
        code => not_asked(code, answered),
    }
}

fn denied(facts: &DoctorFacts, webhook: &str, said: &str, answered: &ApiAnswer) -> Finding {
    let check = Check::RoundTrip;
    // A denial can have no explanation.
    let said = said.trim_start_matches([':', ' ']);
    let said = said.lines().next().unwrap_or_default();
    let ExpectedAnswer { denial, .. } = probe::expected();
    if said == denial {
        let took = answered.took.as_millis();
        return check.ok(format!("denied within {took} ms, as expected: {said}"));
    }
    if said.ends_with(probe::TOKEN) {
        return check
            .warn(format!(
                "denied, but with a message of another version: {said}"
            ))
            .since("another release of olmguard answers")
            .run(deployment(facts));
    }
    if is_ours(facts, webhook) {
        return check
            .fail(format!("denied, but not for the expected reason: {said}"))
            .since("something other than olmguard answers behind the Service")
            .run(deployment(facts));
    }
    check
        .unknown(format!(
            "the webhook {webhook:?} denied the test edit first: {said}"
        ))
        .since("an API server reports only one denial; olmguard may have denied the edit too")
        .run("kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations")
}

fn failed(facts: &DoctorFacts, webhook: &str, why: &str) -> Finding {
    if !is_ours(facts, webhook) {
        return Check::RoundTrip
            .unknown(format!("the webhook {webhook:?} failed first: {why}"))
            .since("this is another webhook, and its failurePolicy is Fail")
            .run("kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations");
    }
    let (cause, command) = call(facts, why);
    Check::RoundTrip
        .fail(format!("the API server could not call olmguard: {why}"))
        .since(cause)
        .run(command)
}

/// Returns the cause of a failed call, by the message of the API server, and the command to run next.
fn call(facts: &DoctorFacts, why: &str) -> (&'static str, String) {
    // The format is `Post "URL": why`. The URL contains words of its own, such as `?timeout=5s`.
    let after = why
        .split_once("Post \"")
        .and_then(|(_, rest)| rest.split_once("\": "));
    let why = after.map_or(why, |(_, why)| why);
    let says = |(words, ..): &&Cause| words.iter().any(|words| why.contains(words));
    let known = CAUSES.iter().find(says);
    let (_, cause, look) = known.unwrap_or(&UNKNOWN);
    (cause, look.command(facts))
}

/// The object to inspect next.
#[derive(Clone, Copy, Debug)]
enum NextProbe {
    Configuration,
    Logs,
    NetworkPolicies,
    Pods,
    Service,
    Slices,
}

impl NextProbe {
    fn command(self, facts: &DoctorFacts) -> String {
        let names = &facts.names;
        let (namespace, service) = (&names.namespace, &names.service);
        match self {
            Self::Configuration => see_configuration(facts),
            Self::Logs => format!(
                "kubectl logs deployment/{} -n {namespace}",
                names.deployment
            ),
            Self::NetworkPolicies => format!("kubectl get networkpolicies -n {namespace}"),
            Self::Pods => format!("kubectl get pods -n {namespace} -o wide"),
            Self::Service => format!("kubectl get service {service} -n {namespace} -o yaml"),
            Self::Slices => format!(
                "kubectl get endpointslices -n {namespace} -l kubernetes.io/service-name={service}"
            ),
        }
    }
}

fn accepted(facts: &DoctorFacts, answered: &ApiAnswer) -> Finding {
    let check = Check::RoundTrip;
    let ExpectedAnswer { observed, .. } = probe::expected();
    let ours = |begin: &str| {
        let mut warnings = answered.warnings.iter();
        warnings.find(|warning| warning.starts_with(begin))
    };
    if let Some(warning) = ours(OBSERVED) {
        let found = format!("called, but olmguard only observes: {warning}");
        let finding = check.warn(found).since(if *warning == observed {
            "olmguard runs with --mode observe, so it denies nothing"
        } else {
            "another release of olmguard runs with --mode observe, so it denies nothing"
        });
        return finding.run(deployment(facts));
    }
    if let Some(warning) = ours(UNDECIDED) {
        return check
            .warn(format!(
                "called, but olmguard had no time to check the edit: {warning}"
            ))
            .since("olmguard is overloaded, or has too little CPU to answer within timeoutSeconds")
            .run(format!("kubectl top pods -n {}", facts.names.namespace));
    }
    unasked(facts)
}

/// Reports that the edit was accepted without an answer of olmguard.
fn unasked(facts: &DoctorFacts) -> Finding {
    let finding = Check::RoundTrip.fail(
        "the API server accepted a test edit that olmguard must deny: olmguard was not called",
    );
    let Some(webhook) = facts.webhook() else {
        let cause = match &facts.configuration {
            Ok(_) => "no webhook configuration names olmguard: see the check configuration",
            Err(_) => {
                "no webhook configuration names olmguard, or its failurePolicy hides the reason"
            }
        };
        return finding.since(cause).run(see_configuration(facts));
    };
    if let Some(condition) = webhook.switched_off_by() {
        return finding
            .since(format!(
                "olmguard is switched off: the match condition {condition:?} of the webhook is \
                 false for every edit"
            ))
            .run(switch_on(facts, webhook, &condition));
    }
    match webhook.failure_policy {
        FailurePolicy::Fail => finding
            .since(
                "failurePolicy is Fail, so no call was tried: the rules, a selector or a condition \
                 of the webhook exclude the test edit, or the configuration is less than a second \
                 old",
            )
            .run(see_configuration(facts)),
        FailurePolicy::Ignore => ignored(facts, webhook, finding),
    }
}

/// Reports that the call was not tried, or failed without a message.
fn ignored(facts: &DoctorFacts, webhook: &Webhook, finding: Finding) -> Finding {
    let differing: Vec<_> = webhook.choosing().map(|one| one.field).collect();
    let failing = failing(facts, webhook);
    let metric = format!(
        "kubectl get --raw /metrics | grep 'admission_webhook_fail_open_count.*{}'",
        webhook.name
    );
    let hidden = "failurePolicy Ignore hides that the call failed";
    let likely = format!("the likely cause is {}", failing.join(", "));
    let left_out = format!(
        "not as shipped, and may exclude the test edit: {} of the webhook",
        differing.join(", ")
    );
    match (differing.as_slice(), failing.as_slice()) {
        ([], []) => finding
            .since(format!("{hidden}; {NOTHING_ELSE}"))
            .run(metric),
        ([], _) => finding.since(format!("{hidden}; {likely}")).run(metric),
        (_, []) => finding.since(left_out).run(see_configuration(facts)),
        _ => finding
            .since(format!("{left_out}; or {hidden}, {likely}"))
            .run(see_configuration(facts)),
    }
}

/// Returns the other findings that would make the call fail.
fn failing(facts: &DoctorFacts, webhook: &Webhook) -> Vec<String> {
    let differences = webhook.differences.iter();
    differences
        .filter(|one| one.field == "clientConfig")
        .map(super::configuration::differs)
        .chain(super::configuration::of_serving(facts))
        .chain(super::certificates::refusals(facts))
        .filter(|finding| finding.state == State::Fail)
        .map(|finding| format!("{} ({})", finding.check.as_str(), finding.found))
        .collect()
}

/// Returns the command that removes the condition, as in `docs/emergency.md`.
fn switch_on(facts: &DoctorFacts, webhook: &Webhook, condition: &str) -> String {
    format!(
        "kubectl patch validatingwebhookconfiguration {} -p '{{\"webhooks\": [{{\"name\": \"{}\", \
         \"matchConditions\": [{{\"name\": \"{condition}\", \"$patch\": \"delete\"}}]}}]}}'",
        facts.names.configuration, webhook.name
    )
}

/// Reports that the request ended before any webhook was called.
fn not_asked(code: u16, answered: &ApiAnswer) -> Finding {
    let message = &answered.message;
    let check = Check::RoundTrip;
    let found = format!("the API server answered {code} before it called olmguard: {message}");
    match code {
        403 if message.contains("cannot create resource") => check.unasked(&MissingAnswer {
            need: probe::need(),
            is_forbidden: true,
            why: format!("the API server answers {code}: {message}"),
        }),
        404 => check
            .fail("the cluster does not serve ClusterExtension of olm.operatorframework.io/v1")
            .since("OLM v1 is not installed, so there is nothing to check")
            .run("kubectl get crd clusterextensions.olm.operatorframework.io"),
        400 | 422 => check
            .unknown(found)
            .since(
                "the CRD of this cluster does not accept the test edit: it is of another release \
                 of OLM",
            )
            .run("kubectl get crd clusterextensions.olm.operatorframework.io -o yaml"),
        403 => check
            .unknown(found)
            .since("another admission plugin or policy refused the test edit first")
            .run("kubectl get validatingadmissionpolicies"),
        _ => check
            .unknown(found)
            .since("the API server could not process the request")
            .run("kubectl get --raw '/readyz?verbose'"),
    }
}

/// Splits `... webhook "NAME" WORDS rest` into the name and the rest.
fn parted<'a>(message: &'a str, words: (&str, &str)) -> Option<(&'a str, &'a str)> {
    let (_, rest) = message.split_once(words.0)?;
    let (name, rest) = rest.split_once('"')?;
    Some((name, rest.strip_prefix(words.1)?))
}

fn is_ours(facts: &DoctorFacts, name: &str) -> bool {
    facts
        .webhook()
        .map_or(name == probe::WEBHOOK, |webhook| webhook.name == name)
}

fn deployment(facts: &DoctorFacts) -> String {
    let names = &facts.names;
    format!(
        "kubectl get deployment {} -n {} -o yaml",
        names.deployment, names.namespace
    )
}

fn see_configuration(facts: &DoctorFacts) -> String {
    format!(
        "kubectl get validatingwebhookconfiguration {} -o yaml",
        facts.names.configuration
    )
}

/// Possible words of an API server, their meaning, and the object to inspect next.
type Cause = (&'static [&'static str], &'static str, NextProbe);

/// Known causes. The first match counts.
const CAUSES: [Cause; 9] = [
    (
        &["no endpoints available for service"],
        "the Service has no ready replica",
        NextProbe::Slices,
    ),
    (
        &["no service port"],
        "the Service does not have the port that the webhook names",
        NextProbe::Service,
    ),
    (
        &["service \""],
        "the Service that the webhook names does not exist",
        NextProbe::Service,
    ),
    (
        &["connection refused"],
        "nothing listens at the target of the Service: its targetPort is not the port of --listen, \
         or the replica has just stopped",
        NextProbe::Service,
    ),
    (
        &["x509: ", "tls: "],
        "the API server does not accept the certificate of olmguard: see ca-bundle, server-name \
         and expiry",
        NextProbe::Configuration,
    ),
    (
        &["context deadline exceeded", "timeout", "Timeout"],
        "no answer within timeoutSeconds: a network policy or firewall blocks API servers, or \
         olmguard has too little CPU",
        NextProbe::NetworkPolicies,
    ),
    (
        &["no route to host", "network is unreachable"],
        "API servers have no network route to the pods: olmguard may have to use the host network",
        NextProbe::Pods,
    ),
    (
        &["no such host"],
        "the API server cannot resolve the host name in the webhook",
        NextProbe::Configuration,
    ),
    (
        &["an error on the server", "the server "],
        "the answer is not a review: another program behind the Service, a wrong path, a proxy in \
         between, or a fault of olmguard",
        NextProbe::Logs,
    ),
];
const UNKNOWN: Cause = (
    &[],
    "this is the message of the API server",
    NextProbe::Logs,
);

const NOTHING_ELSE: &str = "no other check explains it, so the cause may be between the API server \
                            and the pods: a network policy, a firewall, or an olmguard that is too \
                            slow for timeoutSeconds";

const DENIED: (&str, &str) = ("admission webhook \"", " denied the request");
const FAILED: (&str, &str) = ("failed calling webhook \"", ": ");
/// Start of the warnings that replace a denial.
const OBSERVED: &str = "allowed in observe mode: ";
const UNDECIDED: &str = "undecided, and allowed: ";
