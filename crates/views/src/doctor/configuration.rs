//! Whether API servers are told to ask the guard, and how.

use crate::doctor::facts::{Configuration, Difference, DoctorFacts, FailurePolicy, Webhook};
use crate::doctor::finding::{Check, Finding};

pub(super) fn findings(facts: &DoctorFacts) -> Vec<Finding> {
    let check = Check::Configuration;
    let name = &facts.names.configuration;
    match &facts.configuration {
        Err(unasked) => vec![check.unasked(unasked)],
        Ok(None) => vec![absent(name)],
        Ok(Some(Configuration {
            webhook: None,
            webhooks,
        })) => vec![without_webhook(name, webhooks)],
        Ok(Some(Configuration {
            webhook: Some(webhook),
            ..
        })) => {
            let there = check.ok(format!("{name} has the webhook {}", webhook.name));
            let mut findings = vec![there];
            findings.extend(of_webhook(name, webhook));
            findings
        }
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

/// Longer ones outlast the lease of a controller.
const LONGEST: i32 = 10;

/// What puts it there, with all that belongs to it.
const APPLY: &str = "kubectl apply -f deploy/rendered/default-self-managed.yaml";
/// The file that has what is shipped.
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
