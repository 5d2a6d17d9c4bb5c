//! Checks whether and how API servers call olmguard, and whether a replica can answer.

use crate::doctor::facts::{
    Configuration, Deployment, Difference, DoctorFacts, Endpoint, FailurePolicy, Service, Webhook,
};
use crate::doctor::{Check, Finding};

pub(super) fn of_configuration(facts: &DoctorFacts) -> Vec<Finding> {
    let check = Check::Configuration;
    let name = &facts.names.configuration;
    match &facts.configuration {
        Err(unasked) => vec![check.unasked(unasked)],
        Ok(None) => vec![absent(name)],
        Ok(Some(Configuration { webhook, webhooks })) => match webhook {
            None => vec![without_webhook(name, webhooks)],
            Some(webhook) => {
                let there = check.ok(format!("{name} has the webhook {}", webhook.name));
                let mut findings = vec![there];
                findings.extend(of_webhook(name, webhook));
                findings
            }
        },
    }
}

fn absent(name: &str) -> Finding {
    Check::Configuration
        .fail(format!(
            "ValidatingWebhookConfiguration {name:?} does not exist"
        ))
        .since(NOT_CALLED)
        .run(APPLY)
}

fn without_webhook(name: &str, webhooks: &[String]) -> Finding {
    let webhooks = match webhooks {
        [] => "no webhook".to_owned(),
        webhooks => format!(
            "only {}, and none of them calls olmguard",
            webhooks.join(", ")
        ),
    };
    Check::Configuration
        .fail(format!("{name} has {webhooks}"))
        .since(NOT_CALLED)
        .run(APPLY)
}

fn of_webhook(name: &str, webhook: &Webhook) -> Vec<Finding> {
    let mut findings: Vec<_> = webhook.differences.iter().map(differs).collect();
    if findings.is_empty() {
        findings.push(Check::Shipped.ok("as this version ships it"));
    }
    findings.push(failure_policy(webhook));
    findings.push(timeout(name, webhook));
    findings
}

pub(super) fn differs(difference: &Difference) -> Finding {
    let Difference {
        field,
        found,
        shipped,
    } = difference;
    let text = format!("{field} is {found}, this version ships {shipped}");
    let (finding, cause) = match *field {
        "rules" => (Check::Shipped.fail(text), RULES),
        "clientConfig" => (Check::Shipped.fail(text), CLIENT_CONFIG),
        "webhooks" => (Check::Shipped.fail(text), WEBHOOKS),
        "matchConditions" => (Check::Shipped.warn(text), MATCH_CONDITIONS),
        "matchPolicy" => (Check::Shipped.warn(text), MATCH_POLICY),
        "sideEffects" => (Check::Shipped.warn(text), SIDE_EFFECTS),
        "admissionReviewVersions" => (Check::Shipped.warn(text), REVIEW_VERSIONS),
        _ => (Check::Shipped.warn(text), SELECTORS),
    };
    finding
        .since(cause)
        .run(format!("kubectl diff -f {SHIPPED}"))
}

fn failure_policy(webhook: &Webhook) -> Finding {
    Check::FailurePolicy.ok(match webhook.failure_policy {
        FailurePolicy::Fail => "Fail: API servers deny an edit if they cannot call olmguard",
        FailurePolicy::Ignore => {
            "Ignore: API servers allow an edit without a message if they cannot call olmguard"
        }
    })
}

fn timeout(name: &str, webhook: &Webhook) -> Finding {
    let Webhook {
        timeout,
        shipped_timeout,
        ..
    } = webhook;
    let found = if timeout == shipped_timeout {
        format!("{timeout} s")
    } else {
        format!("{timeout} s, this version ships {shipped_timeout} s")
    };
    if *timeout <= LONGEST {
        return Check::Timeout.ok(found);
    }
    Check::Timeout
        .warn(found)
        .since(
            "if olmguard hangs, each edit waits this long, and a controller that waits can lose \
             its lease",
        )
        .run(format!(
            "kubectl get validatingwebhookconfiguration {name} -o jsonpath='{{.webhooks[*].timeoutSeconds}}'"
        ))
}

/// Maximum timeout in seconds. Longer ones exceed the lease of a controller.
const LONGEST: i32 = 10;

/// Command that installs the webhook and everything that it needs.
const APPLY: &str = "kubectl apply -f deploy/rendered/default-self-managed.yaml";
/// File that contains the shipped configuration.
const SHIPPED: &str = "deploy/base/validating-webhook-configuration.yaml";

const NOT_CALLED: &str = "no API server calls olmguard, so every edit passes without a check; \
                          apply your installation again, for example the file below";
const RULES: &str = "edits that the rules do not match pass without a check; other requests that \
                     they match depend on olmguard without need";
const CLIENT_CONFIG: &str =
    "API servers call another target, not the Service that the doctor checks";
const WEBHOOKS: &str = "API servers also call the other webhook; remove it unless you added it";
const MATCH_CONDITIONS: &str = "edits that a condition excludes pass without a check; without the \
                                conditions, the writes of OLM's own controllers depend on olmguard";
const MATCH_POLICY: &str = "edits through another version of the API may pass without a check";
const SIDE_EFFECTS: &str =
    "olmguard has no side effects; API servers refuse a dry run if a webhook may have some";
const REVIEW_VERSIONS: &str = "olmguard reads only v1, and fails for any other version";
const SELECTORS: &str = "edits that a selector excludes pass without a check";

// === Whether a replica can answer: the Service, its endpoints, and the Deployment ===

