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
            "there is no ValidatingWebhookConfiguration {name:?}"
        ))
        .since(
            "no API server asks the guard: every edit goes through unjudged; apply again \
             whatever was applied, such as the file below",
        )
        .run(APPLY)
}

fn without_webhook(name: &str, webhooks: &[String]) -> Finding {
    let webhooks = match webhooks {
        [] => "no webhook".to_owned(),
        webhooks => format!("only {}", webhooks.join(", ")),
    };
    Check::Configuration
        .fail(format!(
            "{name} has {webhooks}, and none that asks the guard"
        ))
        .since(
            "no API server asks the guard by it: every edit goes through unjudged; apply again \
             whatever was applied, such as the file below",
        )
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
    let text = format!("{field} is {found}, shipped is {shipped}");
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
        FailurePolicy::Fail => "Fail: an edit is refused when the guard cannot be asked",
        FailurePolicy::Ignore => {
            "Ignore: an edit goes through when the guard cannot be asked, and nobody is told"
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
        format!("{timeout} s, shipped is {shipped_timeout} s")
    };
    if *timeout <= LONGEST {
        return Check::Timeout.ok(found);
    }
    Check::Timeout
        .warn(found)
        .since(
            "a guard that hangs would hold up each edit for so long, and controllers that renew \
             their lease by it with them",
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

const RULES: &str = "edits that the rules leave out go through unjudged, and what they have too much \
                     of depends on the guard without need";
const CLIENT_CONFIG: &str = "API servers ask somebody else than the Service that is looked at here";
const WEBHOOKS: &str = "API servers also send what the other webhook asks for, to where it says; \
                        remove it unless you added it";
const MATCH_CONDITIONS: &str = "edits that a condition keeps away go through unjudged; without one \
                                the writes of OLM's own controllers depend on the guard";
const MATCH_POLICY: &str = "edits through another version of the API may go through unjudged";
const SIDE_EFFECTS: &str = "the guard has none; a dry run is refused where a webhook may have some";
const REVIEW_VERSIONS: &str = "the guard reads v1, and fails for any other version";
const SELECTORS: &str = "edits that a selector keeps away go through unjudged";