pub(super) fn of_serving(facts: &DoctorFacts) -> Vec<Finding> {
    vec![service(facts), endpoints(facts), deployment(facts)]
}

fn service(facts: &DoctorFacts) -> Finding {
    let check = Check::Service;
    let place = place(facts, &facts.names.service);
    match &facts.service {
        Err(unasked) => check.unasked(unasked),
        Ok(None) => check
            .fail(format!("Service {place} does not exist"))
            .since("API servers reach olmguard only through this Service")
            .run(format!("kubectl get services -n {}", facts.names.namespace)),
        Ok(Some(service)) => ports(facts, &place, service),
    }
}

/// Checks whether the Service has the port that API servers call.
fn ports(facts: &DoctorFacts, place: &str, service: &Service) -> Finding {
    let asked = facts.webhook().and_then(|webhook| webhook.port);
    let listed = |ports: Vec<String>| match ports.as_slice() {
        [] => "no port".to_owned(),
        [port] => format!("port {port}"),
        ports => format!("ports {}", ports.join(", ")),
    };
    let all = service.ports.iter().map(|port| port.number.to_string());
    let all = listed(all.collect());
    match service.ports.iter().find(|port| Some(port.number) == asked) {
        Some(port) => Check::Service.ok(format!(
            "{place}, {}, port {} forwards to {}",
            service.kind, port.number, port.target
        )),
        None if asked.is_none() => {
            Check::Service.ok(format!("{place}, {}, with {all}", service.kind))
        }
        None => Check::Service
            .fail(format!(
                "{place} has {all}, but API servers call port {}",
                asked.unwrap_or_default()
            ))
            .since(
                "clientConfig.service.port of the webhook names a port that the Service does not \
                 have",
            )
            .run(format!(
                "kubectl get service {} -n {} -o yaml",
                facts.names.service, facts.names.namespace
            )),
    }
}

fn endpoints(facts: &DoctorFacts) -> Finding {
    let check = Check::Endpoints;
    let endpoints = match &facts.endpoints {
        Err(unasked) => return check.unasked(unasked),
        Ok(endpoints) => endpoints,
    };
    if is_external(facts) {
        return check.ok("none: a Service of type ExternalName has no endpoints");
    }
    let (ready, others): (Vec<_>, Vec<_>) = endpoints.iter().partition(|one| one.is_ready);
    let pods = format!(
        "kubectl get pods -n {} -l app.kubernetes.io/name=olmguard -o wide",
        facts.names.namespace
    );
    match (ready.as_slice(), others.as_slice()) {
        ([], []) => check
            .fail("the Service has no endpoints")
            .since("no pod matches its selector, or no matching pod has an address yet")
            .run(pods),
        ([], others) => check
            .fail(format!("no endpoint is ready: {}", names(others)))
            .since("API servers call only ready pods")
            .run(pods),
        (ready, []) => check.ok(format!("{} ready: {}", ready.len(), names(ready))),
        (ready, others) => check
            .warn(format!(
                "{} ready: {}; not ready: {}",
                ready.len(),
                names(ready),
                names(others)
            ))
            .since("API servers send edits only to the ready endpoints")
            .run(pods),
    }
}

fn is_external(facts: &DoctorFacts) -> bool {
    matches!(&facts.service, Ok(Some(service)) if service.kind == "ExternalName")
}

fn names(endpoints: &[&Endpoint]) -> String {
    let name = |one: &&Endpoint| match &one.pod {
        Some(pod) => format!("{pod} ({})", one.address),
        None => one.address.clone(),
    };
    endpoints.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn deployment(facts: &DoctorFacts) -> Finding {
    let check = Check::Deployment;
    let place = place(facts, &facts.names.deployment);
    let namespace = &facts.names.namespace;
    match &facts.deployment {
        Err(unasked) => check.unasked(unasked),
        Ok(None) => check
            .warn(format!("Deployment {place} does not exist"))
            .since(
                "if something other than a Deployment runs olmguard, the doctor does not check it",
            )
            .run(format!("kubectl get deployments -n {namespace}")),
        Ok(Some(deployment)) => replicas(facts, &place, deployment),
    }
}

/// Checks whether enough replicas are ready.
fn replicas(facts: &DoctorFacts, place: &str, deployment: &Deployment) -> Finding {
    let check = Check::Deployment;
    let (name, namespace) = (&facts.names.deployment, &facts.names.namespace);
    let status = format!("kubectl rollout status deployment/{name} -n {namespace} --timeout=1s");
    let Deployment {
        wanted,
        ready,
        updated,
    } = *deployment;
    let counts = format!("{place}, {ready} of {wanted} ready");
    match (wanted, ready) {
        (0, _) => check
            .fail(format!("{place} is scaled to 0"))
            .since("no pod can answer API servers")
            .run(format!(
                "kubectl scale deployment/{name} -n {namespace} --replicas=2"
            )),
        (_, 0) => check
            .fail(counts)
            .since("no pod can answer API servers")
            .run(status),
        (wanted, ready) if ready < wanted => check
            .warn(counts)
            .since("the remaining replicas carry all requests")
            .run(status),
        (wanted, _) if updated < wanted => check
            .warn(format!("{counts}, {updated} of them up to date"))
            .since("a rollout is in progress, or stuck")
            .run(status),
        _ => check.ok(counts),
    }
}

fn place(facts: &DoctorFacts, name: &str) -> String {
    format!("{}/{name}", facts.names.namespace)
}
